package io.kinjo.spark

import scala.collection.JavaConverters._

import io.kinjo.ArrowField
import org.apache.spark.sql.types._

/** Which Spark type a column of the engine becomes. */
private[spark] object ArrowTypes {

  /** The type, or None for one that Spark has nothing like (times of day, 256-bit decimals). */
  def sparkType(field: ArrowField): Option[DataType] = field.format match {
    case _ if field.dictionary != null => sparkType(field.dictionary)
    case "n" => Some(NullType)
    case "b" => Some(BooleanType)
    case "c" => Some(ByteType)
    case "C" | "s" => Some(ShortType)
    case "S" | "i" => Some(IntegerType)
    case "I" | "l" => Some(LongType)
    case "L" => Some(DecimalType(20, 0))
    case "e" | "f" => Some(FloatType)
    case "g" => Some(DoubleType)
    case "u" | "U" => Some(StringType)
    case "z" | "Z" => Some(BinaryType)
    case "tdD" | "tdm" => Some(DateType)
    case "+l" | "+L" => list(field)
    case "+s" => struct(field)
    case "+m" => map(field)
    case format if format.startsWith("w:") => Some(BinaryType)
    case format if format.startsWith("+w:") => list(field)
    case format if format.startsWith("ts") =>
      Some(if (format.endsWith(":")) TimestampNTZType else TimestampType)
    case format if format.startsWith("tD") => Some(DayTimeIntervalType())
    case format if format.startsWith("d:") => decimal(format.substring(2).split(','))
    case _ => None
  }

  private def list(field: ArrowField): Option[DataType] = {
    val items = field.children.get(0)
    sparkType(items).map(ArrayType(_, items.nullable))
  }

  private def struct(field: ArrowField): Option[DataType] = {
    val fields = field.children.asScala.toSeq.map(child => sparkType(child).map((child, _)))
    if (fields.contains(None)) None
    else Some(StructType(fields.flatten.map { case (child, known) =>
      StructField(child.name, known, child.nullable)
    }))
  }

  private def map(field: ArrowField): Option[DataType] = {
    val entries = field.children.get(0)
    for {
      key <- sparkType(entries.children.get(0))
      value <- sparkType(entries.children.get(1))
    } yield MapType(key, value, entries.children.get(1).nullable)
  }

  private def decimal(numbers: Array[String]): Option[DataType] =
    if (numbers.length > 2 || numbers(0).toInt > DecimalType.MAX_PRECISION) None
    else Some(DecimalType(numbers(0).toInt, numbers(1).toInt))

  /** The vectors of a column, as (element format, width); None when it holds none of one width. */
  def vectorOf(field: ArrowField): Option[(String, Int)] = {
    val elements = Set("e", "f", "g", "C", "c")
    if (!field.format.startsWith("+w:")) None
    else Some(field.children.get(0).format)
      .filter(elements.contains)
      .map((_, field.format.substring(3).toInt))
  }
}
