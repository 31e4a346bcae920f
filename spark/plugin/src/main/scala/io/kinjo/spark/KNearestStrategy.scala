package io.kinjo.spark

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.{ProjectExec, SortExec, SparkPlan, SparkStrategy}

/**
 * Plans the nodes of joins. Columns that nobody above asks for are left out: right ones aren't
 * read, left ones aren't carried through the join.
 */
private[spark] object KNearestStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(list, node: KNearestNode) =>
      val wanted = AttributeSet(list.flatMap(_.references))
      val left = node.child.output.filter(wanted.contains)
      ProjectExec(list, planned(narrowed(node, wanted), left)) :: Nil
    case node: KNearestNode => planned(node, node.child.output) :: Nil
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

  private def planned(node: KNearestNode, left: Seq[Attribute]): SparkPlan =
    if (node.spec.scopes.isEmpty) inTasks(node, left) else byScopes(node, left)

  private def byScopes(node: KNearestNode, left: Seq[Attribute]): SparkPlan = {
    val partial = KNearestScopesExec(
      planLater(node.child),
      node.query,
      left,
      node.spec,
      KNearestScopesExec.keys(),
      node.right,
      node.reason)
    KNearestMergeExec(partial, left, node.right, node.measures, node.outer, node.k)
  }

  private def inTasks(node: KNearestNode, left: Seq[Attribute]): SparkPlan =
    KNearestExec(
      if (node.spec.clustered) clustered(node) else planLater(node.child),
      node.query,
      left,
      node.spec,
      node.right,
      node.measures,
      node.outer,
      node.reason)

  // A sort within tasks, which spills as Spark's sorts do.
  private def clustered(node: KNearestNode): SparkPlan = {
    val keys = NearestPartitionExec.keys()
    SortExec(
      keys.map(SortOrder(_, Ascending)),
      global = false,
      NearestPartitionExec(planLater(node.child), node.query, node.spec, keys))
  }
}
