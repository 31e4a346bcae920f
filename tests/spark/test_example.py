"""The notebook runs from its first cell to its last, as its own first lines say it is started."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from tests.spark.conftest import LINE, ROOT, jars

ROWS, WIDTH = 3_000, 16


def test_every_cell(kinjo, tmp_path):
    values = np.random.default_rng(5).standard_normal((ROWS, WIDTH), dtype=np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), WIDTH)
    pq.write_table(pa.table({"id": pa.array(range(ROWS), pa.int64()), "vec": vectors}),
                   tmp_path / "items.parquet")
    kinjo("import", tmp_path / "items.parquet", tmp_path / "items.lance",
          "--max-rows-per-file", 1_000)
    paths = [str(path) for path in jars()]
    home = Path(pyspark.__file__).parent
    done = subprocess.run(
        [home / "bin" / "spark-submit", "--master", "local[2]", "--jars", ",".join(paths),
         "--py-files", next(path for path in paths if f"spark-{LINE}" in path),
         "--conf", "spark.sql.extensions=io.kinjo.spark.KinjoExtensions",
         "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
         "--conf", "spark.driver.bindAddress=127.0.0.1",
         ROOT / "examples" / "spark" / "nearest.py", tmp_path / "items.lance"],
        capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable,
                          "SPARK_LOCAL_IP": "127.0.0.1"})
    assert done.returncode == 0, done.stderr[-3_000:]
    assert f"{ROWS} items" in done.stdout
    assert float(re.search(r"recall@5 (\d\.\d+)", done.stdout)[1]) > 0.9
    assert "KNearest " in done.stdout
