"""The sides that the memory tests join, made once by pylance and kept in a folder of the build.

Vectors are drawn around cluster centres, so that partitions differ in size as those of real data
do.
"""

import shutil

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CLUSTERS = 200
BATCH_ROWS = 50_000


def vectors(rows, dim, seed):
    """Yields float32 matrices of at most BATCH_ROWS rows, `rows` in all."""
    centres = np.random.default_rng(dim).normal(size=(CLUSTERS, dim)).astype(np.float32) * 3
    random = np.random.default_rng(seed)
    for first in range(0, rows, BATCH_ROWS):
        count = min(BATCH_ROWS, rows - first)
        noise = random.normal(size=(count, dim)).astype(np.float32)
        yield centres[random.integers(CLUSTERS, size=count)] + noise


def column(matrix):
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), matrix.shape[1])


def wide_columns(first, count):
    """40 numbers a row, a text of 0 to 4 KiB, and in every 5,000th row one of 4 MiB."""
    random = np.random.default_rng(first)
    numbers = {f"n{i}": pa.array(random.normal(size=count)) for i in range(40)}
    lengths = random.integers(0, 4096, size=count)
    lengths[::5000] = 4 << 20
    texts = ["abcdefgh"[i % 8] * int(length) for i, length in enumerate(lengths)]
    return numbers | {"text": pa.array(texts, pa.large_string())}


def batches(rows, dim, seed, wide=False):
    first = 0
    for matrix in vectors(rows, dim, seed):
        # Small pieces: one text column of a batch stays far below 2 GiB.
        for begin in range(0, len(matrix), 10_000):
            part = matrix[begin : begin + 10_000]
            ids = np.arange(first, first + len(part))
            arrays = {"id": pa.array(ids), "tag": pa.array(ids % 100), "vec": column(part)}
            if wide:
                arrays |= wide_columns(first, len(part))
            yield pa.RecordBatch.from_pydict(arrays)
            first += len(part)


def make_left(folder, rows, dim, texts=False):
    """A Parquet file of `rows` vectors with an id and, on request, a long text a row."""
    path = folder / f"left-{rows}x{dim}{'-texts' if texts else ''}.parquet"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    writer = None
    for number, matrix in enumerate(vectors(rows, dim, seed=rows)):
        numbers = np.arange(len(matrix)) + number * BATCH_ROWS
        arrays = {"q": pa.array(numbers), "vec": column(matrix)}
        if texts:
            arrays["note"] = pa.array(["note " * (1 + i % 800) for i in range(len(matrix))])
        table = pa.table(arrays)
        writer = writer or pq.ParquetWriter(part, table.schema)
        writer.write_table(table, row_group_size=BATCH_ROWS)
    writer.close()
    part.rename(path)
    return path


def make_right(folder, rows, dim, index=None, wide=False, partitions=None, rows_a_file=1 << 20):
    """A Lance dataset with `id`, `tag` (0 to 99) and `vec`, indexed if `index` says how."""
    path = folder / f"right-{rows}x{dim}-{index or 'none'}{'-wide' if wide else ''}.lance"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    source = batches(rows, dim, seed=1, wide=wide)
    first = next(source)

    def everything():
        yield first
        yield from source

    reader = pa.RecordBatchReader.from_batches(first.schema, everything())
    dataset = lance.write_dataset(reader, str(part), max_rows_per_file=rows_a_file)
    if index is not None:
        options = {"num_sub_vectors": dim // 8} if index.endswith("PQ") else {}
        dataset.create_index(
            "vec", index_type=index, metric="l2", num_partitions=partitions or int(rows**0.5),
            sample_rate=64, **options,
        )  # fmt: skip
    part.rename(path)
    return path
