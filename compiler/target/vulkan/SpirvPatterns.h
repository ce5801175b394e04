/// SpirvPatterns: memory and functions that MLIR's own conversions to SPIR-V
/// leave out.
#pragma once

#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

namespace sinter::compiler {

/// The pointer that a buffer of such elements becomes.
mlir::spirv::PointerType bufferPointer(mlir::Type element);

/// Buffers become pointers to physical storage, a workgroup's arrays and
/// constant tables pointers to variables.
void addMemoryTypes(mlir::SPIRVTypeConverter &converter);
void addMemoryPatterns(const mlir::SPIRVTypeConverter &converter,
                       mlir::RewritePatternSet &patterns);

} // namespace sinter::compiler
