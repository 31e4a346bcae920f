package io.kinjo.spark

import scala.collection.JavaConverters._

import io.kinjo.{Cancel, LanceProbe, ProbeOptions, ProbeResult}
import org.apache.spark.{TaskContext, TaskKilledException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}

/**
 * What the tasks of a join are told.
 *
 * @param query    the vector of a left row
 * @param left     the values of a left row that come out; None: the row as it is
 * @param measures which of `_distance` and `_rank` follow the right columns
 * @param types    of the columns that come out
 * @param outer    left rows without a match come out too
 * @param fragments whose rows are searched; None: all
 */
private[spark] final case class TaskWork(
    query: Expression,
    left: Option[Seq[Expression]],
    spec: ProbeSpec,
    measures: Seq[String],
    types: Array[DataType],
    outer: Boolean,
    fragments: Option[Array[Long]] = None)

/**
 * The joined rows of one task: takes left rows block by block, has the engine search each block in
 * one call, and puts left and right rows together as they come.
 */
private[spark] final class BlockJoin(
    rows: Iterator[InternalRow],
    work: TaskWork,
    metrics: Map[String, SQLMetric],
    context: TaskContext)
    extends Iterator[InternalRow] {

  import work.{measures, outer, spec}

  private val query = work.query
  private val narrow = work.left.map(UnsafeProjection.create(_))
  private val block = new LeftBlock(query.dataType, spec.blockBytes)
  private val cancel = new Cancel
  private val probe = LanceProbe.open(spec.uri, spec.version, work.fragments.orNull, options)
  private val joined = new JoinedRow
  private val noMatch = new GenericInternalRow(spec.columns.size + measures.size)
  private val toUnsafe = UnsafeProjection.create(work.types)

  private var result: ProbeResult = _
  private var batch: ColumnarBatch = _
  private var queryIndex: ColumnVector = _
  private var batchRow = 0
  private var batchRows = 0
  // Left rows of the block before this one have come out, or are known to have a match.
  private var nextRow = 0
  private var inBlock = false
  private var ready = false

  CancelWatch.watch(context, cancel)
  context.addTaskCompletionListener[Unit](_ => close())

  private def options: ProbeOptions = {
    val base = spec.options.foldLeft(ProbeOptions.defaults()) { case (made, (name, text)) =>
      made.`with`(name, text)
    }
    base.withRightSelect(spec.columns.asJava)
  }

  override def hasNext: Boolean = {
    while (!ready && advance()) {}
    ready
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    ready = false
    metrics("numOutputRows") += 1
    toUnsafe(joined)
  }

  // One step towards the next joined row; false when there are no more.
  private def advance(): Boolean =
    if (!inBlock) beginBlock()
    else if (batchRow < batchRows) {
      stepMatch()
      true
    } else if (nextBatch()) true
    else {
      stepRest()
      true
    }

  private def beginBlock(): Boolean = {
    block.clear()
    nextRow = 0
    while (rows.hasNext && !block.isFull) {
      val row = rows.next()
      val vector = query.eval(row)
      block.add(narrow.fold(row)(_(row)), vector)
    }
    inBlock = block.size > 0
    if (inBlock) search()
    inBlock
  }

  private def search(): Unit = {
    metrics("leftRows") += block.size
    metrics("skippedRows") += block.size - block.vectorCount
    metrics("blocks") += 1
    if (block.vectorCount > 0) timed {
      result = probe.probe(
        block.vectorAddress, block.element, block.vectorCount, block.width, cancel)
    }
  }

  private def timed[T](work: => T): T = {
    val begin = System.nanoTime()
    try work
    finally metrics("searchTime") += System.nanoTime() - begin
  }

  private def nextBatch(): Boolean = {
    if (context.isInterrupted()) throw new TaskKilledException("the task was cancelled")
    val more = result != null && timed(result.next())
    batchRow = 0
    batchRows = if (more) result.rows else 0
    if (more) {
      queryIndex = column("_query_index")
      val columns = (spec.columns ++ measures).map(column).toArray[ColumnVector]
      batch = new ColumnarBatch(columns, batchRows)
    }
    more
  }

  private def column(name: String): ColumnVector = NativeColumn(result.column(result.indexOf(name)))

  // The match at hand, or a left row before it that has none.
  private def stepMatch(): Unit = {
    val row = block.rowOf(queryIndex.getLong(batchRow).toInt)
    if (nextRow < row) emitWithout()
    else {
      nextRow = row + 1
      joined(block.row(row), batch.getRow(batchRow))
      batchRow += 1
      ready = true
    }
  }

  // A left row behind the last match of the block, or the block's end.
  private def stepRest(): Unit = if (nextRow < block.size) emitWithout() else endBlock()

  private def emitWithout(): Unit = {
    if (outer) {
      joined(block.row(nextRow), noMatch)
      ready = true
    }
    nextRow += 1
  }

  private def endBlock(): Unit = {
    inBlock = false
    if (result != null) {
      result.close()
      JoinMetrics.add(metrics, result.report)
      result = null
    }
  }

  private def close(): Unit = {
    CancelWatch.forget(cancel)
    JoinMetrics.finish(metrics)
    if (result != null) {
      cancel.raise()
      result.close()
      result = null
    }
    probe.close()
    block.free()
  }
}
