"""The snippets of docs/python.md, run in their order in one session, print what the page says."""

import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kinjo
from tests.python.conftest import vectors_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"```python( \w+)?\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


def blocks(tag=""):
    """(code, expected output) of the page's blocks."""
    found = [match.groups("") for match in BLOCK.finditer(PAGE.read_text())]
    return [(code, output) for info, code, output in found if info.strip() == tag]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the READMEs speak of."""
    monkeypatch.chdir(tmp_path)
    right = vectors_table(200, 16, seed=5).rename_columns(["item", "embedding"])
    names = pa.array([f"item-{i:03}" for i in range(200)])
    right = right.set_column(0, "item", names)
    right = right.append_column("price", pa.array(np.arange(200) * 0.5))
    kinjo.write_dataset(right, "items.lance")
    moved = np.stack(right["embedding"].to_numpy())[:20] + 0.0592
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(moved.astype("f4").reshape(-1)), 16)
    pq.write_table(pa.table({"query": np.arange(20), "embedding": vectors}), "queries.parquet")


def run(found, namespace):
    for code, expected in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), namespace)
        assert printed.getvalue() == expected, code


def test_the_snippets_do_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks()
    assert len(found) > 10
    run(found, {"__name__": "page"})


@pytest.mark.slow
def test_the_snippets_with_the_real_model(place):
    sys.path.insert(0, str(ROOT))
    import polars

    run(blocks("minilm"), {"__name__": "page", "pl": polars, "kinjo": kinjo})


def test_the_pages_first_lines(place):
    """The README's snippets: of the tree and of the package."""
    for page in (ROOT / "README.md", ROOT / "bindings" / "python" / "README.md"):
        snippets = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        assert snippets, page
        for snippet in snippets:
            exec(compile(snippet, str(page), "exec"), {})
