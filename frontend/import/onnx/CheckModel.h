/// What must hold of a model whatever its operators are.
#pragma once

#include "frontend/import/onnx/Records.h"

namespace sinter::onnx {

/// The versions that are read.
inline constexpr int64_t oldestIr = 3, newestIr = 14;
inline constexpr int64_t oldestOpset = 1, newestOpset = 28;

/// Throws where a model's versions are not read, a name that a node reads is
/// none, is defined later or twice, or functions call each other in a circle.
void checkModel(const ModelRecord &model);

/// Throws where a tensor's dims and type do not fit the bytes that it has.
void checkTensor(const TensorRecord &tensor);

/// Elements of a tensor whose dims were checked.
int64_t countElements(const TensorRecord &tensor);
/// Bytes that a file keeps for so many elements; elements of less than a byte
/// are packed.
size_t packedBytes(ElementType type, int64_t elements);

} // namespace sinter::onnx
