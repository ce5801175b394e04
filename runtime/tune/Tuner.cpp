/// From a program to its products, their tiles, and the program with those.
#include "runtime/tune/Tuner.h"

#include "runtime/program/Bind.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Program.h"
#include "runtime/program/ProgramData.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/support/Key.h"
#include "runtime/tune/TileContest.h"
#include "sinter/runtime/Log.h"

#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <set>

using namespace sinter;
using namespace sinter::runtime;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds limitOfProduct{2000};
constexpr std::chrono::milliseconds limitOfProgram{60000};
/// Of a symbol that nothing is known of.
constexpr int64_t manyRows = 4096;

/// Of kernels that have choices, as model files say it; products first, which
/// take most of the time.
constexpr std::string_view kinds[] = {"contraction", "reduce", "rowwise"};

/// What a program's choices are kept under, and what the program is.
Key keyOfChoices(const Key &key, const Device &device) {
  return keyOfText(toHex(key) + " tiles on " + device.description());
}
Key keyWith(const Key &key, const TileChoices &tiles) {
  return keyOfText(toHex(key) + " with " + toText(tiles));
}

/// What is found for a program, and whether that is all there is to find.
struct Found {
  TileChoices tiles;
  bool isComplete = true;
};

/// Tunes one program.
class Tuner {
public:
  Tuner(const CompilerHook &hook, Device &device, const Tunable &tunable)
      : hook(hook), device(device), tunable(tunable) {}

  Result<Found> run(std::span<const std::byte> file);

private:
  Status readSymbols();
  Status tuneLaunch(const StepData &step);
  Key keyOfKernel(const TiledKernel &kernel) const;

  const CompilerHook &hook;
  Device &device;
  const Tunable &tunable;
  const Clock::time_point begin = Clock::now();
  ProgramData program;
  std::vector<int64_t> symbols;
  Found found;
};

} // namespace

Status Tuner::readSymbols() {
  symbols.assign(program.numSymbols, manyRows);
  if (tunable.inputs.size() != program.inputs.size())
    return {};
  std::vector<Binding> bindings(program.inputs.size());
  for (size_t i = 0; i < bindings.size(); ++i)
    bindings[i].dims = tunable.inputs[i];
  SINTER_TRY_ASSIGN(DimBinder binder, DimBinder::make(program));
  return binder.bind(program, bindings, symbols);
}

// The shape class of sizes that are no part of the text: to a power of two.
Key Tuner::keyOfKernel(const TiledKernel &kernel) const {
  std::string text = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n", hook.digest(), tunable.request.target,
      device.profile(), device.description(), tunable.request.numerics);
  for (int64_t value : kernel.symbols)
    text += fmt::format("{} ", std::bit_ceil(uint64_t(value)));
  return keyOfText(text + "\n" + kernel.text);
}

Status Tuner::tuneLaunch(const StepData &step) {
  const KernelData &data = program.kernels[step.kernel];
  TiledKernel kernel{data.name, data.text, {}, {}};
  for (uint32_t dim : step.dims)
    kernel.symbols.push_back(evaluate(program.exprs, dim, symbols));
  Key key = keyOfKernel(kernel);
  if (auto known = findTiles(key)) {
    found.tiles.insert(found.tiles.end(), known->begin(), known->end());
    return {};
  }
  SINTER_TRY_ASSIGN(kernel.tiles,
                    hook.kernelTiles(kernel.text, tunable.request));
  TileChoices tiles;
  if (kernel.tiles.size() > 1) {
    if (Clock::now() - begin >= limitOfProgram) {
      found.isComplete = false;
      return {};
    }
    auto fastest = fastestTile(kernel, device, tunable.request, limitOfProduct);
    if (!fastest) {
      logWarning(fmt::format("tune: kernel {}: {}; it keeps its tile",
                             kernel.name, fastest.error().message));
      found.isComplete = false;
      return {};
    }
    if (*fastest != kernel.tiles.front())
      tiles.push_back({kernel.name, *fastest});
  }
  keepTiles(key, tiles);
  found.tiles.insert(found.tiles.end(), tiles.begin(), tiles.end());
  return {};
}

Result<Found> Tuner::run(std::span<const std::byte> file) {
  // Where it does not run, nothing can be timed.
  SINTER_TRY(Program::load(file, device));
  SINTER_TRY_ASSIGN(ModelFile model, readModel(file));
  SINTER_TRY_ASSIGN(program, verifyProgram(model, 0));
  SINTER_TRY(readSymbols());
  std::set<uint32_t> seen;
  for (std::string_view kind : kinds)
    for (const StepData &step : program.steps)
      if (step.isLaunch() && program.kernels[step.kernel].kind == kind &&
          seen.insert(step.kernel).second)
        SINTER_TRY(tuneLaunch(step));
  return std::move(found);
}

static std::mutex &oneAtATime() {
  static auto *mutex = new std::mutex();
  return *mutex;
}

// Under the lock.
static Result<Found> findAll(Device &device, const Tunable &tunable) {
  SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
  SINTER_TRY_ASSIGN(std::vector<std::byte> file,
                    tunable.compile(tunable.request));
  return Tuner(*hook, device, tunable).run(file);
}

Result<CompileRequest> sinter::runtime::tuned(const Tunable &tunable) {
  CompileRequest request = tunable.request;
  if (request.tuneOn.empty())
    return request;
  SINTER_TRY_ASSIGN(DeviceId id, parseDevice(request.tuneOn));
  SINTER_TRY_ASSIGN(Device * device, getDevice(id));
  std::lock_guard lock(oneAtATime());
  SINTER_TRY_ASSIGN(Found found, findAll(*device, tunable));
  request.tiles = std::move(found.tiles);
  return request;
}

Result<std::vector<std::byte>>
sinter::runtime::compileTuned(const Tunable &tunable) {
  SINTER_TRY_ASSIGN(CompileRequest request, tuned(tunable));
  return tunable.compile(request);
}

// Those kept for the program, or found now.
static Result<TileChoices> choicesFor(const Key &key, Device &device,
                                      const Tunable &tunable) {
  if (auto known = findTiles(key))
    return *known;
  std::lock_guard lock(oneAtATime());
  if (auto known = findTiles(key))
    return *known;
  SINTER_TRY_ASSIGN(Found found, findAll(device, tunable));
  if (found.isComplete)
    keepTiles(key, found.tiles);
  return std::move(found.tiles);
}

Result<CachedProgram> sinter::runtime::findOrTune(const Key &key,
                                                  Device &device,
                                                  const Tunable &tunable) {
  if (tunable.request.tuneOn.empty())
    return findOrCompile(key, device,
                         [&] { return tunable.compile(tunable.request); });
  CompileRequest request = tunable.request;
  SINTER_TRY_ASSIGN(request.tiles,
                    choicesFor(keyOfChoices(key, device), device, tunable));
  return findOrCompile(keyWith(key, request.tiles), device,
                       [&] { return tunable.compile(request); });
}

CachedProgram sinter::runtime::findTuned(const Key &key, Device &device,
                                         const CompileRequest &request) {
  if (request.tuneOn.empty())
    return findCached(key, device);
  auto tiles = findTiles(keyOfChoices(key, device));
  return tiles ? findCached(keyWith(key, *tiles), device) : CachedProgram{};
}
