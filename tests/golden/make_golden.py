"""Makes the golden datasets: small Lance datasets that pylance wrote, and its answers on them.

    python make_golden.py [name ...]

Each name below is a folder `<name>.lance`, often with `<name>.search.json` beside it, the
answers of pylance's `nearest`, and `<name>.rows.arrow`, all live rows as pylance scans them with
`_rowid` and `_rowaddr`. The values come from seeds; file names, index models and so the answers
differ from run to run, which is why all of it is committed. README.md tells what is odd in each.
"""

import decimal
import json
import math
import pathlib
import shutil
import sys

import lance
import numpy as np
import pyarrow as pa
from lance.indices import IndexConfig

PYLANCE_VERSION = "14.0.2"
HERE = pathlib.Path(__file__).resolve().parent
QUERIES = 10
K = 10


def vectors(rows, dim, seed, clusters=8):
    """Clustered float32 vectors: an index finds structure, and no two rows are equal."""
    random = np.random.default_rng(seed)
    centers = random.normal(0, 3, (clusters, dim))
    values = centers[random.integers(0, clusters, rows)] + random.normal(0, 1, (rows, dim))
    return values.astype(np.float32)


def fixed_size_list(values, value_type=None):
    flat = pa.array(values.reshape(-1), type=value_type)
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def vector_table(values, first_id=0, value_type=None):
    ids = np.arange(first_id, first_id + len(values), dtype=np.int64)
    return pa.table(
        {
            "id": ids,
            "name": [f"name-{i:05d}" for i in ids],
            "vec": fixed_size_list(values, value_type),
        }
    )


def path_of(name):
    path = HERE / f"{name}.lance"
    shutil.rmtree(path, ignore_errors=True)
    return str(path)


def write_rows(name, dataset, columns=None):
    """All live rows as pylance scans them, with `_rowid` and `_rowaddr`."""
    table = dataset.scanner(columns=columns, with_row_id=True, with_row_address=True).to_table()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(HERE / f"{name}.rows.arrow"), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table.combine_chunks())


def nearest(dataset, query, nprobes, refine_factor, ef):
    search = {"column": "vec", "q": query, "k": K, "nprobes": nprobes}
    if refine_factor is not None:
        search["refine_factor"] = refine_factor
    if ef is not None:
        search["ef"] = ef
    scanner = dataset.scanner(columns=["id", "_distance"], nearest=search, with_row_id=True)
    return scanner.to_table()


def short(values):
    """float32 values with as few digits as tell them apart."""
    return [float(str(value)) for value in values]


def write_search(name, dataset, queries, metric, num_partitions, refine_factors=(None, 5), ef=None):
    """pylance's answers: a few probe counts, plain and refined. Distances are as pylance reports
    them (squared L2 of unit vectors for PQ under cosine, unrefined)."""
    searches = []
    for nprobes in sorted({1, 3, num_partitions}):
        for refine_factor in refine_factors:
            found = [nearest(dataset, query, nprobes, refine_factor, ef) for query in queries]
            searches.append(
                {
                    "nprobes": nprobes,
                    "refine_factor": refine_factor,
                    **({} if ef is None else {"ef": ef}),
                    "ids": [table["id"].to_pylist() for table in found],
                    "row_ids": [table["_rowid"].to_pylist() for table in found],
                    "distances": [short(table["_distance"].to_numpy()) for table in found],
                }
            )
    content = {
        "column": "vec",
        "metric": metric,
        "k": K,
        "num_partitions": num_partitions,
        "queries": [short(query) for query in queries],
        "searches": searches,
    }
    (HERE / f"{name}.search.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


def make_index(name, index_type, metric, value_type=None, rows=700, dim=16, **options):
    values = vectors(rows, dim, seed=11)
    table = vector_table(values.astype(value_type.to_pandas_dtype()) if value_type else values,
                         value_type=value_type)
    dataset = lance.write_dataset(table, path_of(name))
    dataset.create_index("vec", index_type, metric=metric, num_partitions=8, **options)
    return lance.dataset(dataset.uri)


def make_indexed(name, index_type, metric, value_type=None, rows=700, dim=16, ef=None, **options):
    dataset = make_index(name, index_type, metric, value_type, rows, dim, **options)
    write_search(name, dataset, vectors(QUERIES, dim, seed=12), metric, 8, ef=ef)


def bits(rows, dim, seed, clusters=8):
    """Clustered uint8 vectors: each bit of a centre is flipped with a chance of one in four."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(14).integers(0, 256, (clusters, dim), dtype=np.uint8)
    flips = random.integers(0, 256, (2, rows, dim), dtype=np.uint8)
    return centers[random.integers(0, clusters, rows)] ^ (flips[0] & flips[1])


def make_hamming(name, rows=600, dim=12):
    dataset = lance.write_dataset(vector_table(bits(rows, dim, seed=15)), path_of(name))
    dataset.create_index("vec", "IVF_FLAT", metric="hamming", num_partitions=8)
    queries = bits(QUERIES, dim, seed=16)
    write_search(name, lance.dataset(dataset.uri), queries, "hamming", 8)


def scalar_columns(rows):
    """One column of each scalar type, with values at both ends of its range."""
    random = np.random.default_rng(5)
    columns = {"bool": pa.array(random.integers(0, 2, rows).astype(bool))}
    for bits in (8, 16, 32, 64):
        for kind in ("int", "uint"):
            info = np.iinfo(f"{kind}{bits}")
            values = random.integers(info.min, info.max, rows, dtype=info.dtype, endpoint=True)
            values[:2] = info.min, info.max
            columns[f"{kind}{bits}"] = pa.array(values)
    for bits in (16, 32, 64):
        values = random.normal(0, 100, rows).astype(f"float{bits}")
        values[:4] = 0.0, -0.0, np.inf, -np.inf
        columns[f"float{bits}"] = pa.array(values)
    words = ["", "a", "neighbour", "近所", "x" * 60, "naïve"]
    texts = [words[i % len(words)] + ("" if i < 12 else str(i)) for i in range(rows)]
    columns["string"] = pa.array(texts)
    columns["large_string"] = pa.array(texts, pa.large_string())
    blobs = [bytes(random.integers(0, 256, i % 37, dtype=np.uint8)) for i in range(rows)]
    columns["binary"] = pa.array(blobs, pa.binary())
    columns["large_binary"] = pa.array(blobs, pa.large_binary())
    columns["fixed_binary"] = pa.array([b.ljust(5, b"\1")[:5] for b in blobs], pa.binary(5))
    columns["date32"] = pa.array(random.integers(-30000, 30000, rows).astype(np.int32), pa.date32())
    days = random.integers(-30000, 30000, rows).astype(np.int64)
    columns["date64"] = pa.array(days * 86_400_000, pa.date64())
    ticks = random.integers(-(2**40), 2**40, rows).astype(np.int64)
    for unit in ("s", "ms", "us", "ns"):
        columns[f"timestamp_{unit}"] = pa.array(ticks, pa.timestamp(unit))
    columns["timestamp_us_utc"] = pa.array(ticks, pa.timestamp("us", "UTC"))
    columns["time32_ms"] = pa.array((ticks % 86_400_000).astype(np.int32), pa.time32("ms"))
    columns["time64_us"] = pa.array(ticks % 86_400_000_000, pa.time64("us"))
    columns["duration_ms"] = pa.array(ticks, pa.duration("ms"))
    decimals = [decimal.Decimal(int(t)).scaleb(-3) for t in ticks]
    columns["decimal128"] = pa.array(decimals, pa.decimal128(20, 3))
    return columns


def vector_columns(rows):
    random = np.random.default_rng(6)
    columns = {}
    for name, dim in (("float16", 6), ("float32", 4), ("float64", 3)):
        columns[f"vec_{name}"] = fixed_size_list(random.normal(0, 2, (rows, dim)).astype(name))
    columns["vec_uint8"] = fixed_size_list(random.integers(0, 256, (rows, 5), dtype=np.uint8))
    columns["vec_int8"] = fixed_size_list(random.integers(-128, 128, (rows, 7), dtype=np.int8))
    columns["vec_wide"] = fixed_size_list(random.normal(0, 2, (rows, 64)).astype(np.float32))
    return columns


def with_nulls(array, step):
    """The same column with every step-th row null."""
    return array.take(pa.array([i if i % step != 1 else None for i in range(len(array))]))


def types_table(rows=48):
    plain = {**scalar_columns(rows), **vector_columns(rows)}
    fields, arrays = [], []
    for number, (name, array) in enumerate(plain.items()):
        fields.append(pa.field(name, array.type, nullable=False))
        arrays.append(array)
        fields.append(pa.field(f"{name}_null", array.type, nullable=True))
        arrays.append(with_nulls(array, 3 + number % 5))
    fields.append(pa.field("all_null", pa.int32()))
    arrays.append(pa.nulls(rows, pa.int32()))
    fields.append(pa.field("constant", pa.string()))
    arrays.append(pa.array(["same"] * rows))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def make_types(version):
    name = f"types_v{version.replace('.', '')}"
    dataset = lance.write_dataset(types_table(), path_of(name), data_storage_version=version,
                                  max_rows_per_file=32)
    if version == "2.2":
        write_rows("types", dataset)


def make_deletes():
    name = "deletes"
    values = vectors(6300, 4, seed=21)
    table = vector_table(values).select(["id", "vec"])
    dataset = lance.write_dataset(table, path_of(name), max_rows_per_file=5700)
    dataset.create_index("vec", "IVF_PQ", metric="l2", num_partitions=4, num_sub_vectors=2)
    dataset.delete("id % 9 != 0 AND id < 5700")
    dataset.delete("id % 10 = 3 AND id >= 5700")
    dataset = lance.dataset(dataset.uri)
    write_rows(name, dataset, ["id"])
    write_search(name, dataset, vectors(QUERIES, 4, seed=22), "l2", 4)


def make_deltas():
    name = "deltas"
    values = vectors(1000, 16, seed=31)
    table = vector_table(values)
    path = path_of(name)
    dataset = lance.write_dataset(table.slice(0, 500), path, max_rows_per_file=300)
    dataset.create_index("vec", "IVF_PQ", metric="l2", num_partitions=4, num_sub_vectors=4)
    dataset = lance.write_dataset(table.slice(500, 350), path, mode="append")
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    dataset = lance.write_dataset(table.slice(850, 150), path, mode="append")
    dataset.delete("id % 7 = 2")
    dataset = lance.dataset(path)
    write_rows(name, dataset, ["id", "name"])
    write_search(name, dataset, vectors(QUERIES, 16, seed=32), "l2", 4)


def make_stable_ids():
    name = "stable_ids"
    table = vector_table(vectors(700, 8, seed=41))
    path = path_of(name)
    dataset = lance.write_dataset(table.slice(0, 600), path, max_rows_per_file=350,
                                  enable_stable_row_ids=True)
    dataset.create_index("vec", "IVF_PQ", metric="l2", num_partitions=4, num_sub_vectors=4)
    dataset.update({"name": "'updated'"}, where="id % 10 = 4")
    dataset.delete("id % 11 = 5")
    dataset = lance.write_dataset(table.slice(600, 100), path, mode="append")
    changed = table.take([3, 100, 501, 650, 20]).set_column(1, "name", pa.array(["merged"] * 5))
    dataset.merge_insert("id").when_matched_update_all().execute(changed)
    dataset = lance.dataset(path)
    write_rows(name, dataset, ["id", "name"])
    write_search(name, dataset, vectors(QUERIES, 8, seed=42), "l2", 4)


def make_v1_names():
    name = "v1_names"
    table = vector_table(vectors(60, 4, seed=51))
    path = path_of(name)
    dataset = lance.write_dataset(table.slice(0, 40), path, enable_v2_manifest_paths=False)
    for first in (40, 45, 50, 55):
        dataset = lance.write_dataset(table.slice(first, 5), path, mode="append")
    for step in range(6):
        dataset.delete(f"id = {step * 9}")
    write_rows(name, lance.dataset(path))


def make_added_column():
    name = "added_column"
    table = vector_table(vectors(90, 4, seed=61))
    path = path_of(name)
    dataset = lance.write_dataset(table.slice(0, 80), path, max_rows_per_file=50)
    dataset.add_columns({"doubled": "id * 2", "text": "concat(name, '!')"})
    dataset.add_columns(pa.field("never_written", pa.float32()))
    dataset = lance.write_dataset(table.slice(80, 10).select(["id", "vec"]), path, mode="append")
    dataset.delete("id % 8 = 1")
    write_rows(name, lance.dataset(path))


def make_changed_columns():
    name = "changed_columns"
    table = vector_table(vectors(60, 4, seed=71))
    table = table.append_column("small", pa.array(np.arange(60, dtype=np.int32)))
    table = table.append_column("gone", pa.array(["x"] * 60))
    path = path_of(name)
    dataset = lance.write_dataset(table, path, max_rows_per_file=32)
    dataset.create_index("vec", "IVF_FLAT", metric="l2", num_partitions=2)
    dataset.tags.create("before_the_rename", dataset.version)
    dataset.drop_columns(["gone"])
    dataset.alter_columns({"path": "name", "name": "title"})
    dataset.alter_columns({"path": "small", "data_type": pa.int64()})
    dataset.alter_columns({"path": "vec", "name": "embedding"})
    write_rows(name, lance.dataset(path))


def make_frag_reuse():
    name = "frag_reuse"
    table = vector_table(vectors(300, 4, seed=81))
    path = path_of(name)
    dataset = lance.write_dataset(table, path, max_rows_per_file=100)
    dataset.create_index("vec", "IVF_FLAT", metric="l2", num_partitions=2)
    dataset.delete("id % 5 = 0")
    dataset.optimize.compact_files(defer_index_remap=True)
    write_rows(name, lance.dataset(path), ["id", "name"])


def filter_columns(ids):
    """Columns to filter by: some values of each are null, and of the floats some NaN."""
    zeros = [0.0, -0.0, math.nan, math.inf, -math.inf, -math.nan]
    floats = [zeros[i % 7] if i % 7 < 6 else (i * 37 % 101) / 4 for i in ids]
    columns = {
        "id": pa.array(ids, pa.int64()),
        "i": pa.array([i * 7919 % 257 - 100 for i in ids], pa.int32()),
        "f": pa.array(floats, pa.float64()),
        "f_bits": pa.array(floats, pa.float64()),
        "s": pa.array([f"s{i * 31 % 23:02d}" for i in ids]),
        "s_bits": pa.array([f"s{i * 31 % 23:02d}" for i in ids]),
        "b": pa.array([i % 3 == 0 for i in ids]),
        "d": pa.array([i * 13 % 400 for i in ids], pa.int32()).cast(pa.date32()),
        "t": pa.array([i * 977 % 5000 * 1000 for i in ids], pa.int64()).cast(pa.timestamp("us")),
        "plain": pa.array([i % 10 for i in ids], pa.int64()),
        "vec": fixed_size_list(vectors(len(ids), 2, seed=95)),
    }
    for step, name in enumerate(["i", "f", "f_bits", "s", "s_bits", "b", "d", "t"]):
        columns[name] = with_nulls(columns[name], 6 + step)
    return pa.table(columns)


def make_filters(name, stable):
    """A B-tree or bitmap on each column but `plain`; small pages, so that some are skipped."""
    path = path_of(name)
    dataset = lance.write_dataset(filter_columns(range(500)), path, max_rows_per_file=300,
                                  enable_stable_row_ids=stable)
    pages = IndexConfig(index_type="btree", parameters={"zone_size": 32})
    for column in ["i", "f", "s", "d", "t"]:
        dataset.create_scalar_index(column, pages)
    for column in ["f_bits", "s_bits", "b"]:
        dataset.create_scalar_index(column, "BITMAP")
    dataset.delete("id % 9 = 4")
    dataset.update({"i": "i + 1000", "s_bits": "'moved'"}, where="id % 50 = 7")
    dataset = lance.write_dataset(filter_columns(range(500, 560)), path, mode="append")
    write_rows(name, dataset)


def make_other_version(name, version):
    lance.write_dataset(vector_table(vectors(5, 2, seed=91)), path_of(name),
                        data_storage_version=version)


MAKERS = {
    "types_v20": lambda: make_types("2.0"),
    "types_v21": lambda: make_types("2.1"),
    "types_v22": lambda: make_types("2.2"),
    "flat_l2": lambda: make_indexed("flat_l2", "IVF_FLAT", "l2"),
    "flat_cosine": lambda: make_indexed("flat_cosine", "IVF_FLAT", "cosine", rows=600),
    "pq8_l2": lambda: make_indexed("pq8_l2", "IVF_PQ", "l2", num_sub_vectors=4),
    "pq8_cosine": lambda: make_indexed("pq8_cosine", "IVF_PQ", "cosine", num_sub_vectors=4),
    "pq8_dot": lambda: make_indexed("pq8_dot", "IVF_PQ", "dot", num_sub_vectors=4),
    "pq4_l2": lambda: make_indexed("pq4_l2", "IVF_PQ", "l2", num_sub_vectors=8, num_bits=4),
    "pq_f16": lambda: make_indexed("pq_f16", "IVF_PQ", "l2", pa.float16(), num_sub_vectors=4),
    "sq_l2": lambda: make_index("sq_l2", "IVF_SQ", "l2", rows=240),
    "rq_l2": lambda: make_index("rq_l2", "IVF_RQ", "l2", rows=240),
    "hnsw_sq": lambda: make_indexed("hnsw_sq", "IVF_HNSW_SQ", "l2", rows=240, ef=60),
    "flat_hamming": lambda: make_hamming("flat_hamming"),
    "deletes": make_deletes,
    "deltas": make_deltas,
    "stable_ids": make_stable_ids,
    "v1_names": make_v1_names,
    "added_column": make_added_column,
    "changed_columns": make_changed_columns,
    "frag_reuse": make_frag_reuse,
    "filters": lambda: make_filters("filters", stable=False),
    "filters_stable": lambda: make_filters("filters_stable", stable=True),
    "legacy": lambda: make_other_version("legacy", "legacy"),
    "next": lambda: make_other_version("next", "next"),
}


def main(names):
    if lance.__version__ != PYLANCE_VERSION:
        sys.exit(f"made with pylance {PYLANCE_VERSION} only, this is {lance.__version__}")
    unknown = sorted(set(names) - set(MAKERS))
    if unknown:
        sys.exit(f"no such dataset: {', '.join(unknown)}; there are: {', '.join(MAKERS)}")
    for name in names or MAKERS:
        MAKERS[name]()
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
