package io.kinjo.spark

import java.time.{Instant, LocalDate, ZoneOffset}
import java.time.format.DateTimeFormatter
import java.util.regex.Pattern

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Spark's predicates as SQL texts of the engine. Only what means the same in both is translated;
 * None for anything else.
 */
private[spark] object PredicateText {

  /** `names`: what the dataset calls the columns. */
  def of(predicate: Expression, names: Map[ExprId, String]): Option[String] =
    new PredicateText(column => names.get(column.exprId)).text(predicate)

  /** Of predicates over columns that are called as in the dataset. */
  def ofColumns(predicate: Expression): Option[String] =
    new PredicateText(column => Some(column.name)).text(predicate)

  private val WellEscaped = Pattern.compile("(?s)([^\\\\]|\\\\[%_\\\\])*+")
  private val DateText = DateTimeFormatter.ISO_LOCAL_DATE
  private val TimeText = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS")
}

private final class PredicateText(names: Attribute => Option[String]) {
  import PredicateText._

  def text(expression: Expression): Option[String] = expression match {
    case And(left, right) => both("AND", left, right)
    case Or(left, right) => both("OR", left, right)
    case Not(inner) => text(inner).map(known => s"NOT ($known)")
    case IsNull(inner) => value(inner).map(known => s"$known IS NULL")
    case IsNotNull(inner) => value(inner).map(known => s"$known IS NOT NULL")
    case EqualTo(left, right) => compared("=", left, right)
    case LessThan(left, right) => compared("<", left, right)
    case LessThanOrEqual(left, right) => compared("<=", left, right)
    case GreaterThan(left, right) => compared(">", left, right)
    case GreaterThanOrEqual(left, right) => compared(">=", left, right)
    case In(needle, list) => within(needle, list.map(value))
    case InSet(needle, set) => within(needle, set.toSeq.map(literal(_, needle.dataType)))
    case Like(needle, Literal(pattern: UTF8String, StringType), '\\') =>
      like(needle, pattern.toString)
    case StartsWith(needle, Literal(begin: UTF8String, StringType)) =>
      like(needle, plain(begin.toString) + "%")
    case EndsWith(needle, Literal(end: UTF8String, StringType)) =>
      like(needle, "%" + plain(end.toString))
    case Contains(needle, Literal(part: UTF8String, StringType)) =>
      like(needle, "%" + plain(part.toString) + "%")
    case column: Attribute if column.dataType == BooleanType => value(column)
    case Literal(true, BooleanType) => Some("TRUE")
    case Literal(false, BooleanType) => Some("FALSE")
    case _ => None
  }

  private def both(word: String, left: Expression, right: Expression): Option[String] =
    for (one <- text(left); other <- text(right)) yield s"($one) $word ($other)"

  // Spark orders NaN above all numbers and calls it equal to itself; the engine doesn't. So
  // comparisons of floating-point columns stay with Spark.
  private def compared(word: String, left: Expression, right: Expression): Option[String] =
    if (isFloating(left) || isFloating(right)) None
    else for (one <- value(left); other <- value(right)) yield s"$one $word $other"

  private def isFloating(expression: Expression): Boolean = expression.dataType match {
    case FloatType | DoubleType => true
    case _ => false
  }

  private def within(needle: Expression, list: Seq[Option[String]]): Option[String] =
    if (isFloating(needle) || list.isEmpty || list.contains(None)) None
    else value(needle).map(known => s"$known IN (${list.flatten.mkString(", ")})")

  private def like(needle: Expression, pattern: String): Option[String] =
    // Spark refuses a backslash before anything else, the engine takes it as it is.
    if (needle.dataType != StringType || !WellEscaped.matcher(pattern).matches()) None
    else value(needle).map(known => s"$known LIKE ${quotedText(pattern)}")

  // A text as the pattern that it alone matches.
  private def plain(text: String): String = text.flatMap {
    case special @ ('%' | '_' | '\\') => s"\\$special"
    case other => other.toString
  }

  // A plan that isn't optimized yet has casts around literals and columns.
  private def value(expression: Expression): Option[String] = Exactly.of(expression) match {
    case column: Attribute => names(column).map(quoted)
    // What else of arithmetic may overflow, at other bounds than the engine's.
    case rest: Remainder if isIntegral(rest) => remainder(rest)
    case Literal(constant, kind) => literal(constant, kind)
    case constant if constant.foldable && constant.deterministic =>
      Try(constant.eval()).toOption.flatMap(literal(_, constant.dataType))
    case _ => None
  }

  private def remainder(rest: Remainder): Option[String] = Exactly.of(rest.right) match {
    case constant if constant.foldable && constant.deterministic =>
      for {
        divisor <- Try(constant.eval()).toOption.collect { case number: Number => number.longValue }
        if divisor > 0
        known <- value(rest.left)
      } yield s"($known % $divisor)"
    case _ => None
  }

  private def isIntegral(expression: Expression): Boolean = expression.dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _ => false
  }

  private def quoted(name: String): String = s"`${name.replace("`", "``")}`"

  private def quotedText(text: String): String = s"'${text.replace("'", "''")}'"

  private def literal(constant: Any, kind: DataType): Option[String] = (constant, kind) match {
    case (null, _) => None
    case (number, ByteType | ShortType | IntegerType | LongType) => Some(number.toString)
    case (number: Decimal, _: DecimalType) => Some(number.toJavaBigDecimal.toPlainString)
    case (text: UTF8String, StringType) => Some(quotedText(text.toString))
    case (flag: Boolean, BooleanType) => Some(if (flag) "TRUE" else "FALSE")
    case (days: Int, DateType) =>
      Some(s"DATE '${LocalDate.ofEpochDay(days.toLong).format(DateText)}'")
    case (micros: Long, TimestampType | TimestampNTZType) =>
      val second = Math.floorDiv(micros, 1000000L)
      val instant = Instant.ofEpochSecond(second, Math.floorMod(micros, 1000000L) * 1000)
      Some(s"TIMESTAMP '${TimeText.format(instant.atOffset(ZoneOffset.UTC))}'")
    case _ => None
  }
}
