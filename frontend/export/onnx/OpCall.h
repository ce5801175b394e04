/// OpCall: one op of a graph that a row writes.
#pragma once

#include "frontend/export/onnx/GraphWriter.h"
#include "runtime/graph/AttrWords.h"

#include <span>
#include <string>
#include <vector>

namespace sinter::onnx {

class OpCall {
public:
  OpCall(GraphWriter &writer, uint32_t value);

  //===- What it is -------------------------------------------------------===//
  const graph::Value &value() const { return writer.graph.values[place]; }
  DType dtype() const { return value().dtype; }
  size_t rank() const { return value().dims.size(); }
  size_t numOperands() const { return value().operands.size(); }
  const graph::Value &operand(size_t i) const {
    return writer.graph.values[value().operands[i]];
  }
  DType operandType(size_t i) const { return operand(i).dtype; }
  std::optional<int64_t> sizeOf(uint32_t expr) const {
    return writer.sizeOf(expr);
  }
  int64_t exampleOf(uint32_t expr) const { return writer.exampleOf(expr); }
  int64_t opset() const { return writer.file.opset(); }
  /// Dims are indices of expressions.
  graph::AttrReader &attrs() { return reader; }
  std::vector<uint32_t> dims();
  std::vector<int64_t> ints();

  //===- Names ------------------------------------------------------------===//
  std::string in(size_t i) { return writer.nameOf(value().operands[i]); }
  /// Operands of an operator that broadcasts: those that were broadcast are
  /// taken as they were before, where another one has all elements.
  std::vector<std::string> elementwise();
  std::string dimsName(const std::vector<uint32_t> &exprs) {
    return writer.dimsName(exprs);
  }
  std::string dimName(uint32_t expr) { return writer.dimName(expr); }
  std::string integers(const std::vector<int64_t> &values) {
    return writer.file.integers(values);
  }
  /// A number without axes of the result's dtype.
  std::string number(double number) {
    return writer.file.number(dtype(), number);
  }
  std::string number(DType type, Number value);

  //===- Nodes ------------------------------------------------------------===//
  /// A node whose result is used by others of this op.
  std::string make(std::string_view op, const std::vector<std::string> &inputs,
                   const WrittenAttributes &attributes = {});
  /// The node that gives the op's own result.
  void give(std::string_view op, const std::vector<std::string> &inputs,
            const WrittenAttributes &attributes = {});
  /// The same for a node of several results, of which this is one.
  void giveOne(std::string_view op, const std::vector<std::string> &inputs,
               const WrittenAttributes &attributes, size_t place, size_t count);
  std::string cast(const std::string &name, DType to);
  /// What a Cast to it has; an Error of kind unsupported where the file's opset
  /// has no such elements.
  WrittenAttributes castTo(DType to) const;
  /// The op in other ops.
  void giveParts() { writer.writeParts(place); }

  [[noreturn]] void unsupported(const std::string &why) const;

private:
  GraphWriter &writer;
  uint32_t place;
  graph::AttrReader reader;
};

} // namespace sinter::onnx
