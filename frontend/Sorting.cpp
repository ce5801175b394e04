/// sort, argsort and topk: pairs of results over the graph's ops.
#include "frontend/Recording.h"

#include "frontend/Raise.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>

namespace sinter {

using graph::NodeRef;

namespace {

/// One call: its operand with an axis at least, and the axis.
class SortCall {
public:
  SortCall(graph::OpId op, std::string_view name, const Arg &x, int64_t axis)
      : recorder(op, x), name(name) {
    auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
    given = nodes[0];
    operand = given;
    if (given->rank() == 0) {
      Dim oneElement[1] = {Dim(1)};
      operand = recorder.result(graph::reshape(given, oneElement)).node();
    }
    auto rank = static_cast<int64_t>(operand->rank());
    if (axis < -rank || axis >= rank)
      fail("axis " + std::to_string(axis) + " is out of range");
    this->axis = axis < 0 ? axis + rank : axis;
  }

  Dim length() const { return operand->dims()[axis]; }
  [[noreturn]] void fail(const std::string &what) const {
    recorder.fail(
        makeError(ErrorKind::invalid_argument,
                  name + ": " + what + ": " +
                      graph::typeString({given->dtype(), given->dims()}),
                  name));
  }

  Tensor values(bool descending, Dim count) {
    return finish(graph::sort(operand, axis, descending, count), count);
  }
  Tensor indices(bool descending, Dim count) {
    return finish(graph::argsort(operand, axis, descending, count), count);
  }

private:
  /// A number has one element, and its result no axis.
  Tensor finish(Result<NodeRef> node, Dim count) {
    if (node && given->rank() == 0 && count.value == 1)
      node = graph::reshape(*node, {});
    return recorder.result(std::move(node));
  }

  detail::Recorder recorder;
  std::string name;
  NodeRef given, operand;
  int64_t axis = 0;
};

} // namespace

Sorted sort(const Arg &x, int64_t axis, bool descending) try {
  SortCall call(graph::OpId::sort, "sort", x, axis);
  return {call.values(descending, call.length()),
          call.indices(descending, call.length())};
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor argsort(const Arg &x, int64_t axis, bool descending) try {
  SortCall call(graph::OpId::argsort, "argsort", x, axis);
  return call.indices(descending, call.length());
} catch (...) {
  detail::raiseExhausted(x.where);
}

Sorted topk(const Arg &x, int64_t k, int64_t axis, bool largest, bool) try {
  SortCall call(graph::OpId::sort, "topk", x, axis);
  if (k < 0 || k > call.length().value)
    call.fail("k is " + std::to_string(k) + ", but the axis has " +
              std::to_string(call.length().value) + " elements");
  return {call.values(largest, Dim(k)), call.indices(largest, Dim(k))};
} catch (...) {
  detail::raiseExhausted(x.where);
}

Sorted Tensor::sort(int64_t axis, bool descending, Where where) const try {
  return sinter::sort(Arg(*this, where), axis, descending);
} catch (...) {
  detail::raiseExhausted(where);
}
Tensor Tensor::argsort(int64_t axis, bool descending, Where where) const try {
  return sinter::argsort(Arg(*this, where), axis, descending);
} catch (...) {
  detail::raiseExhausted(where);
}
Sorted Tensor::topk(int64_t k, int64_t axis, bool largest, bool sorted,
                    Where where) const try {
  return sinter::topk(Arg(*this, where), k, axis, largest, sorted);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
