"""The conformance corpus through the Node.js package: one process answers all cases, and what it
gives is judged as the command line's answers are. Runs where the package was built (./dev test)."""

import json
import subprocess

import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.conformance.corpus import read_cases
from tests.conformance.tables import place_table
from tests.conformance.test_cli import check_rows, plan_lines
from tools import node_package

CASES = {
    name: case for name, case in read_cases().items()
    if "library" in case.get("faces", ["library"])
    # The package writes no files, what it calls a query may run many times, and a version has one
    # option there.
    and case.get("action") not in ("write_below_a_file", "run_twice")
    and name != "a_version_and_a_tag"
}
RUNNER = node_package.FOLDER / "test" / "conformance.mjs"

pytestmark = pytest.mark.skipif(
    not (node_package.is_here() and (node_package.PREBUILT / node_package.ADDON).exists()),
    reason="the Node.js package isn't built",
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the package says to each case: {rows (a file), report, plan, error}."""
    folder = tmp_path_factory.mktemp("node")
    asked = []
    for name, case in CASES.items():
        place = folder / name
        place.mkdir()
        left, right = (str(place_table(case[side], place, side)) for side in ("left", "right"))
        asked.append(case | {"left": left, "right": right, "output": str(place / "rows.arrow")})
    (folder / "cases.json").write_text(json.dumps(asked))
    done = subprocess.run(
        ["node", RUNNER, folder / "cases.json"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", CASES)
def test_case(name, answers):
    case, answer = CASES[name], answers[name]
    expect = case["expect"]
    if "error" in expect:
        assert answer["error"]["code"] == expect["error"]["code"], answer
        assert expect["error"]["message"] in answer["error"]["plain_message"]
        return
    assert "error" not in answer, answer["error"]
    if "explain" in expect:
        assert plan_lines(answer["plan"], answer["left"], answer["right"]) == expect["explain"]
        return
    check_rows(pa.ipc.open_file(answer["rows"]).read_all(), case)
    report = answer["report"] | {"index_used": answer["report"]["path"] == "index"}
    for key, value in expect.get("report", {}).items():
        assert report[key] == value, key
