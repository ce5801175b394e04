/// GraphWriter: writes one graph, op by op.
#pragma once

#include "frontend/export/onnx/ModelFile.h"

#include "runtime/graph/Loops.h"
#include "sinter/runtime/Error.h"
#include "sinter/runtime/Graph.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter::onnx {

class OpCall;

/// Writes what one op computes as nodes. Throws an Error where it cannot.
using WriteRule = void (*)(OpCall &call);

/// One op of recorded graphs.
struct WrittenOp {
  const char *name;
  WriteRule rule = nullptr;
  /// Without a rule: the operator that does the same to the same operands.
  const char *same = nullptr;
  /// The first opset that has it; before it, the op's parts are written.
  int64_t since = 0;
};
/// The row of an op, or null.
const WrittenOp *findWrittenOp(std::string_view name);

/// A dim: a number, or the name of a list of one number.
struct DimName {
  std::optional<int64_t> size;
  std::string name;
};

class GraphWriter {
public:
  /// Both must outlive the writer.
  GraphWriter(ModelFile &file, const graph::Graph &graph)
      : file(file), graph(graph), names(graph.values.size()),
        symbols(graph.numSymbols) {}

  ModelFile &file;
  const graph::Graph &graph;

  /// Gives a leaf its name.
  void bind(uint32_t value, std::string name) {
    names[value] = std::move(name);
  }
  /// Gives a symbol the name of a list that holds it alone.
  void bindSymbol(uint32_t symbol, std::string name) {
    symbols[symbol] = std::move(name);
  }
  /// What the value is called once it is written.
  void reserve(uint32_t value, std::string name) { wanted[value] = name; }
  /// Writes all that is not written when it is used.
  void writeAll();
  /// The value's name; writes it where it was put off.
  const std::string &nameOf(uint32_t value);
  /// A value that has the elements of this one, fewer of them where it was
  /// broadcast.
  const std::string &narrowOf(uint32_t value);

  std::string dimName(uint32_t expr);
  std::optional<int64_t> sizeOf(uint32_t expr) const;
  /// Its number in the example, whether it is one number or not.
  int64_t exampleOf(uint32_t expr) const;
  /// A list of the dims: written where one is symbolic.
  std::string dimsName(const std::vector<uint32_t> &exprs);

private:
  friend class OpCall;
  friend class LoopWriter;
  void write(uint32_t value);
  void writeParts(uint32_t value);
  std::vector<uint64_t> wholeAttrs(uint32_t value);
  Dim wholeDim(uint32_t expr);
  bool isPutOff(const graph::Value &value) const;
  [[noreturn]] void fail(uint32_t value, ErrorInfo error) const;

  graph::Loops loops; ///< their bodies are written with them
  std::vector<std::string> names;
  std::map<uint32_t, std::string> wanted;
  std::vector<std::string> symbols;
  std::map<uint32_t, std::string> narrow;  ///< numbers that would be spread
  std::map<uint32_t, std::string> written; ///< dims by their expressions
  std::map<uint32_t, Dim> whole;           ///< the same as symbols of their own
};

} // namespace sinter::onnx
