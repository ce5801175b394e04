/// Memory, then disk. This file is compiled with exceptions: locks and claims
/// are given up when memory runs out.
#include "compiler/KernelCache.h"
#include "compiler/Compiler.h"
#include "compiler/package/KernelFile.h"
#include "runtime/program/Stats.h"
#include "runtime/support/LruCache.h"
#include "sinter/runtime/Log.h"

#include "llvm/Support/FormatVariadic.h"

#include <cassert>
#include <condition_variable>
#include <mutex>

namespace sinter::compiler {

using runtime::CacheSource;

static constexpr size_t memoryLimitBytes = size_t(64) << 20;

// Never destroyed: threads may still compile while the process ends. Made when
// the library is loaded, so that no thread can meet it half-made.
static auto &inMemory =
    *new LruCache<std::string, KernelCache::Code>(memoryLimitBytes);

namespace {

/// The keys that some compilation of the process is making.
struct InProgress {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> keys;
};

} // namespace

static auto &inProgress = *new InProgress;

KernelCache::KernelCache(const Target &target, const EmitOptions &options)
    : withTexts(options.keepText || options.lowerOnly) {
  std::string_view kind = target.name();
  environment = llvm::formatv("{0}|{1}|{2}|{3}|{4}{5}|", digest(),
                              kind.substr(0, kind.find(':')),
                              target.requirements(), unsigned(options.numerics),
                              options.keepText, options.lowerOnly);
  // Tiles are chosen by them, and how sums are cut.
  for (const MachineModel *machine :
       {&target.machines().own, &target.machines().usual})
    for (const MachineField &field : machineFields())
      environment += std::to_string(machine->*field.value).append("|");
}

KernelCache::~KernelCache() {
  while (!claimed.empty())
    endClaim(claimed.extract(claimed.begin()));
}

std::string KernelCache::keyOf(std::string_view text) const {
  return environment + std::string(text);
}

bool KernelCache::claim(std::string_view text) {
  std::set<std::string> own{keyOf(text)};
  std::lock_guard lock(inProgress.mutex);
  if (inProgress.keys.contains(*own.begin()))
    return false;
  claimed.insert(*own.begin());
  inProgress.keys.merge(own); // takes no memory
  return true;
}

void KernelCache::await(std::string_view text) {
  assert(claimed.empty() && "others may wait for what is claimed");
  std::string key = keyOf(text);
  std::unique_lock lock(inProgress.mutex);
  inProgress.changed.wait(lock, [&] { return !inProgress.keys.contains(key); });
}

void KernelCache::release(const std::string &key) {
  if (auto found = claimed.find(key); found != claimed.end())
    endClaim(claimed.extract(found));
}

void KernelCache::endClaim(std::set<std::string>::node_type claim) {
  {
    std::lock_guard lock(inProgress.mutex);
    inProgress.keys.erase(claim.value());
  }
  inProgress.changed.notify_all();
}

static size_t bytesOf(std::string_view key, const KernelCode &code) {
  return key.size() + code.object.size() + code.loweredText.size() +
         code.llvmText.size() + code.asmText.size();
}

const runtime::DiskCache *KernelCache::usableDisk() {
  if (!disk) {
    disk = runtime::DiskCache::fromEnvironment();
    diskUsable = disk->prepareOrWarn();
  }
  return diskUsable ? &*disk : nullptr;
}

KernelCache::Code KernelCache::findOnDisk(const std::string &key) {
  const runtime::DiskCache *files = usableDisk();
  if (!files)
    return nullptr;
  auto bytes =
      files->findBytes(runtime::CacheKind::kernel, runtime::keyOfText(key));
  if (!bytes) {
    logWarning(bytes.error().message + "; compiling the kernel again");
    return nullptr;
  }
  if (!*bytes)
    return nullptr;
  auto code = readKernel(key, **bytes);
  if (code)
    return std::make_shared<const KernelCode>(std::move(*code));
  logWarning(
      files->bytesPath(runtime::CacheKind::kernel, runtime::keyOfText(key)) +
      ": " + code.error().message + "; compiling the kernel again");
  files->removeBytes(runtime::CacheKind::kernel, runtime::keyOfText(key));
  return nullptr;
}

void KernelCache::storeOnDisk(const std::string &key, const KernelCode &code) {
  const runtime::DiskCache *files = usableDisk();
  if (!files)
    return;
  if (Status stored =
          files->storeBytes(runtime::CacheKind::kernel, runtime::keyOfText(key),
                            writeKernel(key, code));
      !stored) {
    logWarning(stored.error().message + "; kernels are not kept");
    diskUsable = false; // one warning for all kernels of this compilation
  }
}

KernelCache::Code KernelCache::find(std::string_view text) {
  std::string key = keyOf(text);
  Code code = inMemory.find(key);
  CacheSource source = CacheSource::memory;
  if (!code && !withTexts) {
    code = findOnDisk(key);
    source = CacheSource::disk;
    if (code)
      inMemory.insert(key, code, bytesOf(key, *code));
  }
  if (code) {
    runtime::countKernel(source);
    release(key);
  }
  return code;
}

void KernelCache::insert(std::string_view text, Code code) {
  std::string key = keyOf(text);
  runtime::countKernel(CacheSource::compiled);
  if (!withTexts)
    storeOnDisk(key, *code);
  size_t bytes = bytesOf(key, *code);
  inMemory.insert(key, std::move(code), bytes);
  release(key);
}

} // namespace sinter::compiler
