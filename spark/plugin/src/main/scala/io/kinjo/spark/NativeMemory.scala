package io.kinjo.spark

import org.apache.spark.sql.SparkSession

/**
 * How much memory outside the heap one task may let the engine have. Spark doesn't count it, so it
 * must fit beside the heap in what the executor's container grants: the memory overhead.
 */
private[spark] object NativeMemory {
  private val MiB = 1L << 20
  private val DefaultOverhead = 384 * MiB

  /**
   * Bytes for each task, None where nothing is known (local mode: the engine's own default is by
   * the machine). `safety` is the share of the overhead that the engine may take.
   */
  def bytesPerTask(session: SparkSession, settings: JoinSettings): Option[Long] = {
    val conf = session.sparkContext.getConf
    val tasks = math.max(1, executorCores(session) / math.max(1, conf.getInt("spark.task.cpus", 1)))
    settings.maxNativeBytes.orElse {
      if (session.sparkContext.isLocal) None
      else Some((overhead(session) * settings.memorySafety).toLong)
    }.map(_ / tasks)
  }

  private def executorCores(session: SparkSession): Int = {
    val conf = session.sparkContext.getConf
    val context = session.sparkContext
    // Without a setting a standalone cluster's executor has all cores of its worker.
    val executors = math.max(1, context.statusTracker.getExecutorInfos.length - 1)
    def shared: Int = math.max(1, context.defaultParallelism / executors)
    if (context.isLocal) context.defaultParallelism
    else conf.getOption("spark.executor.cores").map(_.toInt).getOrElse(shared)
  }

  private def overhead(session: SparkSession): Long = {
    val conf = session.sparkContext.getConf
    def sized(name: String): Option[Long] =
      if (conf.contains(name)) Some(conf.getSizeAsMb(name) * MiB) else None
    sized("spark.executor.memoryOverhead").getOrElse {
      val heap = sized("spark.executor.memory").getOrElse(1024 * MiB)
      val factor = conf.getDouble("spark.executor.memoryOverheadFactor", 0.1)
      math.max(DefaultOverhead, (heap * factor).toLong)
    }
  }
}
