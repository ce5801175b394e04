/// Encoding: the words of a slice that decide which program fits it.
#pragma once

#include "runtime/graph/LocalExprs.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::graph {

/// Whether an op's attributes hold dims.
bool hasDimAttrs(OpId op);

/// Writes one record per value in post-order: ops with operand numbers and
/// attributes, leaves with kind, dtype and dims; then outputs, expressions and
/// guards. Buffers, scalars' values and source lines are not in it. Constant
/// dims stand in place; symbolic ones are filled in by `finish`, once the
/// guards are known. Reused: `begin` keeps the memory.
class Encoder {
public:
  void begin() {
    used = 0;
    fixups.clear();
  }
  /// A leaf; its dims follow.
  void leaf(InputKind kind, DType dtype, size_t rank) {
    makeRoom(2 + rank);
    add(static_cast<uint32_t>(kind) << 16 | static_cast<uint32_t>(dtype) << 24);
    add(static_cast<uint32_t>(rank));
  }
  /// An op; its operands' numbers and then its attributes follow.
  void op(OpId op, DType dtype, size_t numOperands, size_t numAttrs) {
    makeRoom(2 + numOperands + 2 * numAttrs);
    add(static_cast<uint32_t>(op) | static_cast<uint32_t>(dtype) << 24);
    add(static_cast<uint32_t>(numOperands << 16 | numAttrs));
  }
  void number(uint32_t postOrder) { add(postOrder); }
  void dim(Dim dim) {
    if (!dim.isConstant()) [[unlikely]]
      fixups.push_back({static_cast<uint32_t>(used), dim.expr});
    add(static_cast<uint32_t>(dim.value) << 1);
  }
  /// `dimOf(value word, expr word)` gives a Dim of the expression source.
  template <typename DimOf>
  void attrs(OpId op, std::span<const uint64_t> values, DimOf dimOf) {
    if (!hasDimAttrs(op)) {
      for (uint64_t value : values)
        word(value);
      return;
    }
    for (const AttrSpec &spec : info(op).attrs)
      values = attr(spec.kind, values, dimOf);
  }
  void outputs(std::span<const uint32_t> numbers) {
    makeRoom(1 + numbers.size());
    add(static_cast<uint32_t>(numbers.size()));
    for (uint32_t each : numbers)
      add(each);
  }

  bool isSymbolic() const { return !fixups.empty(); }
  /// Fills in the symbolic dims from solved expressions.
  void fillIn(LocalExprs &exprs);

  std::span<const uint32_t> view() const { return {words.data(), used}; }

private:
  /// For a whole record at once: `add` does not look.
  void makeRoom(size_t count) {
    if (used + count > words.size()) [[unlikely]]
      words.resize(2 * (used + count));
  }
  void add(uint32_t word) { words[used++] = word; }
  void word(uint64_t value) {
    add(static_cast<uint32_t>(value));
    add(static_cast<uint32_t>(value >> 32));
  }
  template <typename DimOf>
  std::span<const uint64_t>
  attr(AttrKind kind, std::span<const uint64_t> values, DimOf dimOf) {
    size_t count = 1;
    bool isDim = kind == AttrKind::dim || kind == AttrKind::dims;
    if (isList(kind)) {
      count = values[0];
      word(count);
      values = values.subspan(1);
    } else if (kind == AttrKind::number) {
      count = 2;
    }
    for (size_t i = 0; i < count; ++i) {
      if (isDim)
        dim(dimOf(values[2 * i], values[2 * i + 1]));
      else
        word(values[i]);
    }
    return values.subspan(isDim ? 2 * count : count);
  }

  struct Fixup {
    uint32_t position;
    uint32_t expr;
  };
  std::vector<uint32_t> words; ///< the first `used` count
  size_t used = 0;
  std::vector<Fixup> fixups;
};

} // namespace sinter::graph
