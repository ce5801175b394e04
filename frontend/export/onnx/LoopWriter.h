/// LoopWriter: loops over steps as ONNX's Scan.
#pragma once

#include "frontend/export/onnx/GraphWriter.h"

namespace sinter::onnx {

/// Writes a loop of the writer's graph, and names what comes out of it.
void writeLoop(GraphWriter &writer, const graph::Loop &loop);

} // namespace sinter::onnx
