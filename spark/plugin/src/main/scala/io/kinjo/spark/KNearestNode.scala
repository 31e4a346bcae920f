package io.kinjo.spark

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * What the engine is asked for each block of left rows, the same in every task and every retry.
 *
 * @param version  fixed on the driver
 * @param options  of the join, by the engine's names
 * @param columns  the dataset's columns to give, in the order of the node's right attributes
 * @param blockBytes what a block of left rows may take, in the heap and outside of it each
 * @param scopes     fragments that a task searches, where each is to search some alone; else none
 * @param clustered  a task's left rows are sorted by the partition of the index they lie in
 */
private[spark] final case class ProbeSpec(
    uri: String,
    version: Long,
    options: Map[String, String],
    columns: Seq[String],
    blockBytes: Long,
    scopes: Seq[Seq[Long]] = Nil,
    clustered: Boolean = false) {

  /** For explain, on one line. `reason` is the engine's plan. */
  def described(reason: String): String = {
    val asked = options.toSeq.sorted.map { case (name, text) => s"$name=$text" }
    val lines = reason.split('\n').map(_.trim).filter(_.nonEmpty)
    val given = columns.mkString("columns [", ", ", "]")
    val shared = if (scopes.isEmpty) None else Some(s"${scopes.size} scopes of index segments")
    val sorted = if (clustered) Some("left rows sorted by nearest partition") else None
    (Seq(s"$uri version $version", asked.mkString(", "), given) ++ shared ++ sorted ++ lines)
      .mkString(" | ")
  }
}

/**
 * Each row of the child joined to its k nearest rows of a Lance dataset.
 *
 * Refers to all of its child's columns, so that no rule narrows the child: the rows pass through.
 *
 * @param query  the left vector
 * @param right  the dataset's columns; then distance and rank if asked
 * @param outer  keeps left rows without a match, once
 * @param reason why this way was taken, for explain
 */
private[spark] final case class KNearestNode(
    child: LogicalPlan,
    query: Expression,
    spec: ProbeSpec,
    right: Seq[Attribute],
    measures: Seq[Attribute],
    outer: Boolean,
    reason: String)
    extends UnaryNode {

  override def output: Seq[Attribute] = child.output ++ right ++ measures

  def k: Int = spec.options("k").toInt

  override def producedAttributes: AttributeSet = AttributeSet(right ++ measures)

  @transient override lazy val references: AttributeSet = child.outputSet ++ query.references

  override def maxRows: Option[Long] = None

  override def simpleString(maxFields: Int): String = s"KNearest ${spec.described(reason)}"

  override protected def withNewChildInternal(newChild: LogicalPlan): KNearestNode =
    copy(child = newChild)
}

private[spark] object KNearestNode {
  val Distance = "_distance"
  val Rank = "_rank"
}
