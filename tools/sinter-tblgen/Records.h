/// Records: the ops of the `.td` files as the emitters read them, checked.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TableGen/Record.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace sinter::tblgen {

struct Operand {
  std::string name;
  bool variadic = false;
  std::vector<std::string> dtypes; ///< enumerators of DType
};

struct Attribute {
  std::string name;
  std::string kind;     ///< enumerator of AttrKind
  std::string role;     ///< "", "axis", "axes" or "permutation"
  std::string enumName; ///< of a choice
  std::vector<std::string> choices;
  std::string defaultValue; ///< in the frontend; empty when there is none
};

/// A way an op is differentiated; at most one of the records is there.
struct GradientRecord {
  const llvm::Record *dags = nullptr;
  const llvm::Record *function = nullptr;
  const llvm::Record *none = nullptr;
};

/// A way an op is lowered; exactly one kind is there.
struct LoweringRecord {
  const llvm::Record *scalar = nullptr;
  const llvm::Record *scalarFn = nullptr;
  const llvm::Record *structured = nullptr;
  const llvm::Record *decompositionFn = nullptr;
  std::vector<const llvm::Record *> decompositions;
};

struct Op {
  const llvm::Record *def = nullptr;
  std::string name;     ///< the mnemonic
  std::string cppClass; ///< of the MLIR op, in sinter::ir
  std::string summary;
  std::string description;
  std::string location; ///< `Elementwise.td:12`
  std::vector<Operand> operands;
  std::vector<Attribute> attributes;
  GradientRecord gradient;
  LoweringRecord lowering;
  const llvm::Record *names = nullptr;     ///< elsewhere; null when not known
  const llvm::Record *onComplex = nullptr; ///< null where there is none
  bool isMethod = false;                   ///< of Tensor, too

  /// Whether it is written in other ops: at import, or for the reference.
  bool isComposite() const {
    return patternKind() == "composite" || patternKind() == "attention";
  }
  bool isVariadic() const { return !operands.empty() && operands[0].variadic; }
  /// Whether its builder takes the device: no operand decides it.
  bool takesDevice() const {
    return operands.empty() || patternKind() == "random";
  }
  llvm::StringRef patternKind() const { return text("patternKind"); }
  llvm::StringRef text(llvm::StringRef field) const {
    return def->getValueAsString(field);
  }
  bool flag(llvm::StringRef field) const { return def->getValueAsBit(field); }
  /// The stem of its file's name: `Elementwise`.
  llvm::StringRef family() const {
    return llvm::StringRef(location).split('.').first;
  }
  const Operand *findOperand(llvm::StringRef name) const;
  const Attribute *findAttribute(llvm::StringRef name) const;
  /// The attribute whose values choose among the decompositions, if there are
  /// several.
  const Attribute *decompositionChoice() const;
  /// Attributes that the shape rule takes, in its order.
  std::vector<const Attribute *> shapeArguments() const;
  /// Whether the frontend's promotion speaks of the operand.
  bool isPromoted(llvm::StringRef operand) const;
  /// Whether the reverse sweep can go through the op.
  bool isDifferentiable() const { return !gradient.none; }
};

/// All ops in order of their records.
class Records {
public:
  explicit Records(const llvm::RecordKeeper &keeper,
                   llvm::StringRef family = "");
  /// Reads and checks. On failure an error was printed at a record's line.
  bool load();

  llvm::ArrayRef<Op> ops() const { return list; }
  /// Those to declare: of one family when one was asked for, else all.
  std::vector<const Op *> declared() const;
  const Op *find(const llvm::Record *def) const;
  /// The op that makes constants.
  const Op *constantMaker() const { return constants; }
  const llvm::RecordKeeper &keeper() const { return records; }

private:
  bool readOp(const llvm::Record *def);
  bool readRules();
  bool readMethods();
  bool addRule(const llvm::Record *rule, const llvm::Record *&slot, bool taken,
               llvm::StringRef what);
  bool checkComplete() const;
  bool checkDecompositions(const Op &op) const;

  const llvm::RecordKeeper &records;
  std::string family;
  std::vector<Op> list;
  std::map<const llvm::Record *, size_t> indexOf;
  const Op *constants = nullptr;
};

} // namespace sinter::tblgen
