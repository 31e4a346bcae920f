package io.kinjo.spark

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.SimpleMode

/** SQL's nearest-by joins, run by the engine and by Spark's own plan. */
class NearestBySuite extends SparkSuite {

  private lazy val tables: Unit = {
    for ((view, name) <- Seq("items" -> "flat_l2", "others" -> "flat_cosine")) {
      session.read.format("kinjo").load(golden(name)).createOrReplaceTempView(view)
    }
    session.sql("SELECT id AS number, vec AS query FROM items WHERE id % 97 = 0")
      .createOrReplaceTempView("queries")
    val plain = session.table("queries")
    session.createDataFrame(plain.rdd, plain.schema).createOrReplaceTempView("queries")
  }

  private def isTakenOver(frame: DataFrame): Boolean =
    frame.queryExecution.optimizedPlan.exists(_.isInstanceOf[KNearestNode])

  private def rowsOf(frame: DataFrame): Seq[Row] =
    frame.collect().toSeq.sortBy(row => (row.get(0).toString.toLong, row.toString))

  /** The rows with the engine and without, which must be the same. */
  private def bothWays(sql: String): Seq[Row] = {
    tables
    val taken = session.sql(sql)
    assert(isTakenOver(taken), sql)
    session.conf.set("spark.kinjo.enabled", "false")
    try {
      val own = session.sql(sql)
      assert(!isTakenOver(own))
      val expected = rowsOf(own)
      session.conf.unset("spark.kinjo.enabled")
      assert(rowsOf(session.sql(sql)) == expected, sql)
      expected
    } finally session.conf.unset("spark.kinjo.enabled")
  }

  private def join(
      ranking: String,
      mode: String = "EXACT",
      kind: String = "JOIN",
      right: String = "items"): String =
    s"SELECT number, id FROM queries $kind $right $mode NEAREST 3 BY $ranking"

  test("EXACT by each metric and direction, either way round") {
    assert(bothWays(join("DISTANCE vector_l2_distance(query, vec)")).size == 24)
    bothWays(join("DISTANCE vector_l2_distance(vec, query)"))
    bothWays(join("DISTANCE 1 - vector_cosine_similarity(query, vec)", right = "others"))
    bothWays(join("SIMILARITY vector_cosine_similarity(vec, query)", right = "others"))
    bothWays(join("SIMILARITY vector_inner_product(query, vec)"))
    bothWays(join("DISTANCE -vector_inner_product(query, vec)"))
  }

  test("LEFT OUTER keeps rows without a vector, aliases and views are seen through") {
    tables
    val withNull = session.sql(
      "SELECT * FROM queries UNION ALL SELECT -1L AS number, CAST(NULL AS ARRAY<FLOAT>) AS query")
    session.createDataFrame(withNull.rdd, withNull.schema).createOrReplaceTempView("some")
    val outer = session.sql(
      "SELECT number, id FROM some LEFT JOIN items EXACT NEAREST 2 BY DISTANCE " +
        "vector_l2_distance(query, vec)")
    assert(isTakenOver(outer))
    assert(rowsOf(outer).head == Row(-1L, null))
    session.sql("CREATE OR REPLACE TEMP VIEW renamed AS SELECT id AS other, vec AS v FROM items")
    bothWays(
      "SELECT number, r.other FROM queries q JOIN renamed r EXACT NEAREST 3 BY DISTANCE " +
        "vector_l2_distance(q.query, r.v)")
    bothWays(
      "SELECT number, r.id FROM queries JOIN (SELECT * FROM items WHERE id < 300) r " +
        "EXACT NEAREST 3 BY DISTANCE vector_l2_distance(query, r.vec)")
  }

  test("APPROX takes the index, with the session's settings") {
    tables
    session.conf.set("spark.kinjo.nprobes", "8")
    try {
      val sql = join("DISTANCE vector_l2_distance(query, vec)", mode = "APPROX")
      val taken = session.sql(sql)
      val node = taken.queryExecution.optimizedPlan.collectFirst { case n: KNearestNode => n }.get
      assert(node.spec.options("nprobes") == "8" && node.spec.options("index") == "require")
      bothWays(sql) // every partition of an IVF_FLAT index: exact
    } finally session.conf.unset("spark.kinjo.nprobes")
  }

  test("EXACT never takes an index") {
    tables
    val taken = session.sql(join("DISTANCE vector_l2_distance(query, vec)"))
    val node = taken.queryExecution.optimizedPlan.collectFirst { case n: KNearestNode => n }.get
    assert(node.spec.options("index") == "never")
  }

  test("a join of the result with itself, a subquery, and the cross-join setting") {
    tables
    val once = session.sql(join("DISTANCE vector_l2_distance(query, vec)"))
    assert(once.as("a").join(once.as("b"), "number").count() == 72)
    val inside = session.sql(
      s"SELECT count(*) FROM (${join("DISTANCE vector_l2_distance(query, vec)")})")
    assert(inside.head().getLong(0) == 24)
    session.conf.set("spark.sql.crossJoin.enabled", "false")
    try intercept[Exception](session.sql(join("DISTANCE vector_l2_distance(query, vec)")).collect())
    finally session.conf.unset("spark.sql.crossJoin.enabled")
  }

  test("what the engine can't run stays Spark's") {
    tables
    val plans = Seq(
      join("DISTANCE abs(number - id)"),
      join("SIMILARITY vector_l2_distance(query, vec)"),
      "SELECT number, id FROM queries JOIN (SELECT id, transform(vec, x -> x * 2f) AS vec " +
        "FROM items) EXACT NEAREST 3 BY DISTANCE vector_l2_distance(query, vec)",
      "SELECT a.number, b.number FROM queries a JOIN queries b EXACT NEAREST 2 BY DISTANCE " +
        "vector_l2_distance(a.query, b.query)")
    for (sql <- plans) {
      val frame = session.sql(sql)
      assert(!isTakenOver(frame), sql)
      assert(frame.queryExecution.explainString(SimpleMode).contains("KNearestFallback"), sql)
      assert(frame.count() > 0)
    }
  }
}
