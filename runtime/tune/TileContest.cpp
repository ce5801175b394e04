/// Compiles, compares and times.
#include "runtime/tune/TileContest.h"

#include "runtime/graph/Elements.h"
#include "runtime/program/Program.h"
#include "runtime/support/Flags.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <memory>

using namespace sinter;
using namespace sinter::runtime;

namespace {

using Clock = std::chrono::steady_clock;

/// A tile that takes this part of the first one's time or less is better.
constexpr double leastGain = 0.97;
constexpr size_t mostRounds = 7;
/// Of a round, for which a tile runs again and again.
constexpr double roundSeconds = 3e-3;
constexpr size_t mostRuns = 64;
constexpr uint8_t exactMode = 0;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

//===- Numbers ------------------------------------------------------------===//

bool hasNumbers(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 ||
         dtype == DType::bf16;
}

/// Half of the distance from 1 to the next number.
double roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 0x1p-53;
  case DType::f32:
    return 0x1p-24;
  case DType::f16:
    return 0x1p-11;
  default:
    return 0x1p-8;
  }
}

//===- One tile -----------------------------------------------------------===//

struct Candidate {
  std::string tile;
  std::shared_ptr<const Program> program;
  std::vector<double> seconds; ///< of a run, by rounds

  double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

using HostOutputs = std::vector<std::vector<std::byte>>;

class Contest {
public:
  Contest(const TiledKernel &kernel, Device &device,
          const CompileRequest &request, std::chrono::milliseconds limit)
      : kernel(kernel), device(device), request(request),
        limit(std::chrono::duration<double>(limit).count()) {}

  Result<std::string> run();

private:
  bool isOver() const { return secondsSince(begin) >= limit; }
  Result<Candidate> compile(const std::string &tile) const;
  Status bind(const Program &program);
  Status addInput(const Program &program, const Port &port);
  Result<HostOutputs> answer(const Candidate &candidate) const;
  bool isAlike(const HostOutputs &other) const;
  void addCandidate(const std::string &tile);
  Result<double> timeRuns(const Candidate &candidate, size_t runs) const;
  Status timeAll();
  void note(const std::string &tile, const std::string &what) const;
  void report() const;

  const TiledKernel &kernel;
  Device &device;
  const CompileRequest &request;
  const double limit;
  const Clock::time_point begin = Clock::now();
  SplitMix random{0};
  std::vector<Binding> inputs;
  std::vector<Candidate> candidates;
  HostOutputs expected;
  std::vector<DType> dtypes; ///< of the outputs
  int64_t longest = 1;       ///< extent of an input
};

} // namespace

void Contest::note(const std::string &tile, const std::string &what) const {
  logWarning(fmt::format("tune: kernel {}: tile '{}' {}; it is not taken",
                         kernel.name, tile, what));
}

Result<Candidate> Contest::compile(const std::string &tile) const {
  SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
  CompileRequest own = request;
  own.debug = false;
  own.dynamic.clear();
  own.tiles.clear();
  // The first one has the code that the kernel has anyway.
  if (tile != kernel.tiles.front())
    own.tiles.push_back({kernel.name, tile});
  SINTER_TRY_ASSIGN(std::vector<std::byte> file,
                    hook->compileKernel(kernel.text, own));
  Candidate candidate{tile, nullptr, {}};
  SINTER_TRY_ASSIGN(candidate.program, Program::load(file, device));
  return candidate;
}

// Neighbours repeat after a prime number of elements, so that no row is like
// another one.
Status Contest::addInput(const Program &program, const Port &port) {
  constexpr size_t mostElements = 1048573;
  Binding binding;
  for (uint32_t dim : port.dims) {
    binding.dims.push_back(evaluate(program.exprs(), dim, kernel.symbols));
    longest = std::max(longest, binding.dims.back());
  }
  std::optional<size_t> count = elementsOf(binding.dims);
  if (!count)
    return makeError(ErrorKind::invalid_argument,
                     "tune: kernel " + kernel.name + ": an input has no size");
  std::vector<std::byte> some =
      randomElements(port.dtype, std::min(*count, mostElements), random);
  size_t bytes = *count * byteWidth(port.dtype);
  SINTER_TRY_ASSIGN(binding.buffer, device.allocate(bytes));
  for (size_t at = 0; at < bytes; at += some.size())
    SINTER_TRY(device.copyIn(
        *binding.buffer, at,
        std::span(some).first(std::min(some.size(), bytes - at))));
  inputs.push_back(std::move(binding));
  return {};
}

Status Contest::bind(const Program &program) {
  for (const Port &port : program.inputs())
    SINTER_TRY(addInput(program, port));
  for (const Port &port : program.outputs())
    dtypes.push_back(port.dtype);
  return {};
}

Result<HostOutputs> Contest::answer(const Candidate &candidate) const {
  SINTER_TRY_ASSIGN(std::vector<Output> outputs,
                    runtime::run(*candidate.program, inputs));
  HostOutputs host;
  for (size_t i = 0; i < outputs.size(); ++i) {
    size_t bytes = std::max<size_t>(1, byteWidth(dtypes[i]));
    for (int64_t dim : outputs[i].dims)
      bytes *= size_t(dim);
    host.emplace_back(bytes);
    SINTER_TRY(device.copyOut(host.back(), *outputs[i].buffer, 0));
  }
  return host;
}

bool Contest::isAlike(const HostOutputs &other) const {
  for (size_t i = 0; i < expected.size(); ++i)
    if (request.numerics == exactMode
            ? expected[i] != other[i]
            : !agree(expected[i], other[i], dtypes[i], longest))
      return false;
  return true;
}

void Contest::addCandidate(const std::string &tile) {
  Result<Candidate> candidate = compile(tile);
  if (!candidate)
    return note(tile, "is not compiled (" + candidate.error().message + ")");
  Result<HostOutputs> found = answer(*candidate);
  if (!found)
    return note(tile, "does not run (" + found.error().message + ")");
  if (!isAlike(*found))
    return note(tile, "gives other results");
  // What takes so long is not timed as well.
  if (isOver())
    return;
  candidates.push_back(std::move(*candidate));
}

Result<double> Contest::timeRuns(const Candidate &candidate,
                                 size_t runs) const {
  SINTER_TRY(device.synchronize());
  Clock::time_point start = Clock::now();
  for (size_t i = 0; i < runs; ++i)
    SINTER_TRY(runtime::run(*candidate.program, inputs));
  SINTER_TRY(device.synchronize());
  return secondsSince(start) / double(runs);
}

// In rounds, so that all tiles meet what changes with time. Two runs come
// before, in which a device may record the work.
Status Contest::timeAll() {
  std::vector<size_t> runs;
  for (const Candidate &candidate : candidates) {
    SINTER_TRY_ASSIGN(double seconds, timeRuns(candidate, 2));
    runs.push_back(std::clamp<size_t>(
        size_t(roundSeconds / std::max(seconds, 1e-9)), 1, mostRuns));
  }
  Clock::time_point start = Clock::now();
  auto isLate = [&] { return secondsSince(start) >= limit / 2; };
  for (size_t round = 0; round < mostRounds && (round == 0 || !isLate());
       ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      SINTER_TRY_ASSIGN(double seconds, timeRuns(candidates[i], runs[i]));
      candidates[i].seconds.push_back(seconds);
    }
  return {};
}

void Contest::report() const {
  if (!flags().time)
    return;
  for (const Candidate &candidate : candidates)
    fmt::print(stderr, "sinter: tune: {} '{}': {:.1f} us\n", kernel.name,
               candidate.tile, candidate.median() * 1e6);
}

Result<std::string> Contest::run() {
  const std::string &first = kernel.tiles.front();
  SINTER_TRY_ASSIGN(Candidate unasked, compile(first));
  SINTER_TRY(bind(*unasked.program));
  SINTER_TRY_ASSIGN(expected, answer(unasked));
  candidates.push_back(std::move(unasked));
  for (const std::string &tile : std::span(kernel.tiles).subspan(1))
    if (!isOver())
      addCandidate(tile);
  if (candidates.size() == 1)
    return first;
  SINTER_TRY(timeAll());
  report();
  auto best = std::ranges::min_element(
      candidates, {}, [](const Candidate &each) { return each.median(); });
  bool isBetter = best->median() < leastGain * candidates.front().median();
  return isBetter ? best->tile : first;
}

Result<std::string>
sinter::runtime::fastestTile(const TiledKernel &kernel, Device &device,
                             const CompileRequest &request,
                             std::chrono::milliseconds limit) {
  return Contest(kernel, device, request, limit).run();
}

bool sinter::runtime::agree(std::span<const std::byte> a,
                            std::span<const std::byte> b, DType dtype,
                            int64_t depth) {
  if (a.size() != b.size())
    return false;
  if (!hasNumbers(dtype))
    return std::ranges::equal(a, b);
  size_t width = byteWidth(dtype);
  double largest = 0;
  for (size_t at = 0; at < a.size(); at += width)
    if (double x = std::abs(loadNumber(&a[at], dtype)); std::isfinite(x))
      largest = std::max(largest, x);
  double most = largest * (8 * roundingOf(dtype) +
                           4 * std::sqrt(double(depth)) * 0x1p-24);
  for (size_t at = 0; at < a.size(); at += width) {
    double x = loadNumber(&a[at], dtype), y = loadNumber(&b[at], dtype);
    bool isAlike =
        x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= most;
    if (!isAlike)
      return false;
  }
  return true;
}
