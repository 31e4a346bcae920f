"""The columns of the matrix of data files: every type that pylance writes, with nulls at every
level or with none, and the options that a column's metadata can set.

`columns(rng, n, nullable, version)` makes the columns that files of a version can hold, by name.
What pylance 14 doesn't write is left out here, and nowhere else.
"""

from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pyarrow as pa
from lance._arrow.bf16 import BFloat16Type

from tests.interop import test_data_file as data

VERSIONS = data.VERSIONS
PACKED = {"lance-encoding:packed": "true"}
BLOB = {"lance-encoding:blob": "true"}

# What pylance can't take through an update: it writes these rows wrong (2.0) or not at all.
NOT_UPDATED = {
    "2.0": ("packed_vectors",),
    "2.1": ("packed",),
    "2.2": ("packed", "packed_text", "packed_vectors", "fixed_list_of_struct",
            "fixed_list_of_fixed_list"),
}  # fmt: skip

# Metadata that chooses encodings, by the name of the choice.
OPTIONS = {
    "default": {},
    "zstd": {"lance-encoding:compression": "zstd", "lance-encoding:compression-level": "3"},
    "lz4": {"lance-encoding:compression": "lz4"},
    "fsst": {"lance-encoding:compression": "fsst"},
    "none": {"lance-encoding:compression": "none"},
    "bss": {"lance-encoding:compression": "zstd", "lance-encoding:bss": "on"},
    "rle": {"lance-encoding:rle-threshold": "1.0"},
    "dictionary": {"lance-encoding:dict-divisor": "1", "lance-encoding:dict-size-ratio": "1.0",
                   "lance-encoding:dict-values-compression": "zstd"},
    "miniblock": {"lance-encoding:structural-encoding": "miniblock"},
    "fullzip": {"lance-encoding:structural-encoding": "fullzip"},
}  # fmt: skip


@dataclass
class Column:
    """An array, and what pylance may be told of it."""

    array: pa.Array
    metadata: dict = field(default_factory=dict)
    takes_options: bool = True
    has_long_values: bool = False


def nulled(array, rng, nullable):
    return data.with_nulls(array, rng) if nullable and len(array) else array


def scalar_columns(rng, n, nullable):
    columns = data.fixed_columns(rng, n) | data.text_columns(rng, n)
    for unit in ("s", "ms", "us", "ns"):
        columns[f"duration_{unit}"] = data.temporal(rng, n, pa.duration(unit))
    special = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1.5]), n)
    columns["special_f8"] = pa.array(special)
    columns["special_f4"] = pa.array(special.astype("f4"))
    columns["negative_decimal"] = pa.array(
        [Decimal(int(v)) / 1000 for v in rng.integers(-999, 999, n)], pa.decimal128(5, 3))
    columns["prose"] = pa.array([" ".join(words) for words in zip(
        *(data.words(rng, n, 20, 40) for _ in range(3)))], pa.string())
    columns["long"] = pa.array(["x" * 70_000 if i % 400 == 7 else word * 9 for i, word in enumerate(
        data.words(rng, n, 1, 9))], pa.large_string())
    columns["runs_of_text"] = pa.array([f"text number {i // 97}" for i in range(n)], pa.string())
    columns["zstd_binary"] = pa.array([bytes([i % 7]) * (40_000 if i % 300 == 5 else 50)
                                       for i in range(n)], pa.large_binary())
    columns["many_runs"] = pa.array(np.repeat(rng.integers(0, 2**60, n // 50 + 1), 50)[:n])
    return {name: nulled(array, rng, nullable) for name, array in columns.items()}


def vector_columns(rng, n, nullable):
    columns = data.vector_columns(rng, n)
    del columns["f32x63"], columns["u8x256"], columns["f16x128"]  # wide ones like them are here
    return {name: nulled(array, rng, nullable) for name, array in columns.items()}


def dictionary_columns(rng, n, nullable):
    """By type of value and of index."""
    picks = rng.integers(0, 5, n)
    words = np.array(["", "a", "bb", "a longer word", "x" * 60])
    kinds = {
        "dict_text8": pa.dictionary(pa.int8(), pa.large_string()),
        "dict_bytes": pa.dictionary(pa.int16(), pa.binary()),
        "dict_u32": pa.dictionary(pa.uint32(), pa.string()),
    }
    columns = {name: pa.array(words[picks].tolist(), kind.value_type).dictionary_encode().cast(kind)
               for name, kind in kinds.items()}  # fmt: skip
    columns["dict_int"] = pa.array(picks * 10**12).dictionary_encode()
    columns["dict_float"] = pa.array((picks / 3).astype("f4")).dictionary_encode()
    return {name: nulled(array, rng, nullable) for name, array in columns.items()}


def structs(rng, n, children, nullable):
    """A struct array, its children null at places of their own, and it at others."""
    made = pa.StructArray.from_arrays([nulled(child, rng, nullable) for child in children.values()],
                                      names=list(children))
    return nulled(made, rng, nullable)


def nested_columns(rng, n, nullable, version):
    def some(maker):
        return lambda count: nulled(maker(count), rng, nullable)

    ints = some(lambda count: pa.array(rng.integers(-9, 99, count).astype("i4")))
    texts = some(lambda count: pa.array(data.words(rng, count, 0, 9), pa.string()))
    vectors = some(lambda count: data.random_vectors(rng, count, 4, np.float32))
    lists = lambda values, low=0, high=4: some(  # noqa: E731
        lambda count: data.lists(rng, count, values, low, high))
    columns = {
        "list": lists(ints)(n),
        "list_of_text": lists(texts)(n),
        "list_of_list": lists(lists(texts))(n),
        "list3": lists(lists(lists(ints, 0, 2), 0, 2), 0, 3)(n),
        "list_of_vectors": lists(vectors)(n),
        "list_of_wide": lists(some(lambda c: data.random_vectors(rng, c, 80, np.float32)), 0, 2)(n),
        "large_list": lists(ints)(n).cast(pa.large_list(pa.int32())),
        "list_of_dict": lists(lambda count: texts(count).dictionary_encode(), 0, 3)(n),
        "list_of_bool": lists(some(lambda c: pa.array(rng.random(c) < 0.5)))(n),
    }
    # Version 2.0 has no null structs.
    null_structs = nullable and version != "2.0"
    made = lambda count, children: nulled(pa.StructArray.from_arrays(  # noqa: E731
        [child(count) for child in children.values()], names=list(children)), rng, null_structs)
    pair = lambda count: made(count, {"x": ints, "y": texts})  # noqa: E731
    columns |= {
        "struct": pair(n),
        "struct_of_struct": made(n, {"inner": pair, "z": vectors, "l": lists(pair, 0, 2)}),
        "list_of_struct": lists(pair, 0, 3)(n),
        "list_of_struct_of_list": lists(
            lambda count: made(count, {"l": lists(texts, 0, 2), "x": ints}), 0, 2)(n),
        "struct_of_dict": made(n, {"d": lambda count: texts(count).dictionary_encode()}),
    }
    return columns


def maps(rng, n, values, nullable):
    """Maps of texts, with empty ones and, where wanted, null ones."""
    lengths = rng.integers(0, 4, n)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype("i4"))
    count = int(lengths.sum())
    keys = pa.array([f"{word}{i}" for i, word in enumerate(data.words(rng, count, 0, 5))],
                    pa.string())  # fmt: skip
    return nulled(pa.MapArray.from_arrays(offsets, keys, values(count)), rng, nullable)


def newest_columns(rng, n, nullable):
    """What version 2.2 alone has: maps, and fixed-size lists of structs."""
    ints = lambda count: nulled(  # noqa: E731
        pa.array(rng.integers(-9, 99, count).astype("i8")), rng, nullable)
    pair = lambda count: structs(rng, count, {  # noqa: E731
        "x": pa.array(rng.normal(size=count)),
        "y": pa.array(data.words(rng, count, 0, 9), pa.string())}, nullable)
    triple = lambda count: nulled(  # noqa: E731
        pa.FixedSizeListArray.from_arrays(pair(3 * count), 3), rng, nullable)
    inner = lambda count: structs(  # noqa: E731
        rng, count, {"f": triple(count), "k": ints(count)}, nullable)
    return {
        "map": maps(rng, n, ints, nullable),
        "map_of_lists": maps(rng, n, lambda count: data.lists(rng, count, ints, 0, 2), nullable),
        "map_of_structs": maps(rng, n, pair, nullable),
        "struct_of_map": structs(rng, n, {"m": maps(rng, n, ints, nullable)}, nullable),
        "fixed_list_of_struct": triple(n),
        "fixed_list_of_fixed_list": nulled(
            pa.FixedSizeListArray.from_arrays(inner(2 * n), 2), rng, nullable),
    }


def extension_columns(rng, n, nullable):
    tensors = data.random_vectors(rng, n, 6, np.float32)
    tensor = pa.fixed_shape_tensor(pa.float32(), [2, 3])
    uuids = pa.array([rng.bytes(16) for _ in range(n)], pa.binary(16))
    halves = pa.array([rng.bytes(2) for _ in range(n)], pa.binary(2))
    columns = {
        "tensor": (tensor, nulled(tensors, rng, nullable)),
        "uuid": (pa.uuid(), nulled(uuids, rng, nullable)),
        "bfloat16": (BFloat16Type(), nulled(halves, rng, nullable)),
    }
    return {name: Column(pa.ExtensionArray.from_storage(kind, storage))
            for name, (kind, storage) in columns.items()}  # fmt: skip


def row_packed_columns(rng, n, nullable, version):
    """Columns that store a row, or where it lies, as one piece."""
    fixed = {"a": pa.array(rng.integers(0, 99, n).astype("i2")), "b": pa.array(rng.normal(size=n))}
    null_rows = nullable and version != "2.0"
    # The children have no nulls of their own, also where the struct is null.
    packed = lambda children: pa.StructArray.from_arrays(  # noqa: E731
        list(children.values()), names=list(children),
        mask=pa.array((rng.random(n) < 0.2) & null_rows))
    columns = {"packed": packed(fixed)}
    if version == "2.0":
        columns["packed_wide"] = packed(
            {f"c{i}": pa.array(rng.normal(size=n)) for i in range(40)})
    if version == "2.2":
        text = {"t": pa.array(data.words(rng, n, 0, 9), pa.string())}
        columns["packed_text"] = packed(fixed | text)
    if version != "2.1":
        columns["packed_vectors"] = packed(
            fixed | {"v": data.random_vectors(rng, n, 3, np.float32)})
    made = {name: Column(array, PACKED, takes_options=False) for name, array in columns.items()}
    values = pa.array([bytes([i % 256]) * (i % 50) for i in range(n)], pa.large_binary())
    made["blob"] = Column(nulled(values, rng, nullable), BLOB, takes_options=False)
    return made


def columns(rng, n, nullable, version):
    """All columns of a version, by name."""
    plain = (scalar_columns(rng, n, nullable) | vector_columns(rng, n, nullable)
             | dictionary_columns(rng, n, nullable) | nested_columns(rng, n, nullable, version)
             | {"null": pa.nulls(n), "all_null": pa.nulls(n, pa.int32()),
                "all_null_vectors": pa.nulls(n, pa.list_(pa.float32(), 8))})  # fmt: skip
    if version == "2.2":
        plain |= newest_columns(rng, n, nullable)
    made = {name: Column(array, has_long_values=name in ("long", "zstd_binary"))
            for name, array in plain.items()}  # fmt: skip
    return (made | extension_columns(rng, n, nullable)
            | row_packed_columns(rng, n, nullable, version))


def fewer_columns(rng, n, nullable, version):
    """Of each kind one, for many rows: those whose encodings depend on how many there are."""
    texts = data.words(rng, n, 3, 30)
    struct = nulled(pa.StructArray.from_arrays([pa.array(np.arange(n)), pa.array(texts)],
                                               ["x", "y"]), rng, nullable and version != "2.0")
    plain = {
        "int32": data.integers(rng, n, pa.int32()),
        "sequence": pa.array(np.arange(n)),
        "few": pa.array(rng.choice(["red", "green", "a rather long colour name"], n).tolist()),
        "bool": pa.array(rng.random(n) < 0.5),
        "f4": pa.array(rng.normal(size=n).astype("f4")),
        "runs": pa.array((np.arange(n) // 400 * 7919).astype("i4")),
        "texts": pa.array(texts),
        "binary": pa.array([rng.bytes(20) for _ in range(n)], pa.large_binary()),
        "f32x16": data.random_vectors(rng, n, 16, np.float32),
        "f32x80": data.random_vectors(rng, n, 80, np.float32),
        "lists": data.lists(rng, n, lambda count: nulled(
            pa.array(rng.integers(0, 99, count)), rng, nullable)),
        "dictionary": pa.array(rng.choice(["one", "two", "three"], n).tolist())
        .dictionary_encode(),
    }  # fmt: skip
    plain = {name: nulled(array, rng, nullable) for name, array in plain.items()}
    made = {name: Column(array) for name, array in (plain | {"struct": struct}).items()}
    return made | row_packed_columns(rng, n, nullable, version)


def takes_option(column, option, version):
    """Whether pylance writes a column with an option."""
    kind = column.array.type
    if not column.takes_options:
        return False
    if option == "fullzip" and holds(kind, pa.types.is_boolean):
        return False
    if option == "miniblock" and column.has_long_values:
        return False
    if option == "fsst" and version == "2.0":
        large = holds(kind, pa.types.is_large_string) or holds(kind, pa.types.is_large_binary)
        return not large and column.array.null_count < max(1, len(column.array))
    return True


def holds(kind, test):
    """A type, or one inside it, passes a test."""
    if isinstance(kind, pa.BaseExtensionType):
        return holds(kind.storage_type, test)
    return test(kind) or any(holds(kind.field(i).type, test) for i in range(kind.num_fields))


def table(made, option, version):
    """The columns as a table, with a column `id` that counts the rows."""
    rows = len(next(iter(made.values())).array)
    fields, arrays = [pa.field("id", pa.int64())], [pa.array(np.arange(rows))]
    for name, column in made.items():
        chosen = OPTIONS[option] if takes_option(column, option, version) else {}
        fields.append(pa.field(name, column.array.type, metadata=column.metadata | chosen))
        arrays.append(column.array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def expected(made):
    """What a reader gives of `table(made, ...)`."""
    rows = len(next(iter(made.values())).array)
    arrays = {"id": pa.array(np.arange(rows))}
    return pa.table(arrays | {name: column.array for name, column in made.items()})
