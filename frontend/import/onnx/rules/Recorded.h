/// Recorded: ops of the graph for which there is no function of tensors.
#pragma once

#include "frontend/Recording.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"

namespace sinter::onnx {

/// What a builder gave as a tensor, or its error thrown.
inline Tensor recorded(graph::OpId op, Result<graph::NodeRef> node) {
  detail::Recorder recorder(op, SourceLine::current());
  return recorder.result(std::move(node));
}
inline const graph::NodeRef &nodeOf(const Tensor &x) {
  return detail::usedForm(x.node());
}

} // namespace sinter::onnx
