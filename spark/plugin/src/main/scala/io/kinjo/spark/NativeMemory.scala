package io.kinjo.spark

import org.apache.spark.sql.SparkSession

/**
 * What one task may take outside the heap.
 *
 * @param block  of a block's left vectors, which lie there twice: as gathered, and as searched
 * @param engine of the engine's own; None: its default, by the machine
 * @param told   for explain
 */
private[spark] final case class TaskMemory(block: Long, engine: Option[Long], told: String)

/**
 * How much memory outside the heap one task may take. Spark doesn't count it, so it must fit beside
 * the heap in what the executor's container grants: the memory overhead.
 */
private[spark] object NativeMemory {
  private val MiB = 1L << 20
  private val DefaultOverhead = 384 * MiB

  // Beyond this a block gains nothing: the engine searches 16,384 rows at a time.
  private val BlockMost = 32 * MiB
  private val BlockShare = 8

  def ofTask(session: SparkSession, settings: JoinSettings): TaskMemory =
    settings.engine.get("memory_limit_bytes") match {
      case Some(limit) =>
        TaskMemory(blockOf(limit.toLong), None, s"memory of a task: ${mebibytes(limit.toLong)}")
      case None =>
        bytesOfTasks(session, settings) match {
          case Some((bytes, told)) =>
            val each = bytes / tasks(session)
            val block = blockOf(each)
            val share = s"memory of a task: $told / ${tasks(session)} tasks = ${mebibytes(each)}"
            TaskMemory(block, Some(each - 2 * block), share)
          case None => TaskMemory(BlockMost, None, "memory of a task: by the machine")
        }
    }

  private def mebibytes(bytes: Long): String = s"${bytes / MiB} MiB"

  private def blockOf(bytes: Long): Long = math.max(MiB, math.min(BlockMost, bytes / BlockShare))

  // Bytes for the tasks of an executor, with their origin; None where nothing is known: locally.
  private def bytesOfTasks(
      session: SparkSession,
      settings: JoinSettings): Option[(Long, String)] =
    settings.maxNativeBytes match {
      case Some(bytes) => Some((bytes, mebibytes(bytes)))
      case None if session.sparkContext.isLocal => None
      case None =>
        val all = overhead(session)
        val safety = settings.memorySafety
        Some(((all * safety).toLong, s"$safety of the overhead of ${mebibytes(all)}"))
    }

  private def tasks(session: SparkSession): Int = {
    val conf = session.sparkContext.getConf
    math.max(1, executorCores(session) / math.max(1, conf.getInt("spark.task.cpus", 1)))
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
