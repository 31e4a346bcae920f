package io.kinjo.spark

import scala.collection.JavaConverters._
import scala.util.{Left, Right}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import io.kinjo.{ElementType, KinjoException, LanceProbe, ProbeOptions, SharedDatasets}

/** What is looked for: neighbours in a column of the right side, for vectors of one kind. */
private[spark] final case class Asked(
    right: RightTable,
    column: String,
    element: ElementType,
    width: Int)

/**
 * How the engine will run a join.
 *
 * @param scopes fragments that each task searches alone; none: each searches all
 * @param reason the engine's own words
 */
private[spark] final case class Way(
    options: Map[String, String],
    scopes: Seq[Seq[Long]],
    reason: String) {
  def usesIndex: Boolean = !options.get("index").contains("never")
}

/**
 * Which way a join goes, decided on the driver within the memory of a task: through an index as a
 * whole, which the engine keeps in memory or streams; through segments of it that tasks share out;
 * by the exact scan; or not by the engine.
 */
private[spark] final class WayChoice(settings: JoinSettings) {
  import WayChoice.Refusal

  def choose(asked: Asked, options: Map[String, String]): Either[String, Way] = {
    // Where a fast search finds no index the engine says what it says to everybody.
    val given = options.getOrElse("index", "auto") != "auto"
    val required =
      if (given || options.get("fast_search").contains("true")) options
      else options + ("index" -> "require")
    val way = (tryWay(asked, required), settings.segmentScoped) match {
      case (Right(whole), "always") => Right(byScopes(asked, required).getOrElse(whole))
      case (Left(refusal), "auto" | "always") if refusal.forMemory =>
        byScopes(asked, required) match {
          case Some(scoped) => Right(scoped.copy(reason = s"${refusal.message}\n${scoped.reason}"))
          case None => Left(refusal)
        }
      case (either, _) => either
    }
    way match {
      case Left(refusal) if settings.exactScan && required != options =>
        tryWay(asked, options + ("index" -> "never")) match {
          case Right(exact) => Right(exact.copy(reason = s"${refusal.message}\n${exact.reason}"))
          case Left(exact) => Left(exact.message)
        }
      case Left(refusal) => Left(refusal.message)
      case Right(known) => Right(known)
    }
  }

  // Some fragments alone; none: all.
  private def tryWay(
      asked: Asked,
      options: Map[String, String],
      fragments: Seq[Long] = Nil): Either[Refusal, Way] = {
    val made = options.foldLeft(ProbeOptions.defaults()) { case (known, (name, text)) =>
      known.`with`(name, text)
    }
    val ids = if (fragments.isEmpty) null else fragments.toArray
    try {
      val probe = LanceProbe.open(asked.right.uri, asked.right.version, ids, made)
      try Right(Way(options, Nil, explained(probe, asked)))
      finally probe.close()
    } catch {
      // What another way may do; all else is the user's to mend.
      case failure: KinjoException if Set("refused", "capacity").contains(failure.code) =>
        Left(Refusal(failure.getMessage, failure.code == "capacity"))
    }
  }

  // The plan, and what the gate of resident indexes made of the memory.
  private def explained(probe: LanceProbe, asked: Asked): String = {
    val gate = probe.explain(asked.element, asked.width, true).linesIterator
      .filter(_.contains("gate: "))
    (probe.explain(asked.element, asked.width, false).linesIterator ++ gate).mkString("\n")
  }

  // Each scope has a segment of the index; rows that the index doesn't cover are shared out.
  private def byScopes(asked: Asked, options: Map[String, String]): Option[Way] =
    indexes(asked, options).flatMap { index =>
      val segments = index.get("segments").elements.asScala.toSeq
        .map(segment => ids(segment.get("fragment_ids"))).filter(_.nonEmpty)
      val loose = ids(index.get("uncovered_fragments")).zipWithIndex
      val scopes = segments.zipWithIndex.map { case (covered, i) =>
        covered ++ loose.collect { case (id, j) if j % segments.size == i => id }
      }
      // Rows that no index covers have exact distances, so all must, whichever scope they lie in.
      val exact = loose.nonEmpty && !options.get("fast_search").contains("true")
      val refined = if (exact) Map("refine_factor" -> "1") else Map.empty[String, String]
      val named = refined ++ options + ("index" -> index.get("name").asText)
      val ways = scopes.map(tryWay(asked, named, _))
      if (scopes.size < 2 || ways.exists(_.isLeft)) None
      else Some(Way(named, scopes, ways.collect { case Right(way) => way.reason }.maxBy(_.length)))
    }.headOption

  private def indexes(asked: Asked, options: Map[String, String]): Seq[JsonNode] = {
    val dataset = SharedDatasets.acquire(asked.right.uri, asked.right.version)
    val told =
      try dataset.describe
      finally SharedDatasets.release(dataset)
    val wanted = options.get("index").filterNot(Set("auto", "require"))
    new ObjectMapper().readTree(told).get("indexes").elements.asScala.toSeq.filter { index =>
      val metric = index.get("metric").asText
      index.get("column").asText == asked.column && index.get("usable").asBoolean &&
      options.get("metric").forall(_ == metric) && wanted.forall(_ == index.get("name").asText)
    }
  }

  private def ids(node: JsonNode): Seq[Long] = node.elements.asScala.map(_.asLong).toSeq
}

private[spark] object WayChoice {
  /** Why a way can't be gone, and whether for want of memory. */
  private final case class Refusal(message: String, forMemory: Boolean)
}
