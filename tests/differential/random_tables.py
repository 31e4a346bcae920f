"""Random schemas and random rows of them: types nested to a depth, fields that have nulls and
fields that can't, values that repeat, run, rise or are all of one kind.

`random_table(rng, version)` makes a table that data files of the version can hold, as far as
pylance says.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa

MOST_ROWS = 300
DEEPEST = 3

NUMBERS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
           pa.uint64(), pa.float16(), pa.float32(), pa.float64())  # fmt: skip
TIMES = (pa.date32(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
         pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Kolkata"),
         pa.duration("ms"), pa.duration("ns"))  # fmt: skip
BYTES = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
OPTIONS = (
    {},
    {"lance-encoding:compression": "zstd"},
    {"lance-encoding:compression": "lz4"},
    {"lance-encoding:compression": "none"},
    {"lance-encoding:structural-encoding": "fullzip"},
)


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


def leaf_type(rng):
    kind = rng.integers(12)
    if kind < 4:
        return pick(rng, NUMBERS)
    if kind < 7:
        return pick(rng, BYTES)
    if kind == 7:
        return pick(rng, TIMES)
    if kind == 8:
        return pick(rng, (pa.bool_(), pa.decimal128(12, 3), pa.decimal256(40, 1), pa.null(),
                          pa.binary(int(rng.integers(1, 40)))))  # fmt: skip
    if kind == 9:
        return pa.dictionary(pick(rng, (pa.int8(), pa.int32(), pa.uint16())), pick(rng, BYTES))
    inner = pick(rng, (*NUMBERS, pa.bool_()))
    if rng.random() < 0.2:
        inner = pa.list_(inner, int(rng.integers(1, 4)))
    return pa.list_(inner, int(rng.integers(1, 90 if inner in NUMBERS else 9)))


def random_type(rng, version, depth=0):
    """A type; the deeper, the plainer."""
    if rng.random() < 0.35 + 0.25 * depth or depth == DEEPEST:
        return leaf_type(rng)
    kind = rng.integers(10)
    if kind < 3:
        return pa.list_(field(rng, version, depth, "item"))
    if kind == 3:
        return pa.large_list(field(rng, version, depth, "item"))
    if kind == 4 and version == "2.2":
        item = pa.field("value", random_type(rng, version, depth + 1))
        return pa.map_(pick(rng, (pa.string(), pa.int32())), item)
    if kind == 5 and version == "2.2" and depth == 0:
        return pa.list_(pa.struct([pa.field(f"f{i}", leaf_type(rng))
                                   for i in range(int(rng.integers(1, 4)))]),
                        int(rng.integers(1, 5)))  # fmt: skip
    return pa.struct([field(rng, version, depth, f"f{i}") for i in range(int(rng.integers(1, 4)))])


def field(rng, version, depth, name):
    kind = random_type(rng, version, depth + 1)
    return pa.field(name, kind, nullable=pa.types.is_null(kind) or bool(rng.random() < 0.7))


def numbers(rng, n, low, high):
    """Whole numbers: of all sizes, small, in runs, rising, few, or all equal."""
    shape = rng.integers(6)
    if shape == 0:
        return rng.integers(low, high, n, np.int64, endpoint=True)
    small = min(high, low + 1000)
    if shape == 1:
        return rng.integers(low, small, n, np.int64, endpoint=True)
    if shape == 2:
        return np.repeat(rng.integers(low, high, n // 20 + 1, np.int64, endpoint=True), 20)[:n]
    if shape == 3:
        return low + np.arange(n) % min(high - low, 10**6)
    few = rng.integers(low, high, 4 if shape == 4 else 1, np.int64, endpoint=True)
    return rng.choice(few, n)


def leaf_values(rng, kind, n):
    if pa.types.is_null(kind):
        return pa.nulls(n)
    if pa.types.is_boolean(kind):
        return pa.array(rng.random(n) < rng.choice([0.0, 0.3, 1.0]))
    if pa.types.is_floating(kind):
        return pa.array(numbers(rng, n, -999, 999).astype(kind.to_pandas_dtype()) / 8).cast(kind)
    if pa.types.is_integer(kind):
        info = np.iinfo(kind.to_pandas_dtype())
        low, high = max(info.min, -(2**62)), min(info.max, 2**62)
        return pa.array(numbers(rng, n, low, high).astype(info.dtype), kind)
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(int(v)) / 10 for v in numbers(rng, n, -(10**8), 10**8)], kind)
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([rng.bytes(kind.byte_width) for _ in range(n)], kind)
    if pa.types.is_dictionary(kind):
        items = leaf_values(rng, kind.value_type, 20).unique()
        indices = pa.array(rng.integers(0, len(items), n)).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, items)
    if kind in BYTES:
        pieces = [b"", b"near", b"est ", b"neighbour", "é".encode(), b"x" * 300]
        lengths = numbers(rng, n, 0, 12)
        values = [b"".join(pieces[i] for i in rng.choice(6, k, p=[.1, .3, .3, .2, .09, .01]))
                  for k in lengths]  # fmt: skip
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        return pa.array([value.decode() if text else value for value in values], kind)
    width = kind.bit_width
    low, high = (0, 80_000) if pa.types.is_time(kind) else (-(2**30), 2**30)
    stored = pa.array(numbers(rng, n, low, high), pa.int32() if width == 32 else pa.int64())
    return stored.view(kind)


def nulls(rng, n, nullable):
    """A mask: none, some, runs of them, or all."""
    share = rng.choice([0.0, 0.1, 0.5, 1.0], p=[0.4, 0.3, 0.25, 0.05]) if nullable else 0.0
    mask = rng.random(n) < share
    return np.repeat(mask, 7)[:n] if rng.random() < 0.2 else mask


def masked(rng, array, mask):
    """The array with null where the mask says, and no values under its nulls."""
    if not mask.any():
        return array
    return array.take(pa.array(np.arange(len(array)), mask=mask))


def random_values(rng, kind, n, nullable, null_structs):
    """`n` values of a type."""
    if pa.types.is_null(kind):
        return pa.nulls(n)
    mask = nulls(rng, n, nullable)
    if pa.types.is_fixed_size_list(kind):
        item = kind.value_field
        struct = pa.types.is_struct(item.type)
        items = random_values(rng, item.type, n * kind.list_size, rng.random() < 0.3, struct)
        return masked(rng, pa.FixedSizeListArray.from_arrays(items, type=kind), mask)
    if pa.types.is_struct(kind):
        children = [random_values(rng, child.type, n, child.nullable, null_structs)
                    for child in kind]  # fmt: skip
        made = pa.StructArray.from_arrays(children, fields=list(kind))
        # Values of children that can't be null must lie under the struct's nulls.
        if not null_structs or not mask.any():
            return made
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=pa.array(mask))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)):
        return masked(rng, leaf_values(rng, kind, n), mask)
    lengths = rng.integers(0, int(rng.choice([1, 3, 9])), n)
    lengths[mask] = 0
    ends = np.concatenate([[0], np.cumsum(lengths)])
    count = int(ends[-1])
    width = pa.int64() if pa.types.is_large_list(kind) else pa.int32()
    offsets = pa.array(ends, width, mask=np.append(mask, False)) if mask.any() else pa.array(
        ends, width)  # fmt: skip
    if pa.types.is_map(kind):
        keys = leaf_values(rng, kind.key_type, count)
        values = random_values(rng, kind.item_type, count, True, null_structs)
        return pa.MapArray.from_arrays(offsets, keys, values, type=kind)
    item = kind.value_field
    values = random_values(rng, item.type, count, item.nullable, null_structs)
    made = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
    return made.from_arrays(offsets, values, type=kind)


def random_table(rng, version):
    """One to five columns, and `id`, which counts the rows."""
    n = int(rng.choice([0, 1, int(rng.integers(2, 20)), int(rng.integers(20, MOST_ROWS))],
                       p=[0.05, 0.05, 0.3, 0.6]))  # fmt: skip
    fields, arrays = [pa.field("id", pa.int64())], [pa.array(np.arange(n))]
    for number in range(int(rng.integers(1, 6))):
        kind = random_type(rng, version)
        nullable = pa.types.is_null(kind) or bool(rng.random() < 0.7)
        fields.append(pa.field(f"c{number}", kind, nullable, metadata=pick(rng, OPTIONS)))
        arrays.append(random_values(rng, kind, n, nullable, version != "2.0"))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
