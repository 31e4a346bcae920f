"""The conformance corpus through the command line."""

import json
import re

import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.conformance.corpus import option_names, read_cases
from tests.conformance.tables import RECIPES, place_table

CASES = {name: case for name, case in read_cases().items() if "cli" in case.get("faces", ["cli"])}


def flag_of(option):
    return "--" + {"right_tag": "right_version"}.get(option, option).replace("_", "-")


def flag_texts(name, value):
    flag = flag_of(name)
    if name == "memory_limit_bytes":
        return ["--memory-limit", f"{value}B"]
    if name == "distance_range":
        return [f"{flag}={','.join(map(str, value))}"]
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, list):
        return [flag, ",".join(value)]
    return [f"{flag}={value}" if value != "" else flag]


def flags_of(case, folder):
    left = place_table(case["left"], folder, "left")
    right = place_table(case["right"], folder, "right")
    command = case.get("command", "join")
    sides = {"join": ["--left", left, "--right", right], "search": [right, "--query", left]}
    options = [text for option in case["options"].items() for text in flag_texts(*option)]
    return [command, *sides[command], *options], left, right


def rows_by_query(table, expect, count):
    """(ids, distances), a list for each left row; a left row without match gives empty ones."""
    columns = table.column_names
    key = next((name for name in ("_query_index", "q") if name in columns), None)
    queries = table[key].to_pylist() if key else [0] * table.num_rows
    assert queries == sorted(queries)
    ids, distances = [[] for _ in range(count)], [[] for _ in range(count)]
    rows = zip(queries, *(table[name].to_pylist() for name in ("id", "_distance", "_rank")))
    for query, row, distance, rank in rows:
        if rank is None:
            assert row is None and distance is None
            continue
        ids[query].append(row)
        distances[query].append(distance)
        assert rank == len(ids[query])
    return ids, distances


def check_rows(table, case):
    expect = case["expect"]
    if "columns" in expect:
        assert table.column_names == expect["columns"]
    if "clusters" in expect:
        assert table["_cluster"].to_pylist() == expect["clusters"]
    if "ids" not in expect:
        return
    ids, distances = rows_by_query(table, expect, len(expect["ids"]))
    assert ids == expect["ids"]
    for found, wanted in zip(distances, expect["distances"]):
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)


def check_report(text, expect):
    report = json.loads(text.strip().splitlines()[-1])
    report["index_used"] = report["path"] == "index"
    for key, value in expect.get("report", {}).items():
        assert report[key] == value, key


def plan_lines(text, left, right):
    """Without the line of the left side, which tells how it was handed over, and without the
    numbers that are the machine's."""
    shown = text.replace(str(right), "{right}").replace(str(left), "{left}")
    shown = re.sub(r"\b[0-9.]+ ([KMGT]i)?B\b", "{size}", shown)
    shown = re.sub(r"\b[0-9]+ threads?\b", "{threads}", shown)
    return [line for line in shown.splitlines()
            if "LeftScan:" not in line and not line.startswith("  · way")]


def as_flags(message):
    """A message's options, by their names in the C ABI, as the flags that stand for them."""
    names = sorted(option_names() | {"memory_limit"}, key=len, reverse=True)
    plain, long = (("|".join(name for name in names if ("_" in name) == has)) for has in (0, 1))

    def flag(found):
        return flag_of(found[1]) + (" " if found[2] == " = " else "")

    # A name with an underscore is an option anywhere, another only before a value or a bound.
    message = re.sub(rf"(?<![\w-])({long})\b( = true| = |)", flag, message)
    return re.sub(rf"(?<![\w-])({plain})\b( = true| = |(?= must| is '| \*))", flag, message)


def check_error(kinjo, flags, expect, output):
    done = kinjo(*flags, "-o", output, exit_code=expect["exit_code"])
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert as_flags(expect["message"]) in done.stderr
    assert not output.exists()


@pytest.mark.parametrize("name", CASES)
def test_case(name, kinjo, tmp_path):
    case = CASES[name]
    expect = case["expect"]
    flags, left, right = flags_of(case, tmp_path)
    output = tmp_path / "out.arrow"
    if case.get("action") == "write_below_a_file":
        (tmp_path / "out").write_text("a file, not a folder")
        output = tmp_path / "out" / "out.arrow"
    if "error" in expect:
        check_error(kinjo, flags, expect["error"], output)
        return
    if "explain" in expect:
        assert plan_lines(kinjo(*flags, "--explain").stdout, left, right) == expect["explain"]
        return
    done = kinjo(*flags, "-o", output, "--json", "--progress", "none")
    check_rows(pa.ipc.open_file(output).read_all(), case)
    check_report(done.stderr, expect)
