package io.kinjo.spark

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * `spark.read.format("kinjo").load(uri)`: the rows of a Lance dataset. Options: `version`, `tag`.
 * Whatever version is the latest when the DataFrame is made stays the one that it reads.
 */
final class KinjoSource extends TableProvider with DataSourceRegister {
  override def shortName: String = "kinjo"

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    tableOf(options).schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]): Table =
    tableOf(new CaseInsensitiveStringMap(properties))

  private def tableOf(options: CaseInsensitiveStringMap): KinjoLanceTable = {
    val uri = Option(options.get("path")).getOrElse {
      throw new IllegalArgumentException(
        "which dataset? spark.read.format(\"kinjo\").load(\"items.lance\")")
    }
    val version = Option(options.get("version")).map(_.toLong)
    val tag = Option(options.get("tag"))
    if (version.isDefined && tag.isDefined) {
      throw new IllegalArgumentException(
        s"version = ${version.get} and tag = ${tag.get} can't be given together")
    }
    KinjoLanceTable(RightTable.open(uri, version, tag))
  }
}

/** One version of a Lance dataset as a table that Spark may read. */
private[spark] final case class KinjoLanceTable(lance: RightTable) extends Table with SupportsRead {
  override def name: String = s"kinjo ${lance.uri} version ${lance.version}"

  override def schema: StructType = StructType(
    lance.columns.map { column =>
      StructField(column.attribute.name, column.attribute.dataType, column.field.nullable)
    })

  override def capabilities: util.Set[TableCapability] =
    Set(TableCapability.BATCH_READ).asJava

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new LanceScanBuilder(lance.uri, lance.version, schema)
}
