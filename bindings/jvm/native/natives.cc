// The native methods of io.kinjo.Native, registered when the library is loaded. Each is one call of
// the C++ header; java_error.h says how their errors reach Java. No thread of the engine ever calls
// into the JVM, so none is attached to it.

#include <jni.h>

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "index_options.h"
#include "java_error.h"
#include "java_values.h"
#include "join_options.h"
#include "kinjo/kinjo.hpp"
#include "kinjo/writing.hpp"

namespace kinjo::jvm {
namespace {

using std::optional;

constexpr jlong kUnset = -1;

jstring JNICALL DescribeRuntime(JNIEnv* env, jclass) {
  return Guarded<jstring>(env, nullptr,
                          [&] { return ToJava(env, ValueOf(kinjo::DescribeRuntime())); });
}

jstring JNICALL LibraryVersion(JNIEnv* env, jclass) {
  return Guarded<jstring>(env, nullptr, [&] { return ToJava(env, Version()); });
}

// ---- Datasets -----------------------------------------------------------------------------------

// Fragment ids; null: nothing, all of them.
optional<std::vector<uint64_t>> FragmentsFromJava(JNIEnv* env, jlongArray fragments) {
  if (fragments == nullptr) return std::nullopt;
  std::vector<jlong> ids(static_cast<size_t>(env->GetArrayLength(fragments)));
  env->GetLongArrayRegion(fragments, 0, static_cast<jsize>(ids.size()), ids.data());
  return std::vector<uint64_t>(ids.begin(), ids.end());
}

jlong JNICALL DatasetOpen(JNIEnv* env, jclass, jstring uri, jlong version, jstring tag,
                          jlongArray fragments) {
  return Guarded<jlong>(env, 0, [&] {
    const auto wanted = version == kUnset ? optional<int64_t>() : optional<int64_t>(version);
    return ToHandle(ValueOf(Dataset::Open(FromJava(env, uri), wanted, FromJava(env, tag),
                                          FragmentsFromJava(env, fragments))));
  });
}

void JNICALL DatasetFree(JNIEnv*, jclass, jlong dataset) { FreeHandle<Dataset>(dataset); }

jlongArray JNICALL DatasetInfo(JNIEnv* env, jclass, jlong dataset) {
  return Guarded<jlongArray>(env, nullptr, [&] {
    const kinjo_dataset_info info = ValueOf(FromHandle<Dataset>(dataset).Info());
    const jlong numbers[] = {static_cast<jlong>(info.version), static_cast<jlong>(info.num_rows),
                             static_cast<jlong>(info.num_fragments),
                             static_cast<jlong>(info.num_vector_indexes)};
    constexpr jsize kCount = std::size(numbers);
    jlongArray made = env->NewLongArray(kCount);
    if (made == nullptr) throw JavaFailure();
    env->SetLongArrayRegion(made, 0, kCount, numbers);
    return made;
  });
}

jstring JNICALL DatasetDescribe(JNIEnv* env, jclass, jlong dataset) {
  return Guarded<jstring>(
      env, nullptr, [&] { return ToJava(env, ValueOf(FromHandle<Dataset>(dataset).Describe())); });
}

void JNICALL DatasetSchema(JNIEnv* env, jclass, jlong dataset, jlong address) {
  Guarded<int>(env, 0, [&] {
    *AtAddress<ArrowSchema>(address) = ValueOf(FromHandle<Dataset>(dataset).Schema()).Detach();
    return 0;
  });
}

// All columns, rows and fragments where the arguments are null.
jlong JNICALL DatasetScan(JNIEnv* env, jclass, jlong dataset, jobjectArray columns, jstring where,
                          jlong limit, jlongArray fragments, jlong cancel) {
  return Guarded<jlong>(env, 0, [&] {
    ScanOptions options;
    if (columns != nullptr) options.columns = FromJava(env, columns);
    options.where = FromJava(env, where);
    if (limit != kUnset) options.limit = limit;
    options.fragment_ids = FragmentsFromJava(env, fragments);
    const Cancel* flag = cancel == 0 ? nullptr : &FromHandle<Cancel>(cancel);
    return ToHandle(ValueOf(Scan(FromHandle<Dataset>(dataset), options, {flag})));
  });
}

RunOptions StoppedBy(jlong cancel) {
  RunOptions options;
  if (cancel != 0) options.cancel = &FromHandle<Cancel>(cancel);
  return options;
}

// ---- Searches -----------------------------------------------------------------------------------

void JNICALL OptionsCheck(JNIEnv* env, jclass, jobjectArray names, jobjectArray texts) {
  Guarded<int>(env, 0, [&] {
    Check(Join::Check(ParseJoinOptions(FromJava(env, names), FromJava(env, texts))));
    return 0;
  });
}

// A table of the vectors at an address, copied.
Table VectorsAt(jlong address, const std::string& element_type, int64_t count, int64_t width) {
  return ValueOf(
      Table::FromVectors(AtAddress<const void>(address), element_type.c_str(), count, width));
}

jlong JNICALL SearchMake(JNIEnv* env, jclass, jlong dataset, jlong vectors, jstring element_type,
                         jlong count, jlong width, jobjectArray names, jobjectArray texts) {
  return Guarded<jlong>(env, 0, [&] {
    const JoinOptions options = ParseJoinOptions(FromJava(env, names), FromJava(env, texts));
    const Table left = VectorsAt(vectors, FromJava(env, element_type), count, width);
    return ToHandle(ValueOf(Join::Search(FromHandle<Dataset>(dataset), left, options)));
  });
}

void JNICALL SearchFree(JNIEnv*, jclass, jlong search) { FreeHandle<Join>(search); }

jstring JNICALL SearchExplain(JNIEnv* env, jclass, jlong search, jboolean verbose) {
  return Guarded<jstring>(env, nullptr, [&] {
    return ToJava(env, ValueOf(FromHandle<Join>(search).Explain(verbose == JNI_TRUE)));
  });
}

jstring JNICALL SearchReport(JNIEnv* env, jclass, jlong search) {
  return Guarded<jstring>(env, nullptr, [&] {
    return ToJava(env, ValueOf(FromHandle<Join>(search).DescribeReport()));
  });
}

jlong JNICALL SearchRun(JNIEnv* env, jclass, jlong search, jlong cancel) {
  return Guarded<jlong>(
      env, 0, [&] { return ToHandle(ValueOf(FromHandle<Join>(search).Run(StoppedBy(cancel)))); });
}

jintArray JNICALL SearchNearestPartitions(JNIEnv* env, jclass, jlong search, jlong count,
                                          jlong cancel) {
  return Guarded<jintArray>(env, nullptr, [&] {
    const auto nearest =
        ValueOf(FromHandle<Join>(search).NearestPartitions(count, StoppedBy(cancel)));
    jintArray made = env->NewIntArray(static_cast<jsize>(nearest.size()));
    if (made == nullptr) throw JavaFailure();
    env->SetIntArrayRegion(made, 0, static_cast<jsize>(nearest.size()),
                           reinterpret_cast<const jint*>(nearest.data()));
    return made;
  });
}

// ---- Building indexes ---------------------------------------------------------------------------

jstring JNICALL IndexTrain(JNIEnv* env, jclass, jstring uri, jobjectArray names, jobjectArray texts,
                           jlong cancel) {
  return Guarded<jstring>(env, nullptr, [&] {
    const IndexOptions options = ParseIndexOptions(FromJava(env, names), FromJava(env, texts));
    return ToJava(env, ValueOf(Index::Train(FromJava(env, uri), options, StoppedBy(cancel))));
  });
}

jstring JNICALL IndexBuildSegment(JNIEnv* env, jclass, jstring uri, jobjectArray names,
                                  jobjectArray texts, jlongArray fragments, jlong cancel) {
  return Guarded<jstring>(env, nullptr, [&] {
    const IndexOptions options = ParseIndexOptions(FromJava(env, names), FromJava(env, texts));
    return ToJava(
        env, ValueOf(Index::BuildSegment(FromJava(env, uri), options,
                                         *FragmentsFromJava(env, fragments), StoppedBy(cancel))));
  });
}

jlong JNICALL IndexCommit(JNIEnv* env, jclass, jstring uri, jobjectArray segments, jstring name,
                          jboolean replace) {
  return Guarded<jlong>(env, 0, [&] {
    return static_cast<jlong>(ValueOf(Index::CommitSegments(
        FromJava(env, uri), FromJava(env, segments), FromJava(env, name), replace == JNI_TRUE)));
  });
}

// ---- Streams ------------------------------------------------------------------------------------

jboolean JNICALL StreamNext(JNIEnv* env, jclass, jlong stream, jlong address) {
  return Guarded<jboolean>(env, JNI_FALSE, [&]() -> jboolean {
    Batch batch = ValueOf(FromHandle<Stream>(stream).Next());
    if (batch.empty()) return JNI_FALSE;
    *AtAddress<ArrowArray>(address) = batch.Detach();
    return JNI_TRUE;
  });
}

void JNICALL StreamSchema(JNIEnv* env, jclass, jlong stream, jlong address) {
  Guarded<int>(env, 0, [&] {
    *AtAddress<ArrowSchema>(address) = ValueOf(FromHandle<Stream>(stream).Schema()).Detach();
    return 0;
  });
}

void JNICALL StreamFree(JNIEnv*, jclass, jlong stream) { FreeHandle<Stream>(stream); }

// ---- Cancelling ---------------------------------------------------------------------------------

jlong JNICALL CancelMake(JNIEnv* env, jclass) {
  return Guarded<jlong>(env, 0, [&] { return ToHandle(ValueOf(Cancel::Make())); });
}

void JNICALL CancelRaise(JNIEnv*, jclass, jlong cancel) { FromHandle<Cancel>(cancel).Raise(); }

void JNICALL CancelFree(JNIEnv*, jclass, jlong cancel) { FreeHandle<Cancel>(cancel); }

// ---- Arrow structs that Java holds
// ----------------------------------------------------------------

template <typename T>
void JNICALL Release(JNIEnv*, jclass, jlong address) {
  T* held = AtAddress<T>(address);
  if (held->release != nullptr) held->release(held);
}

JNINativeMethod Method(const char* name, const char* signature, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), function};
}

#define METHOD(name, signature, function) \
  Method(name, signature, reinterpret_cast<void*>(&(function)))

bool RegisterAll(JNIEnv* env) {
  const JNINativeMethod methods[] = {
      METHOD("describeRuntime", "()Ljava/lang/String;", DescribeRuntime),
      METHOD("version", "()Ljava/lang/String;", LibraryVersion),
      METHOD("datasetOpen", "(Ljava/lang/String;JLjava/lang/String;[J)J", DatasetOpen),
      METHOD("datasetFree", "(J)V", DatasetFree),
      METHOD("datasetInfo", "(J)[J", DatasetInfo),
      METHOD("datasetDescribe", "(J)Ljava/lang/String;", DatasetDescribe),
      METHOD("datasetSchema", "(JJ)V", DatasetSchema),
      METHOD("datasetScan", "(J[Ljava/lang/String;Ljava/lang/String;J[JJ)J", DatasetScan),
      METHOD("optionsCheck", "([Ljava/lang/String;[Ljava/lang/String;)V", OptionsCheck),
      METHOD("searchMake", "(JJLjava/lang/String;JJ[Ljava/lang/String;[Ljava/lang/String;)J",
             SearchMake),
      METHOD("searchFree", "(J)V", SearchFree),
      METHOD("searchExplain", "(JZ)Ljava/lang/String;", SearchExplain),
      METHOD("searchReport", "(J)Ljava/lang/String;", SearchReport),
      METHOD("searchRun", "(JJ)J", SearchRun),
      METHOD("searchNearestPartitions", "(JJJ)[I", SearchNearestPartitions),
      METHOD("indexTrain",
             "(Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/String;J)Ljava/lang/String;",
             IndexTrain),
      METHOD("indexBuildSegment",
             "(Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/String;[JJ)Ljava/lang/String;",
             IndexBuildSegment),
      METHOD("indexCommit", "(Ljava/lang/String;[Ljava/lang/String;Ljava/lang/String;Z)J",
             IndexCommit),
      METHOD("streamNext", "(JJ)Z", StreamNext),
      METHOD("streamSchema", "(JJ)V", StreamSchema),
      METHOD("streamFree", "(J)V", StreamFree),
      METHOD("cancelMake", "()J", CancelMake),
      METHOD("cancelRaise", "(J)V", CancelRaise),
      METHOD("cancelFree", "(J)V", CancelFree),
      METHOD("schemaRelease", "(J)V", Release<ArrowSchema>),
      METHOD("arrayRelease", "(J)V", Release<ArrowArray>),
  };
  jclass native = env->FindClass("io/kinjo/Native");
  return native != nullptr &&
         env->RegisterNatives(native, methods, static_cast<jint>(std::size(methods))) == JNI_OK;
}

#undef METHOD

}  // namespace
}  // namespace kinjo::jvm

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void*) {
  JNIEnv* env = nullptr;
  constexpr jint kVersion = JNI_VERSION_1_8;
  if (machine->GetEnv(reinterpret_cast<void**>(&env), kVersion) != JNI_OK) return JNI_ERR;
  if (!kinjo::jvm::LoadErrorClass(env) || !kinjo::jvm::RegisterAll(env)) return JNI_ERR;
  return kVersion;
}
