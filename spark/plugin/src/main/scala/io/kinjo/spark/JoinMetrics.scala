package io.kinjo.spark

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** What the UI shows of a join: counters of its tasks, and what the engine reports of blocks. */
private[spark] object JoinMetrics {
  // Name here, name in the UI, field of the engine's report.
  private val Counts = Seq(
    ("partitionsProbed", "partitions probed", "partitions_probed"),
    ("partitionsRead", "partitions read", "partitions_read"),
    ("shortRows", "left rows with fewer than k matches", "short_rows"),
    ("cappedRows", "left rows cut by a cap on the work", "capped_rows"))
  private val Seconds = Seq(
    ("filterTime", "time for the filter", "filter_s"),
    ("rankTime", "time to rank partitions", "rank_s"),
    ("probeTime", "time in partitions", "probe_s"),
    ("refineTime", "time to refine", "refine_s"),
    ("exactTime", "time in exact scans", "exact_s"),
    ("takeTime", "time to fetch right columns", "take_s"))
  private val Skipped = Seq("skipped_null_rows", "skipped_non_finite_rows")
  private val Nanos = 1e9

  def create(context: SparkContext): Map[String, SQLMetric] = {
    def count(name: String, shown: String) = name -> SQLMetrics.createMetric(context, shown)
    Seq(
      count("numOutputRows", "number of output rows"),
      count("leftRows", "left rows"),
      count("skippedRows", "left rows without a usable vector"),
      count("blocks", "blocks of left rows"),
      "sharing" -> SQLMetrics.createAverageMetric(context, "partitions probed for each one read"),
      "bytesRead" -> SQLMetrics.createSizeMetric(context, "bytes read"),
      "searchTime" -> SQLMetrics.createNanoTimingMetric(context, "time in the engine")).toMap ++
      Counts.map { case (name, shown, _) => count(name, shown) } ++
      Seconds.map { case (name, shown, _) =>
        name -> SQLMetrics.createNanoTimingMetric(context, shown)
      }
  }

  /** Adds the report of a block that is finished. */
  def add(metrics: Map[String, SQLMetric], report: String): Unit = {
    val fields = mapper.readTree(report)
    Counts.foreach { case (name, _, field) => metrics(name) += fields.path(field).asLong }
    Seconds.foreach { case (name, _, field) =>
      metrics(name) += (fields.path(field).asDouble * Nanos).toLong
    }
    metrics("skippedRows") += Skipped.map(fields.path(_).asLong).sum
    metrics("bytesRead") += fields.path("bytes_read").asLong
  }

  /** At a task's end. */
  def finish(metrics: Map[String, SQLMetric]): Unit = {
    val read = metrics("partitionsRead").value
    if (read > 0) metrics("sharing").set(metrics("partitionsProbed").value.toDouble / read)
  }

  private val mapper = new ObjectMapper
}
