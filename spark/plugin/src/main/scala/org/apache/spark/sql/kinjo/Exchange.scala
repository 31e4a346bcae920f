package org.apache.spark.sql.kinjo

import scala.reflect.ClassTag

import org.apache.spark.Partitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.UnsafeRowSerializer

/** Rows on their way between stages; lies in Spark's package for what is private to it. */
object Exchange {

  /** Rows in the partitions with the given numbers. Unsafe rows, of so many fields. */
  def inPlaces(rows: RDD[(Int, InternalRow)], places: Int, fields: Int): RDD[InternalRow] =
    new ShuffledRDD[Int, InternalRow, InternalRow](rows, new Places(places))
      .setSerializer(new UnsafeRowSerializer(fields))
      .map(_._2)

  /**
   * What work makes of each partition, whose result depends on the order of its rows: Spark is
   * told, and does all anew when it can't compute a lost partition in the same order.
   */
  def inOrder[T: ClassTag](rows: RDD[InternalRow])(
      work: (Int, Iterator[InternalRow]) => Iterator[T]): RDD[T] =
    rows.mapPartitionsWithIndexInternal(work, isOrderSensitive = true)
}

private final class Places(override val numPartitions: Int) extends Partitioner {
  override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  override def equals(other: Any): Boolean = other match {
    case places: Places => places.numPartitions == numPartitions
    case _ => false
  }
  override def hashCode: Int = numPartitions
}
