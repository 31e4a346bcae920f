"""One query at a time, on the demo's words: Kinjo through its C++ header in one process, whose
dataset is opened once, against pylance's search of one vector, with the same index and settings.
"""

import subprocess

import numpy as np
import pyarrow.parquet as pq

from bench import ivf_pq, paired
from demo import program, words

QUERIES = 500
SETTINGS = ((20, 3), (64, 3))
PROGRAM = program.ROOT / "build" / "release" / "bench" / "one_query"


def run(folder, rounds, threads):
    words.make()
    left = ivf_pq.vectors_of(pq.read_table(words.LEFT))[: QUERIES + 1]
    file = folder / "one-query.f32"
    np.ascontiguousarray(left, dtype=np.float32).tofile(file)
    pylance = ivf_pq.lance.dataset(words.DATASET)
    for probes, refine in SETTINGS:
        def kinjo(threads):
            done = subprocess.run(
                [PROGRAM, words.DATASET, file, str(words.DIM), "cosine", str(probes), str(refine),
                 str(threads)], capture_output=True, text=True, check=True)
            return float(done.stdout.split()[0])

        def lance_run():
            begin = paired.now()
            for query in left[1:]:
                pylance.to_table(columns=["_distance"], with_row_id=True, nearest={
                    "column": "vector", "q": query, "k": ivf_pq.K, "nprobes": probes,
                    "refine_factor": refine})
            return paired.now() - begin

        rivals = [paired.Rival("kinjo, one thread", QUERIES, lambda: kinjo(1)),
                  paired.Rival(f"kinjo, {threads} threads", QUERIES, lambda: kinjo(threads)),
                  paired.Rival("pylance", QUERIES, lance_run)]
        paired.print_race(f"one query at a time, {QUERIES} x {words.DIM}, nprobes {probes}, "
                          f"refine factor {refine}", rivals, paired.race(rivals, rounds))
