/// Reads the ops and stops at the line of an op that lacks something.
#include "tools/sinter-tblgen/Records.h"

#include "mlir/TableGen/Operator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace sinter::tblgen {

const Operand *Op::findOperand(StringRef name) const {
  auto it = find_if(operands, [&](const Operand &o) { return o.name == name; });
  return it == operands.end() ? nullptr : &*it;
}

const Attribute *Op::findAttribute(StringRef name) const {
  auto it =
      find_if(attributes, [&](const Attribute &a) { return a.name == name; });
  return it == attributes.end() ? nullptr : &*it;
}

const Attribute *Op::decompositionChoice() const {
  for (const Attribute &attribute : attributes)
    if (attribute.kind == "choice")
      return &attribute;
  return nullptr;
}

std::vector<const Attribute *> Op::shapeArguments() const {
  std::vector<const Attribute *> arguments;
  std::vector<StringRef> names = def->getValueAsListOfStrings("shapeArguments");
  if (names == std::vector<StringRef>{"*"}) {
    for (const Attribute &attribute : attributes)
      arguments.push_back(&attribute);
    return arguments;
  }
  for (StringRef name : names)
    arguments.push_back(findAttribute(name));
  return arguments;
}

bool Op::isPromoted(StringRef operand) const {
  if (text("promotion") == "none")
    return false;
  std::vector<StringRef> names = def->getValueAsListOfStrings("promoted");
  return names == std::vector<StringRef>{"*"} || is_contained(names, operand);
}

Records::Records(const RecordKeeper &keeper, StringRef family)
    : records(keeper), family(family) {}

std::vector<const Op *> Records::declared() const {
  std::vector<const Op *> chosen;
  for (const Op &op : list)
    if (family.empty() || op.family() == family)
      chosen.push_back(&op);
  return chosen;
}

const Op *Records::find(const Record *def) const {
  auto it = indexOf.find(def);
  return it == indexOf.end() ? nullptr : &list[it->second];
}

/// `Elementwise.td:12`
static std::string locationOf(const Record *def) {
  SMLoc loc = def->getLoc().front();
  unsigned buffer = SrcMgr.FindBufferContainingLoc(loc);
  StringRef path = SrcMgr.getMemoryBuffer(buffer)->getBufferIdentifier();
  unsigned line = SrcMgr.getLineAndColumn(loc, buffer).first;
  return sys::path::filename(path).str() + ":" + std::to_string(line);
}

static bool fail(const Record *def, const Twine &message) {
  PrintError(def->getLoc(), message);
  return false;
}

/// `keepdims = false` lines become the attributes' defaults.
static bool readDefaults(Op &op) {
  for (StringRef line : op.def->getValueAsListOfStrings("defaults")) {
    auto [name, value] = line.split('=');
    auto *attribute = const_cast<Attribute *>(op.findAttribute(name.trim()));
    if (!attribute)
      return fail(op.def, "op '" + op.name +
                              "': default of an unknown "
                              "attribute '" +
                              name.trim() + "'");
    attribute->defaultValue = value.trim().str();
  }
  return true;
}

/// A description's lines without their common indentation.
static std::string unindent(StringRef text) {
  std::string result;
  for (StringRef line : split(text.trim(), '\n')) {
    if (!result.empty())
      result += '\n';
    result += line.trim();
  }
  return result;
}

bool Records::readOp(const Record *def) {
  mlir::tblgen::Operator inner(*def);
  Op op;
  op.def = def;
  op.name = def->getValueAsString("opName").str();
  op.cppClass = inner.getCppClassName().str();
  op.summary = inner.getSummary().trim().str();
  op.description = unindent(def->getValueAsString("description"));
  op.location = locationOf(def);
  if (op.summary.empty())
    return fail(def, "op '" + op.name + "' has no summary");
  for (const auto &operand : inner.getOperands()) {
    const Record &type = operand.constraint.getDef();
    const Record *element =
        operand.isVariadic() ? type.getValueAsDef("baseType") : &type;
    if (!element->isSubClassOf("Sinter_TensorOf"))
      return fail(def, "op '" + op.name + "': operand '" + operand.name +
                           "' is not a Sinter_TensorOf");
    Operand result{operand.name.str(), operand.isVariadic(), {}};
    for (StringRef dtype : element->getValueAsListOfStrings("dtypes"))
      result.dtypes.push_back(dtype.str());
    op.operands.push_back(std::move(result));
  }
  for (const auto &named : inner.getAttributes()) {
    const Record &kind = named.attr.getDef();
    if (!kind.isSubClassOf("Sinter_AttrKind"))
      return fail(def, "op '" + op.name + "': attribute '" + named.name +
                           "' is of no Sinter kind");
    Attribute attribute;
    attribute.name = named.name.str();
    attribute.kind = kind.getValueAsString("kind").str();
    attribute.role = kind.getValueAsString("role").str();
    if (attribute.kind == "choice") {
      attribute.enumName = kind.getValueAsString("enumName").str();
      for (StringRef choice : kind.getValueAsListOfStrings("choices"))
        attribute.choices.push_back(choice.str());
    }
    op.attributes.push_back(std::move(attribute));
  }
  if (!readDefaults(op))
    return false;
  for (const Attribute *attribute : op.shapeArguments())
    if (!attribute)
      return fail(def, "op '" + op.name +
                           "': shapeArguments names an unknown "
                           "attribute");
  indexOf[def] = list.size();
  list.push_back(std::move(op));
  return true;
}

/// Takes `rule` into `slot`; a second rule of an op is an error at its line.
bool Records::addRule(const Record *rule, const Record *&slot, bool taken,
                      StringRef what) {
  if (taken)
    return fail(rule, "second " + what + " of " +
                          rule->getValueAsDef("forOp")->getName());
  slot = rule;
  return true;
}

bool Records::readRules() {
  auto forEach = [&](StringRef kind, auto take) {
    for (const Record *rule : records.getAllDerivedDefinitions(kind)) {
      auto it = indexOf.find(rule->getValueAsDef("forOp"));
      if (it != indexOf.end() && !take(list[it->second], rule))
        return false;
    }
    return true;
  };
  auto gradient = [&](const Record *GradientRecord::*slot) {
    return [this, slot](Op &op, const Record *rule) {
      GradientRecord &g = op.gradient;
      return addRule(rule, g.*slot, g.dags || g.function || g.none,
                     "gradient rule");
    };
  };
  auto lowering = [&](const Record *LoweringRecord::*slot) {
    return [this, slot](Op &op, const Record *rule) {
      LoweringRecord &l = op.lowering;
      bool taken = l.scalar || l.scalarFn || l.structured ||
                   l.decompositionFn || !l.decompositions.empty();
      return addRule(rule, l.*slot, taken, "lowering");
    };
  };
  return forEach("Gradient", gradient(&GradientRecord::dags)) &&
         forEach("GradientFn", gradient(&GradientRecord::function)) &&
         forEach("NotDifferentiable", gradient(&GradientRecord::none)) &&
         forEach("Scalar", lowering(&LoweringRecord::scalar)) &&
         forEach("ScalarFn", lowering(&LoweringRecord::scalarFn)) &&
         forEach("Structured", lowering(&LoweringRecord::structured)) &&
         forEach("DecompositionFn",
                 lowering(&LoweringRecord::decompositionFn)) &&
         forEach(
             "Decomposition",
             [](Op &op, const Record *rule) {
               LoweringRecord &l = op.lowering;
               if (l.scalar || l.scalarFn || l.structured || l.decompositionFn)
                 return fail(rule, "second lowering of " + op.def->getName());
               l.decompositions.push_back(rule);
               return true;
             }) &&
         forEach("Names",
                 [this](Op &op, const Record *rule) {
                   return addRule(rule, op.names, op.names != nullptr, "names");
                 }) &&
         forEach("OnComplex", [this](Op &op, const Record *rule) {
           if (op.flag("handWritten") || op.isVariadic())
             return fail(rule, "op '" + op.name +
                                   "' has no generated function "
                                   "of plain operands");
           return addRule(rule, op.onComplex, op.onComplex != nullptr,
                          "function on complex numbers");
         });
}

bool Records::readMethods() {
  for (const Record *methods : records.getAllDerivedDefinitions("Methods"))
    for (const Record *def : methods->getValueAsListOfDefs("ops")) {
      Op &op = list[indexOf.at(def)];
      if (op.operands.empty() || op.isVariadic())
        return fail(methods, "op '" + op.name +
                                 "' has no first operand to be a method of");
      if (op.isMethod)
        return fail(methods, "op '" + op.name + "' is named twice");
      op.isMethod = true;
    }
  return true;
}

/// One decomposition, or one for each value of the choice attribute.
bool Records::checkDecompositions(const Op &op) const {
  std::vector<std::string> missing{""};
  const Attribute *choice = op.decompositionChoice();
  bool perChoice = any_of(op.lowering.decompositions, [](const Record *rule) {
    return !rule->getValueAsString("choice").empty();
  });
  if (perChoice && choice)
    missing = choice->choices;
  for (const Record *rule : op.lowering.decompositions) {
    StringRef value = rule->getValueAsString("choice");
    auto it = std::find(missing.begin(), missing.end(), value);
    if (it == missing.end())
      return fail(rule, "second lowering of " + op.def->getName() +
                            (value.empty() ? "" : " for '" + value + "'") +
                            ", or of an unknown choice");
    missing.erase(it);
  }
  if (!missing.empty())
    return fail(op.def,
                "op '" + op.name + "' has no Decomposition" +
                    (missing[0].empty() ? "" : " for '" + missing[0] + "'"));
  return true;
}

bool Records::checkComplete() const {
  for (const Op &op : list) {
    const GradientRecord &g = op.gradient;
    if (!g.dags && !g.function && !g.none && !op.isComposite())
      return fail(op.def, "op '" + op.name +
                              "' has no Gradient and is not "
                              "marked NotDifferentiable");
    const LoweringRecord &l = op.lowering;
    if (op.isComposite()) {
      if (!l.decompositionFn && !checkDecompositions(op))
        return false;
    } else if (op.patternKind() == "pointwise") {
      if (!l.scalar && !l.scalarFn)
        return fail(op.def, "op '" + op.name + "' has no Scalar body");
    } else if (!l.structured) {
      return fail(op.def, "op '" + op.name +
                              "' has no lowering; structured "
                              "ops are marked Structured");
    }
    if (op.text("example").empty())
      return fail(op.def, "op '" + op.name + "' has no example");
    if (op.text("shapeRule").empty())
      return fail(op.def, "op '" + op.name + "' names no shape rule");
    size_t domains = op.def->getValueAsListOfDefs("domains").size();
    if (domains > 1 && domains != op.operands.size())
      return fail(op.def, "op '" + op.name + "' has " + Twine(domains) +
                              " domains for " + Twine(op.operands.size()) +
                              " operands");
  }
  return true;
}

bool Records::load() {
  std::vector<const Record *> defs(
      records.getAllDerivedDefinitions("Sinter_Op"));
  // In order of appearance: ids are assigned as records are parsed.
  llvm::sort(defs, [](const Record *a, const Record *b) {
    return a->getID() < b->getID();
  });
  for (const Record *def : defs)
    if (!readOp(def))
      return false;
  if (!readRules() || !readMethods() || !checkComplete())
    return false;
  for (const Op &op : list)
    if (op.flag("makesConstants"))
      constants = &op;
  return true;
}

} // namespace sinter::tblgen
