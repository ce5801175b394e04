/// The state of a compilation as text, in the form that was asked for.
#pragma once

#include "compiler/Pipeline.h"

namespace sinter::compiler {

/// A stage's name, or `llvm`, `asm`, `ptx` or `spirv`.
struct InspectForm {
  std::string name;
  Stage until = Stage::import;
  bool needsTexts = false; ///< of each kernel
  bool lowerOnly = false;
};

/// An error of kind invalid_argument lists the names.
Result<InspectForm> parseInspectForm(std::string_view name);

/// Whether kernels for that target have the form.
Status checkForm(const InspectForm &form, std::string_view target);

/// The text of a compilation that ran until `form.until`.
std::string inspectText(const Compilation &state, const InspectForm &form);

} // namespace sinter::compiler
