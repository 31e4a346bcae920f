"""An import that is many times larger than its memory limit stays within it, by the kernel's count.

The size before is that of a process that only looks at a dataset. A tenth above the limit is
allowed.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

MIB = 1 << 20
GROUP_ROWS = 50_000
GROUPS = 40
DIM = 512


def rows(random):
    """A vector, a text, eight numbers and a list in each row: about 2.6 KiB."""
    vectors = random.standard_normal(GROUP_ROWS * DIM, dtype=np.float32)
    columns = {
        "id": pa.array(random.integers(1 << 40, size=GROUP_ROWS)),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), DIM),
        "text": pa.array([random.bytes(150).hex() for _ in range(GROUP_ROWS)]),
        "tags": pa.array([[i, i + 1] * (i % 4) for i in range(GROUP_ROWS)], pa.list_(pa.int32())),
    }
    numbers = {f"n{i}": pa.array(random.standard_normal(GROUP_ROWS)) for i in range(8)}
    return pa.table(columns | numbers)


def test_import_of_many_times_its_limit(peak, tmp_path):
    source, target = tmp_path / "rows.parquet", tmp_path / "t.lance"
    table = rows(np.random.default_rng(3))
    try:
        with pq.ParquetWriter(source, table.schema) as writer:
            for _ in range(GROUPS):
                writer.write_table(table)
        flags = "--progress", "none", "--json"
        pq.write_table(table.slice(0, 10), tmp_path / "few.parquet")
        peak("import", tmp_path / "few.parquet", tmp_path / "few.lance", *flags)
        before = peak("info", tmp_path / "few.lance")
        limit = 256 * MIB
        grown = peak("import", source, target, "--memory-limit", "256MiB", *flags) - before
        written = sum(file.stat().st_size for file in (target / "data").iterdir())
        print(f"{written / MIB:.0f} MiB written, grown by {grown / MIB:.0f} MiB")
        assert written > 15 * limit
        assert grown <= 1.1 * limit, f"{grown / MIB:.0f} MiB"
    finally:  # pytest keeps the folders of some runs
        source.unlink()
        for file in (target / "data").glob("*"):
            file.unlink()
