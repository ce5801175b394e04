/// LoadModel: models of messages, and what is wrong with a use of them.
#pragma once

#include "tests/unit/onnx/ModelWriter.h"

#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <span>
#include <string>

namespace sinter::onnx_test {

inline onnx::Model modelOf(const Message &graph, int64_t opset = 17) {
  std::string bytes = modelMessage(graph, opset).bytes;
  return onnx::load(std::as_bytes(std::span(bytes)), {}, "net.onnx");
}

/// What goes wrong in a call.
template <typename F> std::string problem(F &&call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return {};
}

} // namespace sinter::onnx_test
