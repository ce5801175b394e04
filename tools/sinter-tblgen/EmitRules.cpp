/// Gradient rules and decompositions: C++ over graph builders.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"
#include "tools/sinter-tblgen/RuleWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace sinter::tblgen {

using Names = std::map<std::string, std::string>;

/// `lhs` -> `PREFIX[0]`, ...
static Names operandNames(const Op &op, const std::string &prefix) {
  Names names;
  for (auto [i, operand] : enumerate(op.operands))
    names[operand.name] = prefix + "[" + utostr(i) + "]";
  return names;
}

static void emitReads(const Op &op, StringRef words, raw_ostream &os) {
  if (op.attributes.empty())
    return;
  os << "  AttrReader reader(" << words << ");\n";
  for (const Attribute &attribute : op.attributes)
    os << "  [[maybe_unused]] auto " << attribute.name << " = "
       << readCall(attribute) << ";\n";
}

static bool emitDecomposition(const Records &records, const Op &op,
                              raw_ostream &os) {
  os << "\nstatic Result<NodeRef> decompose_" << op.name
     << "(std::span<const NodeRef> operands,\n"
        "    [[maybe_unused]] std::span<const uint64_t> attrs) {\n"
        "  [[maybe_unused]] DeviceId device = operands[0]->device();\n";
  emitReads(op, "attrs", os);
  for (const Record *rule : op.lowering.decompositions) {
    StringRef choice = rule->getValueAsString("choice");
    const Attribute *attribute = op.decompositionChoice();
    std::string indent = choice.empty() ? "  " : "    ";
    if (!choice.empty())
      os << "  if (" << attribute->name << " == " << attribute->enumName
         << "::" << choice << ") {\n";
    RuleWriter writer(records, op, rule, operandNames(op, "operands"), os,
                      indent);
    std::string value = writer.tensor(rule->getValueAsDag("body"));
    if (value.empty())
      return false;
    os << indent << "return " << value << ";\n";
    if (!choice.empty())
      os << "  }\n";
  }
  if (!op.lowering.decompositions[0]->getValueAsString("choice").empty())
    os << "  return makeError(ErrorKind::internal, " << quoted(op.name)
       << " \": unknown choice\");\n";
  os << "}\n";
  return true;
}

static std::string decompositionOf(const Op &op) {
  if (const Record *rule = op.lowering.decompositionFn)
    return rule->getValueAsString("cppFunction").str();
  return "decompose_" + op.name;
}

bool emitDecompositions(const Records &records, raw_ostream &os) {
  os << "// Composites in other ops. Included by\n"
        "// runtime/graph/Decompositions.cpp.\n\nnamespace sinter::graph {\n";
  for (const Op &op : records.ops())
    if (op.isComposite() && !op.lowering.decompositionFn &&
        !emitDecomposition(records, op, os))
      return false;
  os << "\nstatic Result<NodeRef> dispatchDecomposition(OpId op,\n"
        "    std::span<const NodeRef> operands,\n"
        "    std::span<const uint64_t> attrs) {\n  switch (op) {\n";
  for (const Op &op : records.ops())
    if (op.isComposite())
      os << "  case OpId::" << op.name << ":\n    return "
         << decompositionOf(op) << "(operands, attrs);\n";
  os << "  default:\n    return makeError(ErrorKind::internal, \"not a "
        "composite\");\n  }\n}\n\n} // namespace sinter::graph\n";
  return true;
}

namespace {

/// What a rule reads, as the table says it.
struct Reads {
  uint32_t operands = 0;
  bool result = false;

  void add(const Op &op, StringRef name) {
    if (name == "result")
      result = true;
    for (auto [i, operand] : enumerate(op.operands))
      if (operand.name == name)
        operands |= operand.variadic ? ~0u : 1u << i;
  }
};

} // namespace

/// The function gradient_OP from dags; one block for each operand.
static bool emitGradientDags(const Records &records, const Op &op, Reads &reads,
                             raw_ostream &os) {
  const Record *rule = op.gradient.dags;
  const ListInit *dags = rule->getValueAsListInit("perOperand");
  if (dags->size() != op.operands.size()) {
    PrintError(rule->getLoc(), "gradient of '" + op.name + "' has " +
                                   Twine(dags->size()) + " dags for " +
                                   Twine(op.operands.size()) + " operands");
    return false;
  }
  os << "\nstatic Result<OperandGradients>\ngradient_" << op.name
     << "(const GradientContext &context) {\n"
        "  [[maybe_unused]] std::span<const NodeRef> operands = "
        "context.operands;\n"
        "  [[maybe_unused]] const NodeRef &result = context.result;\n"
        "  [[maybe_unused]] const NodeRef &grad = context.grad;\n"
        "  [[maybe_unused]] DeviceId device = grad->device();\n";
  emitReads(op, "context.attrs", os);
  os << "  OperandGradients gradients(" << op.operands.size() << ");\n";
  for (auto [i, init] : enumerate(*dags)) {
    auto *dag = cast<DagInit>(init);
    if (dag->getOperatorAsDef(rule->getLoc())->getName() == "none")
      continue;
    Names names = operandNames(op, "operands");
    names["result"] = "result";
    names["grad"] = "grad";
    os << "  if (context.needs[" << i << "]) {\n";
    RuleWriter writer(records, op, rule, names, os, "    ");
    std::string value = writer.tensor(dag);
    if (value.empty())
      return false;
    bool isLocal = StringRef(value).starts_with("v");
    os << "    gradients[" << i
       << "] = " << (isLocal ? "std::move(" + value + ")" : value)
       << ";\n  }\n";
    for (const auto &[name, read] : writer.reads())
      reads.add(op, name);
  }
  os << "  return gradients;\n}\n";
  return true;
}

bool emitGradients(const Records &records, raw_ostream &os) {
  os << "// Gradient rules and their table. Included by\n"
        "// runtime/autodiff/Gradients.cpp.\n\nnamespace sinter::autodiff {\n";
  std::string table;
  raw_string_ostream rows(table);
  for (const Op &op : records.ops()) {
    Reads reads;
    std::string function = "nullptr";
    const GradientRecord &gradient = op.gradient;
    if (gradient.dags) {
      if (!emitGradientDags(records, op, reads, os))
        return false;
      function = "gradient_" + op.name;
    } else if (gradient.function) {
      function = gradient.function->getValueAsString("cppFunction").str();
      for (StringRef name : gradient.function->getValueAsListOfStrings("reads"))
        reads.add(op, name);
    }
    bool through = op.isComposite() && !gradient.dags && !gradient.function &&
                   !gradient.none;
    // Expanding records the operands' uses anew.
    if (through)
      reads.operands = ~0u;
    rows << "    {" << function << ", " << (through ? "true" : "false") << ", "
         << utohexstr(reads.operands, /*LowerCase=*/true).insert(0, "0x")
         << "u, " << (reads.result ? "true" : "false") << "}, // " << op.name
         << "\n";
  }
  os << "\n/// By code - 1.\nstatic const GradientInfo gradientInfos[] = {\n"
     << table << "};\n\n} // namespace sinter::autodiff\n";
  return true;
}

} // namespace sinter::tblgen
