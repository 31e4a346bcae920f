package io.kinjo.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import io.kinjo.KinjoException
import org.apache.spark.SparkException
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.{ExtendedMode, SimpleMode}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

/** `kNearestJoin` on datasets that pylance wrote, against what pylance answered. */
class KNearestSuite extends SparkSuite {

  private def answers(name: String): JsonNode = {
    val path = Paths.get(System.getProperty("kinjo.golden"), s"$name.search.json")
    new ObjectMapper().readTree(Files.readAllBytes(path))
  }

  private def floats(row: JsonNode): Seq[Float] =
    row.elements.asScala.map(_.floatValue).toList

  /** The golden queries as a table of `number` and `query`. */
  private def queries(name: String, partitions: Int): DataFrame = {
    val rows = answers(name).get("queries").elements.asScala.map(floats).toList.zipWithIndex
    val schema = new StructType().add("number", IntegerType).add("query", ArrayType(FloatType))
    val table = rows.map { case (query, number) => Row(number, query) }
    session.createDataFrame(session.sparkContext.parallelize(table, partitions), schema)
  }

  private def ids(joined: DataFrame): Seq[Seq[Long]] =
    joined.select("number", "id").collect().toSeq
      .groupBy(_.getInt(0)).toSeq.sortBy(_._1).map(_._2.map(_.getLong(1)))

  // The join's node of a plan that ran, below what adaptive execution puts around it.
  private def executed(joined: DataFrame): KNearestExec =
    joined.queryExecution.executedPlan.collectFirst { case exec: KNearestExec => exec }.get

  private val indexed = Seq("pq8_l2", "pq8_cosine", "flat_l2", "hnsw_sq", "deletes")

  for (name <- indexed; partitions <- Seq(1, 2, 7)) {
    test(s"$name in $partitions partitions answers as pylance does") {
      for (search <- answers(name).get("searches").elements.asScala
           if !search.get("refine_factor").isNull) {
        val ef = if (search.has("ef")) Seq("ef" -> search.get("ef").asText) else Nil
        val joined = queries(name, partitions).kNearestJoin(
          golden(name), col("query"), 10,
          Seq("nprobes" -> search.get("nprobes").asInt,
              "refineFactor" -> search.get("refine_factor").asInt) ++ ef: _*)
        val expected = search.get("ids").elements.asScala
          .map(_.elements.asScala.map(_.asLong).toSeq).toSeq
        assert(ids(joined) == expected, search)
      }
    }
  }

  test("columns are left ones, right ones without the vector, distance and rank") {
    val joined = queries("pq8_l2", 1).kNearestJoin(golden("pq8_l2"), col("query"), 3)
    assert(joined.columns.toSeq == Seq("number", "query", "id", "name", "_distance", "_rank"))
    assert(joined.schema("_distance").dataType == FloatType)
    assert(joined.schema("_rank").dataType == IntegerType)
    assert(joined.select("_rank").collect().map(_.getInt(0)).take(6).toSeq == Seq(1, 2, 3, 1, 2, 3))
  }

  test("a path that is relative to the driver's folder is found in any") {
    val here = java.nio.file.Paths.get("").toAbsolutePath
    val relative = here.relativize(java.nio.file.Paths.get(golden("flat_l2")).toAbsolutePath)
    val joined = queries("flat_l2", 1).kNearestJoin(relative.toString, col("query"), 1)
    assert(joined.count() == 10)
    assert(executed(joined).spec.uri.startsWith("/"))
    val read = session.read.format("kinjo").load(relative.toString)
    assert(read.queryExecution.explainString(SimpleMode).contains("kinjo /"))
  }

  test("a clash of names gets the suffix, and what no suffix solves is an error") {
    val left = queries("pq8_l2", 1).withColumn("id", lit("mine")).withColumn("id_right", lit(1))
    val failure = intercept[IllegalArgumentException] {
      left.kNearestJoin(golden("pq8_l2"), col("query"), 1)
    }
    assert(failure.getMessage.contains("\"id_right\""))
    val joined = left.kNearestJoin(golden("pq8_l2"), col("query"), 1, "suffix" -> "_there")
    assert(joined.columns.contains("id_there"))
    assert(joined.select("id").head().getString(0) == "mine")
  }

  test("right columns that nobody asks for are not read") {
    val joined = queries("pq8_l2", 1).kNearestJoin(golden("pq8_l2"), col("query"), 3)
    val plan = joined.select("number", "_distance").queryExecution.executedPlan
    val node = plan.collectFirst { case exec: KNearestExec => exec }.get
    assert(node.spec.columns.isEmpty && node.measures.map(_.name) == Seq("_distance"))
    assert(node.left.map(_.name) == Seq("number"))
    assert(joined.count() == 30)
  }

  test("rows without a usable vector match nothing, and a left join keeps them in their place") {
    val schema = new StructType().add("number", IntegerType).add("query", ArrayType(FloatType))
    val good = Seq.fill(16)(0.5f)
    val table = Seq(
      Row(0, null), Row(1, good), Row(2, good.updated(3, Float.NaN)), Row(3, null),
      Row(4, null +: good.tail), Row(5, good), Row(6, null))
    val left = session.createDataFrame(session.sparkContext.parallelize(table, 1), schema)
    val inner = left.kNearestJoin(golden("flat_l2"), col("query"), 2)
    assert(inner.select("number").collect().map(_.getInt(0)).toSeq == Seq(1, 1, 5, 5))
    val outer = left.kNearestJoin(golden("flat_l2"), col("query"), 2, "how" -> "left")
    val rows = outer.select("number", "id", "_rank").collect()
    assert(rows.map(_.getInt(0)).toSeq == Seq(0, 1, 1, 2, 3, 4, 5, 5, 6))
    assert(rows.count(_.isNullAt(1)) == 5 && rows.forall(row => row.isNullAt(1) == row.isNullAt(2)))
    inner.collect()
    assert(executed(inner).metrics("skippedRows").value == 5)
  }

  test("a left side without any usable vector") {
    val schema = new StructType().add("query", ArrayType(FloatType))
    val left = session.createDataFrame(
      session.sparkContext.parallelize(Seq(Row(null), Row(null)), 2), schema)
    assert(left.kNearestJoin(golden("flat_l2"), col("query"), 2).count() == 0)
    assert(left.kNearestJoin(golden("flat_l2"), col("query"), 2, "how" -> "left").count() == 2)
  }

  test("double vectors, and vectors that are computed") {
    val plain = queries("flat_l2", 2)
    val expected = ids(plain.kNearestJoin(golden("flat_l2"), col("query"), 5))
    val doubled = plain.withColumn("wide", col("query").cast("array<double>"))
    assert(ids(doubled.kNearestJoin(golden("flat_l2"), col("wide"), 5)) == expected)
    val computed = transform(col("query"), x => x + lit(0f))
    assert(ids(plain.kNearestJoin(golden("flat_l2"), computed, 5)) == expected)
  }

  test("a right side that SQL made with a common table expression") {
    session.read.format("kinjo").load(golden("flat_l2")).createOrReplaceTempView("flat")
    val right = session.sql(
      "WITH few AS (SELECT id AS number, vec FROM flat WHERE id < 300) SELECT * FROM few")
    val left = queries("flat_l2", 1)
    val joined = left.kNearestJoin(right, col("query"), 3, "index" -> "never")
    assert(joined.queryExecution.executedPlan.exists(_.isInstanceOf[KNearestExec]))
    val expected = ids(left.kNearestJoin(
      golden("flat_l2"), col("query"), 3, "index" -> "never", "where" -> "id < 300"))
    val found = joined.select("number", "number_right").collect().toSeq
      .groupBy(_.getInt(0)).toSeq.sortBy(_._1).map(_._2.map(_.getLong(1)))
    assert(found == expected)
  }

  test("filters of a right side that the engine takes") {
    val left = queries("pq8_l2", 1)
    val right = session.read.format("kinjo").load(golden("pq8_l2"))
    val filters = Seq(
      "id % 3 = 1", "CAST(id AS BIGINT) % 7 IN (1, 2)", "name LIKE '%1%'", "name LIKE '%\\\\%'",
      "startswith(name, 'row') AND NOT (id % 2 = 0)", "endswith(name, '5') OR contains(name, '77')")
    for (filter <- filters) {
      val joined = left.kNearestJoin(right.where(filter), col("query"), 3, "index" -> "never")
      assert(joined.queryExecution.executedPlan.exists(_.isInstanceOf[KNearestExec]), filter)
      val few = right.where(filter).select("id", "vec").collect()
        .map(row => row.getLong(0) -> row.getSeq[Float](1)).toSeq
      assert(ids(joined) == nearestOf(left, few, 3), filter)
    }
    for (filter <- Seq("id % 0 = 1", "id + 1 = 3", "name LIKE 'a|%' ESCAPE '|'")) {
      val plan = left.kNearestJoin(right.where(filter), col("query"), 3)
        .queryExecution.explainString(SimpleMode)
      assert(plan.contains("KNearestFallback") && plan.contains("has no translation"), filter)
    }
  }

  // The ids of the rows nearest to each query, by squares in double precision.
  private def nearestOf(
      left: DataFrame,
      rows: Seq[(Long, Seq[Float])],
      k: Int): Seq[Seq[Long]] =
    left.orderBy("number").collect().toSeq.map { row =>
      val query = row.getSeq[Float](1)
      rows.map { case (id, vector) =>
        (query.zip(vector).map { case (a, b) => (a.toDouble - b) * (a.toDouble - b) }.sum, id)
      }.sorted.take(k).map(_._2)
    }.filter(_.nonEmpty)

  test("a join of the result with itself, and the result cached") {
    val joined = queries("pq8_l2", 2).kNearestJoin(golden("pq8_l2"), col("query"), 2)
    assert(joined.as("a").join(joined.as("b"), col("a.id") === col("b.id")).count() >= 20)
    val cached = joined.cache()
    assert(cached.count() == 20 && cached.count() == 20)
    cached.unpersist()
  }

  // Vectors of 64 bytes.
  private def numbered(rows: Int): DataFrame = session.range(0, rows, 1, 1)
    .withColumn("query", transform(sequence(lit(0), lit(15)), i =>
      ((col("id") * 31 + i * 17) % 101).cast("float")))
    .withColumnRenamed("id", "number")

  test("more left rows than a block holds") {
    val rows = LeftBlock.MaxRows * 2 + 17
    val joined = numbered(rows).kNearestJoin(golden("flat_l2"), col("query"), 1)
    val numbers = joined.collect().map(_.getAs[Long]("number")).toSeq
    assert(numbers == (0L until rows.toLong))
    assert(executed(joined).metrics("blocks").value == 3)
  }

  test("rows sorted by nearest partition match the same and share more") {
    val left = numbered(LeftBlock.MaxRows * 2 + 17)
      .withColumn("query", when(col("number") % 1000 =!= 3, col("query")))
    def found(options: (String, Any)*): (Seq[(Long, Any)], KNearestExec) = {
      val joined = left.kNearestJoin(
        golden("flat_l2"), col("query"), 1, options ++ Seq("nprobes" -> 1, "how" -> "left"): _*)
      val rows = joined.collect().map(row => (row.getAs[Long]("number"), row.getAs[Any]("id")))
      (rows.toSeq, executed(joined))
    }
    val (asTheyCome, plain) = found()
    val (sorted, clustered) = found("clusterRows" -> true)
    assert(sorted != asTheyCome && sorted.sortBy(_._1) == asTheyCome)
    assert(found("clusterRows" -> true)._1 == sorted)
    assert(clustered.simpleString(100).contains("sorted by nearest partition"))
    val read = Seq(plain, clustered).map(_.metrics("partitionsRead").value)
    assert(3 * read(1) <= 2 * read.head, read)
    val exact = left.kNearestJoin(
      golden("flat_l2"), col("query"), 1, "clusterRows" -> true, "index" -> "never")
    assert(!executed(exact).spec.clustered)
  }

  test("blocks of left rows are smaller where memory is") {
    val joined = numbered(10)
      .kNearestJoin(golden("flat_l2"), col("query"), 1, "maxNativeBytes" -> (64 << 20))
    assert(joined.count() == 10)
    joined.collect()
    // Of 32 MiB for a task, 4 for the vectors of a block, once as gathered, once as searched.
    val node = executed(joined)
    assert(node.spec.blockBytes == 4 << 20)
    assert(node.spec.options("memory_limit_bytes") == (24 << 20).toString)
    val block = new LeftBlock(ArrayType(FloatType), 1 << 20)
    val row = InternalRow(1)
    while (!block.isFull) block.add(row, ArrayData.toArrayData(Array.fill(1024)(1f)))
    assert(block.size == 256)
    block.free()
  }

  test("errors name what was asked") {
    val left = queries("pq8_l2", 1)
    def failure(options: (String, Any)*): Exception = intercept[Exception] {
      left.kNearestJoin(golden("pq8_l2"), col("query"), 3, options: _*).collect()
    }
    assert(failure("nprobe" -> 3).getMessage.contains("\"nprobe\""))
    assert(failure("how" -> "cross").getMessage.contains("\"cross\""))
    assert(failure("rightColumn" -> "wec").getMessage.contains("\"wec\""))
    assert(failure("rightSelect" -> "id,no").getMessage.contains("no"))
    assert(failure("index" -> "none_such").getMessage.contains("none_such"))
    val missing = intercept[KinjoException] {
      left.kNearestJoin("/no/such.lance", col("query"), 3)
    }
    assert(missing.code == "not_found")
  }

  test("left vectors of another width fail, and the message names both") {
    val left = session.range(1).selectExpr("array(1f, 2f, 3f) as query")
    val failure = intercept[SparkException] {
      left.kNearestJoin(golden("pq8_l2"), col("query"), 1).collect()
    }
    val messages = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
      .map(_.getMessage).mkString("\n")
    assert(messages.contains("3") && messages.contains("16"))
  }

  test("the exact scan where no index fits, unless it is not allowed") {
    val left = queries("deletes", 1)
    val exact = ids(left.kNearestJoin(golden("deletes"), col("query"), 3, "index" -> "never"))
    val other = left.kNearestJoin(golden("deletes"), col("query"), 3, "metric" -> "dot")
    assert(other.count() == 30 && exact.size == 10)
    val refused = intercept[IllegalArgumentException] {
      left.kNearestJoin(golden("deletes"), col("query"), 3, "metric" -> "dot", "exactScan" -> false)
    }
    assert(refused.getMessage.contains("dot"), refused.getMessage)
  }

  test("a right side that is no Lance dataset is joined by Spark, with the same answer") {
    val left = queries("flat_l2", 2)
    val right = session.range(0, 40)
      .withColumn("vec", transform(sequence(lit(0), lit(15)), i =>
        ((col("id") * 7 + i * 3) % 13).cast("float")))
    val joined = left.kNearestJoin(right, col("query"), 3)
    assert(joined.columns.toSeq == Seq("number", "query", "id", "_distance", "_rank"))
    val vectors = right.collect().map(row => row.getLong(0) -> row.getSeq[Float](1)).toSeq
    val expected = left.orderBy("number").collect().toSeq.map { row =>
      val query = row.getSeq[Float](1)
      vectors.map { case (id, vector) =>
        (query.zip(vector).map { case (a, b) => (a.toDouble - b) * (a.toDouble - b) }.sum, id)
      }.sorted.take(3).map(_._1)
    }
    val found = joined.select("number", "_distance").collect().toSeq
      .groupBy(_.getInt(0)).toSeq.sortBy(_._1).map(_._2.map(_.getFloat(1).toDouble))
    for ((one, other) <- found.flatten.zip(expected.flatten)) {
      assert(math.abs(one - other) <= 1e-5 * other)
    }
    // The tasks of the cross product keep the k best of each left row before a row is shuffled.
    val kept = joined.queryExecution.executedPlan.toString
    assert(kept.contains("WindowGroupLimit") && kept.contains("Partial"), kept)
    val plan = joined.queryExecution.explainString(ExtendedMode)
    assert(plan.contains("KNearestFallback") && plan.contains("the right side has a Range"), plan)
    assert(joined.as("a").join(joined.as("b"), "number").count() == 90)
  }

  test("explain tells the way, the version and the engine's reasons; counters are kept") {
    val joined = queries("pq8_l2", 2).kNearestJoin(golden("pq8_l2"), col("query"), 3)
    val plan = joined.queryExecution.explainString(SimpleMode)
    for (part <- Seq("KNearest ", "version 2", "vec_idx", "IVF_PQ")) assert(plan.contains(part))
    joined.collect()
    val node = executed(joined)
    assert(node.metrics("leftRows").value == 10 && node.metrics("numOutputRows").value == 30)
    assert(node.metrics("partitionsProbed").value >= node.metrics("partitionsRead").value)
    assert(node.metrics("partitionsRead").value > 0 && node.metrics("searchTime").value > 0)
    assert(node.metrics("rankTime").value > 0 && node.metrics("takeTime").value > 0)
  }

  test("a session that wasn't told of the extension") {
    val forgetful = session.newSession()
    forgetful.experimental.extraStrategies = Nil
    val left = forgetful.range(3).selectExpr("id AS number",
      "transform(sequence(0, 15), i -> CAST(id AS FLOAT)) AS query")
    assert(left.kNearestJoin(golden("flat_l2"), col("query"), 2).count() == 6)
    assert(forgetful.experimental.extraStrategies == Seq(KNearestStrategy))
  }
}
