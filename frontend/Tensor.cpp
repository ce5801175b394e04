/// Tensor: asking about types, evaluating, reading, marking leaves.
#include <sinter/Tensor.h>

#include "frontend/Flush.h"
#include "frontend/HostBytes.h"
#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/SymbolicResults.h"
#include "runtime/device/Device.h"
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/OpIds.h"
#include "runtime/support/Flags.h"
#include "sinter/runtime/Complex.h"

#include <sinter/BasicOps.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

namespace sinter {

using detail::FlushReason;
using detail::raise;
using detail::unwrap;
using graph::NodeFactory;
using graph::NodeRef;
using graph::NodeState;

/// An invalid_argument error about this tensor.
[[noreturn]] static void reject(const Tensor &tensor, std::string_view op,
                                std::string_view what,
                                const SourceLine &where) {
  ErrorInfo error = makeError(ErrorKind::invalid_argument,
                              fmt::format("{}: {}", op, what), std::string(op));
  if (tensor.defined()) {
    error.shapes = {graph::typeString(*tensor.node())};
    error.message += ": " + error.shapes[0];
  }
  raise(std::move(error), where);
}

static void checkNotEmpty(const Tensor &tensor, std::string_view op,
                          const SourceLine &where) {
  if (!tensor.defined())
    reject(tensor, op, "the tensor is empty", where);
}

//===- Type ---------------------------------------------------------------===//

static int64_t checkAxis(const Tensor &tensor, int64_t axis,
                         std::string_view op, const SourceLine &where) {
  checkNotEmpty(tensor, op, where);
  int64_t rank = tensor.rank();
  if (axis < -rank || axis >= rank)
    reject(tensor, op,
           fmt::format("axis {} is out of range for rank {}", axis, rank),
           where);
  return axis < 0 ? axis + rank : axis;
}

Dim Tensor::dim(int64_t axis, Where where) const {
  axis = checkAxis(*this, axis, "dim", where);
  return detail::usedForm(node())->dims()[axis];
}

Dims Tensor::shape() const try {
  std::span<const Dim> dims = detail::usedForm(handle.node("shape"))->dims();
  return {dims.begin(), dims.end()};
} catch (...) {
  detail::raiseExhausted({});
}

Tensor &Tensor::dynamic(int64_t axis, Where where) try {
  axis = checkAxis(*this, axis, "dynamic", where);
  const NodeRef &leaf = node();
  if (!leaf->isLeaf() || !leaf->isReady() || leaf->cellId() != 0)
    reject(*this, "dynamic", "only the axes of a leaf can be marked", where);
  Dims dims = shape();
  if (!dims[axis].isConstant())
    return *this;
  SiteId site = leaf->site() ? leaf->site() : detail::siteOf(where);
  dims[axis].expr =
      dim_exprs::symbol(site, static_cast<uint32_t>(axis), dims[axis].value);
  detail::enterLine(where);
  return *this = Tensor(NodeFactory::leaf(leaf->leafKind(), dtype(), dims,
                                          leaf->value(), leaf->requiresGrad()));
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor &Tensor::require_grad(Where where) try {
  checkNotEmpty(*this, "require_grad", where);
  if (!hasGradients(dtype()))
    reject(*this, "require_grad", "only floats have gradients", where);
  if (requires_grad() && node()->isLeaf())
    return *this;
  if (requires_grad())
    reject(*this, "require_grad", "the tensor is no leaf; detach it first",
           where);
  eval(where);
  return *this = Tensor(NodeFactory::detached(node(), true));
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Tensor::detach(Where where) const try {
  checkNotEmpty(*this, "detach", where);
  if (!requires_grad() && (node()->isLeaf() || node()->isReady()))
    return *this;
  if (node()->isReady())
    return Tensor(detail::detachedResult(node()));
  // A pending value: an op that changes nothing and passes no gradient.
  detail::Recorder recorder(graph::OpId::reshape, where);
  graph::AttrWriter attrs;
  attrs.dims(node()->dims());
  no_grad withoutGradient;
  NodeRef same = NodeFactory::op(graph::OpId::reshape, dtype(), node()->dims(),
                                 {&node(), 1}, attrs.view(), device());
  return recorder.result(std::move(same));
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Evaluating ---------------------------------------------------------===//

const Tensor &Tensor::eval(Where where) const try {
  checkNotEmpty(*this, "eval", where);
  NodeRef self = node();
  detail::evaluate({&self, 1}, FlushReason::eval, where);
  return *this;
} catch (...) {
  detail::raiseExhausted(where);
}

void eval(std::span<const Tensor> tensors, std::source_location where) try {
  std::vector<NodeRef> nodes;
  for (const Tensor &tensor : tensors) {
    checkNotEmpty(tensor, "eval", where);
    nodes.push_back(tensor.node());
  }
  if (!nodes.empty())
    detail::evaluate(nodes, FlushReason::eval, where);
} catch (...) {
  detail::raiseExhausted(where);
}

const Tensor &Tensor::retain_history(Where where) const try {
  checkNotEmpty(*this, "retain_history", where);
  detail::retainHistory(node());
  return *this;
} catch (...) {
  detail::raiseExhausted(where);
}

std::string Tensor::explain() const try {
  if (!handle)
    return "empty tensor";
  std::string text = graph::typeString(*node()) + " on " + toString(device());
  if (!node()->isLeaf())
    text += fmt::format(", {} recorded at {}", graph::info(node()->op()).name,
                        siteString(node()->site()));
  detail::EvaluationNote note = detail::evaluationNote(node().get());
  switch (node()->state()) {
  case NodeState::pending:
    return text + ": pending, not evaluated yet";
  case NodeState::failed:
    return text + ": failed: " + node()->failure().message;
  case NodeState::ready:
    break;
  }
  if (node()->isLeaf())
    return text + ": a leaf";
  text += fmt::format(": evaluated at {} (reason: {})", siteString(note.site),
                      detail::toString(note.reason));
  if (note.releasedBy)
    text += fmt::format("; history released by the update at {}",
                        siteString(note.releasedBy));
  else if (!node()->operands().empty())
    text += "; history kept for gradients";
  return text;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Reading ------------------------------------------------------------===//

template <typename T>
void detail::read(const Tensor &tensor, std::span<T> to,
                  std::source_location where) try {
  checkNotEmpty(tensor, "read", where);
  NodeRef node = tensor.node();
  evaluate({&node, 1}, FlushReason::read, where);
  unwrap(readValues<T>(*node, to), where);
} catch (...) {
  detail::raiseExhausted(where);
}

#define SINTER_READ_AS(T)                                                      \
  template void detail::read<T>(const Tensor &, std::span<T>,                  \
                                std::source_location);
SINTER_HOST_TYPES(SINTER_READ_AS)
#undef SINTER_READ_AS

void detail::throwNotScalar(const Tensor &tensor, std::source_location where) {
  checkNotEmpty(tensor, "item", where);
  reject(tensor, "item", "a tensor of one element is needed", where);
}

//===- Copies -------------------------------------------------------------===//

Tensor Tensor::to(DeviceId target, Where where) const try {
  checkNotEmpty(*this, "to", where);
  if (target == device())
    return *this;
  eval(where);
  runtime::Device *there = unwrap(runtime::getDevice(target), where);
  runtime::BufferRef buffer = unwrap(detail::copyTo(*there, *node()), where);
  graph::InputKind kind = graph::InputKind::data;
  return Tensor(NodeFactory::leaf(kind, dtype(), node()->dims(),
                                  std::move(buffer), requires_grad()));
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Tensor::to(std::string_view name, Where where) const try {
  return to(unwrap(parseDevice(name), where), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Tensor::to(DType type, Where where) const try {
  checkNotEmpty(*this, "to", where);
  return type == dtype() ? *this : cast(type, where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
