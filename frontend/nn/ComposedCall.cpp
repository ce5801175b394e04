/// What functions of several recorded ops share.
#include "frontend/nn/ComposedCall.h"

#include "frontend/Raise.h"
#include "frontend/adapt/Autocast.h"

#include <sinter/ModuleFile.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::detail {

ComposedCall::ComposedCall(std::string_view op,
                           std::initializer_list<const Arg *> reals)
    : op(op), where((*reals.begin())->where), scope(where) {
  for (const Arg *arg : reals) {
    if (!arg->isTensor())
      continue;
    if (arg->isEmpty())
      fail("an operand is an empty tensor");
    DType dtype = arg->node()->dtype();
    if (dtype == DType::f64)
      computeType = DType::f64;
  }
  const Arg &first = **reals.begin();
  resultType = first.isTensor() && isFloat(first.node()->dtype())
                   ? first.node()->dtype()
                   : computeType;
  if (computeType == DType::f64)
    resultType = DType::f64;
}

SummingCall::SummingCall(std::string_view op,
                         std::initializer_list<const Arg *> reals)
    : ComposedCall(op, reals) {
  if (autocastDType())
    giveWide();
}

Tensor ComposedCall::real(const Arg &arg) const {
  return tensorOf(arg).to(computeType, where);
}

Tensor ComposedCall::given(const std::optional<Tensor> &tensor) const {
  return tensor ? tensor->to(computeType, where) : Tensor();
}

Tensor ComposedCall::index(const Arg &arg, std::string_view name) const {
  if (arg.isTensor() && arg.isEmpty())
    fail("an operand is an empty tensor");
  Tensor tensor = tensorOf(arg);
  if (!isInteger(tensor.dtype()))
    fail(fmt::format("{} must be integers", name), {tensor});
  bool isIndex = tensor.dtype() == DType::i32 || tensor.dtype() == DType::i64;
  return isIndex ? tensor : tensor.to(DType::i64, where);
}

void ComposedCall::sameShapes(std::initializer_list<Tensor> tensors) const {
  const Dims shape = tensors.begin()->shape();
  for (const Tensor &tensor : tensors)
    if (!std::ranges::equal(tensor.shape(), shape, {}, &Dim::value,
                            &Dim::value))
      fail("shapes differ", tensors);
}

void ComposedCall::fail(const std::string &what,
                        std::initializer_list<Tensor> operands) const {
  ErrorInfo error =
      makeError(ErrorKind::invalid_argument, op + ": " + what, op);
  for (const Tensor &operand : operands) {
    error.shapes.push_back(graph::typeString(*operand.node()));
    error.message += (error.shapes.size() == 1 ? ": " : " x ");
    error.message += error.shapes.back();
  }
  raise(std::move(error), where);
}

Tensor ComposedCall::done(const Tensor &result) const {
  return result.to(resultType, where);
}

} // namespace sinter::detail
