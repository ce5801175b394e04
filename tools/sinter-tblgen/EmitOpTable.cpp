/// Op codes, the op table and the enum classes of choice attributes.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace sinter::tblgen {

bool emitOpIds(const Records &records, raw_ostream &os) {
  os << "// Every op's mnemonic, in the order of codes.\n";
  for (const Op &op : records.ops())
    os << "SINTER_OP(" << op.name << ")\n";
  return true;
}

static void emitOperandNames(const Op &op, raw_ostream &os) {
  if (op.operands.empty())
    return;
  os << "constexpr std::string_view " << op.name << "Operands[] = {";
  interleaveComma(op.operands, os,
                  [&](const Operand &operand) { os << quoted(operand.name); });
  os << "};\n";
}

static void emitAttrSpecs(const Op &op, raw_ostream &os) {
  if (op.attributes.empty())
    return;
  os << "constexpr AttrSpec " << op.name << "Attrs[] = {\n";
  for (const Attribute &attribute : op.attributes)
    os << "    {" << quoted(attribute.name) << ", AttrKind::" << attribute.kind
       << ", " << quoted(join(attribute.choices, ",")) << "},\n";
  os << "};\n";
}

bool emitOpTable(const Records &records, raw_ostream &os) {
  os << "// Rows of the op table, by code - 1. Included by\n"
        "// runtime/graph/OpTable.cpp.\n\nnamespace sinter::graph {\n"
        "namespace {\n";
  for (const Op &op : records.ops()) {
    emitOperandNames(op, os);
    emitAttrSpecs(op, os);
  }
  os << "constexpr OpInfo opInfos[] = {\n";
  for (const Op &op : records.ops()) {
    os << "    {" << quoted(op.name) << ", PatternKind::" << op.patternKind()
       << ", ";
    if (op.isVariadic())
      os << "variadic, ";
    else
      os << op.operands.size() << ", ";
    os << (op.operands.empty() ? "{}" : op.name + "Operands") << ", "
       << (op.attributes.empty() ? "{}" : op.name + "Attrs") << ",\n     "
       << (op.isComposite() ? "true" : "false") << ", "
       << (op.isDifferentiable() ? "true" : "false") << ", "
       << quoted(op.summary) << ",\n     " << quoted(op.location) << "},\n";
  }
  os << "};\n} // namespace\n} // namespace sinter::graph\n";
  return true;
}

bool emitPrecisions(const Records &records, raw_ostream &os) {
  os << "// In how many bits each op computes under autocast, by code - 1.\n";
  for (const Op &op : records.ops())
    os << "Precision::" << op.text("precision") << ", // " << op.name << "\n";
  return true;
}

bool emitChoices(const Records &records, raw_ostream &os) {
  os << "// Enum classes of choice attributes.\n#pragma once\n\n"
        "#include <cstdint>\n\nnamespace sinter {\n\n";
  std::set<std::string> done;
  for (const Op &op : records.ops())
    for (const Attribute &attribute : op.attributes)
      if (attribute.kind == "choice" && done.insert(attribute.enumName).second)
        os << "/// Values of `" << attribute.name << "` of " << op.name
           << ".\nenum class " << attribute.enumName << " : uint8_t { "
           << join(attribute.choices, ", ") << " };\n";
  os << "\n} // namespace sinter\n";
  return true;
}

} // namespace sinter::tblgen
