package io.kinjo.spark

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import io.kinjo.{Dataset, KinjoException}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions._

/** Indexes that executors build: trained once, a segment a group of fragments, one commit. */
class KNearestIndexSuite extends SparkSuite {

  private def copyOf(name: String): String = {
    val work = Paths.get(System.getProperty("kinjo.work"))
    Files.createDirectories(work)
    val target = Files.createTempDirectory(work, name)
    val source = Paths.get(golden(name))
    val files = Files.walk(source)
    try files.iterator.asScala.foreach { (path: Path) =>
      val to = target.resolve(source.relativize(path).toString)
      if (Files.isDirectory(path)) Files.createDirectories(to) else Files.copy(path, to)
    } finally files.close()
    target.toString
  }

  private def indexOf(uri: String, name: String): JsonNode = {
    val dataset = Dataset.open(uri, Dataset.LATEST)
    val told =
      try dataset.describe
      finally dataset.close()
    new ObjectMapper().readTree(told).get("indexes").elements.asScala
      .find(_.get("name").asText == name).get
  }

  private def queries(uri: String): DataFrame =
    session.read.format("kinjo").load(uri).where("id % 50 = 0")
      .selectExpr("id AS number", "vec AS query")

  private def pairs(uri: String, options: (String, Any)*): Seq[Row] =
    queries(uri).kNearestJoin(uri, col("query"), 5, options: _*)
      .select("number", "id").collect().toSeq

  for (kind <- Seq("IVF_PQ", "IVF_FLAT", "IVF_SQ", "IVF_HNSW_SQ")) {
    test(s"$kind over fragments of several tasks finds what the exact scan does") {
      val uri = copyOf("deltas")
      val before = indexOf(uri, "vec_idx").get("segments").size
      val version = KNearestIndex.create(
        session, uri, "type" -> kind, "numPartitions" -> 4, "name" -> "spread", "segments" -> 3)
      val made = indexOf(uri, "spread")
      assert(made.get("segments").size == 3 && made.get("uncovered_rows").asLong == 0)
      assert(made.get("type").asText == kind && before == 2)
      val all = Seq("nprobes" -> 100, "refineFactor" -> 50, "index" -> "spread",
        "rightVersion" -> version)
      val ef = if (kind.contains("HNSW")) Seq("ef" -> 500) else Nil
      val exact = pairs(uri, "index" -> "never")
      assert(pairs(uri, all ++ ef: _*) == exact)
      assert(pairs(uri, (all ++ ef) :+ ("segmentScoped" -> "always"): _*) == exact)
    }
  }

  test("no more segments than fragments, and replacing") {
    val uri = copyOf("deltas")
    KNearestIndex.create(session, uri, "name" -> "spread", "numPartitions" -> 2, "segments" -> 50)
    assert(indexOf(uri, "spread").get("segments").size == 4)
    val taken = intercept[KinjoException] {
      KNearestIndex.create(session, uri, "name" -> "spread", "numPartitions" -> 2)
    }
    assert(taken.getMessage.contains("spread"))
    KNearestIndex.create(session, uri,
      Map("name" -> "spread", "replace" -> "true", "num_partitions" -> "3").asJava)
    assert(indexOf(uri, "spread").get("segments").size == 2)
  }

  test("what can't be built is told as the engine tells it") {
    val uri = copyOf("deltas")
    def failure(options: (String, Any)*): String = {
      val thrown = intercept[Exception](KNearestIndex.create(session, uri, options: _*))
      Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null)
        .map(_.getMessage).mkString("\n")
    }
    assert(failure("column" -> "no_such").contains("no_such"))
    assert(failure("type" -> "IVF_XY").contains("IVF_XY"))
    assert(failure("numPartition" -> 3).contains("num_partition"))
    assert(failure("segments" -> 0).contains("segments = 0"))
    assert(indexOf(uri, "vec_idx").get("segments").size == 2)
  }
}
