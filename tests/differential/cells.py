"""The cells of the differential tests: kinds of datasets and kinds of searches, and which to run.

A dataset cell says how pylance makes an indexed dataset, a search cell what is asked of it. The
chosen dataset cells cover every pair of values of two dimensions; each is searched in every way.
"""

import itertools
import random
from dataclasses import dataclass

INDEXES = {
    "IVF_FLAT": {"index_type": "IVF_FLAT"},
    "IVF_PQ": {"index_type": "IVF_PQ", "num_sub_vectors": 8},
    "IVF_PQ4": {"index_type": "IVF_PQ", "num_sub_vectors": 8, "num_bits": 4},
    "IVF_SQ": {"index_type": "IVF_SQ"},
    "IVF_RQ": {"index_type": "IVF_RQ", "num_bits": 5},
    "IVF_RQ1": {"index_type": "IVF_RQ", "num_bits": 1},
    "IVF_HNSW_FLAT": {"index_type": "IVF_HNSW_FLAT"},
    "IVF_HNSW_PQ": {"index_type": "IVF_HNSW_PQ", "num_sub_vectors": 8},
    "IVF_HNSW_SQ": {"index_type": "IVF_HNSW_SQ"},
}
DIMENSIONS = {
    "index": tuple(INDEXES),
    "metric": ("l2", "cosine", "dot", "hamming"),
    "element": ("float16", "float32", "float64", "uint8"),
    "indexed": ("whole", "half"),
    "deltas": (1, 3),
    "deletions": (False, True),
}
DATASETS_IN_TEST = 80


@dataclass(frozen=True)
class DatasetCell:
    index: str
    metric: str
    element: str
    indexed: str
    deltas: int
    deletions: bool

    def __str__(self):
        deleted = "deleted" if self.deletions else "undeleted"
        words = (self.index, self.metric, self.element, self.indexed, f"{self.deltas}seg", deleted)
        return "-".join(words)

    @property
    def has_graph(self):
        return "HNSW" in self.index

    @property
    def quantized(self):
        return not self.index.endswith("FLAT")

    def pairs(self):
        """Every two of its values, with their dimensions."""
        values = [(name, getattr(self, name)) for name in DIMENSIONS]
        return set(itertools.combinations(values, 2))


@dataclass(frozen=True)
class SearchCell:
    filtered: bool
    refine_factor: int | None


SEARCHES = tuple(SearchCell(f, r) for f in (False, True) for r in (None, 4))


def is_possible(cell):
    """Whether Lance has such an index: bytes are compared by bits, and only bytes are."""
    if (cell.metric == "hamming") != (cell.element == "uint8"):
        return False
    return cell.element != "uint8" or not cell.quantized


def all_cells():
    return [DatasetCell(*values) for values in itertools.product(*DIMENSIONS.values())]


def possible_cells():
    return [cell for cell in all_cells() if is_possible(cell)]


def covering_cells(count=DATASETS_IN_TEST):
    """At least so many possible cells that hold every pair that a possible cell has.

    Greedy: each next cell is the one with the most new pairs; after the last pair, any.
    """
    rest = possible_cells()
    random.Random(14).shuffle(rest)
    missing = set().union(*(cell.pairs() for cell in rest))
    chosen = []
    while missing or len(chosen) < count:
        best = max(rest, key=lambda cell: len(cell.pairs() & missing))
        rest.remove(best)
        chosen.append(best)
        missing -= best.pairs()
    return chosen


def impossible_cells():
    """One cell of each index, metric and element that Lance refuses, as far as we know."""
    kinds = {}
    for cell in all_cells():
        if not is_possible(cell):
            kinds.setdefault((cell.index, cell.metric, cell.element), cell)
    return list(kinds.values())
