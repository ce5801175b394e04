/// KernelCache: the code of kernels seen before, in memory and on disk.
#pragma once

#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/target/Target.h"
#include "runtime/files/DiskCache.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// One compilation's view of the cache. A kernel's code depends on its
/// canonical text (which holds its schedule, and neither sites nor a name of
/// somebody's choice), the features it may use, the numerics mode and this
/// compiler, so equal kernels of any programs, and of processes that share a
/// disk cache, are compiled once. Trouble with the disk is a counted warning.
class KernelCache {
public:
  using Code = std::shared_ptr<const KernelCode>;

  KernelCache(const Target &target, const EmitOptions &options);
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;
  /// Lets others compile what was claimed and not inserted.
  ~KernelCache();

  /// Null when the kernel must be compiled. Counts what it finds.
  Code find(std::string_view text);
  /// Whether this compilation may compile the kernel: false while another one
  /// of the process does.
  bool claim(std::string_view text);
  /// Waits while another compilation of the process compiles the kernel. Only
  /// for those who hold no claim, or two might wait for each other.
  void await(std::string_view text);
  /// Keeps a compiled kernel, and counts it. Ends a claim.
  void insert(std::string_view text, Code code);

private:
  std::string keyOf(std::string_view text) const;
  void release(const std::string &key);
  /// Lets others have what this one claimed. Takes no memory.
  static void endClaim(std::set<std::string>::node_type claim);
  Code findOnDisk(const std::string &key);
  void storeOnDisk(const std::string &key, const KernelCode &code);
  /// Null when the disk cache cannot be used.
  const runtime::DiskCache *usableDisk();

  std::string environment; ///< what a key says before the text
  bool withTexts;          ///< only memory keeps these
  std::set<std::string> claimed;
  std::optional<runtime::DiskCache> disk; ///< opened when it is first needed
  bool diskUsable = false;
};

} // namespace sinter::compiler
