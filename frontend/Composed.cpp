#include "frontend/Composed.h"

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/support/ThreadOwner.h"

#include <sinter/Creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sinter::detail {

SINTER_THREAD_LOCAL const Composed::Open *Composed::Open::innermost = nullptr;

void throwEmptyOperand(const SourceLine &where) {
  const Composed::Open *call = Composed::Open::innermost;
  std::string name = call ? call->name : "operand";
  raise(makeError(ErrorKind::invalid_argument,
                  name + ": an operand is an empty tensor", name),
        where);
}

bool sameValues(const Dims &a, const Dims &b) {
  return std::ranges::equal(a, b, {}, &Dim::value, &Dim::value);
}

Tensor asTensor(const Arg &arg) {
  if (!arg.isTensor())
    return full({}, arg);
  if (arg.isEmpty())
    throwEmptyOperand(arg.where);
  return Tensor(arg.node());
}

Composed::Open::Open(std::string_view name)
    : name(name), outer(std::exchange(innermost, this)) {}

Composed::Open::~Open() { innermost = outer; }

Composed::Composed(std::string_view name, const Arg &first)
    : where(first.where), scope(first.where), open(name), x(asTensor(first)) {}

void Composed::fail(ErrorKind kind, const std::string &what) const {
  raise(makeError(kind,
                  fmt::format("{}: {}: {}", open.name, what,
                              graph::typeString({x.dtype(), x.shape()})),
                  open.name),
        where);
}

int64_t Composed::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("axis {} is out of range", axis));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> Composed::axes(const Axes &axes) const {
  std::vector<int64_t> list;
  if (axes.isAll()) {
    for (int64_t i = 0; i < x.rank(); ++i)
      list.push_back(i);
    return list;
  }
  for (int64_t one : axes) {
    list.push_back(axis(one));
    if (std::ranges::count(list, list.back()) > 1)
      fail(fmt::format("axis {} is named twice", one));
  }
  return list;
}

int64_t Composed::position(int64_t position, int64_t axis) const {
  int64_t size = x.dim(axis).value;
  if (position < -size || position >= size)
    fail(fmt::format("index {} is out of range along axis {}", position, axis));
  return position < 0 ? position + size : position;
}

void Composed::checkHeld(Number number) const {
  if (Status held = detail::checkHeld(open.name, x.dtype(), number); !held)
    raise(held.takeError(), where);
}

Tensor Composed::element(const Arg &value) const {
  if (value.isTensor())
    return asTensor(value).to(x.dtype());
  checkHeld(value.number);
  return full({}, value, {x.dtype(), x.device()});
}

} // namespace sinter::detail
