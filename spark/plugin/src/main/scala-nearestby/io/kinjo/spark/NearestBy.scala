package io.kinjo.spark

import scala.util.{Left, Right}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, LogicalPlan, NearestByJoin}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.DoubleType

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
    else {
      val shared = RightTable.byId(plan.collectWithSubqueries { case each: CTERelationDef => each })
      taken(plan, shared)
    }

  private def taken(plan: LogicalPlan, shared: Map[Long, LogicalPlan]): LogicalPlan =
    plan.transformUpWithSubqueries {
      case join: NearestByJoin =>
        replaced(join, shared) match {
          case Right(node) => node
          case Left(reason) =>
            logWarning(s"a nearest-by join runs by Spark's own plan: $reason")
            FallbackNode(join, reason)
        }
      // A plan that was normalized before.
      case FallbackNode(inner: FallbackNode, _) => inner
    }

  private def replaced(
      join: NearestByJoin,
      shared: Map[Long, LogicalPlan]): Either[String, LogicalPlan] =
    for {
      outer <- kept(join.joinType)
      ranking <- Ranking.of(join.rankingExpression, join.direction)
      sides <- ranking.sides(join.left, join.right)
      query = sides._1
      vector = sides._2
      settings = JoinSettings.parse(join.numResults, options(join, outer, ranking), conf)
      table <- RightTable.find(join.right, settings, shared)
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
    (direction, Exactly.of(expression)) match {
      case (NearestByDistance, VectorL2Distance(one, other)) => Right(Ranking("l2", one, other))
      case (NearestByDistance, Negated(VectorCosineSimilarity(one, other))) =>
        Right(Ranking("cosine", one, other))
      case (NearestByDistance, Negated(VectorInnerProduct(one, other))) =>
        Right(Ranking("dot", one, other))
      case (NearestBySimilarity, VectorCosineSimilarity(one, other)) =>
        Right(Ranking("cosine", one, other))
      case (NearestBySimilarity, VectorInnerProduct(one, other)) =>
        Right(Ranking("dot", one, other))
      case _ => Left(s"no metric ranks by ${expression.sql}")
    }

  // -x and 1 - x, which rank alike.
  private object Negated {
    def unapply(expression: Expression): Option[Expression] = expression match {
      case UnaryMinus(Exactly(inner), _) => Some(inner)
      case Subtract(one, Exactly(inner), _) if isOne(one) => Some(inner)
      case _ => None
    }

    private def isOne(expression: Expression): Boolean =
      expression.foldable && (Cast(expression, DoubleType).eval() match {
        case value: Double => value == 1
        case _ => false
      })
  }
}
