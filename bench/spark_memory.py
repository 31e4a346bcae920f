"""What an executor takes while four tasks join at a time, by the size of the right side: peak
resident memory, and the heap that lives after a full collection. python -m bench.spark_memory
FOLDER PROGRAM ROWS..., in PySpark's environment, after ./dev spark.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.spark.conftest import session

WIDTH, TASKS, LEFT_ROWS, CHUNK = 128, 4, 40_000, 500_000
MIB = 1 << 20


def vectors(rows, seed):
    """Points around centres, so that partitions have something to find."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((2_000, WIDTH), dtype=np.float32)
    values = centres[random.integers(len(centres), size=rows)]
    values += 0.3 * random.standard_normal((rows, WIDTH), dtype=np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), WIDTH)


def dataset(place, program, rows):
    """A dataset of so many rows with an IVF_PQ index, made chunk by chunk."""
    uri, chunk = place / f"right-{rows}.lance", place / "chunk.parquet"
    if (place / f"ready-{rows}").exists():
        return uri
    for begin in range(0, rows, CHUNK):
        ids = pa.array(range(begin, begin + CHUNK), pa.int64())
        pq.write_table(pa.table({"id": ids, "vec": vectors(CHUNK, begin + 1)}), chunk,
                       compression="none", use_dictionary=False)
        subprocess.run([program, "import", chunk, uri, "--mode", "append" if begin else "create"],
                       check=True, capture_output=True)
    chunk.unlink()
    partitions = 1 << round(np.log2(rows**0.5))
    subprocess.run([program, "index", "create", uri, "--num-partitions", str(partitions),
                    "--num-sub-vectors", "16"], check=True, capture_output=True)
    (place / f"ready-{rows}").write_text("")
    return uri


def executor(driver):
    """The process of the only executor, which descends from this one."""
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and driver in line:
            return int(place.name)
    raise SystemExit("no executor")


def resident(process, kind):
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith(kind))


def live_heap(process):
    """Bytes in use after a full collection."""
    subprocess.run(["jcmd", str(process), "GC.run"], check=True, capture_output=True)
    told = subprocess.run(["jstat", "-gc", str(process)], check=True, capture_output=True,
                          text=True)
    names, values = (line.split() for line in told.stdout.splitlines()[:2])
    used = dict(zip(names, map(float, values)))
    return sum(used[name] for name in ("S0U", "S1U", "EU", "OU")) * 1024


def measure(place, program, rows):
    uri = dataset(place, program, rows)
    spark = session(f"local-cluster[1,{TASKS},1024]", place, spark_executor_memory="1g",
                    spark_executor_cores=str(TASKS))
    left_path = place / "left.parquet"
    pq.write_table(pa.table({"number": pa.array(range(LEFT_ROWS), pa.int64()),
                             "query": vectors(LEFT_ROWS, 7)}), left_path)
    left = spark.read.parquet(str(left_path)).repartition(2 * TASKS)
    left.write.format("noop").mode("overwrite").save()
    process = executor(str(spark.sparkContext.getConf().get("spark.driver.port")).encode())
    before = resident(process, "VmRSS")
    joined = left.kNearestJoin(str(uri), "query", 10, nprobes=32, refine_factor=5)
    begin = time.monotonic()
    joined.select("number", "id").write.format("noop").mode("overwrite").save()
    seconds = time.monotonic() - begin
    print(f"{rows:>11,} | {before / MIB:8.0f} | {resident(process, 'VmHWM') / MIB:8.0f} | "
          f"{live_heap(process) / MIB:8.0f} | {seconds:6.1f}", flush=True)
    spark.stop()


def main(place, program, sizes):
    place.mkdir(parents=True, exist_ok=True)
    print(f"{TASKS} tasks at a time, {LEFT_ROWS:,} left rows, width {WIDTH}; MiB")
    print(" right rows | before   | peak RSS | live heap | seconds", flush=True)
    for rows in sizes:
        measure(place, program, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], list(map(int, sys.argv[3:])))
