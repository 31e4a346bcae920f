package io.kinjo.spark

import io.kinjo.ElementType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeArrayData, UnsafeRow}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/**
 * Left rows of one native call, as many as the engine searches at a time or fit the bytes of a
 * block, in the heap as outside of it: each partition of an index that they ask is read once for
 * all of them. The rows, copied, and their vectors back to back outside the heap.
 * A row whose vector is null, empty or holds a null has no vector here and matches nothing. Vectors
 * of one block are of one width; the engine compares it with the dataset's.
 */
private[spark] final class LeftBlock(vectorType: DataType, maxBytes: Long) {
  val element: ElementType = LeftBlock.elementOf(vectorType).get

  private var rows = new Array[InternalRow](LeftBlock.FirstRows)
  private var rowOfVector = new Array[Int](LeftBlock.FirstRows)
  private var rowBytes = 0L
  private var rowCount = 0
  private var vectors = 0
  private var vectorWidth = 0
  private var address = 0L
  private var capacity = 0L

  def size: Int = rowCount
  def row(number: Int): InternalRow = rows(number)
  def vectorCount: Int = vectors
  def width: Int = vectorWidth
  def vectorAddress: Long = address

  /** The row that the vector with this number belongs to. */
  def rowOf(vector: Int): Int = rowOfVector(vector)

  def isFull: Boolean =
    rowCount == LeftBlock.MaxRows || rowBytes >= maxBytes ||
      vectors * vectorBytes >= maxBytes

  private def vectorBytes: Long = vectorWidth.toLong * element.bytes

  def clear(): Unit = {
    java.util.Arrays.fill(rows.asInstanceOf[Array[AnyRef]], 0, rowCount, null)
    rowCount = 0
    rowBytes = 0
    vectors = 0
  }

  /** Adds a row (copied) and its vector: an ArrayData, a byte array, or null. */
  def add(row: InternalRow, vector: Any): Unit = {
    if (rowCount == rows.length) grow()
    rows(rowCount) = row.copy()
    row match {
      case unsafe: UnsafeRow => rowBytes += unsafe.getSizeInBytes
      case _ =>
    }
    vector match {
      case bytes: Array[Byte] if bytes.nonEmpty => addBytes(bytes)
      case array: ArrayData if array.numElements() > 0 => addArray(array)
      case _ =>
    }
    rowCount += 1
  }

  private def grow(): Unit = {
    val length = math.min(LeftBlock.MaxRows, 4 * rows.length)
    rows = java.util.Arrays.copyOf(rows, length)
    rowOfVector = java.util.Arrays.copyOf(rowOfVector, length)
  }

  private def addBytes(bytes: Array[Byte]): Unit = {
    val target = reserve(bytes.length)
    Platform.copyMemory(bytes, Platform.BYTE_ARRAY_OFFSET, null, target, bytes.length)
    keep()
  }

  private def addArray(array: ArrayData): Unit = {
    val width = array.numElements()
    if (!(0 until width).exists(array.isNullAt)) {
      val target = reserve(width)
      array match {
        case unsafe: UnsafeArrayData =>
          val header = UnsafeArrayData.calculateHeaderPortionInBytes(width)
          val begin = unsafe.getBaseOffset + header
          Platform.copyMemory(unsafe.getBaseObject, begin, null, target, vectorBytes)
        case other => copyElements(other, target)
      }
      keep()
    }
  }

  private def copyElements(array: ArrayData, target: Long): Unit = element match {
    case ElementType.FLOAT32 =>
      Platform.copyMemory(
        array.toFloatArray(), Platform.FLOAT_ARRAY_OFFSET, null, target, vectorBytes)
    case ElementType.FLOAT64 =>
      Platform.copyMemory(
        array.toDoubleArray(), Platform.DOUBLE_ARRAY_OFFSET, null, target, vectorBytes)
    case _ =>
      Platform.copyMemory(
        array.toByteArray(), Platform.BYTE_ARRAY_OFFSET, null, target, vectorBytes)
  }

  // Room for one more vector of this width.
  private def reserve(width: Int): Long = {
    if (vectors == 0) vectorWidth = width
    if (width != vectorWidth) {
      throw new IllegalArgumentException(
        s"left vectors have different widths: $vectorWidth and $width")
    }
    val needed = (vectors + 1) * vectorBytes
    if (needed > capacity) {
      val grown = math.max(needed, math.max(4096L, 2 * capacity))
      address = Platform.reallocateMemory(address, capacity, grown)
      capacity = grown
    }
    address + vectors * vectorBytes
  }

  private def keep(): Unit = {
    rowOfVector(vectors) = rowCount
    vectors += 1
  }

  def free(): Unit = if (address != 0) {
    Platform.freeMemory(address)
    address = 0
    capacity = 0
  }
}

private[spark] object LeftBlock {
  val MaxRows = 16384
  private val FirstRows = 1024

  /** What the elements of a left vector of this type are; None when it can't be one. */
  def elementOf(vectorType: DataType): Option[ElementType] = vectorType match {
    case ArrayType(FloatType, _) => Some(ElementType.FLOAT32)
    case ArrayType(DoubleType, _) => Some(ElementType.FLOAT64)
    case ArrayType(ByteType, _) => Some(ElementType.INT8)
    case BinaryType => Some(ElementType.UINT8)
    case _ => None
  }
}
