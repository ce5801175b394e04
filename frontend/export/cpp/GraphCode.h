/// GraphCode: writes one graph as statements of C++.
#pragma once

#include "frontend/export/cpp/Names.h"

#include "sinter/runtime/Error.h"
#include "sinter/runtime/Graph.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::cpp {

class OpCode;

/// An expression, and how tightly its operator binds.
struct Code {
  enum Binding : uint8_t { compares, adds, multiplies, negates, whole };
  std::string text;
  Binding binding = whole;
};

/// The expression of one op. Throws an Error where there is none.
using CodeRule = Code (*)(OpCode &op);
struct CodeRow {
  const char *name;
  CodeRule rule;
};
/// The rule of an op that is no call of the function of its name; or null.
CodeRule findCodeRule(std::string_view op);
/// Whether a rule, or a function of its name, writes the op of that name.
bool isWritten(std::string_view op);

class GraphCode {
public:
  /// Both must outlive the writer.
  GraphCode(const graph::Graph &graph, Names &names);

  const graph::Graph &graph;
  /// Where tensors are made: `x.device()`, or `{}`.
  std::string device = "{}";

  /// Gives a leaf its name, or a number its literal.
  void bind(uint32_t value, std::string name);
  /// The same of one that is a Param there.
  void bindParam(uint32_t value, std::string name);
  void bindNumber(uint32_t value, std::string literal);
  /// Gives a symbol a name, and the size of an input that it is.
  void bindSymbol(uint32_t symbol, std::string_view wanted, std::string from);
  /// What the value is called if it has a statement.
  void reserve(uint32_t value, std::string name);
  void writeAll();
  /// Throws the Error that says why a value cannot be written.
  [[noreturn]] void refuse(uint32_t value, const std::string &why) const;
  /// The value's expression, which may be used once.
  const Code &codeOf(uint32_t value);
  /// The same where nothing but a Tensor serves.
  std::string tensorOf(uint32_t value);
  bool isUsed(uint32_t value) const { return uses[value] > 0; }
  /// The statements, with the sizes that they use before them.
  std::string text() const;

  /// An expression of sizes.
  std::string dim(uint32_t expr);
  std::optional<int64_t> sizeOf(uint32_t expr) const;
  int64_t exampleOf(uint32_t expr) const;

private:
  friend class OpCode;
  struct Symbol {
    std::string name, from;
    bool isUsed = false;
  };
  bool isPutOff(uint32_t value) const;
  void countUse(uint32_t value, uint32_t user);
  bool isInlined(uint32_t value, const Code &code) const;
  Code make(uint32_t value);
  void state(uint32_t value, const Code &code);
  std::string asTensor(const Code &code) const;
  std::string labelOf(uint32_t value) const;
  Code dimCode(uint32_t expr);
  [[noreturn]] void fail(uint32_t value, ErrorInfo error) const;

  Names &names;
  std::vector<std::optional<Code>> codes;
  std::vector<bool> areNumbers;
  std::set<std::string> params;
  std::vector<std::string> wanted;
  std::vector<Symbol> symbols;
  std::vector<uint32_t> uses, users;
  std::string statements, lastLabel;
};

/// `(a + b)` where what stands around it binds more tightly.
std::string within(const Code &code, Code::Binding binding);

} // namespace sinter::cpp
