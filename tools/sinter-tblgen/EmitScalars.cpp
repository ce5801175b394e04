/// Scalar bodies: emitScalar of pointwise ops, from dags over arith and math.
#include "tools/sinter-tblgen/Emitters.h"

#include "mlir/TableGen/Operator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace sinter::tblgen {

static bool isUnsupported(const DagInit *dag) {
  auto *def = dyn_cast<DefInit>(dag->getOperator());
  return def && def->getDef()->getName() == "unsupported";
}

/// The C++ expression of a dag; empty after an error.
static std::string expression(const Op &op, const Record *rule,
                              const Init *init, StringRef name) {
  auto *dag = dyn_cast<DagInit>(init);
  if (!dag) {
    for (auto [i, operand] : enumerate(op.operands))
      if (operand.name == name)
        return "scalars.operand(" + utostr(i) + ")";
    PrintError(rule->getLoc(), "scalar body of '" + op.name + "': '$" + name +
                                   "' is no operand");
    return "";
  }
  const Record *def = dag->getOperatorAsDef(rule->getLoc());
  if (def->getName() == "literal") {
    auto *text = dyn_cast<StringInit>(dag->getArg(0));
    return "scalars.constant(" + (text ? text->getValue().str() : "0") + ")";
  }
  if (!def->isSubClassOf("Op")) {
    PrintError(rule->getLoc(), "scalar body of '" + op.name +
                                   "': " + def->getName() + " is not an op");
    return "";
  }
  std::string call = mlir::tblgen::Operator(*def).getQualCppClassName() +
                     "::create(builder, "
                     "loc";
  for (unsigned i = 0; i < dag->getNumArgs(); ++i) {
    std::string argument =
        expression(op, rule, dag->getArg(i), dag->getArgNameStr(i));
    if (argument.empty())
      return "";
    call += ",\n        " + argument;
  }
  return call + ").getResult()";
}

/// One `case` per kind of element.
static bool emitBodies(const Op &op, raw_ostream &os) {
  const Record *rule = op.lowering.scalar;
  static const std::pair<StringRef, StringRef> kinds[] = {
      {"floatBody", "floating"},
      {"integerBody", "signedInteger"},
      {"unsignedBody", "unsignedInteger"},
      {"boolBody", "boolean"}};
  os << "  ScalarOperands scalars(builder, loc, *this, operands);\n"
        "  switch (scalars.kind()) {\n";
  for (auto [field, kind] : kinds) {
    const DagInit *dag = rule->getValueAsDag(field);
    os << "  case ElementKind::" << kind << ":\n";
    if (isUnsupported(dag)) {
      os << "    break;\n";
      continue;
    }
    std::string value = expression(op, rule, dag, "");
    if (value.empty())
      return false;
    os << "    return scalars.result(\n        " << value << ");\n";
  }
  os << "  }\n  return scalars.unsupported();\n";
  return true;
}

bool emitScalarBodies(const Records &records, raw_ostream &os) {
  os << "// Pointwise ops on elements. Included by dialects/sinter/Ops.cpp.\n"
        "\nnamespace sinter::ir {\n";
  for (const Op &op : records.ops()) {
    if (op.patternKind() != "pointwise")
      continue;
    os << "\n::mlir::Value " << op.cppClass
       << "::emitScalar(::mlir::OpBuilder &builder, ::mlir::Location loc,\n"
          "    ::mlir::ValueRange operands,\n"
          "    [[maybe_unused]] ::mlir::Type elementType) {\n";
    if (const Record *rule = op.lowering.scalarFn)
      os << "  return " << rule->getValueAsString("cppFunction")
         << "(*this, builder, loc, operands);\n";
    else if (!emitBodies(op, os))
      return false;
    os << "}\n";
  }
  os << "\n} // namespace sinter::ir\n";
  return true;
}

} // namespace sinter::tblgen
