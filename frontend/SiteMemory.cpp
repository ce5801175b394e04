/// Remembers, for each source expression, the numbers, starts and extents it
/// showed.
#include "frontend/SiteMemory.h"

#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sinter::detail {

namespace {
/// The numbers that are static while alone; the state of an expression is 0
/// (nothing shown), the index of one of these plus 1, or `varied`.
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double staticNumbers[] = {0, 1, -1, 2, 0.5, infinity, -infinity};
constexpr uint8_t varied = 255;

using ExpressionKey = std::tuple<std::string_view, uint32_t, uint32_t>;
struct NumberTable {
  ForkMutex mutex;
  std::map<ExpressionKey, std::unique_ptr<std::atomic<uint8_t>>> states;
};

struct CacheEntry {
  const char *file = nullptr;
  uint32_t line = 0;
  uint32_t column = 0;
  std::atomic<uint8_t> *state = nullptr;
};

/// Shapes of one dtype that differ along some axes only.
struct ShapeFamily {
  DType dtype;
  std::vector<int64_t> dims; ///< one of them
  AxisSet varied = 0;        ///< the axes that differ
};
/// The families of the data of one expression.
class DataSite {
public:
  AxisSet show(DType dtype, std::span<const Dim> dims, AxisSet varied);

private:
  std::vector<ShapeFamily> families;
};

using ResultKey = std::pair<SiteId, graph::OpId>;
struct DataTable {
  ForkMutex mutex;
  std::map<ExpressionKey, DataSite> leaves;
  std::map<ResultKey, DataSite> results;
};

/// What varies of the starts at one expression, for all threads.
using VaryingStarts = std::atomic<AxisSet>;
struct StartTable {
  ForkMutex mutex;
  std::map<ExpressionKey, std::unique_ptr<VaryingStarts>> sites;
};

/// Starts and sizes of one slice.
struct ShownSlice {
  std::vector<int64_t> starts, sizes;
};
/// The slices that a thread has recorded at one expression: since the
/// evaluation `last`, and between the ones before it.
struct SliceSequence {
  VaryingStarts *varying = nullptr;
  uint64_t last = 0;
  std::vector<ShownSlice> now, before;
};
struct ThreadSlices {
  uint64_t evaluations = 1;
  std::map<ExpressionKey, SliceSequence> sequences;
};
} // namespace

static std::atomic<uint8_t> *numberState(const char *file, uint32_t line,
                                         uint32_t column) {
  static NumberTable *table = new NumberTable;
  std::lock_guard lock(table->mutex);
  auto &state = table->states[{file, line, column}];
  if (!state)
    state = std::make_unique<std::atomic<uint8_t>>(0);
  return state.get();
}

bool isStaticNumber(const std::source_location &where, unsigned operand,
                    Number value) {
  constexpr size_t slots = 256;
  using Cache = std::array<CacheEntry, slots>;
  static SINTER_THREAD_LOCAL Cache *threadCache;
  if (!threadCache) [[unlikely]] {
    threadCache = new Cache;
    static thread_local ThreadOwner<Cache> owner(threadCache);
  }
  Cache &cache = *threadCache;
  const char *file = where.file_name();
  uint32_t line = where.line();
  uint32_t column = where.column() * 8 + operand;
  CacheEntry &entry = cache[(line * 131 + column) % slots];
  if (entry.file != file || entry.line != line || entry.column != column)
    entry = {file, line, column, numberState(file, line, column)};

  bool isNegativeZero =
      value.isReal && value.real == 0 && std::signbit(value.real);
  uint8_t shown = varied;
  for (size_t i = 0; i < std::size(staticNumbers); ++i)
    if (value.asReal() == staticNumbers[i] && !isNegativeZero)
      shown = static_cast<uint8_t>(i + 1);
  uint8_t before = entry.state->load(std::memory_order_relaxed);
  if (before == 0)
    entry.state->compare_exchange_strong(before, shown,
                                         std::memory_order_relaxed);
  if (before == 0 || before == shown)
    return shown != varied;
  entry.state->store(varied, std::memory_order_relaxed);
  return false;
}

//===- Axes of data -------------------------------------------------------===//

/// The axes along which dims differ from the family's; all when that is no
/// family of theirs.
static AxisSet differing(const ShapeFamily &family, DType dtype,
                         std::span<const Dim> dims) {
  if (family.dtype != dtype || family.dims.size() != dims.size())
    return ~AxisSet(0);
  AxisSet axes = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (family.dims[i] != dims[i].value)
      axes |= AxisSet(1) << i;
  return axes;
}

AxisSet DataSite::show(DType dtype, std::span<const Dim> dims, AxisSet varied) {
  ShapeFamily *nearest = nullptr;
  int least = 2; // axes that are new; more make another family
  for (ShapeFamily &family : families) {
    AxisSet differ = differing(family, dtype, dims);
    int added =
        differ == ~AxisSet(0) ? 32 : std::popcount(differ & ~family.varied);
    if (added >= least)
      continue;
    nearest = &family;
    least = added;
  }
  if (nearest) {
    nearest->varied |= differing(*nearest, dtype, dims) | varied;
    return nearest->varied;
  }
  constexpr size_t mostFamilies = 256;
  ShapeFamily family{dtype, {}, varied};
  for (Dim dim : dims)
    family.dims.push_back(dim.value);
  if (families.size() < mostFamilies)
    families.push_back(std::move(family));
  return varied;
}

static DataTable &dataTable() {
  static DataTable *table = new DataTable;
  return *table;
}

AxisSet symbolicAxes(const std::source_location &where, DType dtype,
                     std::span<const Dim> dims) {
  if (dims.empty() || where.line() == 0)
    return 0;
  DataTable &table = dataTable();
  std::lock_guard lock(table.mutex);
  return table.leaves[{where.file_name(), where.line(), where.column()}].show(
      dtype, dims, 0);
}

AxisSet symbolicAxes(SiteId site, graph::OpId op, DType dtype,
                     std::span<const Dim> dims, AxisSet varied) {
  if (dims.empty() || site == 0)
    return 0;
  DataTable &table = dataTable();
  std::lock_guard lock(table.mutex);
  return table.results[{site, op}].show(dtype, dims, varied);
}

//===- Starts of slices ---------------------------------------------------===//

static ThreadSlices &threadSlices() {
  static SINTER_THREAD_LOCAL auto slices = std::make_unique<ThreadSlices>();
  return *slices;
}

void noteEvaluation() { ++threadSlices().evaluations; }

static VaryingStarts *varyingState(const ExpressionKey &key) {
  static StartTable *table = new StartTable;
  std::lock_guard lock(table->mutex);
  auto &state = table->sites[key];
  if (!state)
    state = std::make_unique<VaryingStarts>(0);
  return state.get();
}

AxisSet varyingStarts(const std::source_location &where,
                      std::span<const int64_t> starts,
                      std::span<const int64_t> sizes) {
  if (where.line() == 0)
    return 0;
  ThreadSlices &slices = threadSlices();
  ExpressionKey key{where.file_name(), where.line(), where.column()};
  SliceSequence &sequence = slices.sequences[key];
  if (!sequence.varying)
    sequence.varying = varyingState(key);
  if (sequence.last != slices.evaluations) {
    sequence.before = std::exchange(sequence.now, {});
    sequence.last = slices.evaluations;
  }
  size_t position = sequence.now.size();
  constexpr size_t mostSlices = 4096; // of one expression in one program
  if (position < mostSlices)
    sequence.now.push_back(
        {{starts.begin(), starts.end()}, {sizes.begin(), sizes.end()}});
  if (position >= sequence.before.size())
    return sequence.varying->load(std::memory_order_relaxed);
  const ShownSlice &shown = sequence.before[position];
  AxisSet varied = 0;
  if (std::ranges::equal(shown.sizes, sizes) &&
      shown.starts.size() == starts.size())
    for (size_t i = 0; i < starts.size(); ++i)
      if (shown.starts[i] != starts[i])
        varied |= AxisSet(1) << i;
  if (!varied)
    return sequence.varying->load(std::memory_order_relaxed);
  return sequence.varying->fetch_or(varied, std::memory_order_relaxed) | varied;
}

} // namespace sinter::detail
