"""The index path on the demo's data: against pylance's batch query with the same index, probes and
refine factor, and against faiss IVF1024,PQ25,RFlat at the same recall or better.
"""

from pathlib import Path

import faiss
import lance
import numpy as np
import pyarrow.parquet as pq

from bench import data, paired
from demo import demo, program, words

K = demo.K
FAISS_FACTORY = f"IVF{words.NUM_PARTITIONS},PQ{words.NUM_SUB_VECTORS},RFlat"
FAISS_PROBES = (32, 48, 64, 68, 72, 76, 80, 96, 112, 128, 160, 192, 256)
PYLANCE_ROWS = 2_000


def vectors_of(table):
    return table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, words.DIM)


def sets_of(queries, names, left_rows):
    """The names found for each left row."""
    found = [set() for _ in range(left_rows)]
    for query, name in zip(queries.to_pylist(), names.to_pylist()):
        found[query].add(name)
    return found


class Kinjo:
    """The program, with the seconds of its whole process kept beside those of its report."""

    def __init__(self, folder, threads, *flags):
        self.output = folder / "ivf-output.parquet"
        self.flags = ["--left", words.LEFT, "--right", words.DATASET, "--on", "vector", "-k", K,
                      "--metric", "cosine", "--threads", threads, "--left-select", "word",
                      "--right-select", "word", "--with-query-index", "-o", self.output, *flags]
        self.process_seconds = 0.0

    def report(self):
        report, self.process_seconds = program.join(*self.flags)
        return report

    def run(self):
        return self.report()["total_s"]

    def found(self, left_rows):
        joined = pq.read_table(self.output)
        return sets_of(joined["_query_index"], joined["word_right"], left_rows)


class Pylance:
    def __init__(self, left):
        self.dataset = lance.dataset(words.DATASET)
        self.left = left[:PYLANCE_ROWS]

    def run(self):
        begin = paired.now()
        self.table = self.dataset.to_table(
            columns=["word", "_distance"],
            nearest={"column": "vector", "q": self.left, "k": K, "nprobes": demo.NPROBES,
                     "refine_factor": demo.REFINE_FACTOR},
        )
        return paired.now() - begin

    def found(self):
        return sets_of(self.table["query_index"], self.table["word"], len(self.left))


class Faiss:
    """Unit vectors under l2, which ranks as cosine does."""

    def __init__(self, folder, right, left, names):
        self.left, self.names = data.unit(left), np.array(names, dtype=object)
        stored = folder / "ivf.faiss"
        if stored.exists():
            self.index = faiss.read_index(str(stored))
        else:
            print(f"building faiss {FAISS_FACTORY} ...", flush=True)
            self.index = faiss.index_factory(words.DIM, FAISS_FACTORY)
            self.index.train(data.unit(right))
            self.index.add(data.unit(right))
            faiss.write_index(self.index, str(stored))

    def choose_probes(self, least_recall, exact):
        """The fewest probes that reach the recall, with as many candidates as kinjo refines."""
        for nprobe in FAISS_PROBES:
            self.parameters = faiss.IndexRefineSearchParameters(
                k_factor=demo.REFINE_FACTOR,
                base_index_params=faiss.IVFSearchParameters(nprobe=nprobe),
            )
            self.run()
            reached = data.recall(self.found(), exact)
            if reached >= least_recall:
                break
        return nprobe, reached

    def run(self):
        begin = paired.now()
        self.rows = self.index.search(self.left, K, params=self.parameters)[1]
        return paired.now() - begin

    def found(self):
        return [set(self.names[row[row >= 0]]) for row in self.rows]


def run(folder: Path, rounds: int, threads: int):
    words.make()
    left = vectors_of(pq.read_table(words.LEFT))
    names, right = words.load()
    faiss.omp_set_num_threads(threads)

    oracle = Kinjo(folder, threads, "--index", "never")
    oracle.run()
    exact = oracle.found(len(left))
    kinjo = Kinjo(folder, threads, "--index", "require", "--nprobes", demo.NPROBES,
                  "--refine-factor", demo.REFINE_FACTOR)
    kinjo.run()
    kinjo_recall = data.recall(kinjo.found(len(left)), exact)
    pylance = Pylance(left)
    pylance.run()
    pylance_recall = data.recall(pylance.found(), exact[:PYLANCE_ROWS])
    rival = Faiss(folder, right, left, names)
    nprobe, faiss_recall = rival.choose_probes(kinjo_recall, exact)

    rivals = [paired.Rival("kinjo", len(left), kinjo.run),
              paired.Rival("kinjo, whole process", len(left), lambda: kinjo.process_seconds),
              paired.Rival("pylance batch", PYLANCE_ROWS, pylance.run),
              paired.Rival(f"faiss {FAISS_FACTORY}", len(left), rival.run)]
    ours = f"nprobes {demo.NPROBES}, refine factor {demo.REFINE_FACTOR}"
    notes = [f"recall@{K} {kinjo_recall:.4f}, {ours}", "",
             f"recall@{K} {pylance_recall:.4f}, {ours}, {PYLANCE_ROWS:,} left rows",
             f"recall@{K} {faiss_recall:.4f}, nprobe {nprobe}"]
    paired.print_race(f"IVF_PQ, {len(left):,} x {len(right):,} x {words.DIM}, cosine, k={K}, "
                      f"{threads} threads", rivals, paired.race(rivals, rounds), notes)
