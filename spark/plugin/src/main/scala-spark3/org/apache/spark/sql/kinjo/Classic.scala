package org.apache.spark.sql.kinjo

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkStrategy

/** Between DataFrames and logical plans; lies in Spark's package for what is private to it. */
object Classic {
  def analyzed(frame: DataFrame): LogicalPlan = frame.queryExecution.analyzed

  def frameOf(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** Has a session plan by a strategy, also where `spark.sql.extensions` doesn't name ours. */
  def plansBy(session: SparkSession, strategy: SparkStrategy): Unit = {
    val experimental = session.experimental
    if (!experimental.extraStrategies.contains(strategy)) {
      experimental.extraStrategies = experimental.extraStrategies :+ strategy
    }
  }
}
