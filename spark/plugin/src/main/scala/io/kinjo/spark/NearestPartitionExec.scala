package io.kinjo.spark

import io.kinjo.{Cancel, LanceProbe, ProbeOptions}
import org.apache.spark.{TaskContext, TaskKilledException}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/**
 * Adds two columns to left rows: the partition of the index that a row's vector lies in (-1 for
 * rows that match nothing), and the row's number in its task. A task sorts its rows by both, so
 * that the blocks of a join share more of the partitions that they read, and a retry has them in
 * the same order.
 */
private[spark] final case class NearestPartitionExec(
    child: SparkPlan,
    query: Expression,
    spec: ProbeSpec,
    added: Seq[Attribute])
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output ++ added
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override def nodeName: String = "KNearestPartition"
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "partitionTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to rank partitions"))

  override protected def doExecute(): RDD[InternalRow] = {
    val vector = BindReferences.bindReference(query, child.output)
    val types = output.map(_.dataType).toArray
    val (asked, time) = (spec, metrics("partitionTime"))
    child.execute().mapPartitions(new RowsWithPartitions(_, vector, types, asked, time))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): NearestPartitionExec =
    copy(child = newChild)
}

private[spark] object NearestPartitionExec {
  def keys(): Seq[Attribute] = Seq(
    AttributeReference("__kinjo_partition", IntegerType, nullable = false)(),
    AttributeReference("__kinjo_number", LongType, nullable = false)())
}

private final class RowsWithPartitions(
    rows: Iterator[InternalRow],
    query: Expression,
    types: Array[DataType],
    spec: ProbeSpec,
    time: SQLMetric)
    extends Iterator[InternalRow] {

  private val context = TaskContext.get()
  private val block = new LeftBlock(query.dataType, spec.blockBytes)
  private val cancel = new Cancel
  private val probe = LanceProbe.open(spec.uri, spec.version, null, options)
  private val joined = new JoinedRow
  private val keys = new GenericInternalRow(2)
  private val toUnsafe = UnsafeProjection.create(types)
  private var partitions = Array.emptyIntArray
  private var nextRow = 0
  private var nextVector = 0
  private var number = 0L

  CancelWatch.watch(context, cancel)
  context.addTaskCompletionListener[Unit](_ => close())

  private def options: ProbeOptions =
    spec.options.foldLeft(ProbeOptions.defaults()) { case (made, (name, text)) =>
      made.`with`(name, text)
    }

  override def hasNext: Boolean = {
    if (nextRow == block.size) fill()
    nextRow < block.size
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val hasVector = nextVector < block.vectorCount && block.rowOf(nextVector) == nextRow
    keys.setInt(0, if (hasVector) partitions(nextVector) else -1)
    keys.setLong(1, number)
    if (hasVector) nextVector += 1
    joined(block.row(nextRow), keys)
    nextRow += 1
    number += 1
    toUnsafe(joined)
  }

  private def fill(): Unit = {
    if (context.isInterrupted()) throw new TaskKilledException("the task was cancelled")
    block.clear()
    nextRow = 0
    nextVector = 0
    while (rows.hasNext && !block.isFull) {
      val row = rows.next()
      block.add(row, query.eval(row))
    }
    if (block.vectorCount > 0) {
      val begin = System.nanoTime()
      try {
        partitions = probe.nearestPartitions(
          block.vectorAddress, block.element, block.vectorCount, block.width, cancel)
      } finally time += System.nanoTime() - begin
    }
  }

  private def close(): Unit = {
    CancelWatch.forget(cancel)
    probe.close()
    block.free()
  }
}
