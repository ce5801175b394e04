/// The precompiled header of what emits code: that of everything with MLIR, and
/// the dialects that targets lower to.
#pragma once

#include "compiler/pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
