/// PassedValues: what the parts of an entry give to those after them.
///
/// Where values decide a size, an entry is several programs: one computes the
/// values, and those behind it take them in the size that they say.
#pragma once

#include "runtime/program/ModelInfo.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sinter::runtime {

/// Of one run.
class PassedValues {
public:
  /// What the next part gave, all of it.
  void add(std::vector<Output> outputs);
  /// Binds the passed inputs of an entry or part, with as many rows as counted.
  /// Waits for the device where a count has to be read. An error of kind `io`
  /// where it is none of the value's rows.
  Status bind(const EntryPoint &entry, std::span<Binding> bindings,
              Device &device);

private:
  Result<int64_t> rowsOf(const Output &value, uint32_t count, Device &device);

  std::vector<Output> values;
  std::vector<std::optional<int64_t>> counts; ///< that were read
};

/// Checks the dtypes of what is given and passed between an entry's programs,
/// the parts' first and its own last. `points` are their entries.
Status checkPassedTypes(std::span<const EntryPoint *const> points,
                        std::span<const Program *const> programs);

} // namespace sinter::runtime
