"""Joins of PySpark DataFrames to their nearest rows of a Lance dataset, by Kinjo's plugin.

    import kinjo_spark
    queries.kNearestJoin("items.lance", "embedding", 10, nprobes=20, refine_factor=5)
    kinjo_spark.create_index(spark, "items.lance", num_partitions=1024)

The module lies in the plugin's jar: --packages finds it by itself, --jars together with --py-files
of the same jar.
"""

from pyspark.sql import DataFrame

__all__ = ["create_index", "kNearestJoin"]


def kNearestJoin(left, right, query, k, **options):
    """Each row of `left` with its `k` nearest rows of `right`: left columns, right columns (all but
    the vector), `_distance` and `_rank`.

    right: the URI of a Lance dataset, or a DataFrame
    query: the left vectors, a column or its name
    options: those of the join by name, for example nprobes, refine_factor, metric, how, where
    """
    if not hasattr(left, "_jdf"):
        raise NotImplementedError(
            "kNearestJoin needs a classic session. Over Spark Connect, from Spark 4.2 on: have the "
            "server load the plugin, set options by spark.conf.set('spark.kinjo.nprobes', '20') "
            "and call left.nearestByJoin(right, vector_l2_distance(...), k, mode='approx', "
            "direction='distance')."
        )
    session = left.sparkSession
    joins = getattr(session._jvm, "io.kinjo.spark.KNearest")
    column = left[query] if isinstance(query, str) else query
    texts = session._jvm.java.util.HashMap()
    for name, value in options.items():
        texts.put(name, _text(value))
    side = right if isinstance(right, str) else right._jdf
    return DataFrame(joins.join(left._jdf, side, column._jc, k, texts), session)


def create_index(spark, uri, **options):
    """Builds a vector index of a Lance dataset on the executors and commits it: the new version.

    options: name, replace, segments, and those of an index by name, for example column, type,
        metric, num_partitions, num_sub_vectors
    """
    if not hasattr(spark, "_jvm"):
        raise NotImplementedError("create_index needs a classic session, not Spark Connect")
    texts = spark._jvm.java.util.HashMap()
    for name, value in options.items():
        texts.put(name, _text(value))
    indexes = getattr(spark._jvm, "io.kinjo.spark.KNearestIndex")
    return indexes.create(spark._jsparkSession, uri, texts)


def _text(value):
    """An option as the plugin takes it: lists and ranges with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join("" if one is None else str(one) for one in value)
    return str(value)


DataFrame.kNearestJoin = kNearestJoin
