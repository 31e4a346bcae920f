package io.kinjo.spark

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{ArrayType, DoubleType}

/**
 * The join by Spark alone, for right sides that the engine can't read: a cross product, the
 * distance of each pair, and the k best of each left row. Same columns, same order, much slower.
 */
private[spark] object CrossJoin {
  private val Row = "__kinjo_row"
  private val Query = "__kinjo_query"
  private val Vector = "__kinjo_vector"

  /**
   * @param right   its columns under the names that they shall have in the result
   * @param vector  the right vector, over `right`'s own columns
   */
  def join(
      left: DataFrame,
      right: DataFrame,
      query: Column,
      vector: Column,
      names: Seq[String],
      metric: String,
      k: Int,
      outer: Boolean): DataFrame = {
    val numbers = ArrayType(DoubleType)
    val distance = udf(VectorDistance.of(metric))
    val rows = left
      .withColumn(Query, query.cast(numbers))
      .withColumn(Row, monotonically_increasing_id())
    val candidates = right
      .withColumn(Vector, vector.cast(numbers))
      .select((names :+ Vector).map(name => col(quoted(name))): _*)
    val byDistance = Window.partitionBy(Row).orderBy(KNearestNode.Distance)
    val best = rows.select(Row, Query)
      .crossJoin(candidates)
      .withColumn(KNearestNode.Distance, distance(col(Query), col(Vector)).cast("float"))
      .where(col(KNearestNode.Distance).isNotNull)
      .withColumn(KNearestNode.Rank, row_number().over(byDistance))
      .where(col(KNearestNode.Rank) <= k)
    val measures = Seq(KNearestNode.Distance, KNearestNode.Rank)
    rows
      .join(best.drop(Query, Vector), Seq(Row), if (outer) "left" else "inner")
      .sort(Row, KNearestNode.Rank)
      .select((left.columns.toSeq ++ names ++ measures).map(name => col(quoted(name))): _*)
  }

  private def quoted(name: String): String = s"`${name.replace("`", "``")}`"
}
