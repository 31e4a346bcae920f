"""Nearest neighbours on Spark, cell by cell: a notebook as a script (Jupyter, VS Code and PyCharm
show each `# %%` as a cell). It runs anywhere: `pyspark` on one machine, with the plugin's jars.

    JARS=$(ls build/jvm/kinjo-*.jar build/spark-4.2/kinjo-spark-*.jar | paste -sd,)
    spark-submit --jars $JARS --py-files build/spark-4.2/kinjo-spark-4.2_2.13-0.1.0.jar \
        --conf spark.sql.extensions=io.kinjo.spark.KinjoExtensions examples/spark/nearest.py \
        items.lance
"""

# %% A session. In a notebook of a cluster it is there already.
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import kinjo_spark

spark = SparkSession.builder.getOrCreate()
items = sys.argv[1]

# %% The right side: a Lance dataset, read as a table. `id`, `vec`, and whatever else it has.
table = spark.read.format("kinjo").load(items)
table.printSchema()
print(table.count(), "items")

# %% An index, built by the executors: trained once, a segment for each group of fragments.
version = kinjo_spark.create_index(spark, items, name="nearby", replace=True, type="IVF_PQ",
                                   num_partitions=16, num_sub_vectors=4)
print("the index is in version", version)

# %% The left side: any DataFrame with a column of vectors. Here some of the items themselves.
queries = table.where("id < 40").select(F.col("id").alias("query_id"), F.col("vec").alias("query"))

# %% The join: for each query its five nearest items. No shuffle, one task a partition.
nearest = queries.kNearestJoin(items, "query", 5, nprobes=8, refine_factor=10)
nearest.select("query_id", "_rank", "_distance", "id").show(10)

# %% What was planned: index or scan, in memory or streamed, and why.
nearest.explain()

# %% The result is a DataFrame like any other.
found = nearest.groupBy("id").count().orderBy(F.desc("count"), "id")
found.show(5)

# %% How good is it? The same join without the index is exact.
exact = queries.kNearestJoin(items, "query", 5, index="never")
both = nearest.select("query_id", "id").intersect(exact.select("query_id", "id")).count()
print(f"recall@5 {both / exact.count():.3f}")

# %% From Spark 4.2 on the same in SQL.
if tuple(map(int, spark.version.split(".")[:2])) >= (4, 2):
    queries.createOrReplaceTempView("queries")
    spark.read.format("kinjo").load(items).createOrReplaceTempView("items")
    spark.sql("""
        SELECT q.query_id, i.id
        FROM queries q JOIN items i APPROX NEAREST 5 BY DISTANCE vector_l2_distance(q.query, i.vec)
    """).show(5)
