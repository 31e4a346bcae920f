package org.apache.spark.sql.kinjo

import org.apache.spark.sql.{classic, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkStrategy

/** Between DataFrames and logical plans; lies in Spark's package for what is private to it. */
object Classic {
  def analyzed(frame: DataFrame): LogicalPlan =
    frame.asInstanceOf[classic.Dataset[_]].queryExecution.analyzed

  def frameOf(session: SparkSession, plan: LogicalPlan): DataFrame =
    classic.Dataset.ofRows(session.asInstanceOf[classic.SparkSession], plan)

  /** Has a session plan by a strategy, also where `spark.sql.extensions` doesn't name ours. */
  def plansBy(session: SparkSession, strategy: SparkStrategy): Unit = {
    val experimental = session.asInstanceOf[classic.SparkSession].experimental
    if (!experimental.extraStrategies.contains(strategy)) {
      experimental.extraStrategies = experimental.extraStrategies :+ strategy
    }
  }
}
