/// Cases: random calls of ops that fit their records.
#pragma once

#include "runtime/reference/HostValue.h"
#include "sinter/runtime/Node.h"
#include "tests/property/PropertyTable.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sinter::property {

using Rng = std::mt19937_64;
using Shape = std::vector<int64_t>;

/// The seed of this run: SINTER_TEST_SEED (`fresh` draws one), else a fixed
/// one. Prints it at its first call. Failures print the seed of their case.
uint64_t runSeed();

/// An integer in [low, high].
int64_t drawInt(Rng &rng, int64_t low, int64_t high);
/// A number in [low, high).
double drawReal(Rng &rng, double low, double high);

struct OperandType {
  DType dtype = DType::f32;
  Shape dims;
};

/// What sizes are drawn.
enum class Sizes { mixed, withZeros, onlyOnes };

/// One call of an op: encoded attributes and the operands' values.
struct Case {
  const PropertyRow *row = nullptr;
  std::vector<reference::HostValue> operands;
  std::vector<uint64_t> attrs;

  /// `sum(f32[4,8])`
  std::string describe() const;
};

/// Operand types that go together for the row's shape rule. Operands that may
/// be of floats are `floats` if given, where the op takes it.
std::vector<OperandType> drawOperands(const PropertyRow &row, Rng &rng,
                                      Sizes sizes, std::optional<DType> floats);
/// Attributes for operands of these types; nothing when there are none.
std::optional<std::vector<uint64_t>>
drawAttrs(const PropertyRow &row, const std::vector<OperandType> &operands,
          Rng &rng, std::optional<DType> dtype = std::nullopt);
/// Elements for operand `index`, from its domain.
reference::HostValue drawValue(const PropertyRow &row, size_t index,
                               const std::vector<OperandType> &operands,
                               std::span<const uint64_t> attrs, Rng &rng);
/// All three.
Case drawCase(const PropertyRow &row, Rng &rng, Sizes sizes = Sizes::mixed,
              std::optional<DType> floats = std::nullopt);

/// A leaf of the operand's type; a dynamic scalar's leaf for ops that take
/// keys and counters.
graph::NodeRef leafFor(const Case &call, size_t index);
/// The call recorded over leaves.
Result<graph::NodeRef> record(const Case &call,
                              std::span<const graph::NodeRef> leaves);

} // namespace sinter::property
