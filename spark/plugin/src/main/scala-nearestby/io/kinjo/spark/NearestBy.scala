package io.kinjo.spark

import scala.util.{Left, Right}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, NearestByJoin}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * SQL's nearest-by joins over Lance datasets, run by the engine. As a rule of plan normalization:
 * it sees the analyzed plan after all of Spark's own checks, so that views, joins of a result with
 * itself and the cross-join setting work as they do without it.
 */
private[spark] object NearestBy {
  def install(extensions: SparkSessionExtensions): Unit =
    extensions.injectPlanNormalizationRule(session => new NearestByRule(session))
}

private final class NearestByRule(session: SparkSession) extends Rule[LogicalPlan] with Logging {
  override val ruleName: String = "io.kinjo.spark.NearestByRule"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (conf.getConfString("spark.kinjo.enabled", "true") == "false") plan
    else plan.transformUpWithSubqueries {
      case join: NearestByJoin =>
        replaced(join) match {
          case Right(node) => node
          case Left(reason) =>
            logWarning(s"a nearest-by join runs by Spark's own plan: $reason")
            join
        }
    }

  private def replaced(join: NearestByJoin): Either[String, LogicalPlan] =
    for {
      outer <- kept(join.joinType)
      ranking <- Ranking.of(join.rankingExpression, join.direction)
      sides <- ranking.sides(join.left, join.right)
      query = sides._1
      vector = sides._2
      settings = JoinSettings.parse(join.numResults, options(join, outer, ranking), conf)
      table <- RightTable.find(join.right, settings)
      column <- table.columns.find(_.attribute.exprId == vector.exprId)
        .toRight(s"${vector.name} is no column of the dataset")
      _ <- ArrowTypes.vectorOf(column.field)
        .toRight(s"${vector.name} holds no vectors of one width")
      node <- new IndexedJoin(session, settings)
        .plan(join.left, query, table, column, table.columns, measures = false)
    } yield node

  private def kept(joinType: JoinType): Either[String, Boolean] = joinType match {
    case Inner => Right(false)
    case LeftOuter => Right(true)
    case other => Left(s"a ${other.sql} join")
  }

  // EXACT never takes an index.
  private def options(
      join: NearestByJoin,
      outer: Boolean,
      ranking: Ranking): Map[String, String] =
    Map("how" -> (if (outer) "left" else "inner"), "metric" -> ranking.metric) ++
      (if (join.approx) None else Some("index" -> "never"))
}

/** A ranking expression that ranks as one of the engine's metrics does. */
private final case class Ranking(metric: String, one: Expression, other: Expression) {

  /** (the left query, the right column), whichever way round they were written. */
  def sides(left: LogicalPlan, right: LogicalPlan): Either[String, (Expression, Attribute)] =
    oriented(one, other, left, right)
      .orElse(oriented(other, one, left, right))
      .toRight("the ranking doesn't compare a left value with a right column")

  private def oriented(
      query: Expression,
      vector: Expression,
      left: LogicalPlan,
      right: LogicalPlan): Option[(Expression, Attribute)] = vector match {
    case column: Attribute
        if right.outputSet.contains(column) && query.references.subsetOf(left.outputSet) =>
      Some((query, column))
    case _ => None
  }
}

private object Ranking {
  def of(expression: Expression, direction: NearestByDirection): Either[String, Ranking] =
    (direction, expression) match {
      case (NearestByDistance, VectorL2Distance(one, other)) => Right(Ranking("l2", one, other))
      case (NearestByDistance, Subtract(One(), VectorCosineSimilarity(one, other), _)) =>
        Right(Ranking("cosine", one, other))
      case (NearestByDistance, UnaryMinus(VectorCosineSimilarity(one, other), _)) =>
        Right(Ranking("cosine", one, other))
      case (NearestByDistance, UnaryMinus(VectorInnerProduct(one, other), _)) =>
        Right(Ranking("dot", one, other))
      case (NearestBySimilarity, VectorCosineSimilarity(one, other)) =>
        Right(Ranking("cosine", one, other))
      case (NearestBySimilarity, VectorInnerProduct(one, other)) =>
        Right(Ranking("dot", one, other))
      case _ => Left(s"no metric ranks by ${expression.sql}")
    }

  private object One {
    def unapply(expression: Expression): Boolean = expression match {
      case Cast(inner, _, _, _) => unapply(inner)
      case Literal(number: Number, _) => number.doubleValue == 1
      case Literal(number: org.apache.spark.sql.types.Decimal, _) => number.toDouble == 1
      case _ => false
    }
  }
}
