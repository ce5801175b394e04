/// Checks that several shape rules use.
#pragma once

#include "runtime/graph/ShapeRules.h"

#include <limits>

namespace sinter::graph {

inline constexpr size_t maxRank = 32;
inline constexpr int64_t maxDim = std::numeric_limits<int32_t>::max();
inline constexpr int64_t maxElements = int64_t(1) << 58;

/// The sink of the rules that run on this thread meanwhile and are given none
/// of their own.
class GuardScope {
public:
  explicit GuardScope(GuardSink &sink);
  ~GuardScope();
  GuardScope(const GuardScope &) = delete;
  GuardScope &operator=(const GuardScope &) = delete;

private:
  GuardSink *outer;
};
/// Whether a rule relied on a guard since the last call, on this thread. Tells
/// the node factory which nodes have guards at all.
bool takeGuarded();

/// Whether a rule may look at the dim's value.
bool isKnown(const ShapeContext &context, Dim dim);
/// Whether dim >= bound. For symbolic dims the sink gets the guard
/// floorDiv(dim - bound, 2^31) == 0, which says the same.
bool atLeast(const ShapeContext &context, Dim dim, Dim bound);
/// Whether dim >= 1 or one of the others, which are of symbols, is 0: the guard
/// is the product of these and floorDiv(dim - 1, 2^31). False where that is not
/// known to hold now.
bool isOneWhereSome(const ShapeContext &context, Dim dim,
                    std::span<const Dim> others);
/// Fails, by name, for a dtype that nothing computes with.
Status checkComputable(const ShapeContext &context, DType dtype);
/// Fails, by name, for a dtype that tensors do not have.
Status checkStorable(const ShapeContext &context, DType dtype);
/// Fails when a dim is negative or too large, or the product is.
Status checkSize(const ShapeContext &context, std::span<const Dim> dims);

namespace shape {
/// A result of an operand's type. Here, because recording a node calls it.
inline InferredType typeOf(const TensorType &type) {
  InferredType result;
  result.dtype = type.dtype;
  result.dims.append(type.dims);
  return result;
}
} // namespace shape

} // namespace sinter::graph
