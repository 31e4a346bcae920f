"""The conformance corpus through the Python package."""

import inspect

import pytest

import kinjo
from tests.conformance.corpus import option_names, read_cases
from tests.conformance.tables import number, place_table
from tests.conformance.test_cli import check_rows, plan_lines



def has_both_versions(case):
    """The package has one parameter for a version's number and for its tag."""
    return {"right_version", "right_tag"} <= set(case["options"])


CASES = {
    name: case
    for name, case in read_cases().items()
    if "library" in case.get("faces", ["library"]) and not has_both_versions(case)
}
# The package's names of options that the corpus has by those of the C ABI.
SPELLINGS = {"memory_limit_bytes": "memory_limit", "right_tag": "right_version"}


def test_join_takes_every_option():
    parameters = set(inspect.signature(kinjo.join).parameters)
    assert {SPELLINGS.get(name, name) for name in option_names()} <= parameters


def arguments_of(options):
    arguments = {SPELLINGS.get(name, name): value for name, value in options.items()}
    if "distance_range" in arguments:
        arguments["distance_range"] = tuple(map(number, arguments["distance_range"]))
    if arguments.get("exclude_self") == "":
        arguments["exclude_self"] = True
    return arguments


def make(case, left, right):
    arguments = arguments_of(case["options"])
    if case.get("command") == "search":
        version = arguments.pop("right_version", None)
        return kinjo.open(right, version).search(left, **arguments)
    return kinjo.join(left, right, **arguments)


def read(result, action, folder):
    if action == "write_below_a_file":
        (folder / "out").write_text("a file, not a folder")
        result.write_parquet(folder / "out" / "out.parquet")
    elif action == "cancel":
        result.cancel()
    elif action == "read_after_close":
        result.close()
    elif action == "run_twice":
        result.to_arrow()
    return result.to_arrow()


def check_error(case, folder, expect):
    left = place_table(case["left"], folder, "left")
    right = place_table(case["right"], folder, "right")
    with pytest.raises(kinjo.Error) as raised:
        read(make(case, left, right), case.get("action"), folder)
    assert raised.value.code == expect["code"]
    assert type(raised.value).__name__ != "Error"
    assert kinjo._errors.respell(expect["message"]) in str(raised.value)


@pytest.mark.parametrize("name", CASES)
def test_case(name, tmp_path):
    case = CASES[name]
    expect = case["expect"]
    if "error" in expect:
        check_error(case, tmp_path, expect["error"])
        return
    left = place_table(case["left"], tmp_path, "left")
    right = place_table(case["right"], tmp_path, "right")
    result = make(case, left, right)
    if "explain" in expect:
        assert plan_lines(result.explain(), left, right) == expect["explain"]
        return
    check_rows(result.to_arrow(), case)
    report = result.report
    report["index_used"] = report["path"] == "index"
    for key, value in expect.get("report", {}).items():
        assert report[key] == value, key
