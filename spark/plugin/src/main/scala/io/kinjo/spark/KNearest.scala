package io.kinjo.spark

import scala.collection.JavaConverters._
import scala.util.{Left, Right}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.kinjo.Classic
import org.apache.spark.sql.types._

/**
 * Joins each row of a DataFrame to its k nearest rows of a right side. The right side is a Lance
 * dataset, by its URI or as a DataFrame that reads one; any other DataFrame is joined by Spark
 * alone, with a warning in the log and the reason in explain.
 *
 * Options are those of a Kinjo join, by name: nprobes, refineFactor, metric, how, rightColumn,
 * rightSelect, rightVersion, where, ... docs/spark.md lists them.
 */
object KNearest extends Logging {

  /** For Scala; [[KNearestOps]] makes it a method of DataFrames. */
  def join(
      left: DataFrame,
      right: DataFrame,
      query: Column,
      k: Int,
      options: Map[String, String]): DataFrame =
    new KNearest(left, query, k, options).with_(right)

  def join(
      left: DataFrame,
      uri: String,
      query: Column,
      k: Int,
      options: Map[String, String]): DataFrame =
    new KNearest(left, query, k, options).withUri(uri)

  /** For Java and Python. */
  def join(
      left: DataFrame,
      right: DataFrame,
      query: Column,
      k: Int,
      options: java.util.Map[String, String]): DataFrame =
    join(left, right, query, k, options.asScala.toMap)

  def join(
      left: DataFrame,
      uri: String,
      query: Column,
      k: Int,
      options: java.util.Map[String, String]): DataFrame =
    join(left, uri, query, k, options.asScala.toMap)

  private def warn(reason: String): Unit =
    logWarning(s"the nearest-neighbour join runs by Spark's cross product: $reason")
}

private final class KNearest(
    left: DataFrame,
    query: Column,
    k: Int,
    options: Map[String, String]) {

  private val session = left.sparkSession
  Classic.plansBy(session, KNearestStrategy)
  private val settings = JoinSettings.parse(k, options, SQLConf.get)
  private val (leftPlan, queryExpression) = resolvedQuery()

  // The query as an expression over the left plan's output.
  private def resolvedQuery(): (LogicalPlan, Expression) =
    Classic.analyzed(left.select(query.as("query"))) match {
      case Project(Seq(Alias(expression, _)), child) => (child, expression)
      case Project(Seq(attribute: Attribute), child) => (child, attribute)
      case _ =>
        throw new IllegalArgumentException(s"$query is not one value of each left row")
    }

  def withUri(uri: String): DataFrame = {
    val table = RightTable.open(uri, settings.rightVersion, settings.rightTag)
    planned(table) match {
      case Right(frame) => frame
      case Left(reason) =>
        throw new IllegalArgumentException(
          s"$uri can't be joined: $reason; allow the exact scan (exactScan), give the engine " +
            "more memory (maxNativeBytes), or pass the right side as a DataFrame")
    }
  }

  def with_(right: DataFrame): DataFrame =
    RightTable.find(Classic.analyzed(right), settings).flatMap(planned) match {
      case Right(frame) => frame
      case Left(reason) =>
        KNearest.warn(reason)
        val joined = crossJoin(right)
        Classic.frameOf(session, FallbackNode(Classic.analyzed(joined), reason))
    }

  private def planned(table: RightTable): Either[String, DataFrame] = {
    val all = table.columns.map(_.attribute.name)
    val vector = chosen(table.vectorColumns.map(_.attribute.name), all)
    val byName = table.columns.map(column => column.attribute.name -> column).toMap
    val columns = selected(all, vector).map(byName)
    new IndexedJoin(session, settings)
      .plan(leftPlan, queryExpression, table, byName(vector), columns, measures = true)
      .map { node =>
        val names = resultNames(columns.map(_.attribute.name))
        // New attributes: else a join of the result with itself would meet the same ones twice.
        val fresh = node.output.zip(left.columns.toSeq ++ names).map { case (column, name) =>
          Alias(column, name)()
        }
        Classic.frameOf(session, Project(fresh, node))
      }
  }

  private def crossJoin(right: DataFrame): DataFrame = {
    val vectors = right.schema.fields.collect {
      case StructField(name, ArrayType(FloatType | DoubleType, _), _, _) => name
    }
    val vector = chosen(vectors.toSeq, right.columns.toSeq)
    val columns = selected(right.columns.toSeq, vector)
    val names = resultNames(columns).dropRight(2)
    val renamed = right.select(
      columns.zip(names).map { case (column, name) => col(s"`$column`").as(name) } :+
        col(s"`$vector`").as("__kinjo_right_vector"): _*)
    CrossJoin.join(
      left,
      renamed,
      query,
      col("__kinjo_right_vector"),
      names,
      settings.engine.getOrElse("metric", "l2"),
      k,
      settings.outer)
  }

  private def chosen(vectors: Seq[String], all: Seq[String]): String = settings.rightColumn match {
    case Some(name) if all.contains(name) => name
    case Some(name) =>
      throw new IllegalArgumentException(
        s"""rightColumn: the right side has no column "$name"; it has ${all.mkString(", ")}""")
    case None if vectors.size == 1 => vectors.head
    case None if vectors.isEmpty =>
      throw new IllegalArgumentException(
        s"the right side has no vector column; it has ${all.mkString(", ")}")
    case None =>
      throw new IllegalArgumentException(
        s"the right side has several vector columns: ${vectors.mkString(", ")}; say which with " +
          "rightColumn")
  }

  private def selected(all: Seq[String], vector: String): Seq[String] =
    settings.rightSelect match {
      case None => all.filter(_ != vector)
      case Some(names) =>
        val unknown = names.filterNot(all.contains)
        if (unknown.nonEmpty) {
          throw new IllegalArgumentException(
            s"rightSelect: the right side has no column ${unknown.mkString(", ")}; it has " +
              all.mkString(", "))
        }
        names
    }

  // What the right columns and the measures are called beside the left ones.
  private def resultNames(columns: Seq[String]): Seq[String] = {
    val taken = left.columns.toSet
    val measures = Seq(KNearestNode.Distance, KNearestNode.Rank)
    val names = columns.map(name => if (taken(name)) name + settings.suffix else name)
    val clash = (left.columns.toSeq ++ names ++ measures).groupBy(identity).collectFirst {
      case (name, several) if several.size > 1 && !(left.columns.count(_ == name) > 1) => name
    }
    clash.foreach { name =>
      throw new IllegalArgumentException(
        s"""two columns of the result would be called "$name"; """ +
          "choose another suffix or rename one")
    }
    names ++ measures
  }
}
