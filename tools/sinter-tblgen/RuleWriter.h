/// RuleWriter: turns a rule's dag into C++ statements over graph builders.
#pragma once

#include "tools/sinter-tblgen/Records.h"

#include "llvm/Support/raw_ostream.h"

#include <map>
#include <optional>
#include <string>

namespace sinter::tblgen {

/// Writes the statements of dags of one op's rule. Each op of a dag becomes a
/// variable; equal sub-dags share one. Errors are printed at the rule's line.
class RuleWriter {
public:
  /// `values` gives the C++ expression of each name that stands for a tensor:
  /// operands, and `result` and `grad` where there are some. Attributes are
  /// variables of their own names.
  RuleWriter(const Records &records, const Op &op, const llvm::Record *rule,
             std::map<std::string, std::string> values, llvm::raw_ostream &os,
             std::string indent);

  /// The C++ expression of a tensor-valued dag; empty after an error.
  std::string tensor(const llvm::DagInit *dag);

  /// Names of tensors whose values (not only types) some dag read.
  const std::map<std::string, bool> &reads() const { return valueReads; }

private:
  std::string tensorArgument(const llvm::Init *init, llvm::StringRef name,
                             const std::string &like);
  std::string attributeArgument(const Attribute &attribute,
                                const llvm::Init *init, llvm::StringRef name);
  std::string term(const llvm::DagInit *dag);
  std::string termArgument(const llvm::Init *init, llvm::StringRef name);
  std::string constant(const std::string &value, const std::string &like);
  std::string error(const llvm::Twine &message);
  bool isLiteral(const llvm::Init *init, llvm::StringRef name) const;

  const Records &records;
  const Op &op;
  const llvm::Record *rule;
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> done; ///< by call text
  std::map<std::string, bool> valueReads;
  llvm::raw_ostream &os;
  std::string indent;
  unsigned count = 0;
};

} // namespace sinter::tblgen
