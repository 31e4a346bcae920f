#include "flags.h"

#include "flag_value.h"

namespace kinjo::cli {

const std::vector<FlagRow>& FlagTable() {
  static const std::vector<FlagRow> rows = {
#define FLAG(member, kind, names, value, group, commands, help) \
  {#member,                                                     \
   names,                                                       \
   value,                                                       \
   Group::group,                                                \
   commands,                                                    \
   help,                                                        \
   std::string(#kind) == "Switch",                              \
   std::string(#kind) == "Pairs",                               \
   std::string(#kind) == "Column",                              \
   [](Flags* flags, const std::string& text) { return Read##kind(text, &flags->member); }},
#include "flags.def"
#undef FLAG
  };
  return rows;
}

const std::vector<CommandRow>& CommandTable() {
  static const std::vector<CommandRow> rows = {
      {kJoin, "join", "Join each row of a left table to its k nearest rows of a right table",
       "--left URI --right URI [-k N] [-o PATH] [flags]",
       "kinjo join --left q.parquet --right items.lance --on embedding -k 10 -o out.parquet"},
      {kSearchDataset, "search", "Find the k nearest rows of a dataset to a vector, or to many",
       "DATASET --query QUERY [-k N] [-o PATH] [flags]",
       "kinjo search items.lance --query \"[0.1, 0.7, 0.4]\" -k 10 --where \"price < 20\""},
      {kExplain, "explain", "Print how a join would run, without reading a left row",
       "--left URI --right URI [flags of join]",
       "kinjo explain --left q.parquet --right items.lance --on embedding -k 10"},
      {kTune, "tune", "Print how recall, speed and reads depend on the settings",
       "--left URI --right URI [--recall R] [-o PLOT.svg] [flags of join]",
       "kinjo tune --left q.parquet --right items.lance --on embedding -k 10 --recall 0.95"},
      {kInfo, "info", "Describe a Lance dataset, or this program on this machine",
       "DATASET [--versions] [--fragments] [--index NAME] [--json]\n       kinjo info --cpu "
       "[--json]",
       "kinjo info items.lance --index embedding_idx"},
      {kScan, "scan", "Print the rows of a Lance dataset, or write them to a file",
       "DATASET [--columns A,B,..] [--where PREDICATE] [--limit N] [-o PATH] [flags]",
       "kinjo scan items.lance --columns id,price --where \"price < 20\" --limit 10"},
      {kIndexCreate, "index create", "Build a vector index and add it to a dataset",
       "DATASET [--column COLUMN] [--type TYPE] [--metric NAME] [flags]",
       "kinjo index create items.lance --type IVF_PQ --metric cosine --check"},
      {kIndexList, "index list", "List the indexes of a dataset and what they cover",
       "DATASET [--json]", "kinjo index list items.lance"},
      {kIndexOptimize, "index optimize", "Bring an index up to the rows of today",
       "DATASET [--name NAME] [--num-indices-to-merge N] [--retrain]",
       "kinjo index optimize items.lance"},
      {kIndexDrop, "index drop", "Take an index out of a dataset", "DATASET --name NAME",
       "kinjo index drop items.lance --name embedding_idx"},
      {kIndexRename, "index rename", "Give an index another name",
       "DATASET --name NAME --new-name NAME",
       "kinjo index rename items.lance --name embedding_idx --new-name by_meaning"},
      {kIndexCheck, "index check", "Measure what an index finds, against the exact answers",
       "DATASET [--name NAME] [-k N] [--recall R]", "kinjo index check items.lance -k 10"},
      {kImport, "import", "Write a table as a Lance dataset, or to one that is there",
       "SOURCE DATASET [--mode MODE] [--vector-column COLUMN] [flags]",
       "kinjo import items.parquet items.lance --vector-column embedding"},
      {kDelete, "delete", "Delete rows of a dataset", "DATASET --where PREDICATE [--json]",
       "kinjo delete items.lance --where \"price IS NULL OR price < 0\""},
      {kCompact, "compact", "Make large fragments of small ones, without deleted rows",
       "DATASET [--target-rows N] [flags]", "kinjo compact items.lance"},
      {kColumns, "columns", "Add, drop or rename columns of a dataset",
       "add DATASET SOURCE [flags]\n       kinjo columns drop DATASET A,B,..\n       kinjo columns "
       "rename DATASET COLUMN NAME",
       "kinjo columns add items.lance scores.parquet"},
      {kRestore, "restore", "Make an earlier version of a dataset the newest again",
       "DATASET --version N|TAG [--json]", "kinjo restore items.lance --version 3"},
      {kTag, "tag", "Name a version of a dataset",
       "create|update DATASET NAME [--version N|TAG]\n       kinjo tag delete DATASET NAME\n       "
       "kinjo tag list DATASET",
       "kinjo tag create items.lance golden --version 3"},
      {kCleanup, "cleanup", "Remove old versions of a dataset and the files that only they need",
       "DATASET [--older-than AGE] [--keep-versions N] [--json]",
       "kinjo cleanup items.lance --older-than 14d --keep-versions 3"},
  };
  return rows;
}

}  // namespace kinjo::cli
