"""The join on Spark, one warm session of local mode: through the index (SPARK_DIST), by scopes of
its segments (SPARK_STAGED) and exactly, against what users write by hand, and against Spark's own
nearest-by join and the command line.

Needs the jars and the environment that `./dev spark` makes. The rivals run in PySpark's own
environment (bench/spark_session.py); this half makes the data.
"""

import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import clustered
from tools import building, machine, spark_plugin
from tools.terminal import Failure, run as run_command, step

ROWS, WIDTH, QUERIES = 1_000_000, 128, 100_000
# Fragments of the copy whose index has a segment for each.
SEGMENTS = 4


def table(vectors, name):
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), WIDTH)
    return pa.table({name: pa.array(range(len(vectors)), pa.int64()), "vec": flat})


def prepare(folder):
    """-> the folder with left.parquet, right.lance and its index, and the same rows in several
    fragments, which the bench indexes itself (segments.lance)."""
    place = folder / "spark"
    if (place / "ready").exists():
        return place
    step("making the data of the Spark bench")
    place.mkdir(exist_ok=True)
    program = building.folder("release") / "cli" / "kinjo"
    right, left = clustered(ROWS, WIDTH, queries=QUERIES)
    pq.write_table(table(left, "number").rename_columns(["number", "query"]),
                   place / "left.parquet", row_group_size=10_000)
    pq.write_table(table(right, "id"), place / "right.parquet")
    run_command([program, "import", place / "right.parquet", place / "right.lance"])
    run_command([program, "index", "create", place / "right.lance", "--num-partitions", "1024",
                 "--num-sub-vectors", "32"])
    run_command([program, "import", place / "right.parquet", place / "segments.lance",
                 "--max-rows-per-file", str(ROWS // SEGMENTS)])
    (place / "ready").write_text("")
    return place


def run(folder, rounds, threads):
    python = spark_plugin.VENV / "bin" / "python"
    if not python.exists():
        raise Failure("the Spark bench needs what ./dev spark makes; run it first")
    machine.install_requirements("spark-bench", spark_plugin.VENV)
    program = building.folder("release") / "cli" / "kinjo"
    run_command([python, "-m", "bench.spark_session", prepare(folder), program, str(rounds),
                 str(threads)], cwd=machine.ROOT)
