package io.kinjo.spark

import org.apache.spark.{NarrowDependency, Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.kinjo.Exchange
import org.apache.spark.sql.types._

/**
 * The join where each task searches a scope, some segments of the index, for one partition of left
 * rows, because an executor can't hold all of them: (left partition x scope) tasks, each of which
 * gives its k best rows of the scope. `KNearestMergeExec` makes the k best of all.
 *
 * Left rows are numbered and written once, so that all tasks see them under the same numbers,
 * whatever order they are computed in; matches name their left row by its number alone. A head goes
 * before the matches of each left row, at the distance minus infinity: it has the left columns.
 *
 * @param keys as KNearestScopesExec.keys() makes them
 */
private[spark] final case class KNearestScopesExec(
    child: SparkPlan,
    query: Expression,
    left: Seq[Attribute],
    spec: ProbeSpec,
    keys: Seq[Attribute],
    right: Seq[Attribute],
    reason: String)
    extends UnaryExecNode {

  override def output: Seq[Attribute] =
    keys ++ (left ++ right).map(_.withNullability(true))
  override def producedAttributes: AttributeSet = AttributeSet(output) -- child.outputSet
  override def nodeName: String = "KNearestScopes"
  override def simpleString(maxFields: Int): String = s"KNearestScopes ${spec.described(reason)}"

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val numbered = Exchange.inPlaces(numberedRows(rows), rows.getNumPartitions, left.size + 2)
    val parts = heads(numbered).union(matches(numbered))
    Exchange.inPlaces(parts, rows.getNumPartitions, output.size)
  }

  // Number, vector, left columns; to the place of their partition.
  private def numberedRows(rows: RDD[InternalRow]): RDD[(Int, InternalRow)] = {
    val values = BindReferences.bindReferences(query +: left, child.output)
    val types = (LongType +: values.map(_.dataType)).toArray[DataType]
    Exchange.inOrder(rows) { (place, rows) =>
      val asked = UnsafeProjection.create(values)
      val whole = UnsafeProjection.create(types)
      val key = new GenericInternalRow(1)
      val both = new JoinedRow
      rows.zipWithIndex.map { case (row, index) =>
        key.update(0, index.toLong)
        (place, whole(both(key, asked(row))))
      }
    }
  }

  private def heads(numbered: RDD[InternalRow]): RDD[(Int, InternalRow)] = {
    val number = BoundReference(0, LongType, nullable = false)
    val values = Seq(number, Literal(Float.NegativeInfinity), Literal(-1L)) ++
      left.zipWithIndex.map { case (column, i) =>
        BoundReference(i + 2, column.dataType, nullable = true)
      } ++ right.map(column => Literal.create(null, column.dataType))
    numbered.mapPartitionsWithIndex { (place, rows) =>
      val head = UnsafeProjection.create(values)
      rows.map(row => (place, head(row)))
    }
  }

  private def matches(numbered: RDD[InternalRow]): RDD[(Int, InternalRow)] = {
    val asked = spec.copy(options = spec.options + ("with_row_id" -> "true"))
    val found = Seq("_distance", "_rowid")
    val rightTypes = right.map(_.dataType)
    val work = TaskWork(
      BoundReference(1, query.dataType, nullable = true),
      Some(Seq(BoundReference(0, LongType, nullable = false))),
      asked,
      found,
      ((LongType +: rightTypes) ++ Seq(FloatType, LongType)).toArray[DataType],
      outer = false)
    // A row of the work: number, right columns, distance, row id.
    val values = Seq(
      BoundReference(0, LongType, nullable = false),
      BoundReference(right.size + 1, FloatType, nullable = false),
      BoundReference(right.size + 2, LongType, nullable = false)) ++
      left.map(column => Literal.create(null, column.dataType)) ++
      rightTypes.zipWithIndex.map { case (kind, i) => BoundReference(i + 1, kind, nullable = true) }
    val counters = metrics
    val scopes = spec.scopes
    new ScopedRows(numbered, scopes.size).mapPartitionsWithIndex { (index, rows) =>
      val scope = scopes(index % scopes.size).toArray
      val joined = new BlockJoin(
        rows, work.copy(fragments = Some(scope)), counters, TaskContext.get())
      val laidOut = UnsafeProjection.create(values)
      joined.map(row => (index / scopes.size, laidOut(row)))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): KNearestScopesExec =
    copy(child = newChild)
}

private[spark] object KNearestScopesExec {

  /** What its rows are ordered by: left rows in their order, matches by distance, then by row. */
  def keys(): Seq[Attribute] = Seq(
    AttributeReference("_left_row", LongType, nullable = false)(),
    AttributeReference("_distance", FloatType, nullable = false)(),
    AttributeReference("_rowid", LongType, nullable = false)())
}

/** Each partition of `rows` once for each scope. */
private final class ScopedRows(@transient private val rows: RDD[InternalRow], scopes: Int)
    extends RDD[InternalRow](
      rows.sparkContext,
      Seq(new NarrowDependency[InternalRow](rows) {
        override def getParents(index: Int): Seq[Int] = Seq(index / scopes)
      })) {

  override protected def getPartitions: Array[Partition] =
    rows.partitions.flatMap { parent =>
      Seq.tabulate[Partition](scopes)(i => ScopedPartition(parent.index * scopes + i, parent))
    }

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    firstParent[InternalRow].iterator(split.asInstanceOf[ScopedPartition].parent, context)
}

private final case class ScopedPartition(index: Int, parent: Partition) extends Partition
