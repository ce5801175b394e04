/// The step cache, the table of known programs, and compilation.
#include "frontend/Programs.h"

#include "frontend/Background.h"
#include "frontend/Counters.h"
#include "frontend/MissReasons.h"
#include "frontend/Numerics.h"
#include "runtime/device/Device.h"
#include "runtime/program/Numerics.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Log.h"

#include "sinter/generated/SourceDigest.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <xxhash.h>

namespace sinter::detail {

using runtime::Key;
using runtime::Program;
using ProgramRef = std::shared_ptr<const Program>;

//===- Environment --------------------------------------------------------===//

static Result<Key> makeEnvironment(DeviceId id) {
  SINTER_TRY_ASSIGN(runtime::Device * device, runtime::getDevice(id));
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(id));
  std::string text = request.target + "\n" + device->profile() + "\n" +
                     sourceDigest + "\n" + std::to_string(request.numerics) +
                     "\n" + std::to_string(request.fusion) + "\n" +
                     std::to_string(request.memoryLimit);
  if (!request.tuneOn.empty())
    text += "\ntuned";
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return Key{hash.high64, hash.low64};
}

namespace {
struct KnownEnvironment {
  DeviceId device;
  std::optional<Numerics> chosen;
  std::string numerics;
  std::string fusion;
  int64_t memoryLimit;
  bool tune;
  Key key;
};
} // namespace

Result<Key> environmentOf(DeviceId id) {
  static SINTER_THREAD_LOCAL std::unique_ptr<KnownEnvironment> last;
  if (last && last->device == id && last->chosen == chosenNumerics() &&
      last->numerics == flags().numerics && last->fusion == flags().fusion &&
      last->memoryLimit == flags().memoryLimit && last->tune == flags().tune)
    return last->key;
  SINTER_TRY_ASSIGN(Key key, makeEnvironment(id));
  last = std::make_unique<KnownEnvironment>(
      KnownEnvironment{id, chosenNumerics(), flags().numerics, flags().fusion,
                       flags().memoryLimit, flags().tune, key});
  return key;
}

Result<runtime::CompileRequest> compileRequest(DeviceId device) {
  runtime::CompileRequest request;
  SINTER_TRY_ASSIGN(Numerics mode, currentNumerics());
  request.numerics = uint8_t(mode);
  SINTER_TRY_ASSIGN(request.fusion,
                    runtime::parseFusion("SINTER_FUSION", flags().fusion));
  request.memoryLimit = flags().memoryLimit;
  SINTER_TRY_ASSIGN(runtime::Device * opened, runtime::getDevice(device));
  request.target = opened->target();
  if (flags().tune && device.kind != DeviceKind::null)
    request.tuneOn = toString(device);
  return request;
}

//===- Known programs -----------------------------------------------------===//

namespace {
struct KnownProgram {
  Key key;
  std::vector<uint32_t> encoding;
  std::weak_ptr<const Program> program;
  /// What this thread of flushes asked for next, the last time.
  std::weak_ptr<KnownProgram> successor;

  bool fits(const graph::KeyedSlice &slice) const {
    return key == slice.key() && std::ranges::equal(encoding, slice.encoding());
  }
};

struct KeyHash {
  size_t operator()(const Key &key) const { return key.low; }
};

/// The programs of this process; the program cache decides what stays loaded.
struct KnownPrograms {
  ForkMutex mutex;
  std::unordered_map<Key, std::shared_ptr<KnownProgram>, KeyHash> table;
};
} // namespace

static KnownPrograms &knownPrograms() {
  static KnownPrograms *instance = new KnownPrograms;
  return *instance;
}

/// The program that this thread's last flush ran.
static std::weak_ptr<KnownProgram> &lastProgram() {
  static SINTER_THREAD_LOCAL std::weak_ptr<KnownProgram> last;
  return last;
}

/// Written only where it changes: in a loop it seldom does.
static void assign(std::weak_ptr<KnownProgram> &to,
                   const std::shared_ptr<KnownProgram> &known) {
  if (to.owner_before(known) || known.owner_before(to))
    to = known;
}

/// Notes that `known` followed the thread's last program, if there is one.
/// Under the lock.
static void follow(const std::shared_ptr<KnownProgram> &last,
                   const std::shared_ptr<KnownProgram> &known) {
  if (last)
    assign(last->successor, known);
  assign(lastProgram(), known);
}

ProgramRef findKnown(const graph::KeyedSlice &slice) {
  KnownPrograms &all = knownPrograms();
  std::lock_guard lock(all.mutex);
  std::shared_ptr<KnownProgram> last = lastProgram().lock(), known;
  if (last)
    known = last->successor.lock();
  if (!known || !known->fits(slice)) {
    auto found = all.table.find(slice.key());
    if (found == all.table.end() || !found->second->fits(slice))
      return nullptr;
    known = found->second;
  }
  ProgramRef program = known->program.lock();
  if (!program)
    return nullptr;
  follow(last, known);
  runtime::countHit(/*onDisk=*/false);
  return program;
}

static void remember(const Key &key, std::span<const uint32_t> encoding,
                     const ProgramRef &program) {
  // Whole before it is in the table: memory may run out.
  auto fresh = std::make_shared<KnownProgram>();
  fresh->key = key;
  fresh->encoding.assign(encoding.begin(), encoding.end());
  fresh->program = program;
  KnownPrograms &all = knownPrograms();
  std::lock_guard lock(all.mutex);
  constexpr size_t mostKnown = 4096;
  if (all.table.size() >= mostKnown)
    std::erase_if(all.table, [](const auto &entry) {
      return entry.second->program.expired();
    });
  auto [entry, isNew] = all.table.try_emplace(key, fresh);
  // Others may follow to the one that is there.
  if (!isNew) {
    fresh->successor = std::move(entry->second->successor);
    *entry->second = std::move(*fresh);
  }
  follow(lastProgram().lock(), entry->second);
}

/// Counts a program that was not in memory, with what differs from the line's
/// last one.
static void countMissOf(const graph::Slice &slice, const FlushLine &line,
                        bool compiled) {
  MissReason reason = explainMiss(slice, line.site);
  countMiss(reason, line.site, compiled);
  if (compiled && line.isWhole)
    noteCompile(reason, line.site);
}

void countInterpreted(const graph::KeyedSlice &slice, const graph::Slice &graph,
                      const FlushLine &line) {
  KnownPrograms &all = knownPrograms();
  {
    std::lock_guard lock(all.mutex);
    if (all.table.contains(slice.key())) {
      runtime::countHit(/*onDisk=*/false);
      return;
    }
  }
  remember(slice.key(), slice.encoding(), nullptr);
  runtime::countCompile(0);
  countMissOf(graph, line, /*compiled=*/true);
}

//===- Compilation --------------------------------------------------------===//

runtime::Tunable tunableOf(const graph::Graph &graph,
                           const runtime::CompileRequest &request) {
  runtime::Tunable tunable;
  tunable.request = request;
  tunable.compile = [&graph](const runtime::CompileRequest &asked)
      -> Result<std::vector<std::byte>> {
    SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook,
                      runtime::compilerHook());
    return hook->compile(graph, asked);
  };
  if (request.tuneOn.empty())
    return tunable;
  for (const graph::Input &input : graph.inputs) {
    std::vector<int64_t> &dims = tunable.inputs.emplace_back();
    for (uint32_t dim : graph.values[input.value].dims)
      dims.push_back(evaluate(graph.exprs, dim, graph.symbolValues));
  }
  return tunable;
}

static Result<runtime::CachedProgram>
compileOnce(const Key &key, const graph::Graph &graph, runtime::Device &device,
            const runtime::CompileRequest &request) {
  SlowNotice notice;
  auto found = runtime::findOrTune(key, device, tunableOf(graph, request));
  notice.done([&] {
    size_t ops = graph.values.size() - graph.inputs.size();
    return fmt::format("compiling {}a program of {} ops for {}",
                       request.fusion == runtime::unfused ? "unfused " : "",
                       ops, toString(device.id()));
  });
  if (found || found.error().node >= graph.sites.size())
    return found;
  ErrorInfo error = found.takeError();
  error.site = graph.sites[error.node];
  return error;
}

/// What the fused program's key becomes for the one that answers before.
static Key unfusedKey(const Key &key) {
  constexpr uint64_t mark = 0x9e3779b97f4a7c15;
  return {key.high ^ mark, key.low};
}

/// Puts the fused program in the place of the one that answered until now.
static void replaceKnown(const Key &key, std::span<const uint32_t> encoding,
                         const ProgramRef &program) {
  KnownPrograms &all = knownPrograms();
  std::lock_guard lock(all.mutex);
  auto found = all.table.find(key);
  if (found != all.table.end() &&
      std::ranges::equal(found->second->encoding, encoding))
    found->second->program = program;
}

/// As `remember`, unless a program is known: the fused one may have come.
static void rememberUnfused(const Key &key, std::span<const uint32_t> encoding,
                            const ProgramRef &program) {
  {
    KnownPrograms &all = knownPrograms();
    std::lock_guard lock(all.mutex);
    auto found = all.table.find(key);
    if (found != all.table.end() && found->second &&
        !found->second->program.expired() &&
        std::ranges::equal(found->second->encoding, encoding))
      return follow(lastProgram().lock(), found->second);
  }
  remember(key, encoding, program);
}

/// The unfused program, while the fused one is compiled.
static Result<runtime::CachedProgram>
answerUnfused(const Key &key, std::span<const uint32_t> encoding,
              const graph::Slice &slice, runtime::Device &device,
              const runtime::CompileRequest &request, const FlushLine &line) {
  runtime::CompileRequest unfused = request;
  unfused.fusion = runtime::unfused;
  unfused.tuneOn.clear();
  SINTER_TRY_ASSIGN(runtime::CachedProgram found,
                    compileOnce(unfusedKey(key), slice.graph, device, unfused));
  countUnfusedAnswer();
  rememberUnfused(key, encoding, found.program);
  auto work = [key, request, &device, line, graph = slice.graph,
               own = std::vector<uint32_t>(encoding.begin(),
                                           encoding.end())]() -> Status {
    LogLine logLine(line.site);
    SINTER_TRY_ASSIGN(runtime::CachedProgram fused,
                      compileOnce(key, graph, device, request));
    replaceKnown(key, own, fused.program);
    return {};
  };
  compileInBackground(key, std::move(work));
  return found;
}

Result<ProgramRef> findOrCompile(const Key &key,
                                 std::span<const uint32_t> encoding,
                                 const graph::Slice &slice, DeviceId id,
                                 const FlushLine &line) {
  SINTER_TRY_ASSIGN(bool inBackground, compilesInBackground());
  SINTER_TRY_ASSIGN(runtime::Device * device, runtime::getDevice(id));
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(id));
  runtime::CachedProgram found;
  if (inBackground)
    found = runtime::findTuned(key, *device, request);
  bool isUnfused = inBackground && !found.program;
  if (isUnfused) {
    SINTER_TRY_ASSIGN(
        found, answerUnfused(key, encoding, slice, *device, request, line));
  } else if (!found.program) {
    SINTER_TRY_ASSIGN(found, compileOnce(key, slice.graph, *device, request));
  }
  if (found.source != runtime::CacheSource::memory)
    countMissOf(slice, line, found.source == runtime::CacheSource::compiled);
  if (!isUnfused)
    remember(key, encoding, found.program);
  return found.program;
}

} // namespace sinter::detail
