/// The tables of ops that are written, by family.
#pragma once

#include "frontend/export/onnx/OpCall.h"

#include <span>

namespace sinter::onnx {

std::span<const WrittenOp> writtenArithmetic();
std::span<const WrittenOp> writtenViews();
std::span<const WrittenOp> writtenNetworks();
std::span<const WrittenOp> writtenImages();

} // namespace sinter::onnx
