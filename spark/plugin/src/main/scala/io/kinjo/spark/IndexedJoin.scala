package io.kinjo.spark

import scala.util.{Left, Right}

import io.kinjo.{ElementType, KinjoException, LanceProbe, ProbeOptions}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{FloatType, IntegerType}

/**
 * Makes the node of a join, or says why the engine can't run it. All is checked on the driver,
 * before a left row is read: options, the index, the memory that a task may have.
 */
private[spark] final class IndexedJoin(session: SparkSession, settings: JoinSettings) {

  /**
   * @param query    the left vector, over `left`'s output
   * @param vector   the right column that it is compared with
   * @param columns  the right columns to give
   * @param measures whether `_distance` and `_rank` follow
   */
  def plan(
      left: LogicalPlan,
      query: Expression,
      right: RightTable,
      vector: RightColumn,
      columns: Seq[RightColumn],
      measures: Boolean): Either[String, KNearestNode] = {
    val memory = NativeMemory.ofTask(session, settings)
    val options = settings.engine ++
      right.where.map("where" -> _) +
      ("right_on" -> vector.datasetName) ++
      memory.engine.map("memory_limit_bytes" -> _.toString) ++
      (if (settings.engine.contains("threads")) None else Some("threads" -> taskThreads))
    val (_, width) = ArrowTypes.vectorOf(vector.field).get
    LeftBlock.elementOf(query.dataType) match {
      case None => Left(s"the left vector, ${query.sql}, is a ${query.dataType.sql}")
      case Some(element) =>
        chooseWay(right, element, width, options).map { case (chosen, reason) =>
          KNearestNode(
            left,
            query,
            ProbeSpec(
              right.uri, right.version, chosen, columns.map(_.datasetName), memory.block),
            columns.map(_.attribute.withNullability(true)),
            if (measures) IndexedJoin.measures() else Nil,
            settings.outer,
            reason)
        }
    }
  }

  private def taskThreads: String = session.sparkContext.getConf.get("spark.task.cpus", "1")

  // Through an index, else by the exact scan where that is allowed; with the engine's own words.
  private def chooseWay(
      right: RightTable,
      element: ElementType,
      width: Int,
      options: Map[String, String]): Either[String, (Map[String, String], String)] = {
    // Where a fast search finds no index the engine says what it says to everybody.
    val given = options.getOrElse("index", "auto") != "auto"
    if (given || options.get("fast_search").contains("true")) tryWay(right, element, width, options)
    else tryWay(right, element, width, options + ("index" -> "require")) match {
      case Left(refusal) if settings.exactScan =>
        tryWay(right, element, width, options + ("index" -> "never")).map { case (chosen, reason) =>
          (chosen, s"$refusal; $reason")
        }
      case way => way
    }
  }

  private def tryWay(
      right: RightTable,
      element: ElementType,
      width: Int,
      options: Map[String, String]): Either[String, (Map[String, String], String)] = {
    val made = options.foldLeft(ProbeOptions.defaults()) { case (known, (name, text)) =>
      known.`with`(name, text)
    }
    try {
      val probe = LanceProbe.open(right.uri, right.version, made)
      try Right((options, probe.explain(element, width, false)))
      finally probe.close()
    } catch {
      // What another way may do; all else is the user's to mend.
      case failure: KinjoException if Set("refused", "capacity").contains(failure.code) =>
        Left(failure.getMessage)
    }
  }
}

private[spark] object IndexedJoin {
  private def measures(): Seq[Attribute] = Seq(
    AttributeReference(KNearestNode.Distance, FloatType, nullable = true)(),
    AttributeReference(KNearestNode.Rank, IntegerType, nullable = true)())
}
