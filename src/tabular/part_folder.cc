#include "tabular/part_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "arrow/filesystem/filesystem.h"
#include "io/random_reader.h"
#include "tabular/output_file.h"

namespace kinjo::tabular {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0777;  // the umask takes its share
constexpr mode_t kFileMode = 0666;

arrow::Status CantWrite(const std::string& path, int error) {
  return base::Io("can't write ", path, ": ", std::strerror(error));
}

// So that a new name in the folder survives a power cut. Best effort: not all file systems can.
void SyncFolder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)fsync(folder);
  close(folder);
}

arrow::Status MakeFolder(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return arrow::Status::OK();
    return base::Invalid("can't write parts to ", path, ": it is a file; name a folder");
  }
  if (errno != ENOENT) return CantWrite(path, errno);
  const std::string parent = fs::path(path).parent_path().string();
  if (mkdir(path.c_str(), kFolderMode) != 0) {
    if (errno != ENOENT) return CantWrite(path, errno);
    return base::Io("can't write ", path, ": there is no folder ", parent, "; make it first");
  }
  SyncFolder(parent);
  return arrow::Status::OK();
}

// The names in the folder, in order, but for what a killed run of ours had half-written.
arrow::Result<std::vector<std::string>> NamesIn(const std::string& path, bool leftovers) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (IsTemporaryName(name) == leftovers) names.push_back(std::move(name));
  }
  if (error) return base::Io("can't look at ", path, ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

arrow::Result<std::unique_ptr<PartFolder>> PartFolder::Open(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const io::Location location, io::ResolveUri(path));
  if (location.file_system->type_name() != "local") {
    return base::NotSupported("can't write parts to ", path,
                              ": a run that can be continued needs a local folder");
  }
  std::error_code error;
  fs::path whole = fs::absolute(location.path, error).lexically_normal();
  if (error) return base::Io("can't look at ", path, ": ", error.message());
  if (!whole.has_filename()) whole = whole.parent_path();  // a slash at the end
  std::unique_ptr<PartFolder> folder(new PartFolder(whole.string()));
  ARROW_RETURN_NOT_OK(MakeFolder(folder->path_));
  ARROW_ASSIGN_OR_RAISE(const auto names, NamesIn(folder->path_, /*leftovers=*/false));
  if (!names.empty() && std::find(names.begin(), names.end(), kJournalName) == names.end()) {
    return base::Invalid("can't write parts to ", path, ": it holds ", names[0],
                         " and no journal of an earlier run; name a new or an empty folder");
  }
  ARROW_RETURN_NOT_OK(folder->OpenJournal());
  ARROW_RETURN_NOT_OK(folder->ReadJournal());
  return folder;
}

PartFolder::~PartFolder() {
  if (fd_ >= 0) close(fd_);
}

std::string PartFolder::journal_path() const { return base::Concat(path_, "/", kJournalName); }

arrow::Status PartFolder::OpenJournal() {
  const std::string path = journal_path();
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
  if (fd_ < 0) return CantWrite(path, errno);
  SyncFolder(path_);
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return arrow::Status::OK();
  if (errno != EWOULDBLOCK) return base::Io("can't lock ", path, ": ", std::strerror(errno));
  return base::MakeError(base::ErrorCode::kConflict,
                         base::Concat("another process is writing parts to ", path_,
                                      "; wait for it, or name another folder"));
}

arrow::Status PartFolder::ReadJournal() {
  constexpr size_t kChunkBytes = 1 << 16;
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    const ssize_t bytes = read(fd_, chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return base::Io("can't read ", journal_path(), ": ", std::strerror(errno));
    if (bytes == 0) break;
    journal_.append(chunk, 0, static_cast<size_t>(bytes));
  }
  journal_bytes_ = static_cast<int64_t>(journal_.size());
  return arrow::Status::OK();
}

arrow::Status PartFolder::CutJournal(int64_t bytes) {
  if (bytes == journal_bytes_) return arrow::Status::OK();
  if (ftruncate(fd_, bytes) != 0 || fsync(fd_) != 0) return CantWrite(journal_path(), errno);
  journal_bytes_ = bytes;
  return arrow::Status::OK();
}

arrow::Status PartFolder::AddLine(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  if (rest.empty() && fsync(fd_) == 0) {
    journal_bytes_ += static_cast<int64_t>(line.size());
    return arrow::Status::OK();
  }
  const arrow::Status status = CantWrite(journal_path(), errno);
  (void)!ftruncate(fd_, journal_bytes_);  // a torn line would be cut off by the next run anyway
  return status;
}

arrow::Result<std::vector<PartFile>> PartFolder::List() const {
  ARROW_ASSIGN_OR_RAISE(const auto names, NamesIn(path_, /*leftovers=*/false));
  std::vector<PartFile> files;
  for (const std::string& name : names) {
    if (name[0] == '_' || name[0] == '.') continue;
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, BytesOf(name));
    files.push_back({name, bytes});
  }
  return files;
}

arrow::Status PartFolder::RemoveLeftovers() {
  ARROW_ASSIGN_OR_RAISE(const auto names, NamesIn(path_, /*leftovers=*/true));
  for (const std::string& name : names) {
    const std::string path = base::Concat(path_, "/", name);
    if (unlink(path.c_str()) != 0) return CantWrite(path, errno);
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<TableSink>> PartFolder::OpenPart(
    const std::string& name, std::shared_ptr<arrow::Schema> schema,
    const SinkOptions& options) const {
  return OpenSink(base::Concat(path_, "/", name), std::move(schema), options);
}

arrow::Result<int64_t> PartFolder::BytesOf(const std::string& name) const {
  const std::string path = base::Concat(path_, "/", name);
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return base::Io("can't look at ", path, ": ", std::strerror(errno));
  }
  return static_cast<int64_t>(info.st_size);
}

}  // namespace kinjo::tabular
