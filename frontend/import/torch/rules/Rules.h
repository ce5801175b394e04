/// What rules of several families share.
#pragma once

#include "frontend/import/torch/Call.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Shaping.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace sinter::torch {

/// A tensor or a plain number of one dtype, as an operand of functions.
class Operand {
public:
  explicit Operand(Tensor tensor) : own(std::move(tensor)) {}
  explicit Operand(Number number) : number(number) {}

  bool isTensor() const { return own.defined(); }
  const Tensor &tensor() const { return own; }
  Arg arg() const {
    if (own.defined())
      return own;
    return number.isReal ? Arg(number.real) : Arg(number.integer);
  }

private:
  Tensor own;
  Number number;
};

/// The dtype that PyTorch computes with: of tensors with axes, of those
/// without, and of plain numbers, the latter only where their category is
/// higher (torch.result_type).
DType promoted(std::initializer_list<const Value *> values);

/// A tensor or number argument, brought to a dtype. A size with symbols is a
/// tensor.
Operand operand(const Call &call, const Value &value, DType dtype);
/// The same as a tensor; a number becomes one without axes.
Tensor asTensor(const Call &call, const Value &value, DType dtype);
/// A size as a tensor of i64 without axes; one with symbols stays open.
Tensor sizeTensor(Dim size, DeviceId device);
/// A number as a Number; asks for numbers where it has symbols.
Number numberOf(const Call &call, const Value &value);

/// A function of two operands. Two numbers become tensors.
template <typename F>
Tensor applied(F &&function, const Call &call, const Value &left,
               const Value &right, DType dtype) {
  Operand lhs = operand(call, left, dtype), rhs = operand(call, right, dtype);
  if (!lhs.isTensor() && !rhs.isTensor())
    lhs = Operand(asTensor(call, left, dtype));
  return function(lhs.arg(), rhs.arg());
}

/// A function of one tensor: integers become the float that the file says.
template <Tensor (*function)(const Arg &)> void unaryRule(Call &call) {
  Tensor x = call.at(0).stored ? call.at(0).stored->read() : Tensor();
  if (!x.defined())
    call.invalid("the operand is no tensor");
  DType dtype = call.outputDType();
  bool isNumber = isComputable(x.dtype()) && !isFloat(x.dtype());
  call.give(function(isFloat(dtype) && isNumber ? x.to(dtype) : x));
}

/// A function of two, in the dtype of the result.
template <Tensor (*function)(const Arg &, const Arg &)>
void binaryRule(Call &call) {
  call.give(
      applied(function, call, call.at(0), call.at(1), call.outputDType()));
}

/// x[starts : limits : step] along one axis, of dims that may be symbolic. An
/// Error where there is no such axis.
Tensor sliceAxis(const Tensor &x, int64_t axis, Dim start, Dim limit,
                 int64_t step = 1);
/// x with `part` in that place.
Tensor putSlice(const Tensor &x, const Tensor &part, int64_t axis, Dim start,
                Dim limit, int64_t step = 1);

/// x with another diagonal of two axes, which is the last axis of `part`.
Tensor putDiagonal(const Tensor &x, const Tensor &part, int64_t offset,
                   int64_t rows, int64_t columns);

/// A vector in the shape [1, .., n, .., 1] with n at `axis`. An Error where it
/// is no vector or there is no such axis.
Tensor alongAxis(const Tensor &vector, int64_t axis, int64_t rank);

/// So many elements of a table are worked out while a program is recorded.
inline constexpr int64_t mostOfTable = 1 << 22;
/// So many tensors may a list have that become operands or results of one op.
inline constexpr int64_t mostOfList = 1 << 15;
/// Throws where a count is below 0 or beyond a limit.
void requireFew(const Call &call, int64_t count, const char *what,
                int64_t most = mostOfTable);
/// The tensors of a list of at most mostOfList.
std::vector<Tensor> tensorList(const Call &call, std::string_view name);
/// Throws where the file does not list so many parts as the result.
void requireParts(const Call &call, int64_t count);

/// f16 and bf16 as f32; others as they are.
Tensor widened(const Tensor &x);

/// A view that has all elements of its base in another shape.
View reshapedView(Dims shape);

} // namespace sinter::torch
