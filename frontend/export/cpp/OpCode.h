/// OpCode: one op of a graph that a rule writes.
#pragma once

#include "frontend/export/cpp/GraphCode.h"
#include "runtime/graph/AttrWords.h"

#include <span>
#include <string>
#include <vector>

namespace sinter::cpp {

class OpCode {
public:
  OpCode(GraphCode &writer, uint32_t value)
      : writer(writer), place(value), reader(writer.graph.values[value].attrs) {
  }

  //===- What it is -------------------------------------------------------===//
  const graph::Value &value() const { return writer.graph.values[place]; }
  DType dtype() const { return value().dtype; }
  size_t rank() const { return value().dims.size(); }
  size_t numOperands() const { return value().operands.size(); }
  const graph::Value &operand(size_t i) const {
    return writer.graph.values[value().operands[i]];
  }
  std::optional<int64_t> sizeOf(uint32_t expr) const {
    return writer.sizeOf(expr);
  }
  int64_t exampleOf(uint32_t expr) const { return writer.exampleOf(expr); }
  /// Dims are indices of expressions.
  graph::AttrReader &attrs() { return reader; }
  std::vector<int64_t> ints();
  std::vector<uint32_t> dims();

  //===- Code -------------------------------------------------------------===//
  /// An operand as a tensor.
  Code in(size_t i);
  /// The same where a Param does not serve.
  std::string tensor(size_t i) { return writer.tensorOf(value().operands[i]); }
  /// All operands of an op that broadcasts: those that were broadcast are taken
  /// as they were before, and numbers as they are, where another operand has
  /// all elements.
  std::vector<Code> elementwise();
  std::string dim(uint32_t expr) { return writer.dim(expr); }
  /// `{n, 64}`.
  std::string dimList(const std::vector<uint32_t> &exprs);
  /// Of tensors that are made: `{sn::DType::i64, x.device()}`.
  std::string options() const;
  /// A call of the op's function: operands, then attributes.
  Code call();
  Code infix(const char *symbol, Code::Binding binding);

  [[noreturn]] void unsupported(const std::string &why) const;

private:
  uint32_t narrow(uint32_t value) const;
  bool isLiteral(uint32_t value) const;
  std::string literalOf(uint32_t value) const;
  /// One attribute; empty for what a function has by default.
  std::string attribute(const graph::AttrSpec &spec);

  GraphCode &writer;
  uint32_t place;
  graph::AttrReader reader;
};

/// `sn::name(a, b)`.
Code callOf(std::string_view name, const std::vector<std::string> &arguments);

} // namespace sinter::cpp
