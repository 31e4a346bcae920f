"""The cases of the conformance corpus, read and written.

    python -m tests.conformance.corpus [CASE ...]

writes the `ids` and `distances` of every case that expects rows (or of those named) anew from the
oracle. They are the oracle's and never Kinjo's.
"""

import json
import re
import sys

from tests.conformance.tables import CORPUS, ROOT

CASES = CORPUS / "cases"
HEADER = (ROOT / "include" / "kinjo" / "kinjo.h").read_text()


def read_files():
    return {path.stem: json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))}


def read_cases():
    """All cases by their names, which are unique."""
    cases = {}
    for file, listed in read_files().items():
        for case in listed:
            if case["name"] in cases:
                raise ValueError(f"{file}.json: a second case {case['name']}")
            cases[case["name"]] = case
    return cases


def option_names():
    """The members of kinjo_join_options, as the corpus names them."""
    struct = re.search(r"typedef struct kinjo_join_options \{(.*?)\}", HEADER, re.DOTALL)[1]
    struct = re.sub(r"/\*.*?\*/", "", struct, flags=re.DOTALL)
    names = re.findall(r"(\w+);", struct)
    ranges = {"has_distance_range", "distance_lower", "distance_upper"}
    plain = [name for name in names if name not in ranges and not name.startswith("num_")]
    return {*plain, "distance_range"} - {"struct_size"}


def _compact(value):
    return json.dumps(value, ensure_ascii=False)


def _write_expect(expect):
    lines = []
    for key, value in expect.items():
        if key in ("ids", "distances", "explain") and value:
            rows = ",\n        ".join(_compact(row) for row in value)
            lines.append(f'"{key}": [\n        {rows}\n      ]')
        else:
            lines.append(f'"{key}": {_compact(value)}')
    return "{\n      " + ",\n      ".join(lines) + "\n    }"


def _write_case(case):
    lines = []
    for key, value in case.items():
        text = _write_expect(value) if key == "expect" else _compact(value)
        lines.append(f'"{key}": {text}')
    return "  {\n    " + ",\n    ".join(lines) + "\n  }"


def write_cases(file, cases):
    text = "[\n" + ",\n".join(map(_write_case, cases)) + "\n]\n"
    (CASES / f"{file}.json").write_text(text)


def main(names):
    from tests.conformance.oracle import answer, clusters

    for file, cases in read_files().items():
        for case in cases:
            expect = case["expect"]
            if "clusters" in expect and (not names or case["name"] in names):
                expect["clusters"] = clusters(case)
            if "ids" in expect and (not names or case["name"] in names):
                expect["ids"], expect["distances"] = answer(case)
        write_cases(file, cases)


if __name__ == "__main__":
    main(sys.argv[1:])
