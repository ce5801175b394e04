/// Remembers, for each source expression, the numbers and extents it showed.
#include "frontend/SiteMemory.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
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
  std::mutex mutex;
  std::map<ExpressionKey, std::unique_ptr<std::atomic<uint8_t>>> states;
};

struct CacheEntry {
  const char *file = nullptr;
  uint32_t line = 0;
  uint32_t column = 0;
  std::atomic<uint8_t> *state = nullptr;
};

/// What leaves of one expression have in common: dtype and all axes but one.
struct LeafFamily {
  DType dtype;
  std::vector<int64_t> otherAxes;
  int64_t extent;
  bool symbolic = false;
};
struct LeafTable {
  std::mutex mutex;
  std::map<ExpressionKey, std::vector<LeafFamily>> families;
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
  static thread_local CacheEntry cache[slots];
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

bool hasSymbolicAxis(const std::source_location &where, DType dtype,
                     std::span<const Dim> dims) {
  if (dims.empty() || where.line() == 0)
    return false;
  std::vector<int64_t> others;
  for (Dim dim : dims.subspan(1))
    others.push_back(dim.value);
  static LeafTable *table = new LeafTable;
  std::lock_guard lock(table->mutex);
  auto &families =
      table->families[{where.file_name(), where.line(), where.column()}];
  for (LeafFamily &family : families) {
    if (family.dtype != dtype || family.otherAxes != others)
      continue;
    family.symbolic |= family.extent != dims[0].value;
    return family.symbolic;
  }
  constexpr size_t mostFamilies = 256;
  if (families.size() < mostFamilies)
    families.push_back({dtype, std::move(others), dims[0].value});
  return false;
}

} // namespace sinter::detail
