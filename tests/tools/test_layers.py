"""tools/layers.py finds each kind of forbidden include and lets the allowed ones be."""

from pathlib import Path

import pytest

from tools import layers

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "path, include",
    [
        ("src/base/a.h", "io/random_reader.h"),
        ("src/kernels/a.cc", "base/error.h"),
        ("src/io/a.cc", "format/schema.h"),
        ("src/format/file/a.cc", "index/ivf_segment.h"),
        ("src/index/a.cc", "dataset/dataset.h"),
        ("src/index/a.cc", "format/schema.h"),
        ("src/stream/a.cc", "join/knn_join.h"),
        ("src/dataset/a.cc", "exec/plan_node.h"),
        ("src/exec/a.cc", "io/random_reader.h"),
        ("src/tabular/a.cc", "join/options.h"),
        ("src/join/a.cc", "capi/handles.h"),
        ("src/join/a.cc", "kinjo/kinjo.h"),
        ("src/lobby/a.cc", "base/error.h"),
        ("cli/a.cc", "join/knn_join.h"),
        ("bindings/python/a.cc", "base/error.h"),
        ("include/kinjo/kinjo.h", "arrow/api.h"),
        ("include/kinjo/kinjo.h", "join/options.h"),
        ("src/join/a.cc", "CLI/CLI.hpp"),
        ("src/index/a.cc", "hwy/highway.h"),
        ("src/join/a.cc", "gtest/gtest.h"),
    ],
)
def test_forbidden_include(tree, path, include):
    tree.write(path, f'// A file.\n#include "{include}"\n')
    problems = layers.check(tree.root)
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    "path, include",
    [
        ("src/kernels/a.cc", "kernels/metric.h"),
        ("src/index/a.cc", "format/index_file/index_files.h"),
        ("src/dataset/a.cc", "format/file/lance_file.h"),
        ("src/join/a.cc", "tabular/table_source.h"),
        ("src/capi/a.cc", "kinjo/kinjo.h"),
        ("src/join/a_test.cc", "gtest/gtest.h"),
        ("src/kernels/block_scan.cc", "hwy/highway.h"),
        ("src/base/a.cc", "arrow/status.h"),
        ("cli/a.cc", "kinjo/kinjo.hpp"),
        ("include/kinjo/kinjo.hpp", "kinjo/kinjo.h"),
        ("include/kinjo/kinjo.hpp", "vector"),
        ("include/kinjo/kinjo.h", "stdint.h"),
    ],
)
def test_allowed_include(tree, path, include):
    tree.write(path, f'// A file.\n#include "{include}"\n')
    assert layers.check(tree.root) == []


def test_an_include_in_a_comment_is_no_include(tree):
    tree.write("src/base/a.h", '// #include "join/options.h"\n/*\n#include "join/options.h"\n*/\n')
    assert layers.check(tree.root) == []


def test_the_table_has_no_cycle():
    rising = list(layers.ALLOWED)
    for room, allowed in layers.ALLOWED.items():
        for other in allowed:
            assert rising.index(other.split("/")[0]) < rising.index(room), (room, other)


def test_each_room_is_in_the_table():
    # By the files they hold: a clean checkout has no empty folders, a working tree may.
    rooms = {path.relative_to(ROOT / "src").parts[0] for path in (ROOT / "src").rglob("*.h")}
    assert rooms <= set(layers.ALLOWED)


def test_each_room_of_the_table_is_on_the_map():
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    assert [room for room in layers.ALLOWED if f"  {room}/" not in architecture] == []
