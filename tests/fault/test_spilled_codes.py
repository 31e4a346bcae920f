"""Building an index whose codes don't fit into the memory limit: they wait in scratch files. The
bytes are those of a build with room for them, nothing of the files is left, and a disk that is full
when they are written leaves the dataset as it was."""

import lance
import numpy as np
import pyarrow as pa
import pytest

ROWS = 60_000
DIM = 64
TYPES = {
    "IVF_FLAT": (),
    "IVF_PQ": ("--num-sub-vectors", 32),
    "IVF_SQ": (),
    "IVF_RQ": ("--num-bits", 5),
}
LIMITS = {"IVF_FLAT": "14MiB", "IVF_PQ": "8MiB", "IVF_SQ": "12MiB", "IVF_RQ": "12MiB"}


@pytest.fixture(scope="session")
def vectors():
    random = np.random.default_rng(3)
    centres = random.normal(0, 2, (40, DIM))
    rows = centres[random.integers(0, 40, ROWS)] + random.normal(0, 1, (ROWS, DIM))
    values = pa.array(rows.astype(np.float32).reshape(-1))
    return pa.table({"vec": pa.FixedSizeListArray.from_arrays(values, DIM)})


def command(path, kind, limit):
    return ("index", "create", path, "--type", kind, *TYPES[kind], "--num-partitions", 40,
            "--sample-rate", 4, "--memory-limit", limit)  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_the_same_bytes_under_a_small_limit(kind, kinjo, faulty, files, vectors, tmp_path):
    made, calls = {}, {}
    small, large = LIMITS[kind], "1GiB"
    for limit in (small, large):
        path = tmp_path / limit
        lance.write_dataset(vectors, path, max_rows_per_file=ROWS // 3)
        count = tmp_path / f"calls-{limit}"
        kinjo(*command(path, kind, limit), env=faulty(count=count))
        calls[limit] = count.read_text().split()
        (folder,) = (path / "_indices").iterdir()
        made[limit] = files(folder)
    assert set(made[large]) == {"index.idx", "auxiliary.idx"}
    assert made[small] == made[large]
    assert len(calls[small]) > len(calls[large]), "nothing was spilled"


def test_the_disk_is_full_when_codes_are_spilled(kinjo, faulty, vectors, tmp_path):
    path = tmp_path / "d"
    lance.write_dataset(vectors, path)
    count = tmp_path / "calls"
    kinjo(*command(path, "IVF_FLAT", "14MiB"), env=faulty())
    kinjo("index", "drop", path, "--name", "vec_idx")
    kinjo(*command(path, "IVF_FLAT", "14MiB"), env=faulty(count=count))
    calls = count.read_text().split()
    kinjo("index", "drop", path, "--name", "vec_idx")
    version = lance.dataset(path).version
    folders = sorted((path / "_indices").iterdir())
    failed = 0
    for number in range(1, len(calls) // 2):
        done = kinjo(*command(path, "IVF_FLAT", "14MiB"), env=faulty("full", number),
                     exit_code=None)  # fmt: skip
        if done.returncode == 0:
            continue
        failed += 1
        assert "No space left" in done.stderr
        assert lance.dataset(path).version == version
        assert sorted((path / "_indices").iterdir()) == folders
    assert failed > len(calls) // 4
