package io.kinjo.spark

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import io.kinjo.Cancel
import org.apache.spark.TaskContext

/**
 * Hands a task's cancellation on to the engine. The task's own thread waits in a native call then
 * and can't look; so one daemon thread a JVM looks, while there are tasks to look after.
 */
private[spark] object CancelWatch {
  private val PeriodMillis = 50L

  private val watched = new ConcurrentHashMap[Cancel, TaskContext]
  private var thread: Thread = _

  def watch(context: TaskContext, cancel: Cancel): Unit = synchronized {
    watched.put(cancel, context)
    if (thread == null) {
      thread = new Thread(() => look(), "kinjo-cancel-watch")
      thread.setDaemon(true)
      thread.start()
    }
    notifyAll()
  }

  def forget(cancel: Cancel): Unit = watched.remove(cancel)

  private def look(): Unit = while (true) {
    synchronized {
      while (watched.isEmpty) wait()
    }
    watched.asScala.foreach { case (cancel, context) =>
      if (context.isInterrupted()) cancel.raise()
    }
    Thread.sleep(PeriodMillis)
  }
}
