package io.kinjo

import org.apache.spark.sql.{Column, DataFrame}

package object spark {

  /** `df.kNearestJoin(...)`, by `import io.kinjo.spark._`. */
  implicit final class KNearestOps(private val left: DataFrame) extends AnyVal {

    /**
     * Each row with its k nearest rows of `right`: left columns, right columns (all but the
     * vector), `_distance` and `_rank`. See [[KNearest]].
     */
    def kNearestJoin(
        right: DataFrame,
        query: Column,
        k: Int,
        options: (String, Any)*): DataFrame =
      KNearest.join(left, right, query, k, texts(options))

    /** The same on a Lance dataset at a URI. */
    def kNearestJoin(uri: String, query: Column, k: Int, options: (String, Any)*): DataFrame =
      KNearest.join(left, uri, query, k, texts(options))
  }

  private def texts(options: Seq[(String, Any)]): Map[String, String] =
    options.map {
      case (name, several: Seq[_]) => name -> several.mkString(",")
      case (name, value) => name -> value.toString
    }.toMap
}
