package io.kinjo.spark

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * A join that Spark runs by its own plan, the child, because the engine couldn't: stands above it
 * so that explain tells why. Asks nothing of its child, so that columns are pruned through it.
 */
private[spark] final case class FallbackNode(child: LogicalPlan, reason: String)
    extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  @transient override lazy val references: AttributeSet = AttributeSet.empty

  override protected def withNewChildInternal(newChild: LogicalPlan): FallbackNode =
    copy(child = newChild)
}

/** Hands the rows on, and counts them. */
private[spark] final case class FallbackExec(child: SparkPlan, reason: String)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def nodeName: String = "KNearestFallback"

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "fallbackRows" -> SQLMetrics.createMetric(sparkContext, "rows joined without the engine"))

  override protected def doExecute(): RDD[InternalRow] = {
    val count = metrics("fallbackRows")
    child.execute().mapPartitions(_.map { row =>
      count += 1
      row
    })
  }

  override protected def withNewChildInternal(newChild: SparkPlan): FallbackExec =
    copy(child = newChild)
}
