"""The half of the Spark bench that runs in PySpark's environment: python -m bench.spark_session
FOLDER PROGRAM ROUNDS THREADS, by bench/spark.py.
"""

import subprocess
import sys
from pathlib import Path

import lance
import numpy as np
import pandas as pd

from bench.paired import Rival, now, print_race, race
from bench.spark import SEGMENTS
from tests.spark.conftest import session

K = 10
WAY = {"nprobes": 24, "refine_factor": 5}
# Left rows of one run, so that each rival takes seconds.
FEW, EXACT_ROWS, SOME = 100, 2_000, 200
SMALL_RIGHT = 100_000
RESULT = "number long, id long"


class Sides:
    def __init__(self, spark, place, program, threads):
        self.spark, self.program, self.threads = spark, program, threads
        self.left_path, self.right = place / "left.parquet", str(place / "right.lance")
        self.segments = str(place / "segments.lance")
        self.output = place / "out.arrow"
        self.left = spark.read.parquet(str(self.left_path)).repartition(2 * threads).cache()
        self.rows = self.left.count()

    def head(self, rows):
        """The first left rows, in a partition a thread."""
        some = self.left.where(f"number < {rows}").repartition(self.threads).cache()
        some.count()
        return some


def drained(frame):
    """Seconds until all rows were made, and thrown away."""
    begin = now()
    frame.write.format("noop").mode("overwrite").save()
    return now() - begin


def numpy_broadcast(sides, left):
    """Brute force against a broadcast matrix, block by block: exact, and what users write."""
    right = lance.dataset(sides.right).to_table(columns=["vec"]).column("vec").combine_chunks()
    matrix = np.asarray(right.values).reshape(-1, right.type.list_size)
    shared = sides.spark.sparkContext.broadcast((matrix, (matrix**2).sum(1)))

    def nearest(frames):
        vectors, norms = shared.value
        for frame in frames:
            for begin in range(0, len(frame), 128):
                part = frame.iloc[begin:begin + 128]
                distances = norms - 2 * (np.stack(part["query"].to_numpy()) @ vectors.T)
                ids = np.argpartition(distances, K, axis=1)[:, :K]
                order = np.argsort(np.take_along_axis(distances, ids, 1), axis=1)
                ids = np.take_along_axis(ids, order, 1)
                yield pd.DataFrame({"number": np.repeat(part["number"].to_numpy(), K),
                                    "id": ids.reshape(-1)})

    return lambda: drained(left.mapInPandas(nearest, RESULT))


def pylance_by_row(sides, left):
    uri, way = sides.right, WAY

    def nearest(frames):
        dataset = lance.dataset(uri)
        for frame in frames:
            for number, query in zip(frame["number"], frame["query"]):
                found = dataset.to_table(columns=["id"], nearest={
                    "column": "vec", "q": np.asarray(query, np.float32), "k": K,
                    "nprobes": way["nprobes"], "refine_factor": way["refine_factor"]})
                yield pd.DataFrame({"number": number, "id": found["id"].to_numpy()})

    return lambda: drained(left.mapInPandas(nearest, RESULT))


def command_line(sides):
    words = [sides.program, "join", "--left", sides.left_path, "--right", sides.right,
             "--left-on", "query", "--right-on", "vec", "-k", K, "--nprobes", WAY["nprobes"],
             "--refine-factor", WAY["refine_factor"], "--left-select", "number",
             "--right-select", "id", "--threads", sides.threads, "-o", sides.output]

    def once():
        begin = now()
        subprocess.run(list(map(str, words)), check=True, capture_output=True)
        return now() - begin

    return once


def indexed(sides, left):
    return left.kNearestJoin(sides.right, "query", K, **WAY).select("number", "id")


def segmented(sides, scoped):
    """The same on an index of several segments, each task over all of them or over one."""
    return sides.left.kNearestJoin(sides.segments, "query", K, segment_scoped=scoped,
                                   **WAY).select("number", "id")


def exact(sides, left):
    return left.kNearestJoin(sides.right, "query", K, index="never").select("number", "id")


def found_share(sides):
    """Recall of the indexed way on some rows, against the exact one."""
    left = sides.head(SOME)
    pairs = [set(map(tuple, frame(sides, left).collect())) for frame in (indexed, exact)]
    return len(pairs[0] & pairs[1]) / len(pairs[1])


def nearest_by(sides):
    """Spark's own plan of the same SQL, once: (seconds with the engine, without)."""
    spark = sides.spark
    right = spark.read.format("kinjo").load(sides.right).where(f"id < {SMALL_RIGHT}")
    right.createOrReplaceTempView("items")
    sides.head(FEW).createOrReplaceTempView("queries")
    sql = (f"SELECT number, id FROM queries JOIN items EXACT NEAREST {K} BY DISTANCE "
           "vector_l2_distance(query, vec)")
    drained(spark.sql(sql))
    ours = drained(spark.sql(sql))
    spark.conf.set("spark.kinjo.enabled", "false")
    try:
        return ours, drained(spark.sql(sql))
    finally:
        spark.conf.unset("spark.kinjo.enabled")


def staged(sides, rounds):
    """What scopes cost: a second stage, and left rows that are written once."""
    import kinjo_spark  # in the plugin's jar, which the session put on the path

    begin = now()
    kinjo_spark.create_index(sides.spark, sides.segments, name="vec_idx", replace=True,
                             segments=SEGMENTS,
                             num_partitions=1024, num_sub_vectors=32)
    print(f"\nan index of {SEGMENTS} segments, built by tasks: {now() - begin:.1f} s", flush=True)
    rivals = [
        Rival("kinjo, SPARK_DIST", sides.rows, lambda: drained(segmented(sides, "never"))),
        Rival("kinjo, SPARK_STAGED", sides.rows, lambda: drained(segmented(sides, "always"))),
    ]
    title = f"Spark: {sides.rows:,} left rows on 1M x 128 in {SEGMENTS} segments"
    print_race(f"{title}, k = {K}, {WAY}", rivals, race(rivals, rounds))


def main(place, program, rounds, threads):
    spark = session(f"local[{threads}]", place, spark_driver_memory="6g")
    sides = Sides(spark, place, program, threads)
    left, some = sides.head(EXACT_ROWS), sides.head(SOME)
    rivals = [
        Rival("kinjo, SPARK_DIST", sides.rows, lambda: drained(indexed(sides, sides.left))),
        Rival("kinjo, command line", sides.rows, command_line(sides)),
        Rival("pylance by row", SOME, pylance_by_row(sides, some)),
        Rival("numpy broadcast", EXACT_ROWS, numpy_broadcast(sides, left)),
    ]
    title = f"Spark: {sides.rows:,} left rows on 1M x 128, k = {K}, {WAY}"
    print_race(f"{title}, recall {found_share(sides):.4f}", rivals, race(rivals, rounds))
    rivals = [
        Rival("kinjo, exact", EXACT_ROWS, lambda: drained(exact(sides, left))),
        Rival("numpy broadcast", EXACT_ROWS, rivals[-1].run),
    ]
    print_race(f"Spark, exact: {EXACT_ROWS:,} left rows", rivals, race(rivals, rounds))
    staged(sides, rounds)
    ours, own = nearest_by(sides)
    print(f"\nSpark, EXACT NEAREST BY, {FEW} left rows on {SMALL_RIGHT:,} right ones: "
          f"Spark's plan {own:.1f} s, kinjo {ours:.2f} s: {own / ours:.0f}x", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
