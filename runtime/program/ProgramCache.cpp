/// Memory, then disk, then the compiler, once per key.
#include "runtime/program/ProgramCache.h"

#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/Fork.h"
#include "runtime/support/LruCache.h"
#include "sinter/runtime/Log.h"

#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr size_t memoryLimitBytes = size_t(256) << 20;

struct Slot {
  Key key;
  Device *device = nullptr;
  bool operator==(const Slot &) const = default;
};

struct SlotHash {
  size_t operator()(const Slot &slot) const {
    return size_t(slot.key.low ^ std::hash<Device *>()(slot.device));
  }
};

using ProgramRef = std::shared_ptr<const Program>;

/// A key that one thread is finding while others wait.
struct Pending {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<ProgramRef>> result;
};

struct Caches {
  LruCache<Slot, ProgramRef, SlotHash> memory{memoryLimitBytes};
  ForkMutex pendingMutex;
  std::unordered_map<Slot, std::shared_ptr<Pending>, SlotHash> pending;
};

Caches &caches() {
  static auto *all = new Caches();
  return *all;
}

using CompileFunction = std::function<Result<std::vector<std::byte>>()>;

/// Null when it is absent; a broken one is an error and removed.
Result<ProgramRef> loadFromDisk(const DiskCache &disk, const Slot &slot) {
  SINTER_TRY_ASSIGN(auto file, disk.findFile(CacheKind::program, slot.key));
  if (!file)
    return ProgramRef();
  auto program =
      loadProgram(*std::move(file), *slot.device, disk.programPath(slot.key));
  if (!program && program.error().kind != ErrorKind::out_of_memory)
    disk.removeBytes(CacheKind::program, slot.key);
  return program;
}

/// Null when the disk has none; trouble is a warning.
ProgramRef findOnDisk(const Slot &slot) {
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepareOrWarn())
    return nullptr;
  auto found = loadFromDisk(disk, slot);
  if (found)
    return *found;
  logWarning(found.error().message + "; compiling again");
  return nullptr;
}

void storeOnDisk(const Slot &slot, std::span<const std::byte> file) {
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepare())
    return; // findOnDisk has warned
  if (Status stored = disk.storeProgram(slot.key, file); !stored)
    logWarning(stored.error().message + "; the program is not kept");
}

Result<CachedProgram> findOrMake(const Slot &slot,
                                 const CompileFunction &compile) {
  if (ProgramRef program = caches().memory.find(slot))
    return CachedProgram{program, CacheSource::memory};
  if (ProgramRef program = findOnDisk(slot)) {
    caches().memory.insert(slot, program, program->residentBytes());
    return CachedProgram{program, CacheSource::disk};
  }
  auto start = std::chrono::steady_clock::now();
  SINTER_TRY_ASSIGN(std::vector<std::byte> file, compile());
  std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  countCompile(took.count());
  SINTER_TRY_ASSIGN(ProgramRef program, Program::load(file, *slot.device));
  storeOnDisk(slot, file);
  caches().memory.insert(slot, program, program->residentBytes());
  return CachedProgram{program, CacheSource::compiled};
}

Result<CachedProgram> waitFor(Pending &pending) {
  std::unique_lock lock(pending.mutex);
  pending.changed.wait(lock, [&] { return pending.result.has_value(); });
  if (!*pending.result)
    return pending.result->error();
  return CachedProgram{**pending.result, CacheSource::memory};
}

void publish(const Slot &slot, Pending &pending,
             const Result<CachedProgram> &made) {
  {
    std::lock_guard lock(caches().pendingMutex);
    caches().pending.erase(slot);
  }
  std::lock_guard lock(pending.mutex);
  try {
    if (made)
      pending.result.emplace(made->program);
    else
      pending.result.emplace(made.error());
  } catch (...) { // the copy of a text
    pending.result.emplace(exhausted());
  }
  pending.changed.notify_all();
}

} // namespace

std::shared_ptr<const Program> sinter::runtime::findInMemory(const Key &key,
                                                             Device &device) {
  ProgramRef program = caches().memory.find({key, &device});
  if (program)
    countHit(/*onDisk=*/false);
  return program;
}

Result<CachedProgram>
sinter::runtime::findOrCompile(const Key &key, Device &device,
                               const CompileFunction &compile) {
  if (ProgramRef program = findInMemory(key, device))
    return CachedProgram{program, CacheSource::memory};
  Slot slot{key, &device};
  std::shared_ptr<Pending> pending;
  bool first = false;
  {
    auto own = std::make_shared<Pending>();
    std::lock_guard lock(caches().pendingMutex);
    auto [entry, isNew] = caches().pending.try_emplace(slot, std::move(own));
    first = isNew;
    pending = entry->second;
  }
  if (!first) {
    Result<CachedProgram> found = waitFor(*pending);
    if (found)
      countHit(/*onDisk=*/false);
    return found;
  }
  Result<CachedProgram> made =
      orExhausted([&] { return findOrMake(slot, compile); });
  publish(slot, *pending, made);
  if (made && made->source != CacheSource::compiled)
    countHit(made->source == CacheSource::disk);
  return made;
}

CachedProgram sinter::runtime::findCached(const Key &key, Device &device) {
  if (ProgramRef program = findInMemory(key, device))
    return {program, CacheSource::memory};
  Slot slot{key, &device};
  ProgramRef program = findOnDisk(slot);
  if (program) {
    caches().memory.insert(slot, program, program->residentBytes());
    countHit(/*onDisk=*/true);
  }
  return {program, CacheSource::disk};
}

CacheInfo sinter::runtime::diskCacheInfo() {
  return DiskCache::fromEnvironment().info();
}

Result<uint64_t> sinter::runtime::clearDiskCache() {
  return DiskCache::fromEnvironment().clear();
}

Result<std::vector<std::string>> sinter::runtime::verifyDiskCache() {
  return DiskCache::fromEnvironment().verify(
      [](CacheKind kind, std::span<const std::byte> bytes) {
        return kind != CacheKind::program || readModel(bytes).ok();
      });
}

std::string sinter::runtime::diskCachePath(const Key &key) {
  DiskCache disk = DiskCache::fromEnvironment();
  return disk.prepare() ? disk.programPath(key) : std::string();
}

void sinter::runtime::clearMemoryCache() { caches().memory.clear(); }
