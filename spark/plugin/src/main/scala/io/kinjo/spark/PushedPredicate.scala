package io.kinjo.spark

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.connector.expressions.{Expression => Given, Literal => GivenLiteral}
import org.apache.spark.sql.connector.expressions.{GeneralScalarExpression, NamedReference}
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The predicates that Spark offers a source, as the expressions that they were made of; None for
 * those that `PredicateText` has no text for anyway. (Spark 3.5 and 4.0 offer expressions to their
 * own file sources alone.)
 */
private[spark] object PushedPredicate {

  /** @param schema types of the columns, which predicates only name */
  def expression(predicate: Given, schema: StructType): Option[Expression] = predicate match {
    case constant: GivenLiteral[_] => Some(Literal(constant.value, constant.dataType))
    case column: NamedReference => columnOf(column.fieldNames.toSeq, schema)
    case known: GeneralScalarExpression =>
      val operands = known.children.toSeq.map(expression(_, schema))
      if (operands.contains(None)) None else made(known.name, operands.flatten)
    case _ => None
  }

  private def columnOf(path: Seq[String], schema: StructType): Option[Expression] =
    if (path.size != 1) None
    else schema.find(_.name == path.head).map(field => attribute(field.name, field.dataType))

  private def attribute(name: String, kind: DataType): Expression =
    AttributeReference(name, kind, nullable = true)()

  private def made(name: String, operands: Seq[Expression]): Option[Expression] =
    (name, operands) match {
      case ("AND", Seq(left, right)) => Some(And(left, right))
      case ("OR", Seq(left, right)) => Some(Or(left, right))
      case ("NOT", Seq(inner)) => Some(Not(inner))
      case ("IS_NULL", Seq(inner)) => Some(IsNull(inner))
      case ("IS_NOT_NULL", Seq(inner)) => Some(IsNotNull(inner))
      case ("=", Seq(left, right)) => Some(EqualTo(left, right))
      case ("<>", Seq(left, right)) => Some(Not(EqualTo(left, right)))
      case ("<", Seq(left, right)) => Some(LessThan(left, right))
      case ("<=", Seq(left, right)) => Some(LessThanOrEqual(left, right))
      case (">", Seq(left, right)) => Some(GreaterThan(left, right))
      case (">=", Seq(left, right)) => Some(GreaterThanOrEqual(left, right))
      case ("STARTS_WITH", Seq(text, begin)) => Some(StartsWith(text, begin))
      case ("ENDS_WITH", Seq(text, end)) => Some(EndsWith(text, end))
      case ("CONTAINS", Seq(text, part)) => Some(Contains(text, part))
      case ("%", Seq(left, right)) => Some(new Remainder(left, right))
      case ("IN", needle +: list) if list.nonEmpty => Some(In(needle, list))
      case _ => None
    }
}
