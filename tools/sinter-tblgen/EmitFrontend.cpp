/// The user's functions and Tensor's methods.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace sinter::tblgen {

/// `bool keepdims = false`
static std::string attributeParameter(const Attribute &attribute,
                                      bool withDefault) {
  std::string text = frontendParameterType(attribute);
  if (!StringRef(text).ends_with("&"))
    text += " ";
  text += attribute.name;
  if (withDefault && !attribute.defaultValue.empty())
    text += " = " + attribute.defaultValue;
  return text;
}

/// The parameters from operand `first` on.
static std::vector<std::string> parameters(const Op &op, size_t first,
                                           bool withDefaults) {
  std::vector<std::string> list;
  for (const Operand &operand : drop_begin(op.operands, first))
    list.push_back(
        (operand.variadic ? "std::span<const Arg> " : "const Arg &") +
        operand.name);
  for (const Attribute &attribute : op.attributes)
    list.push_back(attributeParameter(attribute, withDefaults));
  return list;
}

static std::vector<std::string> attributeNames(const Op &op) {
  std::vector<std::string> names;
  for (const Attribute &attribute : op.attributes)
    names.push_back(attribute.name);
  return names;
}

static void emitComment(const Op &op, StringRef indent, raw_ostream &os) {
  os << indent << "/// " << op.summary << "\n";
  if (op.description.empty())
    return;
  os << indent << "///\n";
  for (StringRef line : split(op.description, '\n'))
    os << indent << (line.empty() ? "///" : "/// ") << line << "\n";
}

/// Overloads that take a variadic op's operands in braces or as tensors.
static void emitVariadicOverloads(const Op &op, raw_ostream &os) {
  std::string name = op.operands[0].name;
  std::string rest, call;
  for (const Attribute &attribute : op.attributes) {
    rest += ", " + attributeParameter(attribute, true);
    call += ", " + attribute.name;
  }
  os << "inline Tensor " << op.name << "(std::initializer_list<Arg> " << name
     << rest << ") {\n  return " << op.name << "(std::span<const Arg>(" << name
     << ".begin(), " << name << ".size())" << call << ");\n}\n"
     << "inline Tensor " << op.name << "(std::span<const Tensor> " << name
     << rest
     << ",\n    std::source_location where = "
        "std::source_location::current()) {\n"
        "  std::vector<Arg> list;\n  for (const Tensor &each : "
     << name << ")\n    list.emplace_back(each, where);\n  return " << op.name
     << "(std::span<const Arg>(list)" << call << ");\n}\n";
}

bool emitFrontendDecls(const Records &records, raw_ostream &os) {
  os << "// The user's functions.\n#pragma once\n\n"
        "#include <sinter/Tensor.h>\n\n#include <initializer_list>\n"
        "#include <source_location>\n#include <span>\n#include <vector>\n\n"
        "namespace sinter {\n";
  for (const Op *op : records.declared()) {
    if (op->flag("handWritten"))
      continue;
    os << "\n";
    emitComment(*op, "", os);
    os << "Tensor " << op->name << "(" << join(parameters(*op, 0, true), ", ")
       << ");\n";
    if (op->isVariadic())
      emitVariadicOverloads(*op, os);
  }
  os << "\n} // namespace sinter\n";
  return true;
}

static StringRef promotion(const Op &op) {
  StringRef name = op.text("promotion");
  return name == "float" ? "floating" : name;
}

/// Bit N: operand N takes part in promotion.
static unsigned promotedMask(const Op &op) {
  if (op.isVariadic())
    return ~0u;
  unsigned mask = 0;
  for (auto [i, operand] : enumerate(op.operands))
    if (op.isPromoted(operand.name))
      mask |= 1u << i;
  return mask;
}

/// What is called instead where an operand is complex.
static void emitOnComplex(const Op &op, raw_ostream &os) {
  if (!op.onComplex)
    return;
  std::vector<std::string> operands;
  for (const Operand &operand : op.operands)
    operands.push_back(operand.name);
  std::vector<std::string> arguments = operands;
  append_range(arguments, attributeNames(op));
  os << "  if (detail::anyComplex(" << join(operands, ", ")
     << ")) [[unlikely]]\n    return detail::"
     << op.onComplex->getValueAsString("cppFunction") << "("
     << join(arguments, ", ") << ");\n";
}

static void emitFunction(const Op &op, raw_ostream &os) {
  os << "\nTensor " << op.name << "(" << join(parameters(op, 0, false), ", ")
     << ") try {\n";
  emitOnComplex(op, os);
  const std::string &first = op.operands[0].name;
  std::string where = first + ".where";
  if (op.isVariadic())
    where = first + ".empty() ? SourceLine() : " + first + ".front().where";
  os << "  detail::Recorder recorder(graph::OpId::" << op.name << ", "
     << (op.isVariadic() ? where : first);
  os << ");\n  auto nodes = recorder.operands(detail::Promotion::"
     << promotion(op) << ", " << promotedMask(op) << "u, "
     << (op.flag("broadcasts") ? "true" : "false");
  std::vector<std::string> arguments;
  for (auto [i, operand] : enumerate(op.operands)) {
    os << ", " << operand.name;
    arguments.push_back(operand.variadic ? "nodes"
                                         : "nodes[" + utostr(i) + "]");
  }
  os << ");\n";
  for (const Attribute &attribute : op.attributes)
    arguments.push_back(attribute.role == "axes"
                            ? "recorder.axes(" + attribute.name +
                                  ", nodes[0]->rank())"
                            : attribute.name);
  os << "  return recorder.result(graph::" << op.name << "("
     << join(arguments, ", ")
     << "));\n} catch (...) {\n  detail::raiseExhausted(" << where << ");\n}\n";
}

bool emitFrontendDefs(const Records &records, raw_ostream &os) {
  os << "// The user's functions. Included by frontend/Ops.cpp.\n\n"
        "namespace sinter {\n";
  for (const Op &op : records.ops())
    if (!op.flag("handWritten"))
      emitFunction(op, os);
  os << "\n} // namespace sinter\n";
  return true;
}

bool emitMethodDecls(const Records &records, raw_ostream &os) {
  os << "// Methods of Tensor, each the function of its name on this tensor.\n"
        "// Included inside the class.\n";
  for (const Op &op : records.ops()) {
    if (!op.isMethod)
      continue;
    std::vector<std::string> list = parameters(op, 1, true);
    list.push_back("Where where = Where::current()");
    os << "/// " << op.summary << "\nTensor " << op.name << "("
       << join(list, ", ") << ") const;\n";
  }
  return true;
}

bool emitMethodDefs(const Records &records, raw_ostream &os) {
  os << "// Methods of Tensor. Included by frontend/Ops.cpp.\n\n"
        "namespace sinter {\n";
  for (const Op &op : records.ops()) {
    if (!op.isMethod)
      continue;
    std::vector<std::string> list = parameters(op, 1, false);
    list.push_back("Where where");
    std::vector<std::string> arguments{"Arg(*this, where)"};
    for (const Operand &operand : drop_begin(op.operands))
      arguments.push_back(operand.name);
    append_range(arguments, attributeNames(op));
    os << "\nTensor Tensor::" << op.name << "(" << join(list, ", ")
       << ") const {\n  return sinter::" << op.name << "("
       << join(arguments, ", ") << ");\n}\n";
  }
  os << "\n} // namespace sinter\n";
  return true;
}

} // namespace sinter::tblgen
