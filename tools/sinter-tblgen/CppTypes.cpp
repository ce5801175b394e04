/// Spelling of attribute types.
#include "tools/sinter-tblgen/CppTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace sinter::tblgen {

std::string graphParameterType(const Attribute &attribute) {
  return StringSwitch<std::string>(attribute.kind)
      .Case("boolean", "bool")
      .Case("integer", "int64_t")
      .Case("real", "double")
      .Case("number", "Number")
      .Case("dtype", "DType")
      .Case("choice", attribute.enumName)
      .Case("ints", "std::span<const int64_t>")
      .Case("dim", "Dim")
      .Case("dims", "std::span<const Dim>")
      .Case("text", "std::string_view")
      .Default("");
}

std::string frontendParameterType(const Attribute &attribute) {
  return StringSwitch<std::string>(attribute.kind)
      .Case("ints", "const Axes &")
      .Case("dims", "const Dims &")
      .Default(graphParameterType(attribute));
}

std::string readCall(const Attribute &attribute) {
  if (attribute.kind == "choice")
    return "reader.choice<" + attribute.enumName + ">()";
  return "reader." + attribute.kind + "()";
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

} // namespace sinter::tblgen
