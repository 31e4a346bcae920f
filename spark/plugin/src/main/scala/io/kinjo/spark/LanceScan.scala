package io.kinjo.spark

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import io.kinjo.{BatchReader, Cancel, Dataset, SharedDatasets}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}

/** Decides what a scan reads: the columns asked for, and the rows of filters that translate. */
private[spark] final class LanceScanBuilder(uri: String, version: Long, schema: StructType)
    extends ScanBuilder
    with SupportsPushDownRequiredColumns
    with SupportsPushDownV2Filters {

  private var columns = schema
  private var where: Seq[String] = Nil

  override def pruneColumns(required: StructType): Unit = columns = required

  private var pushed: Array[Predicate] = Array.empty

  // Spark evaluates what is returned again; the engine's filters are exact, so they aren't.
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    val texts = predicates.map { predicate =>
      predicate -> PushedPredicate.expression(predicate, schema).flatMap(PredicateText.ofColumns)
    }
    where = texts.toSeq.flatMap(_._2)
    pushed = texts.collect { case (predicate, Some(_)) => predicate }
    texts.collect { case (predicate, None) => predicate }
  }

  override def pushedPredicates: Array[Predicate] = pushed

  override def build(): Scan =
    LanceScan(uri, version, columns, where.map(text => s"($text)").mkString(" AND "))
}

/**
 * A scan of some columns of one version, fragment by fragment.
 *
 * @param where SQL of the rows to read; "": all
 */
private[spark] final case class LanceScan(
    uri: String,
    version: Long,
    columns: StructType,
    where: String)
    extends Scan
    with Batch
    with SupportsReportStatistics {

  override def readSchema: StructType = columns

  override def description: String =
    s"kinjo $uri version $version${if (where.isEmpty) "" else s" where $where"}"

  override def toBatch: Batch = this

  private lazy val fragments: Seq[LanceFragment] = {
    val dataset = SharedDatasets.acquire(uri, version)
    try LanceFragment.listed(dataset)
    finally SharedDatasets.release(dataset)
  }

  override def planInputPartitions(): Array[InputPartition] = fragments.toArray

  override def createReaderFactory(): PartitionReaderFactory =
    LanceReaderFactory(uri, version, columns.fieldNames, where)

  override def estimateStatistics(): Statistics = new Statistics {
    private val rows = fragments.map(_.rows).sum
    override def numRows: java.util.OptionalLong = java.util.OptionalLong.of(rows)
    override def sizeInBytes: java.util.OptionalLong =
      java.util.OptionalLong.of(math.max(1L, rows) * columns.fields.map(LanceScan.bytesOf).sum)
  }
}

private[spark] object LanceScan {
  // Spark takes an array for 1 item; a vector has many, which decides what is broadcast.
  private val ArrayItems = 128

  private def bytesOf(field: org.apache.spark.sql.types.StructField): Long = field.dataType match {
    case array: org.apache.spark.sql.types.ArrayType =>
      array.elementType.defaultSize.toLong * ArrayItems
    case other => other.defaultSize.toLong
  }
}

private[spark] final case class LanceFragment(id: Long, rows: Long) extends InputPartition

private[spark] object LanceFragment {
  def listed(dataset: Dataset): Seq[LanceFragment] =
    new ObjectMapper().readTree(dataset.describe).get("fragments").elements.asScala
      .map(node => LanceFragment(node.get("id").asLong, node.get("rows").asLong)).toList
}

private final case class LanceReaderFactory(
    uri: String,
    version: Long,
    columns: Array[String],
    where: String)
    extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean = true

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    throw new UnsupportedOperationException("rows are read in batches")

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new LanceBatches(uri, version, columns, where, partition.asInstanceOf[LanceFragment])
}

private final class LanceBatches(
    uri: String,
    version: Long,
    columns: Array[String],
    where: String,
    fragment: LanceFragment)
    extends PartitionReader[ColumnarBatch] {

  private val cancel = new Cancel
  private val context = TaskContext.get()
  private val dataset = SharedDatasets.acquire(uri, version)
  private val reader: BatchReader =
    try {
      dataset.scan(columns, if (where.isEmpty) null else where, -1, Array(fragment.id), cancel)
    } catch {
      case failure: Throwable =>
        SharedDatasets.release(dataset)
        throw failure
    }
  CancelWatch.watch(context, cancel)

  override def next(): Boolean = reader.next()

  override def get(): ColumnarBatch = {
    val vectors = columns.indices.map(i => NativeColumn(reader.column(i))).toArray[ColumnVector]
    new ColumnarBatch(vectors, reader.rows)
  }

  override def close(): Unit = {
    CancelWatch.forget(cancel)
    reader.close()
    SharedDatasets.release(dataset)
  }
}
