package io.kinjo.spark

import scala.collection.JavaConverters._

import io.kinjo.KinjoException
import org.apache.spark.sql.internal.SQLConf

/**
 * What one join was asked, from its own options and, for those it doesn't name, the session's
 * settings `spark.kinjo.<option>`. Names may be written in camelCase or with underscores.
 *
 * @param segmentScoped whether tasks search segments of an index each: "auto" (where the whole
 *                      index needs more memory than a task has), "always" or "never"
 * @param clusterRows   whether a task sorts its left rows by the nearest partition of the index
 * @param engine options that go to the engine as they are
 */
private[spark] final case class JoinSettings(
    k: Int,
    outer: Boolean,
    rightColumn: Option[String],
    rightSelect: Option[Seq[String]],
    rightVersion: Option[Long],
    rightTag: Option[String],
    suffix: String,
    exactScan: Boolean,
    memorySafety: Double,
    maxNativeBytes: Option[Long],
    segmentScoped: String,
    clusterRows: Boolean,
    engine: Map[String, String])

private[spark] object JoinSettings {
  private val Prefix = "spark.kinjo."
  // Settings of the session alone, which no join is asked.
  private val SessionOnly = Set("enabled")

  def parse(k: Int, options: Map[String, String], conf: SQLConf): JoinSettings = {
    val session = conf.getAllConfs.collect {
      case (name, text) if name.startsWith(Prefix) => underscored(name.stripPrefix(Prefix)) -> text
    }
    val given = (session -- SessionOnly) ++ options.map { case (name, text) =>
      underscored(name) -> text
    }
    val own = Set(
      "how", "right_column", "right_select", "right_version", "right_tag", "suffix", "exact_scan",
      "memory_safety", "max_native_bytes", "segment_scoped",
      "cluster_rows")
    for (version <- given.get("right_version"); tag <- given.get("right_tag")) {
      throw invalid(s"right_version = $version and right_tag = $tag can't be given together")
    }
    JoinSettings(
      k = k,
      outer = given.getOrElse("how", "inner") match {
        case "inner" => false
        case "left" | "leftouter" | "left_outer" => true
        case other => throw invalid(s"""how: "$other" is not "inner" or "left"""")
      },
      rightColumn = given.get("right_column"),
      rightSelect = given.get("right_select").map(_.split(',').map(_.trim).toSeq),
      rightVersion = given.get("right_version").map(number("right_version", _)),
      rightTag = given.get("right_tag"),
      suffix = given.getOrElse("suffix", "_right"),
      exactScan = given.get("exact_scan").forall(switch("exact_scan", _)),
      memorySafety = given.get("memory_safety").map(share("memory_safety", _)).getOrElse(0.7),
      maxNativeBytes = given.get("max_native_bytes").map(number("max_native_bytes", _)),
      segmentScoped = given.getOrElse("segment_scoped", "auto") match {
        case known @ ("auto" | "always" | "never") => known
        case other =>
          throw invalid(s"""segment_scoped: "$other" is not "auto", "always" or "never"""")
      },
      clusterRows = given.get("cluster_rows").exists(switch("cluster_rows", _)),
      engine = (given -- own) + ("k" -> k.toString))
  }

  /** "refineFactor" -> "refine_factor". */
  private[spark] def underscored(name: String): String =
    name.flatMap(c => if (c.isUpper) s"_${c.toLower}" else c.toString)

  /** At least 1. */
  private[spark] def count(name: String, text: String): Int = number(name, text) match {
    case value if value >= 1 && value <= Int.MaxValue => value.toInt
    case value => throw invalid(s"$name = $value must be at least 1")
  }

  private def number(name: String, text: String): Long =
    try text.trim.toLong
    catch {
      case _: NumberFormatException => throw invalid(s"""$name: "$text" is not a whole number""")
    }

  private def share(name: String, text: String): Double =
    text.trim.toDouble match {
      case value if value > 0 && value <= 1 => value
      case _ => throw invalid(s"$name must be above 0 and at most 1, but is $text")
    }

  private[spark] def switch(name: String, text: String): Boolean = text match {
    case "true" => true
    case "false" => false
    case _ => throw invalid(s"""$name: "$text" is not true or false""")
  }

  private def invalid(message: String): IllegalArgumentException =
    new IllegalArgumentException(message)
}
