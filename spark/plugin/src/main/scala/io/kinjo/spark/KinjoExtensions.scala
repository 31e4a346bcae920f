package io.kinjo.spark

import org.apache.spark.sql.SparkSessionExtensions

/** `spark.sql.extensions=io.kinjo.spark.KinjoExtensions` */
final class KinjoExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlannerStrategy(_ => KNearestStrategy)
    NearestBy.install(extensions)
  }
}
