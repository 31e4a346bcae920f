"""What Python adds to a join: of one row, beyond the same call in C++; and of ten million result
rows, which cross without a copy. Runs itself in the package's environment (./dev python makes it).
"""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "build" / "python" / "venv" / "bin" / "python"
PROGRAM = ROOT / "build" / "release" / "bench" / "faces" / "cpp_face"
WIDTH = 16
JOINS = 300
LEFT_ROWS, K = 100_000, 100


def run(folder, rounds, threads):
    """As the other benches; it uses one thread, whatever `threads` says."""
    if not PYTHON.exists():
        print("\nPython's cost: skipped, ./dev python makes what it needs")
        return
    subprocess.run([PYTHON, "-m", "bench.python_face", folder, str(rounds)], cwd=ROOT, check=True)


def in_cpp(*words):
    command = [PROGRAM, words[0], WIDTH, *words[1:]]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def measure(folder, rounds):
    import time

    import kinjo
    import lance
    import numpy as np
    import pyarrow as pa

    place = folder / "python_face.lance"
    values = np.random.default_rng(0).normal(size=(500, WIDTH)).astype("f4")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), WIDTH)
    lance.write_dataset(pa.table({"id": np.arange(500), "v": vectors}), place, mode="overwrite")
    dataset = kinjo.open(place)
    options = {"index": "never", "left_select": [], "threads": 1}
    query = np.sin(np.arange(WIDTH, dtype="f4"))
    ours, theirs = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(JOINS):
            kinjo.join(query, dataset, **options).to_arrow()
        ours.append((time.perf_counter() - begin) / JOINS * 1e6)
        theirs.append(in_cpp(place, "one", JOINS)[0])
    print(f"\na join of one row, {JOINS} times in each of {rounds} rounds")
    added = statistics.median(python - cpp for python, cpp in zip(ours, theirs))
    print(f"  Python {statistics.median(ours):.0f} us, C++ {statistics.median(theirs):.0f} us; "
          f"beyond the C++ call: {added:.0f} us (at most 1,000 wanted)")

    queries = np.sin(np.arange(LEFT_ROWS * WIDTH, dtype="f4")).reshape(-1, WIDTH)
    pool = pa.default_memory_pool()
    before, most, rows = pool.bytes_allocated(), 0, 0
    begin = time.perf_counter()
    for batch in kinjo.join(queries, dataset, k=K, **options):
        rows += batch.num_rows
        most = max(most, pool.bytes_allocated() - before)
    seconds = time.perf_counter() - begin
    print(f"{rows:,} result rows, batch by batch")
    print(f"  Python {seconds:.2f} s, C++ {in_cpp(place, 'drain', LEFT_ROWS, K)[0]:.2f} s; "
          f"pyarrow allocated {most:,} bytes for them")


if __name__ == "__main__":
    measure(Path(sys.argv[1]), int(sys.argv[2]))
