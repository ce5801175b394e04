/// The reference of ops, as Markdown.
#include "tools/sinter-tblgen/CppTypes.h"
#include "tools/sinter-tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace sinter::tblgen {

/// `f64 f32 f16 bf16`, with bool by its printed name.
static std::string dtypeList(const Operand &operand) {
  std::vector<std::string> names(operand.dtypes);
  for (std::string &name : names)
    if (name == "boolean")
      name = "bool";
  return join(names, " ");
}

static std::string attributeText(const Attribute &attribute) {
  std::string text = attribute.kind;
  if (attribute.kind == "choice")
    text = "one of " + join(attribute.choices, ", ");
  else if (!attribute.role.empty())
    text = attribute.role;
  if (!attribute.defaultValue.empty())
    text += ", default `" + attribute.defaultValue + "`";
  return text;
}

static std::string gradientText(const Op &op) {
  if (op.gradient.none)
    return "none";
  if (op.gradient.dags || op.gradient.function)
    return "own rule";
  return "of its decomposition";
}

/// What the op is called elsewhere.
static void emitNames(const Op &op, raw_ostream &os) {
  if (!op.names) {
    os << "- elsewhere: no Names record\n";
    return;
  }
  auto emit = [&](StringRef who, StringRef field) {
    StringRef name = op.names->getValueAsString(field);
    os << "- " << who << ": ";
    if (name.empty())
      os << "none\n";
    else
      os << "`" << name << "`\n";
  };
  emit("PyTorch", "torch");
  emit("Burn", "burn");
}

static void emitOp(const Op &op, raw_ostream &os) {
  os << "\n### " << op.name << "\n\n" << op.summary << "\n";
  if (!op.description.empty())
    os << "\n" << op.description << "\n";
  os << "\n```cpp\n" << op.text("example") << "\n```\n\n";
  for (const Operand &operand : op.operands)
    os << "- `" << operand.name
       << "`: " << (operand.variadic ? "tensors" : "tensor") << " of "
       << dtypeList(operand) << "\n";
  for (const Attribute &attribute : op.attributes)
    os << "- `" << attribute.name << "`: " << attributeText(attribute) << "\n";
  os << "- gradient: " << gradientText(op) << "\n";
  emitNames(op, os);
  os << "- defined at " << op.location << "\n";
}

bool emitDocs(const Records &records, raw_ostream &os) {
  os << "# Ops\n\nGenerated from the records in `dialects/sinter/ops`. An op's "
        "name is that of the\nfunction of namespace `sinter`, of the method of "
        "`Tensor` where there is one, and of\nthe op in the IR (`sinter.NAME`)."
        "\n";
  std::vector<StringRef> kinds;
  for (const Op &op : records.ops())
    if (!is_contained(kinds, op.patternKind()))
      kinds.push_back(op.patternKind());
  for (StringRef kind : kinds) {
    os << "\n## " << kind << "\n";
    for (const Op &op : records.ops())
      if (op.patternKind() == kind)
        emitOp(op, os);
  }
  return true;
}

} // namespace sinter::tblgen
