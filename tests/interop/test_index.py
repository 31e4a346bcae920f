"""Index segments that pylance writes, searched by our index room alone: ids and distances.

index_probe (tests/interop/index_probe.cc) opens `_indices/<uuid>`, ranks the partitions and scores
every row of those visited. Its answers are compared with pylance's `nearest` without a refine: the
committed ones of tests/golden, and fresh ones for each quantizer, metric and element type.
"""

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileReader, LanceFileWriter

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ["flat_l2", "flat_cosine", "pq8_l2", "pq8_cosine", "pq8_dot", "pq4_l2", "pq_f16"]
FLAT = {"index_type": "IVF_FLAT"}
PQ8 = {"index_type": "IVF_PQ", "num_sub_vectors": 8}
PQ4 = {"index_type": "IVF_PQ", "num_sub_vectors": 8, "num_bits": 4}
SQ = {"index_type": "IVF_SQ"}
K = 20


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    """probe(directory, queries, k, nprobes) -> (header, [(row ids, distances) of each query])."""
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "index_probe"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    query_file = tmp_path_factory.mktemp("probe") / "queries.bin"

    def run(directory, queries, k, nprobes, fails=False):
        np.asarray(queries, dtype=np.float64).tofile(query_file)
        command = [path, directory, query_file, str(k), str(nprobes)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if fails:
            assert done.returncode == 1
            return done.stderr
        assert done.returncode == 0, done.stderr
        header, *lines = done.stdout.splitlines()
        answers = [([], []) for _ in queries]
        for line in lines:
            query, row_id, distance = line.split()
            answers[int(query)][0].append(int(row_id))
            answers[int(query)][1].append(float(distance))
        return header.split()[1:], answers

    return run


def index_directory(dataset):
    (directory,) = (Path(dataset) / "_indices").iterdir()
    return directory


def compare(answers, expected, relative):
    """Distances agree one by one; ids too, except between (nearly) equal distances."""
    for (ids, distances), (expected_ids, expected_distances) in zip(
        answers, expected, strict=True
    ):
        np.testing.assert_allclose(distances, expected_distances, rtol=relative, atol=2e-6)
        gap = 2 * relative * np.abs(expected_distances) + 4e-6
        near = np.diff(expected_distances) < gap[1:]
        tied = np.append(near, True) | np.insert(near, 0, False)  # the last ties with rows cut off
        for ours, theirs, loose in zip(ids, expected_ids, tied, strict=True):
            assert loose or ours == theirs


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_answers(name, probe, golden):
    search = json.loads((golden / f"{name}.search.json").read_text())
    plain = [s for s in search["searches"] if s["refine_factor"] is None]
    assert len(plain) >= 3
    directory = index_directory(golden / f"{name}.lance")
    for one in plain:
        distances = np.array(one["distances"])
        if search["metric"] == "cosine" and not name.startswith("flat"):
            distances /= 2
        _, answers = probe(directory, search["queries"], search["k"], one["nprobes"])
        compare(answers, list(zip(one["row_ids"], distances, strict=True)), 1e-5)


def make_vectors(rows, dim, dtype, seed):
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(7).normal(0, 2, (40, dim))
    return (centers[random.integers(0, 40, rows)] + random.normal(0, 1, (rows, dim))).astype(dtype)


def make_dataset(path, vectors, metric, index, num_partitions=6):
    flat = pa.array(vectors.reshape(-1))
    table = pa.table({"vec": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})
    dataset = lance.write_dataset(table, str(path))
    dataset.create_index("vec", metric=metric, num_partitions=num_partitions, **index)
    return lance.dataset(str(path))


def nearest(dataset, query, nprobes, **more):
    search = {"column": "vec", "q": query, "k": K, "nprobes": nprobes} | more
    return dataset.to_table(columns=["_distance"], nearest=search, with_row_id=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("index", [FLAT, PQ8, PQ4, SQ], ids=["FLAT", "PQ8", "PQ4", "SQ"])
def test_every_kind(index, metric, dtype, probe, tmp_path):
    dataset = make_dataset(tmp_path / "d", make_vectors(2500, 32, dtype, 1), metric, index)
    queries = make_vectors(12, 32, dtype, 2)
    directory = index_directory(tmp_path / "d")
    for nprobes in (1, 3, 6):
        expected = []
        for query in queries:
            table = nearest(dataset, query, nprobes)
            distances = table["_distance"].to_numpy().astype(np.float64)
            if metric == "cosine" and index is not FLAT:
                distances /= 2
            expected.append((table["_rowid"].to_pylist(), distances))
        header, answers = probe(directory, queries, K, nprobes)
        assert header[:4] == [index["index_type"], metric, "6", "32"]
        compare(answers, expected, 1e-5)


def test_row_major_codes(probe, tmp_path):
    """`skip_transpose` leaves codes row by row; the answers are the same."""
    vectors = make_vectors(2000, 32, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", PQ8 | {"skip_transpose": True})
    auxiliary = (index_directory(tmp_path / "d") / "auxiliary.idx").read_bytes()
    assert b'transposed\\":false' in auxiliary
    queries = make_vectors(5, 32, np.float32, 2)
    expected = []
    for query in queries:
        table = nearest(dataset, query, 6)
        expected.append((table["_rowid"].to_pylist(), table["_distance"].to_numpy()))
    _, answers = probe(index_directory(tmp_path / "d"), queries, K, 0)
    compare(answers, expected, 1e-5)


@pytest.mark.parametrize("index", [FLAT, PQ8], ids=["FLAT", "PQ8"])
def test_reads_little_more_than_the_partitions(index, probe, tmp_path):
    """All partitions read one by one cost at most a tenth more than their rows' bytes."""
    make_dataset(tmp_path / "d", make_vectors(60_000, 16, np.float32, 1), "l2", index, 4)
    header, _ = probe(index_directory(tmp_path / "d"), make_vectors(1, 16, np.float32, 2), 1, 1)
    needed, read = int(header[4]), int(header[5])
    assert needed == 60_000 * (8 + (64 if index is FLAT else 8))
    assert read <= 1.1 * needed


def check_rq(probe, dataset, queries, metric):
    """Our distances of pylance's rows are its own, in its accurate mode, and our best rows are at
    least as near as its: of codes with several bits it may lose one, since it looks at the sign
    bits first (docs/format/index-file.md)."""
    rows = dataset.count_rows()
    missed = 0
    for nprobes in (2, 6):
        _, answers = probe(index_directory(dataset.uri), queries, rows, nprobes)
        for query, (ids, distances) in zip(queries, answers, strict=True):
            table = nearest(dataset, query, nprobes, approx_mode="accurate")
            theirs = table["_distance"].to_numpy().astype(np.float64)
            if metric == "cosine":
                theirs /= 2
            assert len(theirs) == K
            assert len(set(ids)) == len(ids)
            assert np.all(np.diff(distances) >= 0)
            ours = dict(zip(ids, distances, strict=True))
            same = np.array([ours[row_id] for row_id in table["_rowid"].to_pylist()])
            # Their sums are rounded in steps of the query's size, not of the distance's.
            scale = np.abs(theirs).max()
            np.testing.assert_allclose(same, theirs, rtol=1e-3, atol=2e-4 * scale)
            assert np.all(np.array(distances[:K]) <= theirs + 1e-3 * np.abs(theirs) + 2e-4 * scale)
            missed += len(set(ids[:K]) - set(table["_rowid"].to_pylist()))
    assert missed <= 0.05 * 2 * len(queries) * K


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [1, 3, 5, 9])
def test_rq(num_bits, metric, dtype, probe, tmp_path):
    index = {"index_type": "IVF_RQ", "num_bits": num_bits}
    dataset = make_dataset(tmp_path / "d", make_vectors(2500, 32, dtype, 1), metric, index)
    check_rq(probe, dataset, make_vectors(8, 32, dtype, 2), metric)


@pytest.mark.parametrize("dim", [8, 24, 64, 72, 136])
@pytest.mark.parametrize("num_bits", range(1, 10))
def test_rq_widths(num_bits, dim, probe, tmp_path):
    index = {"index_type": "IVF_RQ", "num_bits": num_bits}
    vectors = make_vectors(1500, dim, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", index)
    check_rq(probe, dataset, make_vectors(4, dim, np.float32, 2), "l2")


@pytest.mark.parametrize("num_bits", [1, 5])
def test_rq_row_major_codes(num_bits, probe, tmp_path):
    index = {"index_type": "IVF_RQ", "num_bits": num_bits, "skip_transpose": True}
    vectors = make_vectors(1500, 32, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", index)
    auxiliary = (index_directory(tmp_path / "d") / "auxiliary.idx").read_bytes()
    assert b'packed\\":false' in auxiliary
    check_rq(probe, dataset, make_vectors(4, 32, np.float32, 2), "l2")


def rotate(x, signs):
    """The fast rotation of the rows of x."""
    dim = x.shape[1]
    span = 1 << dim.bit_length() - 1
    hadamard = np.ones((1, 1))
    while len(hadamard) < span:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    flips = np.unpackbits(np.array(signs, np.uint8).reshape(4, -1), axis=1, bitorder="little")
    for round_, flip in enumerate(flips[:, :dim]):
        x = np.where(flip, -x, x)
        part = slice(0, span) if round_ % 2 == 0 else slice(dim - span, dim)
        x[:, part] = x[:, part] @ hadamard / np.sqrt(span)
        if span != dim:
            first, second = np.split(x, 2, axis=1)
            x = np.hstack([first + second, first - second])
    return x if span == dim else x / 4


def varint(value):
    if value < 128:
        return bytes([value])
    return bytes([value & 127 | 128]) + varint(value >> 7)


def use_matrix(dataset, dim):
    """Writes the auxiliary file again with the same rotation, as a matrix: pylance reads such
    indexes and writes none."""
    path = index_directory(dataset) / "auxiliary.idx"
    old_size = path.stat().st_size
    reader = LanceFileReader(str(path))
    rows = reader.read_all().to_table()
    metadata = reader.metadata().schema.metadata
    storage = json.loads(json.loads(metadata[b"storage_metadata"])[0])
    matrix = rotate(np.eye(dim), storage["fast_rotation_signs"]).T
    data = matrix.astype(np.float32).tobytes()
    shape = varint(dim) * 2
    tensor = b"\x08\x02\x12" + varint(len(shape)) + shape + b"\x1a" + varint(len(data)) + data
    ivf = reader.read_global_buffer(int(metadata[b"lance:ivf"]))
    del reader
    path.unlink()
    with LanceFileWriter(str(path), rows.schema, version="2.2") as writer:
        writer.write_batch(rows)
        writer.add_schema_metadata("lance:ivf", str(writer.add_global_buffer(ivf)))
        storage |= {
            "rotate_mat_position": writer.add_global_buffer(tensor),
            "fast_rotation_signs": None,
            "rotation_type": "matrix",
        }
        writer.add_schema_metadata("storage_metadata", json.dumps([json.dumps(storage)]))
        writer.add_schema_metadata("distance_type", metadata[b"distance_type"].decode())
    # The manifest knows the size of the file: as long a number as before.
    old = b"auxiliary.idx\x10" + varint(old_size)
    new = b"auxiliary.idx\x10" + varint(path.stat().st_size)
    assert len(old) == len(new)
    manifests = list((Path(dataset) / "_versions").glob("*.manifest"))
    assert sum(old in manifest.read_bytes() for manifest in manifests) == 1
    for manifest in manifests:
        manifest.write_bytes(manifest.read_bytes().replace(old, new))


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize(("num_bits", "dim"), [(1, 64), (5, 24)])
def test_rq_matrix(num_bits, dim, metric, probe, tmp_path):
    index = {"index_type": "IVF_RQ", "num_bits": num_bits}
    vectors = make_vectors(1500, dim, np.float32, 1)
    make_dataset(tmp_path / "fast", vectors, metric, index)
    shutil.copytree(tmp_path / "fast", tmp_path / "d")  # away from what pylance has cached
    use_matrix(tmp_path / "d", dim)
    dataset = lance.dataset(str(tmp_path / "d"))
    check_rq(probe, dataset, make_vectors(4, dim, np.float32, 2), metric)


def test_other_kinds_are_refused_by_name(probe, tmp_path):
    vectors = make_vectors(1000, 32, np.float32, 1)
    make_dataset(tmp_path / "d", vectors, "l2", SQ, 2)
    path = index_directory(tmp_path / "d") / "index.idx"
    path.write_bytes(path.read_bytes().replace(b"IVF_SQ", b"IVF_XQ"))
    message = probe(path.parent, vectors[:1], 1, 1, fails=True)
    assert message.startswith("not_supported:")
    assert "IVF_XQ" in message


def test_hamming(probe, tmp_path):
    """Distances are whole numbers, so many rows tie: those below the last one are pylance's."""
    random = np.random.default_rng(1)
    vectors = random.integers(0, 256, (500, 16), np.uint8)
    dataset = make_dataset(tmp_path / "d", vectors, "hamming", FLAT, 4)
    queries = random.integers(0, 256, (10, 16), np.uint8)
    for nprobes in (1, 3, 4):
        _, answers = probe(index_directory(tmp_path / "d"), queries, K, nprobes)
        for query, (ids, distances) in zip(queries, answers, strict=True):
            table = nearest(dataset, query, nprobes)
            expected = dict(zip(table["_rowid"].to_pylist(), table["_distance"].to_pylist()))
            assert distances == sorted(expected.values())
            for row_id, distance in zip(ids, distances, strict=True):
                assert expected.get(row_id, distances[-1]) == distance


def test_legacy_index_is_refused(probe, golden, tmp_path):
    """A file of Lance's first format, as old indexes are."""
    (tmp_path / "index.idx").write_bytes(bytes(64) + struct.pack("<QHH", 0, 0, 2) + b"LANC")
    message = probe(tmp_path, np.zeros((1, 2)), 1, 1, fails=True)
    assert message.startswith("not_supported: Legacy index file")
    assert "rebuild" in message


def test_missing_and_damaged_files(probe, golden, tmp_path):
    source = index_directory(golden / "pq8_l2.lance")
    query = np.zeros((1, 16))
    for name in ("index.idx", "auxiliary.idx"):
        copy = tmp_path / name
        shutil.copytree(source, copy)
        (copy / name).unlink()
        assert probe(copy, query, 1, 1, fails=True).startswith("not_found:")
        (copy / name).write_bytes((source / name).read_bytes()[:-1])
        assert probe(copy, query, 1, 1, fails=True).startswith("corrupt:")
    # The two files of different indexes.
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    shutil.copy(source / "index.idx", mixed)
    shutil.copy(index_directory(golden / "pq8_dot.lance") / "auxiliary.idx", mixed)
    assert probe(mixed, query, 1, 1, fails=True).startswith("corrupt:")
