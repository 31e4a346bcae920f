package io.kinjo.spark

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.{SimpleMode, SparkPlan}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

/** Joins whose tasks search some segments of an index each: rows are those of the plain shape. */
class ScopedJoinSuite extends SparkSuite {
  // Two segments, and fragments that neither covers.
  private lazy val uri = golden("deltas")
  private val schema =
    new StructType().add("number", IntegerType).add("query", ArrayType(FloatType))

  private def left(partitions: Int, rows: Int = 60): DataFrame = {
    val table = Seq.tabulate(rows) { i =>
      val vector = Seq.tabulate(16)(j => ((i * 31 + j * 17) % 101 / 50f) - 1)
      Row(i, if (i % 7 == 3) null else vector)
    }
    session.createDataFrame(session.sparkContext.parallelize(table, partitions), schema)
  }

  private def joined(left: DataFrame, scoped: String, options: (String, Any)*): DataFrame =
    left.kNearestJoin(uri, col("query"), 4, options :+ ("segmentScoped" -> scoped): _*)

  private def isScoped(frame: DataFrame): Boolean =
    frame.queryExecution.executedPlan.toString.contains("KNearestMerge")

  // Distances by codes, and exact ones of all candidates.
  private val byCodes = Seq("nprobes" -> 2, "fastSearch" -> true)
  private val exact = Seq("nprobes" -> 1000, "refineFactor" -> 100)
  private val ways: Seq[Seq[(String, Any)]] =
    Seq(byCodes, exact, exact :+ ("where" -> "id % 3 = 1"), exact :+ ("distanceRange" -> ",30"))

  for (way <- ways; partitions <- Seq(1, 3); how <- Seq("inner", "left")) {
    test(s"$way, $how, $partitions partitions") {
      val options = way :+ ("how" -> how)
      val plain = joined(left(partitions), "never", options: _*)
      val scoped = joined(left(partitions), "always", options: _*)
      assert(isScoped(scoped) && !isScoped(plain))
      val rows = scoped.collect().toSeq
      assert(rows.nonEmpty && (rows == plain.collect().toSeq))
    }
  }

  test("with refine each scope scores candidates of its own, so matches are as near or nearer") {
    def distances(scoped: String): Seq[Float] =
      joined(left(2), scoped, "nprobes" -> 2, "refineFactor" -> 2).collect().toSeq
        .map(_.getAs[Float]("_distance"))
    val pairs = distances("always").zip(distances("never"))
    assert(pairs.size == 4 * 51 && pairs.forall { case (one, other) => one <= other })
  }

  test("left rows that come from a shuffle, a narrow result, a cached one and a self-join") {
    val shuffled = left(3).repartition(5, col("number"))
    val expected = joined(left(1), "never", exact: _*).orderBy("number", "_rank").collect().toSeq
    val scoped = joined(shuffled, "always", exact: _*)
    assert(scoped.orderBy("number", "_rank").collect().toSeq == expected)
    val narrow = Seq("always", "never").map { scoped =>
      joined(left(2), scoped, exact: _*).select("_rank", "number", "id").collect().toSeq
    }
    assert(narrow.head == narrow.last)
    assert(scoped.select("id").count() == expected.size)
    val cached = scoped.cache()
    assert(cached.count() == expected.size)
    cached.unpersist()
    assert(scoped.as("a").join(scoped.as("b"), Seq("number", "_rank")).count() == expected.size)
  }

  test("adaptive execution off, no left rows, no usable vector") {
    session.conf.set("spark.sql.adaptive.enabled", "false")
    try {
      val plain = joined(left(2), "never", exact: _*).collect().toSeq
      assert((joined(left(2), "always", exact: _*).collect().toSeq == plain))
      assert(joined(left(2).where("number < 0"), "always").count() == 0)
      val none = left(2).where("number % 7 = 3")
      assert(joined(none, "always").count() == 0)
      assert(joined(none, "always", "how" -> "left").count() == none.count())
    } finally session.conf.unset("spark.sql.adaptive.enabled")
  }

  test("the gate chooses scopes where the whole index needs more memory than a task has") {
    def plan(limit: Long): String = joined(left(1), "auto", "memoryLimitBytes" -> limit)
      .queryExecution.explainString(SimpleMode)
    val plain = plan(256L << 20)
    assert(plain.contains("gate: resident") && !plain.contains("scopes"), plain)
    val Needed = raw"(?s).*\((\d+) bytes.*".r
    val smallest = intercept[IllegalArgumentException] {
      joined(left(1), "never", "memoryLimitBytes" -> (1L << 20), "exactScan" -> false)
    }.getMessage match { case Needed(bytes) => bytes.toLong }
    assert(!plan(smallest).contains("scopes"))
    val scoped = plan(smallest - 1)
    assert(scoped.contains("2 scopes of index segments") && scoped.contains("too small"), scoped)
    assert(joined(left(2), "auto", "memoryLimitBytes" -> (smallest - 1)).count() == 4 * 51)
  }

  test("an index of one segment isn't shared out") {
    val frame =
      left(1).kNearestJoin(golden("flat_l2"), col("query"), 2, "segmentScoped" -> "always")
    assert(!isScoped(frame) && frame.count() > 0)
    val failure = intercept[IllegalArgumentException](joined(left(1), "sometimes"))
    assert(failure.getMessage.contains("\"sometimes\""))
  }

  test("counters of the tasks are kept") {
    val frame = joined(left(2), "always")
    frame.collect()
    def nodes(plan: SparkPlan): Seq[SparkPlan] = plan +: (plan match {
      case adaptive: org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec =>
        nodes(adaptive.executedPlan)
      case other => other.children.flatMap(nodes)
    })
    val node = nodes(frame.queryExecution.executedPlan).collectFirst {
      case scopes: KNearestScopesExec => scopes
    }.get
    // Each left row once for each scope.
    assert(node.metrics("leftRows").value == 120)
    assert(node.metrics("partitionsRead").value > 0)
  }
}
