"""Kinjo and pylance on the same indexed datasets, asked the same: every pair of index, metric,
element type, coverage, segments and deletions, each with and without filter and refine.

The cells run by `./dev test` cover all pairs; `./dev test --slow` runs every cell there is.
"""

import numpy as np
import pytest

from tests.differential.cells import (
    SEARCHES,
    covering_cells,
    impossible_cells,
    possible_cells,
)
from tests.differential.lance_side import EF, FILTER, K, PARTITIONS, LanceSide
from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

COVERING = covering_cells()
REST = [cell for cell in possible_cells() if cell not in set(COVERING)]

# Lance prunes by a bound that holds with high probability only, so it may lose a row of an RQ index
# that we find.
MAY_LOSE_ROWS = ("IVF_RQ", "IVF_RQ1")


def tolerance(cell, search):
    """(relative, absolute) difference between Lance's distances and ours."""
    if cell.index.startswith("IVF_RQ") and search.refine_factor is None:
        # Lance's estimate is a small difference of large sums in float.
        return 1e-3, 5e-3
    return 1e-5, 4e-6


def flags_of(cell, search):
    flags = ["--nprobes", PARTITIONS, "--index", "require", "-k", K]
    if search.refine_factor is not None:
        flags += ["--refine-factor", search.refine_factor]
    if cell.has_graph:
        flags += ["--ef", EF]
    if search.filtered:
        flags += ["--where", FILTER]
    return flags


def assert_same(ours, theirs, relative, absolute):
    """Distances agree one by one; ids too, except between (nearly) equal distances."""
    for (ids, distances), (their_ids, their_distances) in zip(ours, theirs, strict=True):
        assert len(ids) == len(their_ids)
        np.testing.assert_allclose(distances, their_distances, rtol=relative, atol=absolute)
        gap = 2 * (relative * np.abs(their_distances) + absolute)
        near = np.diff(their_distances) <= gap[1:]
        tied = np.append(near, True) | np.insert(near, 0, False)  # the last ties with rows cut off
        for our, their, loose in zip(ids, their_ids, tied, strict=True):
            assert loose or our == their


def assert_no_worse(ours, theirs, relative, absolute):
    """What both found has the same distance; at most one row was found by Lance alone.

    One, because estimates that nearly tie at the last place may fall either way.
    """
    lost = 0
    for (ids, distances), (their_ids, their_distances) in zip(ours, theirs, strict=True):
        assert len(ids) == len(their_ids)
        their = dict(zip(their_ids, their_distances))
        shared = [(d, their[row]) for row, d in zip(ids, distances) if row in their]
        np.testing.assert_allclose(*zip(*shared), rtol=relative, atol=absolute)
        worst = max(distances)
        slack = relative * abs(worst) + absolute
        lost += sum(their[row] < worst - slack for row in set(their_ids) - set(ids))
        assert len(shared) >= K // 2
    assert lost <= 1


def check_searches(side, neighbours, tell):
    cell = side.cell
    for search in SEARCHES:
        ids, distances, report = neighbours(
            vector_array(side.queries), side.path, *flags_of(cell, search)
        )
        assert report["path"] == "index"
        same = assert_no_worse if cell.index in MAY_LOSE_ROWS else assert_same
        ours = list(zip(ids, distances))
        same(ours, side.answers(search), *tolerance(cell, search))
        tell("ran")


def check_enough_refine(side, neighbours):
    """All partitions and enough candidates: nothing is approximate any more."""
    cell = side.cell
    eligible = side.eligible_ids(filtered=False)
    factor = -(-len(eligible) // K)
    flags = ["--nprobes", PARTITIONS, "--index", "require", "-k", K, "--refine-factor", factor]
    ids, distances, _ = neighbours(vector_array(side.queries), side.path, *flags)
    truth = all_distances(side.queries, side.vectors[eligible], cell.metric)
    assert_nearest(ids, distances, truth, eligible, K, atol=2e-6 * max(1, np.nanmax(np.abs(truth))))


def check(cell, tmp_path, neighbours, tell):
    side = LanceSide(tmp_path / "right.lance", cell)
    check_searches(side, neighbours, tell)
    check_enough_refine(side, neighbours)


@pytest.mark.parametrize("cell", COVERING, ids=str)
def test_covering_cells(cell, tmp_path, neighbours, tell):
    check(cell, tmp_path, neighbours, tell)


@pytest.mark.slow
@pytest.mark.parametrize("cell", REST, ids=str)
def test_every_other_cell(cell, tmp_path, neighbours, tell):
    check(cell, tmp_path, neighbours, tell)


@pytest.mark.parametrize("cell", impossible_cells(), ids=str)
def test_what_lance_refuses(cell, tmp_path, tell):
    """If pylance comes to make one of these, it belongs among the possible cells."""
    with pytest.raises((OSError, ValueError, TypeError, RuntimeError)) as refused:
        LanceSide(tmp_path / "right.lance", cell)
    tell("skipped", str(refused.value).splitlines()[0])


def test_the_covering_cells_hold_every_pair():
    missing = set().union(*(cell.pairs() for cell in possible_cells()))
    missing -= set().union(*(cell.pairs() for cell in COVERING))
    assert not missing
    assert len(COVERING) * len(SEARCHES) >= 300
