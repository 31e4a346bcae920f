"""Seeds for the fuzz targets of data files: small files by pylance, whole and page by page.

    python tests/fuzz/make_corpus.py FOLDER

writes FOLDER/lance_file_fuzz/* (data files of every version and type) and
FOLDER/page_decoder_fuzz/* (one page each, in the form that page_decoder_fuzz.cc describes).
"""

import struct
import sys
import tempfile
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
import test_data_file as data_file  # noqa: E402

# The types that page_decoder_fuzz.cc knows, by their number there.
TYPES = {
    "int32": 0, "int64": 1, "float": 2, "bool": 3, "string": 4, "large_string": 5, "uint8": 6,
    "int16": 7, "binary": 8, "decimal:128:20:2": 9, "fixed_size_list:float:4": 10,
    "fixed_size_list:bool:3": 11, "fixed_size_list:fixed_size_list:float:3:2": 12, "null": 13,
    "fixed_size_binary:33": 14, "dict:string:int32:false": 15,
}  # fmt: skip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def pages(data):
    """(column, rows, is 2.0, layout message, buffers) of every page of a data file."""
    _, table, _, _, columns = struct.unpack_from("<QQQII", data, len(data) - 40)
    for column in range(columns):
        position, size = struct.unpack_from("<QQ", data, table + 16 * column)
        for number, page in fields(data[position : position + size]):
            if number != 2:
                continue
            parts = dict(fields(page))
            any_ = dict(fields(dict(fields(dict(fields(parts[4]))[2]))[1]))
            offsets, sizes = packed(parts.get(1, b"")), packed(parts.get(2, b""))
            buffers = [data[a : a + s] for a, s in zip(offsets, sizes)]
            yield column, parts.get(3, 0), b"encodings.Array" in any_[1], any_.get(2, b""), buffers


def page_seed(kind, rows, old, layout, buffers):
    """One input of page_decoder_fuzz, or None when the page doesn't fit its form."""
    parts = [layout, *buffers] + [b""] * (3 - len(buffers))
    if rows % 8 or rows >= 2048 or len(parts) != 4 or any(len(part) > 65535 for part in parts):
        return None
    header = struct.pack("<BBB4H", kind, 255 if old else 0, rows // 8, *map(len, parts))
    return header + b"".join(parts)


def page_columns(rng, n):
    """One column of each type that the page target knows, and lists and structs of some."""
    fixed = data_file.fixed_columns(rng, n)
    text = data_file.text_columns(rng, n)
    vector = data_file.vector_columns(rng, n)
    columns = {
        "int32": [fixed["small_int32"], fixed["runs"], fixed["int32"], fixed["equal"]],
        "int64": [fixed["sequence"], fixed["few"], fixed["int64"]],
        "float": [fixed["f4"]],
        "bool": [fixed["bool"]],
        "string": [text["unique"], text["few"], text["equal"], text["wide"]],
        "large_string": [text["large"]],
        "uint8": [fixed["uint8"]],
        "int16": [fixed["int16"]],
        "binary": [text["binary"]],
        "decimal:128:20:2": [fixed["decimal128"]],
        "fixed_size_list:float:4": [vector["items_f32x4"]],
        "fixed_size_list:bool:3": [vector["boolx3"]],
        "fixed_size_list:fixed_size_list:float:3:2": [vector["nested"]],
        "null": [pa.nulls(n)],
        "fixed_size_binary:33": [fixed["fixed_binary33"]],
        "dict:string:int32:false": [text["dictionary"]],
    }
    for kind, arrays in columns.items():
        for array in arrays:
            yield TYPES[kind], array
            if kind == "null":
                continue
            yield TYPES[kind], data_file.with_nulls(array, rng)
            if kind in ("int32", "string", "float"):
                listed = data_file.lists(rng, n, lambda count, a=array: a.take(  # noqa: B023
                    pa.array(rng.integers(0, n, count))))
                yield TYPES[kind] + 128, data_file.with_nulls(listed, rng)
                struct_ = pa.StructArray.from_arrays([array], ["item"])
                yield TYPES[kind] + 192, data_file.with_nulls(struct_, rng)


OPTIONS = [{}, {"lance-encoding:compression": "zstd"}, {"lance-encoding:compression": "lz4"},
           {"lance-encoding:structural-encoding": "fullzip"}]  # fmt: skip


def written(table, version):
    with tempfile.TemporaryDirectory() as folder:
        try:
            _, file = data_file.write(table, Path(folder), version)
        except Exception:  # a type that this version can't hold
            return None
        return file.read_bytes()


def write_page_seeds(folder):
    for version in data_file.VERSIONS:
        for n in (8, 400, 1200):
            rng = np.random.default_rng(n)
            for number, (kind, array) in enumerate(page_columns(rng, n)):
                for option, metadata in enumerate(OPTIONS):
                    if kind % 128 % 64 == 11 and option == 3:
                        continue  # pylance can't write vectors of bits as full-zip
                    field = pa.field("c", array.type, metadata=metadata)
                    data = written(pa.table([array], pa.schema([field])), version)
                    for page, parts in enumerate(pages(data) if data else []):
                        seed = page_seed(kind, *parts[1:])
                        if seed:
                            name = f"{version}-{n}-{number}-{option}-{page}"
                            (folder / name).write_bytes(seed)


def row_packed_columns(rows):
    """Columns that store a row as one piece, by name: array and metadata."""
    packed, blob = {"lance-encoding:packed": "true"}, {"lance-encoding:blob": "true"}
    numbers = [{"a": i, "b": i / 2} for i in range(rows)]
    texts = [{"a": i, "b": "x" * (i % 5)} for i in range(rows)]
    values = [None if i % 5 == 3 else bytes([i % 256]) * (i % 40) for i in range(rows)]
    pair = pa.struct([("a", pa.int32()), ("b", pa.float64())])
    named = pa.struct([("a", pa.int32()), ("b", pa.string())])
    return {
        "packed": (pa.array(numbers, pair), packed),
        "packed_text": (pa.array(texts, named), packed),
        "blob": (pa.array(values, pa.large_binary()), blob),
    }


def write_row_packed_seeds(folder):
    for version in data_file.VERSIONS:
        for n in (3, 300):
            for name, (array, metadata) in row_packed_columns(n).items():
                schema = pa.schema([pa.field("c", array.type, metadata=metadata)])
                data = written(pa.table([array], schema), version)
                if data:
                    (folder / f"{version}-{n}-{name}").write_bytes(data)


def write_file_seeds(folder):
    for version in data_file.VERSIONS:
        for n in (3, 300):
            rng = np.random.default_rng(n)
            for case, columns in data_file.CASES.items():
                for name, array in columns(rng, n).items():
                    for nulls in (False, True):
                        chosen = data_file.with_nulls(array, rng) if nulls else array
                        data = written(pa.table({name: chosen}), version)
                        if data and len(data) <= 1 << 16:
                            (folder / f"{version}-{n}-{case}-{name}-{nulls}").write_bytes(data)
    write_row_packed_seeds(folder)


def main():
    out = Path(sys.argv[1])
    for name, write_seeds in (("page_decoder_fuzz", write_page_seeds),
                              ("lance_file_fuzz", write_file_seeds)):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        write_seeds(folder)
        print(f"{name}: {len(list(folder.iterdir()))} seeds")


if __name__ == "__main__":
    main()
