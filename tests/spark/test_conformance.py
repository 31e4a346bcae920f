"""The conformance corpus through kNearestJoin: left sides as DataFrames of one partition, right
sides as Lance datasets. A DataFrame is a URI's equal, so cases take turns between the two.
"""

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.conformance.corpus import read_cases
from tests.conformance.tables import RECIPES, make_table, place_table
from tests.conformance.test_cli import check_rows

# What a join of DataFrames isn't asked: who the left row is, and what needs all of the left side.
ELSEWHERE = {
    "by", "clusters", "exclude_self", "left_select", "mutual", "recall", "unordered_pairs",
    "with_query_index", "with_row_id",
}
# Left sides that are files to open or name no vector, and a right side that is no dataset.
NOT_HERE = {"not_found_left", "corrupt", "no_vector_column", "a_version_of_a_table"}
# Refused by the plugin or by Spark before the engine is asked, in words of their own.
OWN_WORDS = {
    "several_vector_columns": "several vector columns: shape, colour",
    "on_is_no_vector": "the left vector, q, is a BIGINT",
    "no_such_column": 'no column "nowhere"',
    "no_such_selected_column": "no column nowhere",
    "a_suffix_that_clashes": '"q_right"',
    "a_column_selected_twice": '"id"',
    "widths_differ": 'has 3 elements, right column "vec" has 4',
    "a_ragged_list_names_its_row": "different widths",
    "an_unknown_how": '"outer" is not "inner" or "left"',
}


def runs_here(case):
    return (
        case.get("command", "join") == "join"
        and "library" in case.get("faces", ["library"])
        and "action" not in case
        and case["name"] not in NOT_HERE
        and not ELSEWHERE & set(case["options"])
        and not any(
            column["type"] == "multivector" or column.get("element") == "int32"
            for side in ("left", "right") for column in spec_of(case[side]).get("columns", []))
    )


def spec_of(side):
    return RECIPES[side["recipe"]] if "recipe" in side else side


CASES = {name: case for name, case in read_cases().items() if runs_here(case)}


def as_spark_has_it(column):
    """Vectors as lists; bytes as binary, halves as floats."""
    kind = column.type
    if not pa.types.is_fixed_size_list(kind) and not pa.types.is_list(kind):
        return column
    values = column.to_pylist()
    if kind.value_type == pa.uint8():
        return pa.array([None if row is None else bytes(row) for row in values], pa.binary())
    element = pa.float32() if kind.value_type == pa.float16() else kind.value_type
    return pa.array(values, pa.list_(element))


def left_frame(spark, case):
    table = make_table(spec_of(case["left"]))
    columns = [as_spark_has_it(table[name].combine_chunks()) for name in table.column_names]
    numbers = pa.array(range(table.num_rows), pa.int64())
    made = pa.table([*columns, numbers], names=[*table.column_names, "_query_index"])
    return spark.createDataFrame(made).coalesce(1), table


def vector_of(table):
    return next(field.name for field in table.schema if pa.types.is_nested(field.type))


@pytest.fixture(scope="module")
def right_of(kinjo, tmp_path_factory):
    """The right side as a dataset, each table written once."""
    folder, made = tmp_path_factory.mktemp("right"), {}

    def path_of(side):
        if "golden" in side or "path" in side:
            return place_table(side, folder, "right")
        key = str(side)
        if key not in made:
            place = folder / str(len(made))
            place.mkdir()
            kinjo("import", place_table(side, place, "table"), place / "table.lance")
            made[key] = place / "table.lance"
        return made[key]

    return path_of


def joined(spark, case, right, as_frame):
    options = dict(case["options"])
    k = options.pop("k", 10)
    if "right_on" in options:
        options["right_column"] = options.pop("right_on")
    left, table = left_frame(spark, case)
    query = options.pop("left_on", options.get("on")) or vector_of(table)
    if "on" in options:
        options["right_column"] = options.pop("on")
    if as_frame:
        reader = spark.read.format("kinjo")
        for mine, name in (("right_version", "version"), ("right_tag", "tag")):
            if mine in options:
                reader = reader.option(name, options.pop(mine))
        return left.kNearestJoin(reader.load(str(right)), query, k, **options)
    return left.kNearestJoin(str(right), query, k, **options)


def check_refusal(run, name, expect):
    with pytest.raises((Py4JJavaError, PySparkException)) as failure:
        run()
    wanted = OWN_WORDS.get(name, expect["message"])
    assert wanted in str(failure.value)


@pytest.mark.parametrize("name", CASES)
def test_case(name, spark, right_of):
    case = CASES[name]
    expect = case["expect"]
    right = right_of(case["right"])
    as_frame = len(name) % 2 == 0 and "error" not in expect

    def run():
        return joined(spark, case, right, as_frame).toArrow()

    if "error" in expect:
        check_refusal(run, name, expect["error"])
        return
    table = run()
    named = dict(expect)
    if "columns" in expect:
        assert [column for column in table.column_names if column != "_query_index"] == expect[
            "columns"]
        del named["columns"]
    check_rows(table, case | {"expect": named})
