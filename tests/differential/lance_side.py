"""pylance's side of a differential cell: the indexed dataset that it makes, and its answers."""

import lance
import numpy as np
import pyarrow as pa

from tests.differential.cells import INDEXES
from tests.oracle.brute_force import vector_array

DIM = 16
PARTITIONS = 4
QUERIES = 5
K = 10
EF = 512
FILTER = "grp < 2"


def make_vectors(rows, element, seed):
    random = np.random.default_rng(seed)
    if element == "uint8":
        return random.integers(0, 256, (rows, DIM)).astype(np.uint8)
    centres = np.random.default_rng(7).normal(0, 2, (30, DIM))
    points = centres[random.integers(0, 30, rows)] + random.normal(0, 1, (rows, DIM))
    return points.astype(element)


class LanceSide:
    """One dataset on disk. Segments come from appends, each followed by an optimize."""

    def __init__(self, path, cell):
        self.cell = cell
        self.path = str(path)
        self.vectors = make_vectors(1200 + 500 * (cell.indexed == "half"), cell.element, 1)
        self.queries = make_vectors(QUERIES, cell.element, 2)
        self._write()

    def _write(self):
        cell = self.cell
        cuts = [0, 600, 900, 1200] if cell.deltas == 3 else [0, 1200]
        self._append(cuts[0], cuts[1])
        self._dataset().create_index(
            "vec", metric=cell.metric, num_partitions=PARTITIONS, **INDEXES[cell.index]
        )
        for begin, end in zip(cuts[1:], cuts[2:]):
            self._append(begin, end)
            self._dataset().optimize.optimize_indices(num_indices_to_merge=0)
        if len(self.vectors) > cuts[-1]:
            self._append(cuts[-1], len(self.vectors))
        if cell.deletions:
            self._dataset().delete("id % 7 = 3")

    def _append(self, begin, end):
        ids = np.arange(begin, end)
        table = pa.table(
            {"id": ids, "grp": ids % 5, "vec": vector_array(self.vectors[begin:end])}
        )
        lance.write_dataset(table, self.path, mode="append", max_rows_per_file=400)

    def _dataset(self):
        return lance.dataset(self.path)

    def eligible_ids(self, filtered):
        ids = np.arange(len(self.vectors))
        if self.cell.deletions:
            ids = ids[ids % 7 != 3]
        if filtered:
            ids = ids[ids % 5 < 2]
        return ids

    def answers(self, search):
        """(ids, distances) of each query, on the scale of docs/semantics.md."""
        dataset = self._dataset()
        return [self._answer(dataset, query, search) for query in self.queries]

    def _answer(self, dataset, query, search):
        nearest = {"column": "vec", "q": query, "k": K, "nprobes": PARTITIONS}
        if search.refine_factor is not None:
            nearest["refine_factor"] = search.refine_factor
        if self.cell.has_graph:
            nearest["ef"] = EF
        if self.cell.index.startswith("IVF_RQ"):
            nearest["approx_mode"] = "accurate"
        options = {"filter": FILTER, "prefilter": True} if search.filtered else {}
        table = dataset.to_table(columns=["id", "_distance"], nearest=nearest, **options)
        distances = table["_distance"].to_numpy().astype(np.float64)
        if self._is_doubled(search):
            distances = distances / 2
        return table["id"].to_pylist(), distances

    def _is_doubled(self, search):
        """Lance's quantised cosine is a squared l2 unless the candidates are scored again."""
        scored_again = search.refine_factor is not None or self.cell.indexed == "half"
        return self.cell.metric == "cosine" and self.cell.quantized and not scored_again
