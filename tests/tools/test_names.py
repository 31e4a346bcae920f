"""tools/names.py: names in documents that don't exist are found; and ours all exist."""

from pathlib import Path

import pytest

from tools import names

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def documented(tree):
    declaration = "class KnnJoin { static int Make(int k_rows); };"
    tree.write("src/join/knn_join.h", f"// Joins.\n{declaration}\n")
    tree.write("cli/flags.cc", '// Flags.\nauto f = "left-on";\n')
    return tree


@pytest.mark.parametrize(
    "word, part",
    [
        ("src/join/no_such.h", "no such path"),
        ("no_such.cc", "no such path"),
        ("src/no_room/", "no such path"),
        ("KnnJoin::Break", "no such symbol"),
        ("NoSuchClass", "no such symbol"),
        ("--no-such-flag", "no such flag"),
        ("a + b = c", "neither"),
    ],
)
def test_unknown_name(documented, word, part):
    documented.write("ARCHITECTURE.md", f"One\n`{word}` two\n")
    found = names.check(documented.root)
    assert len(found) == 1
    assert found[0].startswith("ARCHITECTURE.md:2:")
    assert part in found[0]


@pytest.mark.parametrize(
    "word",
    [
        "src/join/knn_join.h",
        "src/join",
        "src/join/",
        "src/*/knn_join.h",
        "KnnJoin::Make",
        "Make()",
        "kinjo::KnnJoin",
        "k_rows",
        "--left-on",
        "kinjo join",
        "./dev test",
        "build/release",
    ],
)
def test_known_name(documented, word):
    documented.write("ARCHITECTURE.md", f"`{word}`\n")
    assert names.check(documented.root) == []


def test_names_in_comments_do_not_count(documented):
    documented.write("src/join/other.h", "// OnlyInAComment\n")
    documented.write("ARCHITECTURE.md", "`OnlyInAComment`\n")
    assert len(names.check(documented.root)) == 1


def test_code_blocks_are_left_alone(documented):
    documented.write("ARCHITECTURE.md", "```\n`no_such.cc`\n```\n")
    assert names.check(documented.root) == []


def test_links_and_paths_of_other_documents(documented):
    documented.write("docs/page.md", "[a](../cli/flags.cc) [b](gone.md) `src/gone.h` `x/y`\n")
    found = names.check(documented.root)
    assert len(found) == 2
    assert "gone.md leads nowhere" in found[1] and "`src/gone.h`" in found[0]


def test_our_documents_name_only_what_exists():
    assert names.check(ROOT) == []
