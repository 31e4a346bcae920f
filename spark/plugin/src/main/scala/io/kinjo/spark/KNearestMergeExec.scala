package io.kinjo.spark

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{DataType, FloatType, IntegerType}

/**
 * The k best matches of each left row, of those that the tasks of the scopes found: left rows in
 * their partitions and their order again.
 */
private[spark] final case class KNearestMergeExec(
    child: SparkPlan,
    left: Seq[Attribute],
    right: Seq[Attribute],
    measures: Seq[Attribute],
    outer: Boolean,
    k: Int)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = left ++ right ++ measures
  override def producedAttributes: AttributeSet = AttributeSet(output)
  override def nodeName: String = "KNearestMerge"
  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(child.output.take(KNearestMergeExec.Keys).map(SortOrder(_, Ascending)))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val measureNames = measures.map(_.name)
    val leftTypes = left.map(_.dataType)
    val rightTypes = right.map(_.dataType)
    val keepAll = outer
    val most = k
    val count = metrics("numOutputRows")
    child.execute().mapPartitions { rows =>
      new MergedRows(rows, leftTypes, rightTypes, measureNames, keepAll, most).map { row =>
        count += 1
        row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): KNearestMergeExec =
    copy(child = newChild)
}

private[spark] object KNearestMergeExec {
  // Number of the left row, distance, row id.
  val Keys = 3
}

/** @param parts heads and matches, in the order of KNearestScopesExec */
private final class MergedRows(
    parts: Iterator[InternalRow],
    leftTypes: Seq[DataType],
    rightTypes: Seq[DataType],
    measures: Seq[String],
    outer: Boolean,
    k: Int)
    extends Iterator[InternalRow] {

  private val Distance = 1
  private val leftBegin = KNearestMergeExec.Keys
  private val rightBegin = leftBegin + leftTypes.size
  private val width = rightBegin + rightTypes.size
  // Over a head, then a match (or nothing), then the rank.
  private val whole = UnsafeProjection.create(
    columns(leftTypes, leftBegin) ++ columns(rightTypes, width + rightBegin) ++ measures.map {
      case KNearestNode.Distance => BoundReference(width + Distance, FloatType, nullable = true)
      case KNearestNode.Rank => BoundReference(2 * width, IntegerType, nullable = true)
    })
  private val nothing = new GenericInternalRow(width)
  private val rank = new GenericInternalRow(1)
  private val pair = new JoinedRow
  private val joined = new JoinedRow

  private var head: InternalRow = _
  private var found = 0
  private var made: InternalRow = _

  private def columns(types: Seq[DataType], begin: Int): Seq[Expression] =
    types.zipWithIndex.map { case (kind, i) => BoundReference(begin + i, kind, nullable = true) }

  override def hasNext: Boolean = {
    while (made == null && parts.hasNext) take(parts.next())
    if (made == null && head != null) {
      // The last left row of all.
      made = withoutMatch()
      head = null
    }
    made != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = made
    made = null
    row
  }

  private def take(part: InternalRow): Unit =
    if (part.getFloat(Distance) == Float.NegativeInfinity) {
      if (head != null) made = withoutMatch()
      head = part.copy()
      found = 0
    } else if (found < k) {
      found += 1
      rank.update(0, found)
      made = whole(joined(pair(head, part), rank))
    }

  // The row of a left row that found nothing, where it is to come out.
  private def withoutMatch(): InternalRow =
    if (!outer || found > 0) null
    else {
      rank.update(0, null)
      whole(joined(pair(head, nothing), rank))
    }
}
