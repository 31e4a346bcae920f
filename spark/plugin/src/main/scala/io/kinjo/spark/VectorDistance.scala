package io.kinjo.spark

/** Distances of two vectors in double, as docs/semantics.md defines them; null: no match. */
private[spark] object VectorDistance {
  type Numbers = scala.collection.Seq[Double]

  def of(metric: String): (Numbers, Numbers) => java.lang.Double = metric match {
    case "l2" => measured(l2)
    case "cosine" => measured(cosine)
    case "dot" => measured((one, other) => 1 - dot(one, other))
    case other =>
      throw new IllegalArgumentException(s"""metric: "$other" is not "l2", "cosine" or "dot"""")
  }

  private def measured(
      distance: (Array[Double], Array[Double]) => Double): (Numbers, Numbers) => java.lang.Double =
    (one, other) =>
      if (one == null || other == null) null
      else {
        val left = one.toArray
        val right = other.toArray
        if (left.length != right.length) {
          throw new IllegalArgumentException(
            s"left vectors have the width ${left.length}, right ones ${right.length}")
        }
        val result = distance(left, right)
        if (result.isNaN || result.isInfinite) null else result
      }

  private def dot(one: Array[Double], other: Array[Double]): Double = {
    var sum = 0.0
    var i = 0
    while (i < one.length) {
      sum += one(i) * other(i)
      i += 1
    }
    sum
  }

  private def l2(one: Array[Double], other: Array[Double]): Double = {
    var sum = 0.0
    var i = 0
    while (i < one.length) {
      val difference = one(i) - other(i)
      sum += difference * difference
      i += 1
    }
    sum
  }

  // 0 / 0 for a zero vector: no match.
  private def cosine(one: Array[Double], other: Array[Double]): Double =
    1 - dot(one, other) / (math.sqrt(dot(one, one)) * math.sqrt(dot(other, other)))
}
