package io.kinjo.spark

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.functions._

/** `format("kinjo")`: Lance datasets as Spark tables. */
class KinjoSourceSuite extends SparkSuite {

  private def read(name: String): DataFrame =
    session.read.format("kinjo").load(golden(name))

  private def scanned(frame: DataFrame): LanceScan =
    frame.queryExecution.sparkPlan.collectFirst {
      case scan: BatchScanExec => scan.scan.asInstanceOf[LanceScan]
    }.get

  private def rows(frame: DataFrame): Set[String] = frame.collect().map(_.toString).toSet

  test("every fragment's live rows, deleted ones left out") {
    assert(read("deletes").count() == 1174)
    assert(read("deltas").rdd.getNumPartitions == 4)
    assert(read("deltas").select("id").distinct().count() == 857)
  }

  test("all types, the same from each file version") {
    val newest = read("types_v22")
    val columns = newest.columns.filterNot(_.contains("time")).map(name => col(s"`$name`"))
    val expected = newest.select(columns: _*).collect().map(_.toSeq.map(plain)).toSeq
    assert(expected.size == 48)
    for (older <- Seq("types_v20", "types_v21")) {
      val found = read(older).select(columns: _*).collect().map(_.toSeq.map(plain)).toSeq
      assert(found == expected)
    }
  }

  // Values that compare by what they hold.
  private def plain(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case items: scala.collection.Seq[_] => items.map(plain).toList
    case row: Row => row.toSeq.map(plain).toList
    case other => String.valueOf(other)
  }

  test("known values of known types") {
    val row = read("types_v22").limit(1).head()
    assert(row.schema.fields.length > 20)
    val filters = read("filters").where("id = 3").head()
    assert(filters.getAs[Long]("id") == 3)
  }

  test("columns that nobody asks for are not read, and the engine filters") {
    val some = read("filters").where("i > 3 AND s IS NOT NULL").select("id")
    assert(scanned(some).columns.fieldNames.toSet.subsetOf(Set("id", "i", "s")))
    assert(scanned(some).where.contains("`i` > 3"))
  }

  test("pushed filters keep the rows that Spark's own evaluation keeps") {
    val table = read("filters")
    val plainRows = session.createDataFrame(table.rdd, table.schema)
    val predicates = Seq(
      "i > 3", "i <= 3 OR i IS NULL", "NOT (i = 3)", "i IN (1, 2, NULL)", "i IN (1, 2, 3)",
      "s = 'a'", "s > 'b' AND s < 'k'", "s LIKE 'a%'", "s LIKE '%a'", "s LIKE '%a%'",
      "s LIKE 'a_%b'", "s LIKE '%\\\\_%'", "startswith(s, '%')", "contains(s, 'a')", "i % 3 = 1",
      "i % 3 = -1", "i % -2 = 0", "b", "NOT b", "b = false",
      "d < DATE '2024-02-01'", "t >= TIMESTAMP_NTZ '2024-01-15 00:00:00'", "f > 1.5", "f = 'NaN'",
      "f < 0 OR f >= 0", "id % 2 = 0", "plain BETWEEN 10 AND 20", "s IS NULL", "i <=> NULL")
    for (predicate <- predicates) {
      assert(
        rows(table.where(predicate).select("id")) == rows(plainRows.where(predicate).select("id")),
        predicate)
    }
  }

  test("an earlier version, by number and by tag") {
    def earlier(option: String, value: String): DataFrame =
      session.read.format("kinjo").option(option, value).load(golden("changed_columns"))
    assert(earlier("version", "2").columns.contains("gone"))
    assert(earlier("tag", "before_the_rename").columns.contains("gone"))
    assert(!read("changed_columns").columns.contains("gone"))
  }

  test("a dataset as the right side of a join, projected, renamed and filtered") {
    val left = read("flat_l2").select(col("id").as("left_id"), col("vec").as("query"))
    val right = read("flat_l2").where("id < 50").select(col("id"), col("vec").as("there"))
    val joined = left.kNearestJoin(right, col("query"), 1, "index" -> "never")
    assert(joined.columns.toSeq == Seq("left_id", "query", "id", "_distance", "_rank"))
    val found = joined.select("left_id", "id").collect()
      .map(row => row.getLong(0) -> row.getLong(1))
    assert(found.length == 700)
    assert(found.forall { case (_, id) => id < 50 })
    assert(found.forall { case (left, id) => left >= 50 || left == id })
    val node = joined.queryExecution.optimizedPlan.collectFirst { case n: KNearestNode => n }
    assert(node.exists(_.spec.options("where").contains("`id` < 50")))
  }
}
