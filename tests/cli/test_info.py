"""`kinjo info`, the help texts and the version: what a person reads, and its JSON."""

import datetime
import json
import re

import lance
import pytest

from tests.cli.word_tables import word_table


def test_a_dataset(kinjo, tables):
    path = tables / "right.lance"
    text = kinjo("info", path).stdout
    assert text.startswith(f"{path}: Lance dataset, version 2, file format 2.")
    assert "3,000 rows in 1 fragment\n" in text
    assert re.search(r"^  vec +float\[16\]$", text, re.MULTILINE)
    assert re.search(r"^  vec_idx +vec +IVF_PQ +l2 +1 +all rows +usable$", text, re.MULTILINE)
    assert not re.search(r"[ \t]$", text, re.MULTILINE)


def test_without_an_index(kinjo, tables):
    text = kinjo("info", tables / "plain.lance").stdout
    assert "no vector index: joins take the exact path" in text


def test_as_json(kinjo, tables):
    info = json.loads(kinjo("info", tables / "right.lance", "--json").stdout)
    assert info["version"] == 2
    assert info["versions"] == [1, 2]
    assert info["num_rows"] == 3000
    assert [column["name"] for column in info["schema"]] == ["id", "word", "vec"]
    (index,) = info["indexes"]
    assert (index["name"], index["type"], index["metric"]) == ("vec_idx", "IVF_PQ", "l2")
    assert index["usable"] and index["covered_rows"] == 3000


def test_one_index(kinjo, tables):
    text = kinjo("info", tables / "right.lance", "--index", "vec_idx").stdout
    assert text.startswith("vec_idx: IVF_PQ on vec, metric l2, usable\ncovers all rows\n")
    index = json.loads(kinjo("info", tables / "right.lance", "--index", "vec_idx", "--json").stdout)
    (segment,) = index["segments"]
    assert segment["num_partitions"] == 8
    assert segment["dimension"] == 16
    assert segment["num_rows"] == 3000


def test_no_such_index(kinjo, tables):
    done = kinjo("info", tables / "right.lance", "--index", "other", exit_code=1)
    assert "other" in done.stderr and "vec_idx" in done.stderr


def test_partial_coverage(kinjo, tmp_path):
    path = tmp_path / "grown.lance"
    dataset = lance.write_dataset(word_table(1000, seed=1), path)
    dataset.create_index("vec", "IVF_FLAT", name="flat_idx", num_partitions=4, metric="cosine")
    dataset = lance.write_dataset(word_table(500, seed=2), path, mode="append")
    dataset.delete("id < 10")
    text = kinjo("info", path).stdout
    assert "1,480 rows in 2 fragments, 20 deleted" in text
    assert "990 of 1,480 rows" in text
    fragments = kinjo("info", path, "--fragments").stdout
    assert re.search(r"^ +1 +490 +10 +\S+\.lance$", fragments, re.MULTILINE)
    versions = kinjo("info", path, "--versions").stdout
    assert re.search(r"^ +4 +\S+ +Delete +1,480 +2 +lance \S+$", versions, re.MULTILINE)
    assert "not the fragments 1" in kinjo("info", path, "--index", "flat_idx").stdout


def test_an_index_that_covers_nothing(kinjo, tmp_path):
    path = tmp_path / "replaced.lance"
    dataset = lance.write_dataset(word_table(600, seed=1), path)
    dataset.create_index("vec", "IVF_FLAT", name="flat_idx", num_partitions=4, metric="l2")
    dataset.delete("id >= 0")
    assert "all rows" in kinjo("info", path).stdout
    lance.write_dataset(word_table(500, seed=2), path, mode="append")
    text = kinjo("info", path).stdout
    assert re.search(r"  0 of 500 rows +not usable: it covers no fragment of this version$", text,
                     re.MULTILINE)
    assert "covers 0 of 500 rows" in kinjo("info", path, "--index", "flat_idx").stdout


def test_tags(kinjo, tmp_path):
    path = tmp_path / "tagged.lance"
    make_tagged(path)
    for flags in ([], ["--versions"]):
        text = kinjo("info", path, *flags).stdout
        assert re.search(r"^  first +1$", text, re.MULTILINE)
        assert re.search(r"^  work_tag +1 +of branch work$", text, re.MULTILINE)
    tags = json.loads(kinjo("info", path, "--json").stdout)["tags"]
    assert tags[0] == {"name": "first", "version": 1, "branch": ""}
    assert [tag["name"] for tag in tags] == ["first", "second", "work_tag"]


def make_tagged(path):
    """Three rows in version 1 (first), five in version 2 (second), and a tag on a branch."""
    dataset = lance.write_dataset(word_table(3, seed=1), path)
    dataset.tags.create("first", 1)
    dataset = lance.write_dataset(word_table(2, seed=2), path, mode="append")
    dataset.tags.create("second", 2)
    tag = {"branch": "work", "version": 1, "manifestSize": 1, "metadata": {}}
    (path / "_refs" / "tags" / "work_tag.json").write_text(json.dumps(tag))
    return path


def test_versions_tell_when_and_by_what_they_were_made(kinjo, tmp_path):
    path = make_tagged(tmp_path / "tagged.lance")
    history = json.loads(kinjo("info", path, "--versions", "--json").stdout)["history"]
    assert [version["operation"] for version in history] == ["Overwrite", "Append"]
    assert [version["num_rows"] for version in history] == [3, 5]
    assert [version["tags"] for version in history] == [["first"], ["second"]]
    for ours, theirs in zip(history, lance.dataset(path).versions()):
        assert ours["version"] == theirs["version"]
        made = datetime.datetime.fromisoformat(ours["made"][:26] + "+00:00")
        # pylance tells times by a float of seconds.
        apart = abs(made - theirs["timestamp"].astimezone(datetime.UTC))
        assert apart < datetime.timedelta(microseconds=20)
    text = kinjo("info", path, "--versions").stdout
    assert re.search(r"^ +2 +\d{4}-\S+ +Append +5 +2 +lance \S+ +second$", text, re.MULTILINE)


def test_an_older_version(kinjo, tmp_path):
    path = make_tagged(tmp_path / "tagged.lance")
    for version in (1, "first"):
        assert "3 rows in 1 fragment" in kinjo("info", path, "--version", version).stdout
    assert "5 rows" in kinjo("info", path, "--version", "2999-01-01T00:00").stdout
    assert "has no version 9" in kinjo("info", path, "--version", 9, exit_code=1).stderr
    assert "--version is empty" in kinjo("info", path, "--version", "", exit_code=2).stderr


def test_files_tell_their_encodings(kinjo, golden):
    path = golden / "changed_columns.lance"
    files = json.loads(kinjo("info", path, "--files", "--json").stdout)["data_files"]
    theirs = [file.path for fragment in lance.dataset(str(path)).get_fragments()
              for file in fragment.data_files()]
    assert [file["path"] for file in files] == theirs
    for file in files:
        place = path / "data" / file["path"]
        assert file["uri"] == str(place) and file["bytes"] == place.stat().st_size
        assert file["format_version"] == "2.2"
        for column in file["columns"]:
            assert all(" rows=" in page for page in column["pages"])
    names = [column["name"] for file in files for column in file["columns"]]
    assert {"id", "title", "small", "embedding", None} == set(names)
    text = kinjo("info", path, "--files").stdout
    assert re.search(r"^  embedding +2 +2 +MiniBlock\[FSL4\(Flat32\)\] layers=\[1\] x2$", text,
                     re.MULTILINE)
    assert re.search(r"^  \(dropped\) +", text, re.MULTILINE)


def test_joins_read_tagged_versions(kinjo, tables, tmp_path):
    right = make_tagged(tmp_path / "tagged.lance")

    def rows(version, exit_code=0):
        done = kinjo("join", "--left", tables / "left.parquet", "--right", right, "-k", 100,
                     "--right-version", version, "--format", "jsonl", exit_code=exit_code)
        return done.stderr if exit_code else len(done.stdout.splitlines()) // 200

    assert [rows("first"), rows("second"), rows(1), rows(2)] == [3, 5, 3, 5]
    assert "has no tag 'third'; it has first, second, work_tag" in rows("third", exit_code=1)
    assert "tree/work" in rows("work_tag", exit_code=1)  # the tag names a branch that is gone
    assert "has no version 9" in rows(9, exit_code=1)
    assert "--right-version is empty" in rows("", exit_code=2)


def test_this_machine(kinjo):
    text = kinjo("info", "--cpu").stdout
    machine = json.loads(kinjo("info", "--cpu", "--json").stdout)
    assert machine["simd_level"] in machine["simd_levels"]
    assert f"instructions   {machine['simd_level']}\n" in text
    assert machine["threads"] >= 1


def test_version(kinjo):
    assert re.fullmatch(r"kinjo \d+\.\d+\.\d+\n", kinjo("--version").stdout)


def test_no_command_shows_the_help(kinjo):
    done = kinjo(exit_code=2)
    assert done.stdout == ""
    assert "usage: kinjo COMMAND" in done.stderr
    assert kinjo("--help").stdout == done.stderr


def test_unknown_command(kinjo):
    done = kinjo("jion", exit_code=2)
    assert done.stderr.startswith("kinjo: unknown command 'jion'")


@pytest.mark.parametrize("command", ["join", "explain", "info"])
def test_help_fits_the_screen(kinjo, command):
    text = kinjo(command, "--help").stdout
    assert text == kinjo(command, "-h").stdout
    flags = text[: text.index("\nexample:")]
    assert max(map(len, flags.splitlines())) <= 80


def test_scalar_indexes_are_listed(kinjo, golden):
    text = kinjo("info", golden / "filters.lance").stdout
    assert re.search(r"i_idx\s+i\s+BTREE\s+\S+ of \S+ rows\s+usable", text)
    assert re.search(r"b_idx\s+b\s+BITMAP", text)
    described = json.loads(kinjo("info", golden / "filters.lance", "--json").stdout)
    [index] = [index for index in described["scalar_indexes"] if index["name"] == "i_idx"]
    assert (index["column"], index["type"], index["usable"]) == ("i", "BTREE", True)
