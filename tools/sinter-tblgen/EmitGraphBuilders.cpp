/// Graph builders: check, shape rule, attribute encoding, node.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace sinter::tblgen {

/// `const NodeRef &x, std::span<const int64_t> axes, DeviceId device`
static std::string parameters(const Op &op) {
  std::vector<std::string> list;
  for (const Operand &operand : op.operands)
    list.push_back(
        (operand.variadic ? "std::span<const NodeRef> " : "const NodeRef &") +
        operand.name);
  for (const Attribute &attribute : op.attributes)
    list.push_back(graphParameterType(attribute) + " " + attribute.name);
  if (op.takesDevice())
    list.push_back("DeviceId device");
  return join(list, ", ");
}

bool emitGraphBuilderDecls(const Records &records, raw_ostream &os) {
  os << "// One builder per op.\n#pragma once\n\n"
        "#include \"sinter/runtime/Node.h\"\n"
        "#include \"sinter/runtime/Number.h\"\n"
        "#include \"sinter/runtime/Result.h\"\n\n"
        "#include \"sinter/generated/Choices.h.inc\"\n\n"
        "#include <span>\n\nnamespace sinter::graph {\n\n";
  for (const Op *op : records.declared())
    os << "/// " << op->summary << "\nResult<NodeRef> " << op->name << "("
       << parameters(*op) << ");\n";
  os << "\n} // namespace sinter::graph\n";
  return true;
}

/// The operand's dtypes as a set of bits.
static std::string dtypeSet(const Operand &operand) {
  return join(map_range(operand.dtypes,
                        [](const std::string &dtype) {
                          return "dtypeBit(DType::" + dtype + ")";
                        }),
              " | ");
}

static void emitDTypeSets(const Op &op, raw_ostream &os) {
  for (const Operand &operand : op.operands)
    os << "constexpr DTypeSet " << op.name << "_" << operand.name << " =\n    "
       << dtypeSet(operand) << ";\n";
}

static void emitDTypeChecks(const Op &op, raw_ostream &os) {
  if (op.isVariadic()) {
    os << "  SINTER_TRY(checkDTypes(context, " << op.name << "_"
       << op.operands[0].name << "));\n";
    return;
  }
  for (auto [i, operand] : enumerate(op.operands))
    os << "  if (!(dtypeBit(context.operands[" << i << "].dtype) & " << op.name
       << "_" << operand.name << "))\n    return checkDType(context, " << i
       << ", " << op.name << "_" << operand.name << ").takeError();\n";
}

/// The rank that axes count in.
static std::string axisRank(const Op &op) {
  return op.operands.empty() ? "shape.size()"
                             : "context.operands[0].dims.size()";
}

static StringRef normalizer(const Attribute &attribute) {
  if (attribute.role == "axis")
    return "normalizeAxis";
  return attribute.role == "axes" ? "normalizeAxes" : "normalizePermutation";
}

/// What later code calls an attribute: normalized ones have a new name.
static std::string valueName(const Attribute &attribute) {
  return attribute.role.empty() ? attribute.name : attribute.name + "Normal";
}

static void emitNormalization(const Op &op, raw_ostream &os) {
  for (const Attribute &attribute : op.attributes)
    if (!attribute.role.empty())
      os << "  SINTER_TRY_ASSIGN(auto " << valueName(attribute) << ",\n"
         << "                    " << normalizer(attribute) << "(context, "
         << attribute.name << ", " << axisRank(op) << "));\n";
}

static std::string ruleCall(const Op &op) {
  std::string call = "shape::" + op.text("shapeRule").str() + "(context";
  for (const Attribute *attribute : op.shapeArguments())
    call += ", " + valueName(*attribute);
  return call + ")";
}

static void emitEncoding(const Op &op, raw_ostream &os) {
  os << "  AttrWriter words;\n";
  for (const Attribute &attribute : op.attributes)
    os << "  words." << attribute.kind << "("
       << (attribute.name == op.text("resolves") ? "type.dims"
                                                 : valueName(attribute))
       << ");\n";
}

/// The op's only axis, if it has operands of its own to walk along it.
static const Attribute *walkedAxis(const Op &op) {
  if (op.isVariadic() || op.operands.empty())
    return nullptr;
  for (const Attribute &attribute : op.attributes)
    if (attribute.role == "axis")
      return &attribute;
  return nullptr;
}

/// A number counts as a line of one element: the op on lines, and a number of
/// its result where all operands are numbers.
static void emitOnNumber(const Op &op, raw_ostream &os) {
  const Attribute *axis = walkedAxis(op);
  if (!axis)
    return;
  os << "  if (" << op.operands[0].name << "->rank() == 0 && isAxisOfNumber("
     << axis->name << ")) [[unlikely]] {\n";
  for (const Operand &operand : op.operands)
    os << "    SINTER_TRY_ASSIGN(NodeRef " << operand.name << "Line, asLine("
       << operand.name << "));\n";
  std::vector<std::string> arguments;
  for (const Operand &operand : op.operands)
    arguments.push_back(operand.name + "Line");
  for (const Attribute &attribute : op.attributes)
    arguments.push_back(attribute.name);
  if (op.takesDevice())
    arguments.push_back("device");
  os << "    return asNumber(" << op.name << "(" << join(arguments, ", ")
     << "), nodes);\n  }\n";
}

static void emitBuilder(const Op &op, raw_ostream &os) {
  os << "\nResult<NodeRef> " << op.name << "(" << parameters(op) << ") {\n";
  if (op.isVariadic())
    os << "  OperandTypes types(" << op.operands[0].name << ");\n"
       << "  std::span<const NodeRef> nodes = " << op.operands[0].name << ";\n"
       << "  ShapeContext context{OpId::" << op.name << ", types};\n"
       << "  SINTER_TRY(checkNotEmpty(context));\n";
  else if (!op.operands.empty()) {
    os << "  BorrowedOperands<" << op.operands.size() << "> nodes(";
    interleaveComma(op.operands, os,
                    [&](const Operand &operand) { os << operand.name; });
    os << ");\n  ShapeContext context{OpId::" << op.name
       << ", nodes.types()};\n";
  } else {
    os << "  ShapeContext context{OpId::" << op.name << ", {}};\n";
  }
  emitDTypeChecks(op, os);
  emitOnNumber(op, os);
  emitNormalization(op, os);
  if (op.text("shapeRule") == "elementwise" && op.attributes.empty())
    os << "  if (nodes.haveOneType()) [[likely]]\n"
          "    return record(context, nodes, context.operands[0], {});\n";
  os << "  SINTER_TRY_ASSIGN(InferredType type, " << ruleCall(op) << ");\n";
  if (op.flag("elidesIdentity"))
    os << "  if (sameType(" << op.operands[0].name << ", type))\n    return "
       << op.operands[0].name << ";\n";
  emitEncoding(op, os);
  os << "  return record(context, " << (op.operands.empty() ? "{}" : "nodes")
     << ", type, words.view()" << (op.takesDevice() ? ", device" : "")
     << ");\n}\n";
}

/// Reads every attribute into a variable of its name.
static void emitReads(const Op &op, raw_ostream &os) {
  for (const Attribute &attribute : op.attributes)
    os << "  [[maybe_unused]] auto " << attribute.name << " = "
       << readCall(attribute) << ";\n";
}

/// A static function per op that infers from encoded attributes.
static void emitInference(const Op &op, raw_ostream &os) {
  os << "\nstatic Result<InferredType> infer_" << op.name
     << "(const ShapeContext &context,\n    [[maybe_unused]] AttrReader "
        "reader) {\n";
  if (op.isVariadic())
    os << "  SINTER_TRY(checkNotEmpty(context));\n";
  emitDTypeChecks(op, os);
  emitReads(op, os);
  emitNormalization(op, os);
  for (const Attribute &attribute : op.attributes)
    if (!attribute.role.empty())
      os << "  SINTER_TRY(checkNormalized(context, " << attribute.name << ", "
         << valueName(attribute) << "));\n";
  if (!op.text("resolves").empty())
    os << "  SINTER_TRY(checkResolved(context, " << op.text("resolves")
       << "));\n";
  os << "  return " << ruleCall(op) << ";\n}\n";
}

static void emitRebuild(const Op &op, raw_ostream &os) {
  os << "\nstatic Result<NodeRef> build_" << op.name
     << "([[maybe_unused]] std::span<const NodeRef> operands,\n"
        "    [[maybe_unused]] AttrReader reader,\n"
        "    [[maybe_unused]] DeviceId device) {\n";
  emitReads(op, os);
  std::vector<std::string> arguments;
  for (auto [i, operand] : enumerate(op.operands))
    arguments.push_back(operand.variadic ? "operands"
                                         : "operands[" + utostr(i) + "]");
  for (const Attribute &attribute : op.attributes)
    arguments.push_back(attribute.name);
  if (op.takesDevice())
    arguments.push_back("device");
  os << "  return " << op.name << "(" << join(arguments, ", ") << ");\n}\n";
}

/// `case OpId::add: return PREFIX_add(ARGUMENTS);` for every op.
static void emitSwitch(const Records &records, StringRef prefix,
                       StringRef arguments, raw_ostream &os) {
  for (const Op &op : records.ops())
    os << "  case OpId::" << op.name << ":\n    return " << prefix << op.name
       << "(" << arguments << ");\n";
  os << "  case OpId::leaf:\n  case OpId::count:\n    break;\n  }\n"
        "  return makeError(ErrorKind::internal, \"a leaf is not an op\");\n"
        "}\n";
}

bool emitGraphBuilderDefs(const Records &records, raw_ostream &os) {
  os << "// Builders and their dispatch by code. Included by\n"
        "// runtime/graph/Builders.cpp.\n\nnamespace sinter::graph {\n\n"
        "namespace {\n";
  for (const Op &op : records.ops())
    emitDTypeSets(op, os);
  os << "} // namespace\n";
  for (const Op &op : records.ops()) {
    emitBuilder(op, os);
    emitInference(op, os);
    emitRebuild(op, os);
  }
  os << "\nResult<InferredType> inferType(const ShapeContext &context,\n"
        "                               std::span<const uint64_t> attrs) {\n"
        "  SINTER_TRY(checkArity(context));\n  switch (context.op) {\n";
  emitSwitch(records, "infer_", "context, AttrReader(attrs)", os);
  os << "\nstatic Result<NodeRef> dispatchBuild(OpId op,\n"
        "    std::span<const NodeRef> operands,\n"
        "    std::span<const uint64_t> attrs, DeviceId device) {\n"
        "  switch (op) {\n";
  emitSwitch(records, "build_", "operands, AttrReader(attrs), device", os);
  os << "\n} // namespace sinter::graph\n";
  return true;
}

} // namespace sinter::tblgen
