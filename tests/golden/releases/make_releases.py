"""Makes the golden datasets of older pylance releases: what people's older programs left on disk.

    python make_releases.py [--venvs DIR] [RELEASE ...]

Each release is installed from PyPI into a virtual environment of its own below DIR (a temporary
folder unless given) and writes `pylance_<release>.lance` here, with what its `nearest` answers
beside it: `.search.json`, as in the folder above. What the rows are tells the pylance that made
that folder, which must be the one that runs this script: `releases.rows.arrow`, or
`pylance_<release>.rows.arrow` where the release wrote other values than it was given. File names
and trained models differ from run to run, which is why all of it is committed.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent

# The file version that each writes, and what it is installed with: of its time, and still to be had
# for this Python.
RELEASES = {
    "0.17.0": ("stable", ["pyarrow==16.1.0", "numpy<2"]),
    "0.20.0": ("2.0", ["pyarrow==17.0.0", "numpy<2"]),
    "0.30.0": ("2.0", ["pyarrow==20.0.0", "numpy<3"]),
    "0.38.3": ("2.1", ["pyarrow==21.0.0", "numpy<3"]),
    "4.0.2": ("2.2", ["pyarrow==22.0.0", "numpy<3"]),
}
READER = "14.0.2"
DIM = 4
ROWS = 260
QUERIES = 4
K = 10


def columns(first, count):
    """Rows `first` ... of the table: some of every kind that all releases write."""
    import numpy as np
    import pyarrow as pa

    ids = range(first, first + count)
    random = np.random.default_rng(first + 1)
    centers = np.random.default_rng(7).normal(0, 3, (6, DIM))
    values = centers[[i % 6 for i in ids]] + random.normal(0, 1, (count, DIM))
    vectors = pa.array(values.astype(np.float32).reshape(-1))
    words = ["", "neighbour", "近所", "x" * 20]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "text": pa.array([None if i % 7 == 3 else words[i % 4] + str(i) for i in ids]),
            "flag": pa.array([None if i % 5 == 0 else i % 3 == 0 for i in ids]),
            "day": pa.array([i * 31 for i in ids], pa.int32()).cast(pa.date32()),
            "bytes": pa.array([bytes([i % 251]) * (i % 5) for i in ids], pa.binary()),
            "tags": pa.array([None if i % 11 == 4 else [f"t{j}" for j in range(i % 4)]
                              for i in ids]),
            "point": pa.array([{"x": i, "y": i / 2} for i in ids],
                              pa.struct([("x", pa.int32()), ("y", pa.float32())])),
            "vec": pa.FixedSizeListArray.from_arrays(vectors, DIM),
        }
    )


def write_dataset(path, version):
    """Two fragments, an index over both, a column added, rows deleted, rows appended."""
    import lance

    dataset = lance.write_dataset(columns(0, ROWS), path, max_rows_per_file=150,
                                 data_storage_version=version)
    dataset.create_index("vec", "IVF_PQ", metric="l2", num_partitions=2, num_sub_vectors=2)
    dataset = lance.dataset(path)
    dataset.add_columns({"double": "id * 2"})
    dataset.delete("id % 10 = 3")
    added = columns(ROWS, 20)
    added = added.append_column("double", added["id"].cast("int64"))
    lance.write_dataset(added, path, mode="append")
    return lance.dataset(path)


def write_rows(name):
    """All live rows, as the pylance that runs this reads them."""
    import lance
    import pyarrow as pa

    dataset = lance.dataset(str(HERE / f"{name}.lance"))
    table = dataset.scanner(with_row_id=True, with_row_address=True).to_table().combine_chunks()
    path = HERE / "releases.rows.arrow"
    if path.exists():
        if pa.ipc.open_file(str(path)).read_all().equals(table):
            return
        path = HERE / f"{name}.rows.arrow"
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table)


def write_search(path, dataset):
    import numpy as np

    queries = np.random.default_rng(8).normal(0, 3, (QUERIES, DIM)).astype(np.float32)
    searches = []
    for nprobes in (1, 2):
        for refine_factor in (None, 5):
            found = []
            for query in queries:
                nearest = {"column": "vec", "q": query, "k": K, "nprobes": nprobes}
                if refine_factor is not None:
                    nearest["refine_factor"] = refine_factor
                found.append(dataset.to_table(columns=["id"], nearest=nearest, with_row_id=True))
            searches.append(
                {
                    "nprobes": nprobes,
                    "refine_factor": refine_factor,
                    "ids": [table["id"].to_pylist() for table in found],
                    "row_ids": [table["_rowid"].to_pylist() for table in found],
                    "distances": [[float(str(d)) for d in table["_distance"].to_numpy()]
                                  for table in found],
                }
            )
    content = {"column": "vec", "metric": "l2", "k": K, "num_partitions": 2,
               "queries": [[float(str(v)) for v in query] for query in queries],
               "searches": searches}
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")


def write_all(release):
    """What runs inside of the release's environment."""
    import lance

    if lance.__version__ != release:
        sys.exit(f"this is pylance {lance.__version__}, not {release}")
    name = f"pylance_{release}"
    path = HERE / f"{name}.lance"
    shutil.rmtree(path, ignore_errors=True)
    dataset = write_dataset(str(path), RELEASES[release][0])
    # Index files of the first kind aren't read, so what they answer isn't wanted.
    if list(path.glob("_indices/*/auxiliary.idx")):
        write_search(HERE / f"{name}.search.json", dataset)


def python_of(release, venvs):
    """The interpreter of an environment with this release in it."""
    home = venvs / release
    python = home / "bin" / "python"
    if not python.exists():
        try:
            venv.create(home, with_pip=True)
            install = [python, "-m", "pip", "install", "--quiet", f"pylance=={release}"]
            subprocess.run([*install, *RELEASES[release][1]], check=True)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("releases", nargs="*", metavar="RELEASE")
    parser.add_argument("--venvs", type=pathlib.Path, help="where environments are kept")
    parser.add_argument("--inside", metavar="RELEASE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        write_all(asked.inside)
        return
    if importlib.metadata.version("pylance") != READER:
        parser.error(f"the rows are told by pylance {READER}, which must run this")
    unknown = sorted(set(asked.releases) - set(RELEASES))
    if unknown:
        parser.error(f"no such release: {', '.join(unknown)}; there are: {', '.join(RELEASES)}")
    with tempfile.TemporaryDirectory() as scratch:
        venvs = asked.venvs or pathlib.Path(scratch)
        for release in asked.releases or reversed(RELEASES):
            python = python_of(release, venvs)
            environment = {**os.environ, "LANCE_LOG": "error"}
            subprocess.run([python, __file__, "--inside", release], check=True, env=environment)
            write_rows(f"pylance_{release}")
            print(release)


if __name__ == "__main__":
    main()
