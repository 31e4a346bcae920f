"""What we write, opened by the oldest pylance that reads files of its version, and by LanceDB,
which also searches it and adds to it. Each has an environment of its own under build/peers."""

import datetime
import json
import subprocess

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tools import machine

pytestmark = pytest.mark.slow

# Reads all rows, some by a filter, and a vector's neighbours, and writes them down.
READ = """
import sys, json
import lance, pyarrow as pa
path, folder = sys.argv[1:]
dataset = lance.dataset(path)
def keep(name, table):
    with pa.ipc.new_file(f"{folder}/{name}.arrow", table.schema) as out:
        out.write_table(table)
keep("all", dataset.to_table())
keep("some", dataset.to_table(columns=["id", "name"], filter="id >= 1490 AND id < 1510"))
near = {"column": "vec", "q": json.load(open(f"{folder}/query.json")), "k": 5}
keep("near", dataset.to_table(columns=["id"], nearest=near))
"""

LANCEDB = """
import sys, json
import lancedb, pyarrow.parquet as pq
folder, query = sys.argv[1], json.loads(sys.argv[2])
table = lancedb.connect(folder).open_table("t")
def found():
    search = table.search(query).limit(5).nprobes(8).refine_factor(10)
    return [row["id"] for row in search.to_list()]
told = {"rows": table.count_rows(), "found": found()}
told["indexes"] = [index.name for index in table.list_indices()]
table.add(pq.read_table(f"{folder}/more.parquet"))
table.delete("id = 3")
table.optimize()
told |= {"rows_then": table.count_rows(), "found_then": found()}
print(json.dumps(told))
"""


def peer(name):
    """The Python of the environment of tools/requirements-peer-NAME.txt."""
    venv = machine.ROOT / "build" / "peers" / name
    machine.install_requirements(f"peer-{name}", venv)
    return venv / "bin" / "python"


def run(python, script, *arguments):
    done = subprocess.run([python, "-c", script, *map(str, arguments)], capture_output=True,
                          text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def more_types(table):
    """The rows with columns of other types, all with nulls."""
    ids = table["id"].to_pylist()
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2021, 3, 4, 5, 6, 7)
    columns = {
        "flag": pa.array([None if i % 3 == 0 else i % 2 == 0 for i in ids]),
        "small": pa.array([None if i % 3 == 1 else i % 250 for i in ids], pa.uint8()),
        "runs": pa.array([i // 400 for i in ids], pa.int32()),
        "word": pa.array([["red", "green", None][i % 3] for i in ids]),
        "url": pa.array([f"https://example.org/items/{i * 7919}?page={i % 9}" for i in ids]),
        "page": pa.array([f"{i} " * (200 if i % 5 == 0 else 0) for i in ids]),
        "bytes": pa.array([None if i % 4 == 0 else bytes([i % 256] * (i % 5)) for i in ids]),
        "day": pa.array([None if i % 3 == 2 else day for i in ids], pa.date32()),
        "moment": pa.array([moment + datetime.timedelta(seconds=i) for i in ids],
                           pa.timestamp("us")),
        "pair": pa.array([{"x": i, "y": f"{i % 11}"} for i in ids]),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_oldest_pylance(write, change, rows, tmp_path, version):
    python = peer(f"lance-{version}")
    path = tmp_path / "t.lance"
    table = more_types(rows(0, 3000))
    write(path, table.slice(0, 2000), "--data-version", version, "--max-rows-per-file", 1500)
    write(path, table.slice(2000), "--mode", "append")
    change("delete", path, "--where", "id % 10 = 3")
    query = table["vec"][1234].as_py()
    (tmp_path / "query.json").write_text(str(query))
    run(python, READ, path, tmp_path)

    kept = table.filter(pa.array([i % 10 != 3 for i in range(3000)]))

    def told(name):
        with pa.ipc.open_file(tmp_path / f"{name}.arrow") as source:
            return source.read_all()

    found = told("all")
    assert found.column_names == kept.column_names
    for name in kept.column_names:
        assert found[name].to_pylist() == kept[name].to_pylist(), name
    assert told("some")["id"].to_pylist() == [i for i in range(1490, 1510) if i % 10 != 3]
    near = lance.dataset(path).to_table(
        columns=["id"], nearest={"column": "vec", "q": query, "k": 5})
    assert told("near")["id"].to_pylist() == near["id"].to_pylist()


def test_lancedb(kinjo, write, change, rows, tmp_path):
    python = peer("lancedb")
    path = tmp_path / "t.lance"
    write(path, rows(0, 2000), "--max-rows-per-file", 900)
    kinjo("index", "create", path, "--column", "vec", "--type", "IVF_PQ", "--num-partitions", 8,
          "--num-sub-vectors", 4)  # fmt: skip
    change("delete", path, "--where", "id % 10 = 3 AND id > 3")
    pq.write_table(rows(2000, 100), tmp_path / "more.parquet")
    query = rows(2042, 1)["vec"][0].as_py()
    told = json.loads(run(python, LANCEDB, tmp_path, query).splitlines()[-1])
    assert told["rows"] == 1801
    assert told["indexes"] == ["vec_idx"]
    assert told["rows_then"] == 1900
    assert told["found_then"][0] == 2042
    # And ours on top of what it made.
    assert lance.dataset(path).count_rows() == 1900
    pq.write_table(rows(2042, 1).select(["vec"]), tmp_path / "query.parquet")
    flags = "--nprobes", 8, "--refine-factor", 10, "--right-select", "id", "--with-query-index"
    kinjo("join", "--left", tmp_path / "query.parquet", "--right", path, "--on", "vec", "-k", 5,
          "--index", "require", *flags, "-o", tmp_path / "out.parquet")  # fmt: skip
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == told["found_then"]
    write(path, rows(3000, 10), "--mode", "append")
    kinjo("index", "optimize", path)
    assert lance.dataset(path).stats.index_stats("vec_idx")["num_unindexed_rows"] == 0
    lance.dataset(path).validate()
