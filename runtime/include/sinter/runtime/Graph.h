/// Graph: the portable, numbered form of a slice of recorded nodes. It is what
/// a flush hands to the compiler, and what keys, files and references see.
#pragma once

#include <sinter/runtime/DType.h>
#include <sinter/runtime/Dim.h>
#include <sinter/runtime/Error.h>
#include <sinter/runtime/OpTable.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::graph {

/// What an input of a graph is bound to.
enum class InputKind : uint8_t {
  data = 0,      ///< a tensor
  parameter = 1, ///< the value of a Param; never promoted to symbolic
  scalar = 2,    ///< a dynamic scalar: rank 0, passed by value at each run
};

/// One value, named by its post-order number (its index in Graph::values).
struct Value {
  OpId op = leafOp;
  DType dtype = DType::f32;
  std::vector<uint32_t> dims;     ///< indices into Graph::exprs
  std::vector<uint32_t> operands; ///< smaller post-order numbers
  /// Encoded as OpInfo::attrs says. In `dim` and `dims` the expr word is an
  /// index into Graph::exprs (constants too) and the value word is 0, so equal
  /// programs are equal whatever extent was seen first.
  std::vector<uint64_t> attrs;
};

struct Input {
  uint32_t value = 0; ///< post-order number of a leaf
  InputKind kind = InputKind::data;
  std::string name; ///< for signatures; empty in a flush; not part of the key
};

/// A condition on dims under which the graph is valid: lhs == rhs.
struct Guard {
  uint32_t lhs = 0; ///< indices into Graph::exprs
  uint32_t rhs = 0;
  bool operator==(const Guard &) const = default;
};

/// A slice of the recorded graph. Deterministic: the same recording gives the
/// same Graph, symbols numbered by first appearance over inputs in order.
struct Graph {
  std::vector<Expr> exprs; ///< post-order, no duplicates
  uint32_t numSymbols = 0;
  std::vector<Guard> guards;
  std::vector<Value> values;
  std::vector<Input> inputs;
  std::vector<uint32_t> outputs;        ///< post-order numbers, may repeat
  std::vector<std::string> outputNames; ///< empty, or one per output
  /// Source line of each value; may be empty. Never part of key or content.
  std::vector<SiteId> sites;
  /// The concrete symbol values of this recording (for references, tuning and
  /// messages only; the compiled program does not depend on them).
  std::vector<int64_t> symbolValues;
};

} // namespace sinter::graph
