package io.kinjo.spark

import scala.collection.JavaConverters._

import io.kinjo.{Cancel, Dataset, IndexBuild}
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/**
 * A vector index of a Lance dataset, built by the executors: one task trains the model, each of the
 * others builds the segment of some fragments with it, and the driver commits them as one index.
 *
 * Options, by name: `name`, `replace`, `segments` (as many as tasks run at a time, unless given; at
 * most one a fragment), and those of `kinjo index create`: column, type, metric, numPartitions,
 * numSubVectors, ...
 */
object KNearestIndex {

  /** The dataset's new version. */
  def create(session: SparkSession, uri: String, options: (String, Any)*): Long =
    build(session, uri, options.map { case (name, value) => name -> value.toString }.toMap)

  /** For Java and Python. */
  def create(session: SparkSession, uri: String, options: java.util.Map[String, String]): Long =
    build(session, uri, options.asScala.toMap)

  private def build(session: SparkSession, dataset: String, options: Map[String, String]): Long = {
    val uri = RightTable.absolute(dataset)
    val given = options.map { case (name, text) => JoinSettings.underscored(name) -> text }
    val own = Set("name", "replace", "segments")
    val asked = tasksOwn(session) ++ (given -- own)
    val context = session.sparkContext
    val groups = fragmentGroups(uri, given.get("segments").map(JoinSettings.count("segments", _))
      .getOrElse(context.defaultParallelism))
    val model = context.parallelize(Seq(uri), 1).map { dataset =>
      stoppable(IndexBuild.train(dataset, asked.asJava, _))
    }.collect().head
    val shared = context.broadcast(model)
    try {
      val segments = context.parallelize(groups, groups.size).map { fragments =>
        stoppable(IndexBuild.buildSegment(uri, asked.asJava, shared.value, fragments, _))
      }.collect()
      val replace = given.get("replace").exists(JoinSettings.switch("replace", _))
      IndexBuild.commit(uri, segments.toSeq.asJava, given.getOrElse("name", ""), replace)
    } finally shared.destroy()
  }

  // What a task may use, as for a join.
  private def tasksOwn(session: SparkSession): Map[String, String] = {
    val settings = JoinSettings.parse(1, Map.empty, SQLConf.get)
    Map("threads" -> session.sparkContext.getConf.get("spark.task.cpus", "1")) ++
      NativeMemory.ofTask(session, settings).engine.map("memory_limit_bytes" -> _.toString)
  }

  // Fragments in so many groups, at most, of about as many rows.
  private def fragmentGroups(uri: String, most: Int): Seq[Array[Long]] = {
    val dataset = Dataset.open(uri, Dataset.LATEST)
    val fragments =
      try LanceFragment.listed(dataset)
      finally dataset.close()
    if (fragments.isEmpty) {
      throw new IllegalArgumentException(s"$uri has no rows to index")
    }
    val rows = new Array[Long](math.min(most, fragments.size))
    val groups = rows.map(_ => Seq.newBuilder[Long])
    fragments.sortBy(fragment => (-fragment.rows, fragment.id)).foreach { fragment =>
      val least = rows.indexOf(rows.min)
      rows(least) += fragment.rows
      groups(least) += fragment.id
    }
    groups.map(_.result().sorted.toArray).toSeq.filter(_.nonEmpty)
  }

  // In a task: a native call that ends when the task is killed.
  private def stoppable[T](work: Cancel => T): T = {
    val cancel = new Cancel
    CancelWatch.watch(TaskContext.get(), cancel)
    try work(cancel)
    finally CancelWatch.forget(cancel)
  }
}
