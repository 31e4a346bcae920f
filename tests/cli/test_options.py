"""An option has one name in all faces, and here that is its flag: no message leaks the name that
the library knows it by."""

import re

import pytest

from tests.conformance.corpus import option_names

# Of each flag with a value: what is wrong with it, and the flags that it is wrong beside. The right
# side is right.lance unless one is named.
WRONG = {
    "--on": ["nothing"],
    "--left-on": ["nothing"],
    "--right-on": ["nothing"],
    "--right-version": ["2", "--right", "left.parquet"],
    "--k": ["0"],
    "--where": ["word ="],
    "--metric": ["hamming"],
    "--index": ["other_idx"],
    "--nprobes": ["0"],
    "--minimum-nprobes": ["9", "--maximum-nprobes", "4"],
    "--maximum-nprobes": ["8", "--nprobes", "4"],
    "--refine-factor": ["20000000"],
    "--recall": ["1.5"],
    "--by": ["nothing"],
    "--part-rows": ["0", "--resume", "-o", "parts"],
    "--search-effort": ["0.5", "--nprobes", "4"],
    "--ef": ["19", "--refine-factor", "2"],
    "--approx-mode": ["quick"],
    "--distance-range": ["2,1"],
    "--how": ["outer"],
    "--left-select": ["nothing"],
    "--right-select": ["nothing"],
    "--suffix": ["", "--left-select", "id"],
    "--output": ["nowhere.xyz"],
    "--format": ["parquet"],
    "--compression": ["zip", "-o", "out.parquet"],
    "--row-group-rows": ["0", "-o", "out.parquet"],
    "--memory-limit": ["10KB"],
    "--threads": ["0"],
    "--progress": ["loud"],
    "--storage-option": ["colour=red"],
}
# What they name is told by itself: a file.
PLACES = {"--left", "--right", "--query"}
MORE = [
    ["--metric", "manhattan"],
    ["--metric", "cosine", "--index", "require"],
    ["--index", "require", "--right", "plain.lance"],
    ["--fast-search", "--index", "never"],
    ["--fast-search", "--right", "plain.lance"],
    ["--refine-factor", "3", "-k", "16000000"],
    ["--right-version", "a_tag", "--right", "left.parquet"],
    ["--format", "tsv"],
    ["--distance-range", "nan,1"],
    ["--threads", "5000"],
    ["--recall", "0.9", "--nprobes", "3"],
    ["--recall", "0.9", "--mutual"],
    ["--exclude-self=nothing"],
    ["--exclude-self"],
    ["--unordered-pairs", "--how", "left"],
    ["--unordered-pairs"],
    ["--clusters", "--right-select", "id"],
    ["--clusters"],
    ["--part-rows", "3"],
]


def complaint(kinjo, tables, flags, tmp_path):
    """The one line that `kinjo join` ends with, without its begin and the hint at its end."""
    if "--right" not in flags:
        flags = [*flags, "--right", "right.lance"]
    flags = [tables / text if text.endswith((".lance", "left.parquet")) else text
             for text in flags]
    done = kinjo("join", "--left", tables / "left.parquet", *flags, exit_code=None, cwd=tmp_path)
    assert done.returncode in (1, 2, 3), done.stderr
    assert done.stderr.startswith("kinjo: join: ") and done.stderr.count("\n") == 1
    return done.stderr.removeprefix("kinjo: join: ").split(" (kinjo join --help")[0]


def leaks(message):
    """The names in a message that the library uses and the command line doesn't."""
    message = re.sub(r'"[^"]*"|/\S+', "", message)
    names = option_names() | {"memory_limit"}
    bare = [name for name in names if "_" in name and re.search(rf"\b{name}\b", message)]
    valued = re.findall(r"(?<![\w-])(\w+)(?: = | must | is ')", message)
    return bare + [name for name in valued if name in names]


@pytest.mark.parametrize("flag", WRONG)
def test_a_wrong_value_names_its_flag(kinjo, tables, tmp_path, flag):
    message = complaint(kinjo, tables, [flag, *WRONG[flag]], tmp_path)
    if flag != "--output":
        assert re.search(rf"{flag}\b", message), message
    assert not leaks(message), message


@pytest.mark.parametrize("flags", MORE, ids=" ".join)
def test_no_message_leaks_a_name_of_the_library(kinjo, tables, tmp_path, flags):
    message = complaint(kinjo, tables, flags, tmp_path)
    assert flags[0].split("=")[0] in message, message
    assert not leaks(message), message


def test_every_flag_with_a_value_is_tried(kinjo):
    shown = kinjo("join", "--help").stdout
    flags = set(re.findall(r"^ .{5}(--[\w-]+) \S", shown, re.MULTILINE))
    assert {"--left", "--k", "--ef"} <= flags
    assert flags - PLACES == set(WRONG)


def test_what_the_user_gave_is_left_alone(kinjo, tables, tmp_path):
    # Words that are options elsewhere: a folder, a column, a predicate.
    message = complaint(kinjo, tables, ["-o", "no/left_on/x.csv"], tmp_path)
    assert "no/left_on; make it first" in message
    assert '"right_select"' in complaint(kinjo, tables, ["--on", "right_select"], tmp_path)
    message = complaint(kinjo, tables, ["--where", "k = 3"], tmp_path)
    assert message.startswith("--where: ") and "--k" not in message


def test_a_switch_has_no_value_and_an_option_no_equals_sign(kinjo, tables, tmp_path):
    message = complaint(kinjo, tables, ["--fast-search", "--index", "never"], tmp_path)
    assert message.startswith("--fast-search and --index never can't be given together")
    message = complaint(kinjo, tables, ["--unordered-pairs", "--how", "left"], tmp_path)
    assert message.startswith("--unordered-pairs and --how left can't be given together")
    message = complaint(kinjo, tables, ["--nprobes", "4", "--maximum-nprobes", "8"], tmp_path)
    assert message.startswith("--nprobes 4 and --maximum-nprobes 8 can't be given together")
