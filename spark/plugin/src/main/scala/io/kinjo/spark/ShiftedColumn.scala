package io.kinjo.spark

import org.apache.spark.sql.types.Decimal
import org.apache.spark.sql.vectorized.{ColumnarArray, ColumnarMap, ColumnVector}
import org.apache.spark.unsafe.types.UTF8String

/** A column whose row 0 is another column's row `shift`: a field of a sliced struct. */
private[spark] final class ShiftedColumn(inner: ColumnVector, shift: Int)
    extends ColumnVector(inner.dataType) {
  override def close(): Unit = ()
  override def hasNull: Boolean = inner.hasNull
  override def numNulls: Int = inner.numNulls
  override def isNullAt(row: Int): Boolean = inner.isNullAt(row + shift)
  override def getBoolean(row: Int): Boolean = inner.getBoolean(row + shift)
  override def getByte(row: Int): Byte = inner.getByte(row + shift)
  override def getShort(row: Int): Short = inner.getShort(row + shift)
  override def getInt(row: Int): Int = inner.getInt(row + shift)
  override def getLong(row: Int): Long = inner.getLong(row + shift)
  override def getFloat(row: Int): Float = inner.getFloat(row + shift)
  override def getDouble(row: Int): Double = inner.getDouble(row + shift)
  override def getArray(row: Int): ColumnarArray = inner.getArray(row + shift)
  override def getMap(row: Int): ColumnarMap = inner.getMap(row + shift)
  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal =
    inner.getDecimal(row + shift, precision, scale)
  override def getUTF8String(row: Int): UTF8String = inner.getUTF8String(row + shift)
  override def getBinary(row: Int): Array[Byte] = inner.getBinary(row + shift)
  override def getChild(ordinal: Int): ColumnVector =
    new ShiftedColumn(inner.getChild(ordinal), shift)
}
