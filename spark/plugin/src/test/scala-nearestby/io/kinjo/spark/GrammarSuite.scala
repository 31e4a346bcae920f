package io.kinjo.spark

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame

/**
 * Each form of SQL's nearest-by join, and each way to get it wrong: with the plugin as without, the
 * same rows and the same errors. Over vectors of a Lance table, which the engine joins, and over
 * plain tables and rankings, which stay Spark's.
 */
class GrammarSuite extends SparkSuite {

  private lazy val tables: Unit = {
    session.read.format("kinjo").load(golden("flat_l2")).createOrReplaceTempView("items")
    val some = session.sql("SELECT id AS number, vec AS query FROM items WHERE id % 83 = 5")
    session.createDataFrame(some.rdd, some.schema).createOrReplaceTempView("queries")
    session.sql("CREATE OR REPLACE TEMP VIEW people AS " +
      "SELECT * FROM VALUES (1, 3.0), (2, 14.0), (3, 29.0), (4, NULL) AS t(person, age)")
    session.sql("CREATE OR REPLACE TEMP VIEW clubs AS " +
      "SELECT * FROM VALUES ('ants', 4.5), ('bees', 15.0), ('cats', NULL), ('dogs', 40.0) " +
      "AS t(club, mean)")
  }

  private def without[T](work: => T): T = {
    session.conf.set("spark.kinjo.enabled", "false")
    try work
    finally session.conf.unset("spark.kinjo.enabled")
  }

  private def rows(sql: String): Seq[String] =
    session.sql(sql).collect().map(_.toString).sorted.toSeq

  private def isTakenOver(frame: DataFrame): Boolean =
    frame.queryExecution.optimizedPlan.exists(_.isInstanceOf[KNearestNode])

  private val overVectors = Seq(
    "SELECT number, id FROM queries JOIN items EXACT NEAREST BY DISTANCE #",
    "SELECT number, id FROM queries JOIN items EXACT NEAREST 1 BY DISTANCE #",
    "SELECT number, id FROM queries INNER JOIN items EXACT NEAREST 4 BY DISTANCE #",
    "SELECT number, id FROM queries LEFT JOIN items EXACT NEAREST 4 BY DISTANCE #",
    "SELECT number, id FROM queries LEFT OUTER JOIN items EXACT NEAREST 4 BY DISTANCE #",
    "SELECT * FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE #",
    "SELECT q.number, i.id FROM queries q JOIN items AS i EXACT NEAREST 2 BY DISTANCE #",
    "SELECT number, id FROM queries JOIN (SELECT * FROM items WHERE id > 100) EXACT NEAREST 2 BY " +
      "DISTANCE #",
    "WITH few AS (SELECT * FROM items WHERE id < 90) " +
      "SELECT number, id FROM queries JOIN few EXACT NEAREST 3 BY DISTANCE #",
    "SELECT number, id FROM queries LEFT JOIN (SELECT * FROM items WHERE id < 0) EXACT NEAREST 2 " +
      "BY DISTANCE #",
    "SELECT number, id FROM queries JOIN items EXACT NEAREST 3 BY DISTANCE # WHERE number > 200",
    "SELECT count(*), max(id) FROM queries JOIN items EXACT NEAREST 3 BY DISTANCE #",
    "SELECT number, id, # AS d FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE #",
    "SELECT number, id, club FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE # " +
      "JOIN clubs EXACT NEAREST BY DISTANCE abs(mean - number)")

  for (sql <- overVectors) test(s"taken over: $sql") {
    tables
    val text = sql.replace("#", "vector_l2_distance(query, vec)")
    assert(isTakenOver(session.sql(text)))
    val expected = without(rows(text))
    assert(rows(text) == expected)
  }

  private val plain = Seq(
    "SELECT person, club FROM people JOIN clubs APPROX NEAREST BY DISTANCE abs(age - mean)",
    "SELECT person, club FROM people JOIN clubs EXACT NEAREST 2 BY SIMILARITY -abs(age - mean)",
    "SELECT * FROM people LEFT JOIN clubs APPROX NEAREST 2 BY DISTANCE abs(age - mean)",
    "SELECT person, club FROM people LEFT OUTER JOIN (SELECT * FROM clubs WHERE false) " +
      "EXACT NEAREST 3 BY DISTANCE abs(age - mean)",
    "SELECT a.person, b.person FROM people a JOIN people b APPROX NEAREST 1 BY DISTANCE " +
      "abs(a.age - b.age)",
    "SELECT person, club FROM people JOIN clubs EXACT NEAREST 100 BY DISTANCE age + mean",
    "SELECT number, id FROM queries JOIN items EXACT NEAREST 2 BY SIMILARITY id - number")

  for (sql <- plain) test(s"stays Spark's: $sql") {
    tables
    assert(!isTakenOver(session.sql(sql)))
    assert(rows(sql) == without(rows(sql)))
  }

  private val wrong = Seq(
    "SELECT 1 FROM queries JOIN items NEAREST 2 BY DISTANCE #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 0 BY DISTANCE #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 100001 BY DISTANCE #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST (1 + 1) BY DISTANCE #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 2 BY #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE # ON number = id",
    "SELECT 1 FROM queries RIGHT JOIN items EXACT NEAREST 2 BY DISTANCE #",
    "SELECT 1 FROM queries FULL JOIN items EXACT NEAREST 2 BY DISTANCE #",
    "SELECT 1 FROM queries LEFT SEMI JOIN items EXACT NEAREST 2 BY DISTANCE #",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE map(1, number)",
    "SELECT 1 FROM queries JOIN items EXACT NEAREST 2 BY DISTANCE vector_l2_distance(query, no)",
    "SELECT 1 FROM queries JOIN LATERAL (SELECT * FROM items) EXACT NEAREST 2 BY DISTANCE #")

  private def condition(sql: String): String =
    intercept[Exception](session.sql(sql).collect()) match {
      case told: SparkThrowable => told.getCondition
      case other => other.getClass.getName
    }

  for (sql <- wrong) test(s"refused alike: $sql") {
    tables
    val text = sql.replace("#", "vector_l2_distance(query, vec)")
    assert(condition(text) == without(condition(text)))
  }
}
