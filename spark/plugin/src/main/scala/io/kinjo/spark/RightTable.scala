package io.kinjo.spark

import java.nio.file.Paths

import scala.collection.JavaConverters._
import scala.util.{Left, Right, Try}

import io.kinjo.{ArrowField, Dataset}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** A column of the right side: its name in the dataset, its type there, and as Spark has it. */
private[spark] final case class RightColumn(field: ArrowField, attribute: Attribute) {
  def datasetName: String = field.name
}

/**
 * A Lance dataset on the right of a join, at a fixed version.
 *
 * @param columns those that the plan gives, renamed as it says
 * @param where   SQL of the rows that its filters keep
 */
private[spark] final case class RightTable(
    uri: String,
    version: Long,
    columns: Seq[RightColumn],
    where: Option[String]) {

  def vectorColumns: Seq[RightColumn] =
    columns.filter(column => ArrowTypes.vectorOf(column.field).isDefined)
}

private[spark] object RightTable {

  /** A local path as every process finds it, whatever folder it runs in; else the URI. */
  def absolute(uri: String): String =
    if (uri.contains("://")) uri else Paths.get(uri).toAbsolutePath.toString

  /** Opens a dataset for its schema, and fixes the version. */
  def open(given: String, version: Option[Long], tag: Option[String]): RightTable = {
    val uri = absolute(given)
    val dataset = tag match {
      case Some(name) => Dataset.openTag(uri, name)
      case None => Dataset.open(uri, version.getOrElse(Dataset.LATEST))
    }
    try {
      val columns = dataset.columns.asScala.toSeq.flatMap { field =>
        ArrowTypes.sparkType(field).map { known =>
          RightColumn(field, AttributeReference(field.name, known, nullable = true)())
        }
      }
      RightTable(uri, dataset.version, columns, None)
    } finally dataset.close()
  }

  /**
   * The dataset that a plan reads; Left says why it isn't one that the engine can read.
   *
   * @param shared plans of common table expressions that this one may refer to
   */
  def find(
      plan: LogicalPlan,
      settings: JoinSettings,
      shared: Map[Long, LogicalPlan] = Map.empty): Either[String, RightTable] = plan match {
    case SubqueryAlias(_, child) => find(child, settings, shared)
    case view: View => find(view.child, settings, shared)
    case Project(list, child) => find(child, settings, shared).flatMap(projected(list, _))
    case Filter(condition, child) => find(child, settings, shared).flatMap(filtered(condition, _))
    case relation: DataSourceV2Relation => related(relation, settings)
    case WithCTE(child, defined) => find(child, settings, shared ++ byId(defined))
    case reference: CTERelationRef if shared.contains(reference.cteId) =>
      find(shared(reference.cteId), settings, shared).map(referred(reference, _))
    case other => Left(s"the right side has a ${other.nodeName} in its plan")
  }

  /** As `find` takes common table expressions. */
  def byId(defined: Seq[CTERelationDef]): Map[Long, LogicalPlan] =
    defined.map(each => each.id -> each.child).toMap

  // A reference has attributes of its own, in the order of the plan that it stands for.
  private def referred(reference: CTERelationRef, table: RightTable): RightTable =
    table.copy(columns = table.columns.zip(reference.output).map { case (column, attribute) =>
      column.copy(attribute = attribute)
    })

  private def projected(
      list: Seq[NamedExpression],
      table: RightTable): Either[String, RightTable] = {
    val byId = table.columns.map(column => column.attribute.exprId -> column).toMap
    val columns = list.map {
      case attribute: Attribute => byId.get(attribute.exprId)
      case alias @ Alias(Exactly(attribute: Attribute), _) if sameType(alias, attribute) =>
        byId.get(attribute.exprId).map(_.copy(attribute = alias.toAttribute))
      case _ => None
    }
    if (columns.contains(None)) Left("the right side computes columns")
    else Right(table.copy(columns = columns.flatten))
  }

  private def filtered(condition: Expression, table: RightTable): Either[String, RightTable] = {
    val names = table.columns.map(column => column.attribute.exprId -> column.datasetName).toMap
    PredicateText.of(condition, names) match {
      case None => Left(s"the filter ${condition.sql} has no translation")
      case Some(sql) =>
        val both = table.where.map(known => s"($known) AND ($sql)").getOrElse(sql)
        Right(table.copy(where = Some(both)))
    }
  }

  private def related(
      relation: DataSourceV2Relation,
      settings: JoinSettings): Either[String, RightTable] =
    LanceRelation.locate(relation) match {
      case None => Left(s"the right side, ${relation.name}, is not a Lance dataset")
      case Some((uri, version)) =>
        val table = open(uri, settings.rightVersion.orElse(version), settings.rightTag)
        val fields = table.columns.map(column => column.datasetName -> column.field).toMap
        val columns = relation.output.map { attribute =>
          fields.get(attribute.name)
            .filter(field => Exactly.same(ArrowTypes.sparkType(field).get, attribute.dataType))
            .map(RightColumn(_, attribute))
        }
        if (columns.contains(None)) Left(s"${relation.name} has columns that the dataset has not")
        else Right(table.copy(columns = columns.flatten))
    }

  private def sameType(one: Expression, other: Expression): Boolean =
    Exactly.same(one.dataType, other.dataType)
}

/** Where the dataset of a relation lies: one of Kinjo's own, or of lance-spark. */
private[spark] object LanceRelation {

  /** The URI, and the version if the relation fixes one. */
  def locate(relation: DataSourceV2Relation): Option[(String, Option[Long])] = {
    relation.table match {
      case own: KinjoLanceTable => Some((own.lance.uri, Some(own.lance.version)))
      case other if !other.getClass.getName.contains("Lance") => None
      case other =>
        // What its table was told of a version isn't all that the reader of a relation was.
        val (found, asked) = (fromReadOptions(other), fromOptions(relation))
        found.map { case (uri, version) => (uri, version.orElse(asked._2)) }
          .orElse(asked._1.map((_, asked._2)))
    }
  }

  // lance-spark's table, asked by reflection: there is no need of its jar to compile this.
  private def fromReadOptions(table: AnyRef): Option[(String, Option[Long])] = Try {
    val options = table.getClass.getMethod("readOptions").invoke(table)
    def ask(name: String): AnyRef = options.getClass.getMethod(name).invoke(options)
    val version = Try(ask("getVersion")).toOption.flatMap {
      case number: Number => Some(number.longValue)
      case given: java.util.Optional[_] if given.isPresent => Some(given.get.toString.toLong)
      case _ => None
    }
    (ask("getDatasetUri").toString, version)
  }.toOption

  private def fromOptions(relation: DataSourceV2Relation): (Option[String], Option[Long]) = {
    val options = relation.options
    val uri = Seq("path", "datasetUri").map(name => options.get(name)).find(_ != null)
    (uri, Option(options.get("version")).map(_.toLong))
  }
}
