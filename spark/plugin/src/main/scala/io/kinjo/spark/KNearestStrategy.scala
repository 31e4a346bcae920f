package io.kinjo.spark

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}

/** Plans the nodes of joins; right columns that nobody above asks for aren't read. */
private[spark] object KNearestStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(list, node: KNearestNode) =>
      val wanted = AttributeSet(list.flatMap(_.references))
      ProjectExec(list, planned(narrowed(node, wanted))) :: Nil
    case node: KNearestNode => planned(node) :: Nil
    case FallbackNode(child, reason) => FallbackExec(planLater(child), reason) :: Nil
    case _ => Nil
  }

  private def narrowed(node: KNearestNode, wanted: AttributeSet): KNearestNode = {
    val kept = node.right.zip(node.spec.columns).filter { case (column, _) =>
      wanted.contains(column)
    }
    node.copy(
      right = kept.map(_._1),
      spec = node.spec.copy(columns = kept.map(_._2)),
      measures = node.measures.filter(wanted.contains))
  }

  private def planned(node: KNearestNode): SparkPlan =
    KNearestExec(
      planLater(node.child),
      node.query,
      node.spec,
      node.right,
      node.measures,
      node.outer,
      node.reason)
}
