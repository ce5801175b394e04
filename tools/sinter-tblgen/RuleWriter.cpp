/// Statements from dags.
#include "tools/sinter-tblgen/RuleWriter.h"

#include "tools/sinter-tblgen/CppTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace sinter::tblgen {

RuleWriter::RuleWriter(const Records &records, const Op &op, const Record *rule,
                       std::map<std::string, std::string> values,
                       raw_ostream &os, std::string indent)
    : records(records), op(op), rule(rule), values(std::move(values)), os(os),
      indent(std::move(indent)) {}

std::string RuleWriter::error(const Twine &message) {
  PrintError(rule->getLoc(), "rule of '" + op.name + "': " + message);
  return "";
}

/// A constant, or an attribute of the op used as one.
bool RuleWriter::isLiteral(const Init *init, StringRef name) const {
  if (isa<StringInit>(init))
    return true;
  const Attribute *attribute = op.findAttribute(name);
  return attribute &&
         (attribute->kind == "real" || attribute->kind == "number");
}

/// A full tensor of `value` with the type of `like`.
std::string RuleWriter::constant(const std::string &value,
                                 const std::string &like) {
  const Op *maker = records.constantMaker();
  if (!maker)
    return error("no op makes constants");
  std::string call = "graph::" + maker->name + "(term::shapeOf(" + like +
                     "), " + value + ", " + like + "->dtype(), " + like +
                     "->device())";
  std::string &name = done[call];
  if (name.empty()) {
    name = "v" + utostr(count++);
    os << indent << "SINTER_TRY_ASSIGN(NodeRef " << name << ", " << call
       << ");\n";
  }
  return name;
}

std::string RuleWriter::tensorArgument(const Init *init, StringRef name,
                                       const std::string &like) {
  if (auto *dag = dyn_cast<DagInit>(init))
    return tensor(dag);
  if (isLiteral(init, name)) {
    if (like.empty())
      return error("a constant has no neighbour to take its type from");
    auto *text = dyn_cast<StringInit>(init);
    return constant("Number(" + (text ? text->getValue() : name).str() + ")",
                    like);
  }
  auto it = values.find(name.str());
  if (it == values.end())
    return error("'$" + name + "' is no operand, result or named value");
  valueReads[name.str()] = true;
  return it->second;
}

std::string RuleWriter::termArgument(const Init *init, StringRef name) {
  if (auto *dag = dyn_cast<DagInit>(init))
    return term(dag);
  if (auto *number = dyn_cast<IntInit>(init))
    return itostr(number->getValue());
  if (auto it = values.find(name.str()); it != values.end())
    return it->second;
  if (op.findAttribute(name))
    return name.str();
  return error("'$" + name + "' is no operand, attribute or named value");
}

std::string RuleWriter::term(const DagInit *dag) {
  const Record *function = dag->getOperatorAsDef(rule->getLoc());
  if (!function->isSubClassOf("Sinter_Term"))
    return error(function->getName() + " is not a Sinter_Term");
  std::string call =
      "term::" + function->getValueAsString("cppFunction").str() + "(";
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    std::string argument = termArgument(dag->getArg(i), dag->getArgNameStr(i));
    if (argument.empty())
      return "";
    call += (i ? ", " : "") + argument;
  }
  return call + ")";
}

std::string RuleWriter::attributeArgument(const Attribute &attribute,
                                          const Init *init, StringRef name) {
  std::string text;
  if (auto *dag = dyn_cast<DagInit>(init))
    text = term(dag);
  else if (auto *string = dyn_cast<StringInit>(init))
    text = StringSwitch<std::string>(attribute.kind)
               .Case("choice",
                     attribute.enumName + "::" + string->getValue().str())
               .Case("dtype", "DType::" + string->getValue().str())
               .Case("number", "Number(" + string->getValue().str() + ")")
               .Default(string->getValue().str());
  else if (auto *number = dyn_cast<IntInit>(init))
    text = itostr(number->getValue());
  else if (auto *bit = dyn_cast<BitInit>(init))
    text = bit->getValue() ? "true" : "false";
  else if (op.findAttribute(name))
    text = name.str();
  else
    return error("'$" + name + "' is no attribute");
  if (attribute.kind == "boolean" && isa<IntInit>(init))
    return text == "0" ? "false" : "true";
  if (attribute.kind == "ints" && !text.empty())
    return "term::ints(" + text + ")";
  return text;
}

std::string RuleWriter::tensor(const DagInit *dag) {
  const Record *def = dag->getOperatorAsDef(rule->getLoc());
  if (def->getName() == "identity" && dag->getNumArgs() == 1)
    return tensorArgument(dag->getArg(0), dag->getArgNameStr(0), "");
  const Op *callee = records.find(def);
  if (!callee)
    return error(def->getName() + " is not an op");
  size_t operands = callee->operands.size();
  if (dag->getNumArgs() != operands + callee->attributes.size())
    return error(callee->name + " takes " + Twine(operands) + " operands and " +
                 Twine(callee->attributes.size()) + " attributes");
  // Literals take the type of a neighbour, so they come last.
  std::vector<std::string> arguments(dag->getNumArgs());
  std::string like;
  for (bool literals : {false, true})
    for (size_t i = 0; i < operands; ++i) {
      StringRef name = dag->getArgNameStr(i);
      if (isLiteral(dag->getArg(i), name) != literals)
        continue;
      arguments[i] = tensorArgument(dag->getArg(i), name, like);
      if (arguments[i].empty())
        return "";
      // A condition is no neighbour: constants follow the last operand.
      like = literals ? like : arguments[i];
    }
  for (size_t i = operands; i < arguments.size(); ++i) {
    arguments[i] = attributeArgument(callee->attributes[i - operands],
                                     dag->getArg(i), dag->getArgNameStr(i));
    if (arguments[i].empty())
      return "";
  }
  if (callee->takesDevice())
    arguments.push_back("device");
  std::string call =
      "graph::" + callee->name + "(" + join(arguments, ", ") + ")";
  std::string &name = done[call];
  if (name.empty()) {
    name = "v" + utostr(count++);
    os << indent << "SINTER_TRY_ASSIGN(NodeRef " << name << ",\n"
       << indent << "                  " << call << ");\n";
  }
  if (!dag->getNameStr().empty())
    values[dag->getNameStr().str()] = name;
  return name;
}

} // namespace sinter::tblgen
