/// Package: a planned module and its code become the bytes of a model file.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace sinter::compiler {

/// Code of each kernel, by name.
using KernelCodes = llvm::StringMap<std::shared_ptr<const KernelCode>>;

/// What a file is made of.
struct PackageContents {
  mlir::ModuleOp module; ///< after plan
  const Target *target = nullptr;
  NumericsMode numerics = NumericsMode::standard;
  const KernelCodes *codes = nullptr;
  std::vector<std::byte> image;
  std::string graphText;          ///< what `exportGraph` gives
  uint32_t numNodes = 0;          ///< post-order numbers are below this
  bool debug = false;             ///< write `sites`
  std::vector<std::string> sites; ///< one `file:line` per node
};

/// Deterministic in the contents.
Result<ModelBytes> writeProgram(PackageContents contents);

} // namespace sinter::compiler
