"""Rows coded by our encoders with the model of an index that pylance wrote: the same partitions and
codes, but for rows on an edge, whose side a rounding decides.

row_codes (tests/interop/row_codes.cc) does the coding and the comparison. Where the other side
chooses freely (how many steps a RaBitQ element reaches) the factors are held to what its choice
gives, within what a better or worse choice can move them.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = {"float16": pa.float16(), "float32": pa.float32(), "float64": pa.float64()}
ROWS, DIM = 3000, 48


@pytest.fixture(scope="session")
def row_codes():
    """row_codes(directory, rows) -> the comparison."""
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "row_codes"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")

    def run(directory, rows, file):
        rows.tofile(file)
        command = [path, directory, str(rows.dtype), file, str(rows.shape[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def make_rows(seed, element):
    """Clusters off the origin."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, DIM)) + 0.5
    rows = centres[random.integers(20, size=ROWS)] + 0.4 * random.normal(size=(ROWS, DIM))
    return rows.astype(element)


def build_index(tmp_path, rows, element, **options):
    values = pa.array(rows.reshape(-1), element)
    table = pa.table({"v": pa.FixedSizeListArray.from_arrays(values, rows.shape[1])})
    path = tmp_path / "d.lance"
    shutil.rmtree(path, ignore_errors=True)
    dataset = lance.write_dataset(table, path)
    dataset.create_index("v", num_partitions=7, **options)
    (directory,) = (path / "_indices").iterdir()
    return directory


KINDS = {
    "flat": {"index_type": "IVF_FLAT"},
    "pq8": {"index_type": "IVF_PQ", "num_sub_vectors": 12},
    "pq4": {"index_type": "IVF_PQ", "num_sub_vectors": 12, "num_bits": 4},
    "sq": {"index_type": "IVF_SQ"},
    **{f"rq{bits}": {"index_type": "IVF_RQ", "num_bits": bits} for bits in range(1, 10)},
}


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("kind", ["flat", "pq8", "pq4", "sq", "rq1", "rq5"])
def test_codes_of_pylance_model(kind, metric, element, row_codes, tmp_path):
    rows = make_rows(len(kind) + len(metric), element)
    directory = build_index(tmp_path, rows, ELEMENTS[element], metric=metric, **KINDS[kind])
    check(kind, row_codes(directory, rows, tmp_path / "rows"), metric)


@pytest.mark.parametrize("kind", [f"rq{bits}" for bits in range(1, 10)])
def test_every_width_of_rabitq(kind, row_codes, tmp_path):
    rows = make_rows(1, "float32")
    directory = build_index(tmp_path, rows, pa.float32(), metric="l2", **KINDS[kind])
    check(kind, row_codes(directory, rows, tmp_path / "rows"), "l2")


def test_bits_under_hamming(row_codes, tmp_path):
    rows = np.random.default_rng(3).integers(0, 256, (ROWS, 16), dtype=np.uint8)
    directory = build_index(tmp_path, rows, pa.uint8(), index_type="IVF_FLAT", metric="hamming")
    found = row_codes(directory, rows, tmp_path / "rows")
    assert found["rows"] == found["encoded"] == ROWS
    assert found["other_code_bytes"] == 0
    assert found["moved"] == 0


def check(kind, found, metric):
    assert found["rows"] == found["encoded"] == ROWS
    assert found["moved"] <= 1
    if kind == "flat":
        # The last bit of a unit vector's elements is a matter of how the norm is summed up.
        assert found["other_code_bytes"] <= (0.2 * found["code_bytes"] if metric == "cosine" else 0)
    else:
        assert found["other_code_bytes"] <= 10
    if kind == "rq1" and found["other_code_bytes"] == 0:
        assert found["add"] <= 1e-3
        assert found["scale"] <= 1e-3
    elif kind.startswith("rq"):
        # As good a code, or one that is slightly better: factors follow the code. (Of one bit, the
        # sign of an element that the rotation makes nearly zero is a matter of summation.)
        assert found["add"] <= 0.5
        assert found["scale"] <= 0.6
