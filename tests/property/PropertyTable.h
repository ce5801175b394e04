/// PropertyTable: what property tests draw for each op, from its record.
#pragma once

#include "runtime/graph/ShapeRules.h"
#include "sinter/runtime/OpTable.h"

#include <limits>
#include <span>
#include <string_view>

namespace sinter::property {

/// What an operand's elements are drawn from.
enum class DomainKind : uint8_t {
  reals,     ///< numbers in [low, high], none within 0.1 of `avoid`
  integers,  ///< integers in [low, high]
  positions, ///< valid positions along the op's axis of the first operand
  distinct,  ///< numbers in [low, high], no two equal
};

/// `avoid` where there is no point to avoid.
inline constexpr double noPoint = std::numeric_limits<double>::infinity();

struct Domain {
  DomainKind kind;
  double low;
  double high;
  double avoid;
};

struct OperandRow {
  std::string_view name;
  graph::DTypeSet dtypes; ///< that the op takes there
  Domain domain;
};

struct PropertyRow {
  graph::OpId op;
  /// The function of graph::shape; says which shapes and attributes go
  /// together.
  std::string_view shapeRule;
  std::span<const OperandRow> operands; ///< one when variadic
  bool variadic;
  bool differentiable;
  std::string_view example;
};

/// One row per op, in order of their codes.
std::span<const PropertyRow> propertyTable();
/// Whether the op makes complex numbers, or takes them apart.
bool isOfComplex(const PropertyRow &row);
/// Whether calls of the op can be drawn: parts of loops mean nothing alone,
/// code of users is not made up, and tensors that are drawn are real.
bool isDrawable(const PropertyRow &row);

} // namespace sinter::property
