package io.kinjo.spark

import io.kinjo.ArrowVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarArray, ColumnarMap, ColumnVector}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A column of a result batch as Spark reads columns, its values where the engine put them. Good as
 * long as the batch. Spark asks each value by the getter of the column's type; what is stored
 * otherwise (unsigned and half numbers, other units of time) is turned here.
 */
private[spark] final class NativeColumn private (vector: ArrowVector, stored: DataType)
    extends ColumnVector(stored) {

  private val format = vector.field.format
  private val dictionary = Option(vector.dictionary).map(NativeColumn(_))
  private val children: Array[NativeColumn] =
    Array.tabulate(vector.field.children.size)(i => NativeColumn(vector.child(i)))

  override def close(): Unit = () // the batch owns the memory

  override def hasNull: Boolean = vector.hasNulls

  override def numNulls: Int = if (hasNull) (0L until vector.length).count(isNullAt) else 0

  private def isNullAt(row: Long): Boolean = isNullAt(row.toInt)

  override def isNullAt(row: Int): Boolean =
    vector.isNull(row) || dictionary.exists(_.isNullAt(vector.dictionaryRow(row).toInt))

  private def inDictionary(row: Int): Int = vector.dictionaryRow(row).toInt

  override def getBoolean(row: Int): Boolean = dictionary match {
    case Some(values) => values.getBoolean(inDictionary(row))
    case None => vector.getBoolean(row)
  }

  override def getByte(row: Int): Byte = dictionary match {
    case Some(values) => values.getByte(inDictionary(row))
    case None => vector.getByte(row)
  }

  override def getShort(row: Int): Short = dictionary match {
    case Some(values) => values.getShort(inDictionary(row))
    case None if format == "C" => (vector.getByte(row) & 0xff).toShort
    case None => vector.getShort(row)
  }

  override def getInt(row: Int): Int = dictionary match {
    case Some(values) => values.getInt(inDictionary(row))
    case None if format == "S" => vector.getShort(row) & 0xffff
    case None if format == "tdm" =>
      Math.floorDiv(vector.getLong(row), NativeColumn.DayMillis).toInt
    case None => vector.getInt(row)
  }

  override def getLong(row: Int): Long = dictionary match {
    case Some(values) => values.getLong(inDictionary(row))
    case None if format == "I" => vector.getInt(row) & 0xffffffffL
    case None => NativeColumn.toMicros(format, vector.getLong(row))
  }

  override def getFloat(row: Int): Float = dictionary match {
    case Some(values) => values.getFloat(inDictionary(row))
    case None if format == "e" => NativeColumn.halfToFloat(vector.getShort(row))
    case None => vector.getFloat(row)
  }

  override def getDouble(row: Int): Double = dictionary match {
    case Some(values) => values.getDouble(inDictionary(row))
    case None => vector.getDouble(row)
  }

  override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = dictionary match {
    case _ if isNullAt(row) => null
    case Some(values) => values.getDecimal(inDictionary(row), precision, scale)
    case None if format == "L" =>
      Decimal(BigDecimal(java.lang.Long.toUnsignedString(vector.getLong(row))), precision, scale)
    case None =>
      val number = new java.math.BigDecimal(vector.getUnscaled(row), scale)
      Decimal(BigDecimal(number), precision, scale)
  }

  override def getUTF8String(row: Int): UTF8String = dictionary match {
    case _ if isNullAt(row) => null
    case Some(values) => values.getUTF8String(inDictionary(row))
    case None => UTF8String.fromAddress(null, vector.bytesAddress(row), vector.bytesLength(row))
  }

  override def getBinary(row: Int): Array[Byte] = dictionary match {
    case _ if isNullAt(row) => null
    case Some(values) => values.getBinary(inDictionary(row))
    case None => vector.getBytes(row)
  }

  override def getArray(row: Int): ColumnarArray = dictionary match {
    case _ if isNullAt(row) => null
    case Some(values) => values.getArray(inDictionary(row))
    case None => new ColumnarArray(children(0), vector.listBegin(row).toInt, vector.listLength(row))
  }

  override def getMap(row: Int): ColumnarMap =
    if (isNullAt(row)) null
    else {
      val entries = children(0)
      val begin = entries.inChildren(vector.listBegin(row).toInt)
      new ColumnarMap(entries.children(0), entries.children(1), begin, vector.listLength(row))
    }

  private def inChildren(row: Int): Int = vector.childRow(row).toInt

  // Spark reads a struct's row out of its children at the struct's own row number.
  override def getChild(ordinal: Int): ColumnVector = {
    val shift = inChildren(0)
    if (shift == 0) children(ordinal) else new ShiftedColumn(children(ordinal), shift)
  }
}

private[spark] object NativeColumn {
  private val DayMillis = 86400000L

  /** The caller has made sure that Spark has a type for it. */
  def apply(vector: ArrowVector): NativeColumn =
    new NativeColumn(vector, ArrowTypes.sparkType(vector.field).get)

  // Timestamps and durations count seconds, milli-, micro- or nanoseconds; Spark's count micros.
  private def toMicros(format: String, value: Long): Long =
    if (!format.startsWith("ts") && !format.startsWith("tD")) value
    else format.charAt(2) match {
      case 's' => Math.multiplyExact(value, 1000000L)
      case 'm' => Math.multiplyExact(value, 1000L)
      case 'n' => Math.floorDiv(value, 1000L)
      case _ => value
    }

  private[spark] def halfToFloat(bits: Short): Float = {
    val sign = (bits & 0x8000) << 16
    val exponent = (bits >> 10) & 0x1f
    val fraction = bits & 0x3ff
    val magnitude = exponent match {
      case 0 => fraction * Math.scalb(1.0f, -24)
      case 0x1f => java.lang.Float.intBitsToFloat(0x7f800000 | fraction << 13)
      case _ => java.lang.Float.intBitsToFloat((exponent + 112) << 23 | fraction << 13)
    }
    java.lang.Float.intBitsToFloat(java.lang.Float.floatToRawIntBits(magnitude) | sign)
  }
}
