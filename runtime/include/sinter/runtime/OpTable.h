/// The op table that sinter-tblgen generates from the ODS records.
#pragma once

#include <sinter/runtime/DType.h>
#include <sinter/runtime/OpId.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::graph {

/// How an op takes part in fusion.
enum class PatternKind : uint8_t {
  pointwise,
  view,
  reduction,
  contraction,
  gather,
  scatter,
  prefix,
  attention,
  sort,
  random,
  collective,
  host,
  opaque,
  composite,
  source,
  loop, ///< a part of a loop over steps (ops/Scan.td)
};

/// Kind of one attribute; decides how it is encoded in 64-bit words, hashed,
/// compared, printed and written.
enum class AttrKind : uint8_t {
  boolean, ///< 1 word
  integer, ///< 1 word, int64
  real,    ///< 1 word, bits of a double
  number,  ///< 2 words: 0 = int64 | 1 = double, then the payload
  dtype,   ///< 1 word
  choice,  ///< 1 word, an enumerator's index
  ints,    ///< count, then that many words
  dim,     ///< 2 words: value, expr
  dims,    ///< count, then (value, expr) pairs
  text,    ///< count, then that many words of 8 bytes; zeros end the text
};

/// Whether an attribute is a count and then so many entries.
constexpr bool isList(AttrKind kind) {
  return kind == AttrKind::ints || kind == AttrKind::dims ||
         kind == AttrKind::text;
}

struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  /// For `choice`: the enumerators' names, comma separated, in order.
  std::string_view choices;
};

inline constexpr int variadic = -1;

struct OpInfo {
  std::string_view name; ///< mnemonic, e.g. `log_softmax`
  PatternKind kind;
  int arity; ///< operand count, or `variadic`
  std::span<const std::string_view> operandNames;
  std::span<const AttrSpec> attrs; ///< in encoding order
  bool composite; ///< has a decomposition; kind composite: taken at import
  bool differentiable;
  std::string_view summary;
  std::string_view definedAt; ///< `Elementwise.td:12`
};

/// The record of an op. `op` is valid and not `leaf`.
const OpInfo &info(OpId op);
/// The op of that mnemonic, or noOp.
OpId findOp(std::string_view name);
/// Codes are below this; each above 0 has a record.
size_t opCount();

} // namespace sinter::graph
