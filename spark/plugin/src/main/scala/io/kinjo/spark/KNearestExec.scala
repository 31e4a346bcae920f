package io.kinjo.spark

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * The join, task by task: no shuffle, left rows stay in their partitions and their order. One
 * native call a block of left rows (`BlockJoin`).
 *
 * @param left the child's columns that come out
 */
private[spark] final case class KNearestExec(
    child: SparkPlan,
    query: Expression,
    left: Seq[Attribute],
    spec: ProbeSpec,
    right: Seq[Attribute],
    measures: Seq[Attribute],
    outer: Boolean,
    reason: String)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = left ++ right ++ measures
  override def producedAttributes: AttributeSet = AttributeSet(right ++ measures)
  override def nodeName: String = "KNearest"
  override def simpleString(maxFields: Int): String = s"KNearest ${spec.described(reason)}"
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  override protected def doExecute(): RDD[InternalRow] = {
    val work = TaskWork(
      BindReferences.bindReference(query, child.output),
      if (left == child.output) None
      else Some(BindReferences.bindReferences(left, child.output)),
      spec,
      measures.map(_.name),
      output.map(_.dataType).toArray,
      outer)
    val counters = metrics
    child.execute().mapPartitions(new BlockJoin(_, work, counters, TaskContext.get()))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): KNearestExec =
    copy(child = newChild)
}
