package io.kinjo.spark

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.functions._

/** Right sides that lance-spark reads, by its own jars: the engine finds the dataset behind. */
class LanceSparkSuite extends SparkSuite {

  private def read(name: String): DataFrame =
    session.read.format("lance").load(golden(name))

  private def queries: DataFrame = session.read.format("kinjo").load(golden("flat_l2"))
    .where("id % 97 = 0").selectExpr("id AS number", "vec AS query")

  private def rows(right: DataFrame): Seq[Row] = {
    val joined = queries.kNearestJoin(right, col("query"), 3, "nprobes" -> 100)
    val plan = joined.queryExecution.explainString(SimpleMode)
    assert(plan.contains("KNearest ") && !plan.contains("KNearestFallback"), plan)
    joined.collect().toSeq
  }

  private lazy val expected: Seq[Row] =
    queries.kNearestJoin(golden("flat_l2"), col("query"), 3, "nprobes" -> 100).collect().toSeq

  test("its relation is what Spark plans") {
    assert(read("flat_l2").count() == session.read.format("kinjo").load(golden("flat_l2")).count())
    assert(rows(read("flat_l2")) == expected)
  }

  test("through projections, aliases and filters") {
    assert(rows(read("flat_l2").alias("r")) == expected)
    assert(rows(read("flat_l2").select("id", "vec", "name")) == expected)
    val some = read("flat_l2").where("id < 300 AND name IS NOT NULL")
    assert(rows(some).forall(_.getAs[Long]("id") < 300))
  }

  test("an earlier version stays the one that is joined") {
    val early = session.read.format("lance").option("version", "1").load(golden("deltas"))
    val joined = queries.kNearestJoin(early, col("query"), 3, "index" -> "never")
    assert(joined.queryExecution.explainString(SimpleMode).contains("version 1"))
  }
}
