/// CppTypes: how attributes are spelled in the generated C++.
#pragma once

#include "tools/sinter-tblgen/Records.h"

#include <string>

namespace sinter::tblgen {

/// The parameter type of a graph builder, e.g. `std::span<const int64_t>`.
std::string graphParameterType(const Attribute &attribute);
/// The parameter type of a frontend function, e.g. `const Axes &`.
std::string frontendParameterType(const Attribute &attribute);
/// Calls AttrReader for the attribute: `reader.ints()`.
std::string readCall(const Attribute &attribute);
/// `text` as a C++ string literal.
std::string quoted(llvm::StringRef text);

} // namespace sinter::tblgen
