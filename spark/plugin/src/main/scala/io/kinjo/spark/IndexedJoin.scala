package io.kinjo.spark

import scala.util.Left

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
        val asked = Asked(right, vector.datasetName, element, width)
        new WayChoice(settings).choose(asked, options).map { way =>
          KNearestNode(
            left,
            query,
            ProbeSpec(
              right.uri,
              right.version,
              way.options,
              columns.map(_.datasetName),
              memory.block,
              way.scopes,
              settings.clusterRows && way.scopes.isEmpty && way.usesIndex),
            columns.map(_.attribute.withNullability(true)),
            if (measures) IndexedJoin.measures() else Nil,
            settings.outer,
            s"${memory.told}\n${way.reason}")
        }
    }
  }

  private def taskThreads: String = session.sparkContext.getConf.get("spark.task.cpus", "1")
}

private[spark] object IndexedJoin {
  private def measures(): Seq[Attribute] = Seq(
    AttributeReference(KNearestNode.Distance, FloatType, nullable = true)(),
    AttributeReference(KNearestNode.Rank, IntegerType, nullable = true)())
}
