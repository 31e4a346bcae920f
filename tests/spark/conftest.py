"""PySpark sessions with the plugin's jars, as a user starts them: nothing is set but the jars and
the extension. `./dev spark` builds the jars and runs these tests in an environment with PySpark.
"""

import os
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LINE = os.environ.get("KINJO_SPARK_LINE", "4.2")


def jars():
    found = [path for pattern in ("jvm/kinjo-*.jar", f"spark-{LINE}/kinjo-spark-*.jar")
             for path in sorted(BUILD.glob(pattern))]
    assert len(found) == 3, f"{found}: build the jars with ./dev spark"
    return found


def session(master, folder, **settings):
    """A session; names of settings with _ for each dot."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = ",".join(map(str, jars()))
    builder = (
        SparkSession.builder.master(master)
        .config("spark.jars", paths)
        .config("spark.submit.pyFiles", paths)
        .config("spark.sql.extensions", "io.kinjo.spark.KinjoExtensions")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
    )
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    # As --py-files does before the driver's program begins.
    sys.path.insert(0, next(str(path) for path in jars() if "spark" in path.name))
    import kinjo_spark  # noqa: F401  gives DataFrames kNearestJoin
    return made


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of two threads in this machine's JVM."""
    made = session("local[2]", tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()
