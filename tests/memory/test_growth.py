"""What a join adds to the size of its process stays within memory_limit, by the kernel's count.

The size after the sides are opened is that of `kinjo explain` with the same flags, which does all
of a join but reading rows. A tenth above the limit is allowed.
"""

from pathlib import Path

import pytest

from tests.memory import sides

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20
LIMITS = {"128MiB": 128 * MIB, "256MiB": 256 * MIB, "1GiB": 1024 * MIB}


@pytest.fixture(scope="module")
def folder():
    """Where the sides lie, from one run to the next."""
    path = ROOT / "build" / "memory"
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def growth(peak, tmp_path):
    """growth(*flags) runs a join and returns by how many bytes it made its process grow."""

    def run(*flags):
        opened = peak("explain", *flags)
        joined = peak("join", *flags, "-o", tmp_path / "out.parquet", "--progress", "none")
        (tmp_path / "out.parquet").unlink()
        return joined - opened

    return run


# Name -> (left rows, right side, flags).
JOINS = {
    "flat-1k": (1_000, dict(rows=100_000, index="IVF_FLAT"), []),
    "flat-20k": (20_000, dict(rows=100_000, index="IVF_FLAT"), []),
    "flat-200k": (200_000, dict(rows=100_000, index="IVF_FLAT"), ["--nprobes", 4]),
    "flat-refined": (20_000, dict(rows=100_000, index="IVF_FLAT"), ["--refine-factor", 10]),
    "filtered": (20_000, dict(rows=100_000, index="IVF_FLAT"), ["--where", "tag < 20"]),
    "exact": (20_000, dict(rows=100_000), []),
    "pq": (20_000, dict(rows=100_000, index="IVF_PQ"), []),
    "pq-1m": (20_000, dict(rows=1_000_000, index="IVF_PQ"), ["--nprobes", 10]),
    "pq-1m-refined": (
        200_000,
        dict(rows=1_000_000, index="IVF_PQ"),
        ["--nprobes", 4, "--refine-factor", 5, "--left-select", "q"],
    ),
    "flat-1m": (20_000, dict(rows=1_000_000, index="IVF_FLAT"), ["--nprobes", 10]),
    "exact-1m": (1_000, dict(rows=1_000_000, index="IVF_FLAT"), ["--index", "never"]),
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", JOINS)
def test_joins_of_vectors(growth, folder, name, limit):
    left_rows, right, flags = JOINS[name]
    left = sides.make_left(folder, left_rows, 128)
    path = sides.make_right(folder, dim=128, **right)
    grown = growth("--left", left, "--right", path, "--on", "vec", "--memory-limit", limit,
                   "--threads", 2, *flags)  # fmt: skip
    assert grown <= 1.1 * LIMITS[limit], f"{name}: {grown / MIB:.0f} MiB"


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("select", ["all", "id"])
def test_wide_rows_and_long_texts(growth, folder, select, limit):
    left = sides.make_left(folder, 20_000, 64, texts=True)
    right = sides.make_right(folder, 100_000, 64, wide=True)
    flags = [] if select == "all" else ["--right-select", select]
    grown = growth("--left", left, "--right", right, "--on", "vec", "--memory-limit", limit,
                   "--threads", 2, *flags)  # fmt: skip
    assert grown <= 1.1 * LIMITS[limit], f"{select}: {grown / MIB:.0f} MiB"
