"""The sides that joins on clusters are tried with, the command line's answer, and the same join by
Spark.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WIDTH = 32
RIGHT_ROWS = 6_000


def vectors(rows, seed):
    values = np.random.default_rng(seed).standard_normal((rows, WIDTH), dtype=np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), WIDTH)


def make_sides(kinjo, folder, left_rows):
    """-> (a Parquet file of left rows, a dataset of three fragments with an index)."""
    left, right, dataset = folder / "left.parquet", folder / "right.parquet", folder / "right.lance"
    numbers = pa.array(range(left_rows), pa.int64())
    pq.write_table(pa.table({"number": numbers, "query": vectors(left_rows, 1)}), left)
    ids = pa.array(range(RIGHT_ROWS), pa.int64())
    pq.write_table(pa.table({"id": ids, "vec": vectors(RIGHT_ROWS, 2)}), right)
    kinjo("import", right, dataset, "--max-rows-per-file", 2_000)
    kinjo("index", "create", dataset, "--num-partitions", 16, "--num-sub-vectors", 8)
    return left, dataset


def command_line_rows(kinjo, sides, output):
    """What triples() gives of the same join."""
    kinjo("join", "--left", sides[0], "--right", sides[1], "--left-on", "query",
          "--right-on", "vec", "-k", 5, "--nprobes", 4, "--refine-factor", 5, "-o", output)
    return triples(pq.read_table(output).to_pylist())


def triples(rows):
    """(number, id, distance, rank) of each row."""
    return [(row["number"], row["id"], row["_distance"], row["_rank"]) for row in rows]


def left_of(cluster, sides, partitions):
    """The left rows in their order: sorting by range keeps it across partitions."""
    left = cluster.read.parquet(str(sides[0]))
    return left.repartitionByRange(partitions, "number").sortWithinPartitions("number")


def joined(left, sides, **options):
    return left.kNearestJoin(str(sides[1]), "query", 5, nprobes=4, refine_factor=5, **options)
