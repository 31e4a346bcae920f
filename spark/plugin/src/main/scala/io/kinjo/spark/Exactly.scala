package io.kinjo.spark

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.types._

/**
 * What an expression is under casts that keep every value as it is. The analyzer puts such casts
 * around the columns of views and the operands of arithmetic.
 */
private[spark] object Exactly {
  def unapply(expression: Expression): Option[Expression] = Some(of(expression))

  def of(expression: Expression): Expression = expression match {
    case cast: Cast if keeps(cast.child.dataType, cast.dataType) => of(cast.child)
    case other => other
  }

  def same(one: DataType, other: DataType): Boolean =
    DataType.equalsStructurally(one, other, ignoreNullability = true)

  private val Widening = Seq(Seq(ByteType, ShortType, IntegerType, LongType),
    Seq(FloatType, DoubleType))

  private def keeps(from: DataType, to: DataType): Boolean =
    same(from, to) || Widening.exists { types =>
      types.contains(from) && types.indexOf(from) < types.indexOf(to)
    }
}
