// How many local files are open at the same time: a dataset may have more files than a process may
// hold descriptors, so the one that rested longest is closed and opened again when it is read.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace kinjo::io {

/// An open descriptor; closes it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

/// Keeps the descriptors that were used last. Thread-safe. One that falls out is closed when the
/// last who holds it lets go.
class DescriptorCache {
 public:
  using Owner = const void*;

  explicit DescriptorCache(size_t capacity) : capacity_(capacity) {}

  /// The cache of this process.
  static DescriptorCache& Process();

  /// The descriptor of `owner`, now the last used; null when it has none (any more).
  std::shared_ptr<Descriptor> Find(Owner owner);
  /// Gives `owner` a descriptor in place of what it had.
  void Put(Owner owner, std::shared_ptr<Descriptor> descriptor);
  void Remove(Owner owner);

 private:
  struct Entry {
    Owner owner;
    std::shared_ptr<Descriptor> descriptor;
  };

  const size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<Owner, std::list<Entry>::iterator> places_;
};

}  // namespace kinjo::io
