package io.kinjo.spark

import org.apache.spark.sql.SparkSessionExtensions

/** Spark before 4.2 has no nearest-by join to take over. */
private[spark] object NearestBy {
  def install(extensions: SparkSessionExtensions): Unit = ()
}
