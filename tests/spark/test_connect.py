"""Over Spark Connect: the standard nearest-by join of a client is run by the engine on the server,
and kNearestJoin says what to call instead.
"""

import json
import os
import subprocess
import sys

import pytest
from tests.spark.conftest import ROOT, jars

# A client may not share its process with a classic session.
CLIENT = """
import json, sys
sys.path.insert(0, sys.argv[2])
from pyspark.sql import SparkSession, functions
spark = (SparkSession.builder.remote("local[2]").config("spark.jars", sys.argv[3])
    .config("spark.sql.extensions", "io.kinjo.spark.KinjoExtensions")
    .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
items = spark.read.format("kinjo").load(sys.argv[1])
queries = items.where("id % 97 = 0").selectExpr("id AS number", "vec AS query")
told = {}
spark.conf.set("spark.kinjo.nprobes", "100")
for mode in ("approx", "exact"):
    near = queries.nearestByJoin(items, functions.expr("vector_l2_distance(query, vec)"), 3,
                                 mode=mode, direction="distance").select("number", "id")
    told[mode] = sorted(map(list, near.collect()))
    told[mode + " plan"] = near._explain_string()
items.createOrReplaceTempView("items")
queries.createOrReplaceTempView("queries")
told["sql"] = sorted(map(list, spark.sql(
    "SELECT number, id FROM queries JOIN items EXACT NEAREST 3 BY DISTANCE "
    "vector_l2_distance(query, vec)").collect()))
import kinjo_spark
for name, call in (("join", lambda: queries.kNearestJoin(items, "query", 3)),
                   ("function", lambda: kinjo_spark.kNearestJoin(queries, items, "query", 3)),
                   ("index", lambda: kinjo_spark.create_index(spark, sys.argv[1]))):
    try:
        call()
    except Exception as failure:
        told[name] = type(failure).__name__ + ": " + str(failure)
print("told " + json.dumps(told))
spark.stop()
"""


@pytest.fixture(scope="module")
def told():
    """What a client saw."""
    dataset = ROOT / "tests" / "golden" / "flat_l2.lance"
    plugin = next(path for path in jars() if "spark" in path.name)
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(dataset), str(plugin), ",".join(map(str, jars()))],
        capture_output=True, text=True, env=os.environ | {"PYSPARK_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr[-3_000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    return json.loads(lines[0].removeprefix("told "))


def test_nearest_by_is_run_by_the_engine(told):
    assert len(told["exact"]) == 24
    assert told["approx"] == told["exact"] == told["sql"]
    for mode in ("approx plan", "exact plan"):
        assert "KNearest " in told[mode] and "KNearestFallback" not in told[mode]


def test_what_connect_has_not_is_told(told):
    for name in ("join", "function"):
        assert "nearestByJoin" in told[name] and "Connect" in told[name]
    assert "Connect" in told["index"]
