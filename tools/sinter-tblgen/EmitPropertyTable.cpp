/// The table that property tests draw operands and attributes from, and the
/// records' examples as functions.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace sinter::tblgen {

static std::string numberOr(StringRef text, StringRef otherwise) {
  return (text.empty() ? otherwise : text).str();
}

static bool isComplex(StringRef dtype) { return dtype.starts_with("c"); }

static void emitOperand(const Operand &operand, const Record *domain,
                        raw_ostream &os) {
  os << "    {" << quoted(operand.name) << ", ";
  // What is linear in complex numbers is drawn with real ones.
  std::vector<std::string> dtypes = operand.dtypes;
  if (!all_of(dtypes, isComplex))
    erase_if(dtypes, isComplex);
  interleave(
      dtypes, os,
      [&](const std::string &dtype) {
        os << "graph::dtypeBit(DType::" << dtype << ")";
      },
      " | ");
  os << ",\n     {DomainKind::" << domain->getValueAsString("kind") << ", "
     << numberOr(domain->getValueAsString("low"), "0") << ", "
     << numberOr(domain->getValueAsString("high"), "0") << ", "
     << numberOr(domain->getValueAsString("avoid"), "noPoint") << "}},\n";
}

bool emitPropertyTable(const Records &records, raw_ostream &os) {
  os << "// Included by tests/property/PropertyTable.cpp.\n\n"
        "namespace sinter::property {\nnamespace {\n";
  for (const Op &op : records.ops()) {
    if (op.operands.empty())
      continue;
    std::vector<const Record *> domains =
        op.def->getValueAsListOfDefs("domains");
    os << "const OperandRow " << op.name << "Operands[] = {\n";
    for (auto [i, operand] : enumerate(op.operands))
      emitOperand(operand, domains[domains.size() == 1 ? 0 : i], os);
    os << "};\n";
  }
  os << "const PropertyRow rows[] = {\n";
  for (const Op &op : records.ops())
    os << "    {graph::OpId::" << op.name << ", "
       << quoted(op.text("shapeRule")) << ", "
       << (op.operands.empty() ? "{}" : op.name + "Operands") << ", "
       << (op.isVariadic() ? "true" : "false") << ", "
       << (op.isDifferentiable() ? "true" : "false") << ", "
       << quoted(op.text("example")) << "},\n";
  os << "};\n} // namespace\n} // namespace sinter::property\n";
  return true;
}

bool emitExamples(const Records &records, raw_ostream &os) {
  os << "// Included by tests/property/ExamplesTest.cpp.\n";
  for (const Op &op : records.ops()) {
    os << "\nstatic Tensor example_" << op.name << "() {\n";
    for (auto [i, operand] : enumerate(op.operands))
      os << "  [[maybe_unused]] "
         << (operand.variadic ? "std::vector<Tensor> " : "Tensor ")
         << operand.name << (operand.variadic ? " = samples(" : " = sample(")
         << "graph::OpId::" << op.name << (operand.variadic ? "" : ", ")
         << (operand.variadic ? "" : utostr(i)) << ");\n";
    os << "  return " << op.text("example") << ";\n}\n";
  }
  os << "\nstatic const Example examples[] = {\n";
  for (const Op &op : records.ops())
    os << "    {" << quoted(op.name) << ", example_" << op.name << "},\n";
  os << "};\n";
  return true;
}

} // namespace sinter::tblgen
