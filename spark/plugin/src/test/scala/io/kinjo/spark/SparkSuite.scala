package io.kinjo.spark

import java.nio.file.Paths

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** Tests with a session of two threads that has the extension. */
abstract class SparkSuite extends AnyFunSuite with BeforeAndAfterAll {
  lazy val session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.warehouse.dir", System.getProperty("kinjo.work"))
    .config("spark.sql.extensions", classOf[KinjoExtensions].getName)
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .getOrCreate()

  override def afterAll(): Unit = {
    session.stop()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    super.afterAll()
  }

  def golden(name: String): String =
    Paths.get(System.getProperty("kinjo.golden"), s"$name.lance").toString
}
