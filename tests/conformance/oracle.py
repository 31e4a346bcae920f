"""What the rows of a conformance case must be: brute force in float64 over the rows as pylance
reads them or the recipe makes them, or, for approximate answers, pylance's own."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

from tests.conformance.tables import GOLDEN, RECIPES, make_table, number


def right_dataset(case, folder):
    """The right side as pylance sees it."""
    spec = case["right"]
    if "golden" in spec:
        version = case["options"].get("right_version") or case["options"].get("right_tag")
        return lance.dataset(str(GOLDEN / f"{spec['golden']}.lance"), version=version)
    table = make_table(RECIPES[spec["recipe"]] if "recipe" in spec else spec)
    return lance.write_dataset(table, folder)


def vector_column(schema, name):
    if name:
        return name
    return next(field.name for field in schema if pa.types.is_nested(field.type))


def usable(vector, metric):
    """A vector (or list of vectors) as float64 rows, or None when it can't match."""
    if vector is None or len(vector) == 0:
        return None
    rows = [vector] if not isinstance(vector[0], list) else vector
    if any(row is None or None in row for row in rows):
        return None
    rows = np.array(rows, dtype=np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    if metric == "cosine":
        rows = rows[np.abs(rows).max(axis=1, initial=0) > 0]
    return rows if len(rows) else None


def distance(left, right, metric):
    if metric == "l2":
        return ((left[0] - right[0]) ** 2).sum()
    if metric == "dot":
        return 1 - left[0] @ right[0]
    if metric == "hamming":
        return np.bitwise_count(left[0].astype(np.uint8) ^ right[0].astype(np.uint8)).sum()
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, right)]
    return (1 - (units[0] @ units[1].T).max(axis=1)).sum()


def default_metric(table, column):
    element = table.schema.field(column).type.value_type
    return "hamming" if element == pa.uint8() else "l2"


def key_values(left, right, names):
    """The values of key columns ("a" or "left:right") of both sides, a tuple for each row."""
    pairs = [name.split(":") if ":" in name else (name, name) for name in names]
    sides = (left, [a for a, _ in pairs]), (right, [b for _, b in pairs])
    return [list(zip(*(table[name].to_pylist() for name in own))) for table, own in sides]


def eligible_rows(left, right, options):
    """eligible_rows(...)[left row][right row]: whether keys let it come out."""
    matrix = np.ones((left.num_rows, right.num_rows), bool)
    if "by" in options:
        lefts, rights = key_values(left, right, options["by"])
        matrix &= np.array([[None not in a and a == b for b in rights] for a in lefts])
    if "exclude_self" in options:
        if options["exclude_self"]:
            lefts, rights = key_values(left, right, [options["exclude_self"]])
        else:
            lefts, rights = ([(row,) for row in range(side.num_rows)] for side in (left, right))
        matrix &= np.array([[None in a or a != b for b in rights] for a in lefts])
    return matrix


def nearest_rows(query, rights, ids, metric, options, eligible):
    found = []
    for row, right in enumerate(rights):
        if query is not None and right is not None and eligible[row]:
            found.append((float(np.float32(distance(query, right, metric))), row))
    if "distance_range" in options:
        lower, upper = map(number, options["distance_range"])
        found = [pair for pair in found if lower <= pair[0] < upper]
    found.sort()
    best = found[: options.get("k", 10)]
    return [ids[row] for _, row in best], [distance for distance, _ in best]


def is_self_join(case):
    return case["left"] == case["right"] and "golden" in case["left"]


def left_table(case, dataset):
    """The left side; that of a self-join holds the live rows as they are scanned."""
    if is_self_join(case):
        return dataset.to_table()
    spec = case["left"]
    return make_table(RECIPES[spec["recipe"]] if "recipe" in spec else spec)


def keep_pairs(answers, reverse, once):
    """Of each left row's matches those whose right row has it in `reverse`, too (None: all); and
    `once` those of each pair that come out first: at the earlier row that has the other."""
    kept = []
    for row, found in enumerate(answers):
        def stays(other):
            if reverse is not None and row not in reverse[other]:
                return False
            if not once or row < other:
                return True
            return reverse is None and row not in [match for match, _ in answers[other]]

        kept.append([match for match in found if stays(match[0])])
    return kept


def by_brute_force(case, dataset, left):
    options, oracle = case["options"], case.get("oracle", {})
    fragments = [f for f in dataset.get_fragments()
                 if f.fragment_id in oracle.get("fragments", [f.fragment_id])]
    right = dataset.scanner(with_row_address=True, filter=options.get("where"),
                            fragments=fragments).to_table()
    right = right.sort_by("_rowaddr")
    right_on = vector_column(right.schema, oracle.get("right_on"))
    left_on = vector_column(left.schema, oracle.get("left_on"))
    metric = options.get("metric") or oracle.get("metric") or default_metric(right, right_on)
    rights = [usable(vector, metric) for vector in right[right_on].to_pylist()]
    ids = right["id"].to_pylist()
    queries = [usable(vector, metric) for vector in left[left_on].to_pylist()]
    answers = numbered_matches(case["options"], left, right, queries, rights, metric,
                               is_self_join(case))
    return [([ids[row] for row, _ in found], [distance for _, distance in found])
            for found in answers]


def numbered_matches(options, left, right, queries, rights, metric, self_join):
    """The matches of each left row as (right row's number, distance)."""
    once, mutual = options.get("unordered_pairs", False), options.get("mutual", False)
    if once or options.get("clusters"):
        options = options | {"exclude_self": ""}

    def lists(these, those, eligible):
        return [list(zip(*nearest_rows(query, those, range(len(those)), metric, options, own)))
                for query, own in zip(these, eligible)]

    eligible = eligible_rows(left, right, options)
    answers = lists(queries, rights, eligible)
    back = None
    if mutual:
        back = answers if self_join else lists(rights, queries, eligible.T)
        back = [[row for row, _ in found] for found in back]
    return keep_pairs(answers, back, once)


def clusters(case):
    """`_cluster` of each left row: the smallest row that its matches connect it to."""
    table = right_dataset(case, None).to_table()
    column = vector_column(table.schema, None)
    metric = case["options"].get("metric") or default_metric(table, column)
    vectors = [usable(vector, metric) for vector in table[column].to_pylist()]
    matches = numbered_matches(case["options"], table, table, vectors, vectors, metric, True)
    found = list(range(len(vectors)))
    pairs = [(row, other) for row, own in enumerate(matches) for other, _ in own]
    while any(found[a] != found[b] for a, b in pairs):
        for a, b in pairs:
            found[a] = found[b] = min(found[a], found[b])
    return found


def by_pylance(case, dataset, left):
    options, oracle = case["options"], case["oracle"]
    answers = []
    for query in left[vector_column(left.schema, None)].to_pylist():
        nearest = {"column": "vec", "q": query, "k": options.get("k", 10),
                   "nprobes": oracle.get("nprobes", options.get("nprobes")),
                   "refine_factor": options.get("refine_factor"), "ef": options.get("ef")}
        rows = dataset.to_table(columns=["id", "_distance"], nearest=nearest, prefilter=True,
                                filter=options.get("where")).to_pydict()
        scale = oracle.get("scale", 1)
        answers.append((rows["id"], [distance * scale for distance in rows["_distance"]]))
    return answers


def answer(case):
    """(ids, distances), a list for each left row."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = right_dataset(case, folder)
        left = left_table(case, dataset)
        way = by_pylance if case.get("oracle", {}).get("by") == "pylance" else by_brute_force
        answers = way(case, dataset, left)
    distances = [[round_trip(distance) for distance in found] for _, found in answers]
    return [ids for ids, _ in answers], distances


def round_trip(distance):
    """The shortest decimal that gives the float32 back."""
    return float(str(np.float32(distance)))
