"""The conformance corpus itself: its expected rows are the oracle's, and nothing is left out."""

import re

import pytest

from tests.conformance.corpus import HEADER, option_names, read_cases
from tests.conformance.oracle import answer, clusters

CASES = read_cases()
# A case can't bring these about: no join commits, and an internal error is a bug.
NO_CASE = {"conflict", "internal"}


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if {"ids", "clusters"} & set(case["expect"])])
def test_expected_rows_are_the_oracles(name):
    expect = CASES[name]["expect"]
    if "clusters" in expect:
        assert expect["clusters"] == clusters(CASES[name])
        return
    ids, distances = answer(CASES[name])
    assert expect["ids"] == ids
    for written, computed in zip(expect["distances"], distances):
        assert written == pytest.approx(computed, rel=1e-6, abs=1e-7)


def test_every_option_is_in_a_case_that_works():
    names = option_names()
    assert {"k", "where", "approx_mode", "distance_range"} <= names
    used = {name for case in CASES.values() for name in case["options"]}
    assert used == names
    works = {name for case in CASES.values() if "error" not in case["expect"]
             for name in case["options"]}
    assert works == names


def test_every_error_code_is_in_a_case():
    codes = {code.lower() for code in re.findall(r"\bKINJO_ERROR_(\w+)", HEADER)}
    expected = {case["expect"]["error"]["code"] for case in CASES.values()
                if "error" in case["expect"]}
    assert expected == codes - NO_CASE


def test_cases_are_well_formed():
    keys = {"name", "about", "command", "left", "right", "options", "action", "faces", "oracle",
            "expect"}
    for name, case in CASES.items():
        assert re.fullmatch(r"\w+", name)
        assert set(case) <= keys, name
        assert set(case["expect"]) <= {
            "columns", "ids", "distances", "clusters", "report", "explain", "error"}
        assert case["expect"] and case["about"], name
    assert len(CASES) > 100
