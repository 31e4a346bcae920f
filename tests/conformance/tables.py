"""Tables of the conformance corpus: what a recipe makes, as bindings/conformance/README.md says."""

import datetime
import json
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "bindings" / "conformance"
GOLDEN = ROOT / "tests" / "golden"
RECIPES = json.loads((CORPUS / "recipes.json").read_text())
ELEMENTS = {name: getattr(pa, name)() for name in (
    "float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64")}
SCALARS = {"string": pa.string(), "bool": pa.bool_(), "date": pa.date32()}


def number(text):
    """JSON has no NaN and no infinity: they are texts."""
    return float(text) if isinstance(text, str) else text


def formula(rule, row, element=0, part=0):
    value = rule.get("row", 0) * row + rule.get("element", 0) * element
    value += rule.get("part", 0) * part + rule.get("add", 0)
    if "modulo" in rule:
        value %= rule["modulo"]
    value -= rule.get("subtract", 0)
    return value / rule["divide"] if "divide" in rule else value


def column_type(column):
    kind = column["type"]
    if kind in ("vector", "list", "multivector"):
        element = ELEMENTS[column["element"]]
        if kind == "list":
            return pa.list_(element)
        fixed = pa.list_(element, column["width"])
        return fixed if kind == "vector" else pa.list_(fixed)
    return SCALARS.get(kind) or ELEMENTS[kind]


def made_value(column, row):
    kind, rule = column["type"], column["formula"]
    if kind in ("vector", "list"):
        return [formula(rule, row, element) for element in range(column["width"])]
    if kind == "multivector":
        return [[formula(rule, row, element, part) for element in range(column["width"])]
                for part in range(1 + row % column["parts"])]
    value = formula(rule, row)
    if kind == "string":
        return f"{column.get('prefix', '')}{value}"
    return bool(value) if kind == "bool" else value


def as_stored(value, kind):
    """A JSON value as pyarrow takes it."""
    if isinstance(value, list):
        return [as_stored(one, kind) for one in value]
    if value is None or kind in ("string", "bool"):
        return value
    if kind == "date":
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=value)
    return number(value)


def vector_values(values, column):
    """float16 lists are made by hand: pyarrow takes only NumPy's halves for them."""
    if column.get("element") == "float16":
        def halve(value):
            return [halve(v) for v in value] if isinstance(value, list) else (
                value if value is None else np.float16(value))
        return [halve(value) for value in values]
    return values


def make_column(column, rows):
    values = column.get("values") or [made_value(column, row) for row in range(rows)]
    for row, value in column.get("changes", {}).items():
        values[int(row)] = value
    stored = [as_stored(value, column["type"]) for value in values]
    return pa.array(vector_values(stored, column), column_type(column))


def make_table(spec):
    columns = spec["columns"]
    arrays = [make_column(column, spec.get("rows", 0)) for column in columns]
    fields = [pa.field(column["name"], array.type) for column, array in zip(columns, arrays)]
    return pa.table(arrays, schema=pa.schema(fields))


def place_table(spec, folder, name):
    """Puts the table where the program can open it, and gives its path."""
    if "golden" in spec:
        return GOLDEN / f"{spec['golden']}.lance"
    if "path" in spec:
        return folder / spec["path"]
    if "file" in spec:
        path = folder / spec["file"]["name"]
        path.write_text(spec["file"]["text"])
        return path
    table = make_table(RECIPES[spec["recipe"]] if "recipe" in spec else spec)
    path = folder / f"{name}.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path
