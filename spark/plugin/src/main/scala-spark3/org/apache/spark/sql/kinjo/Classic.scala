package org.apache.spark.sql.kinjo

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Between DataFrames and logical plans; lies in Spark's package for what is private to it. */
object Classic {
  def analyzed(frame: DataFrame): LogicalPlan = frame.queryExecution.analyzed

  def frameOf(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)
}
