/// Promotion, broadcasting and source lines of recorded ops.
#include "frontend/Recording.h"

#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/SiteMemory.h"
#include "frontend/adapt/Autocast.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Terms.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/SmallFloat.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Complex.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sinter {

Axes::Axes(std::span<const int64_t> list) try : count(list.size()), all(false) {
  if (list.size() > capacity)
    throw Error(makeError(ErrorKind::invalid_argument,
                          "more than 8 axes are not supported"));
  std::copy(list.begin(), list.end(), values);
} catch (...) {
  detail::raiseExhausted({});
}

namespace detail {

using graph::NodeRef;

//===- Lines --------------------------------------------------------------===//

/// The path to the innermost open scope's line; 0 when none is open.
static SINTER_THREAD_LOCAL SiteId scopeSite = 0;

/// This library's own sources: their lines are not the user's.
[[maybe_unused]] static const bool isKnownAsLibrary = [] {
  std::string_view here = SourceLine::current().file_name();
  addLibraryPrefix(here.substr(0, here.rfind('/') + 1));
  return true;
}();

SiteId userSite(const SourceLine &where) {
  return where.line() == 0 ? scopeSite : internSite(where, scopeSite);
}

void enterLine(const SourceLine &where) {
  graph::RecordScope &scope = graph::recordScope();
  scope.site = userSite(where);
}

// A line that was not met yet takes memory.
SourceScope::SourceScope(const SourceLine &where) try
    : SourceScope(userSite(where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

SourceScope::SourceScope(SiteId site) try : previous(scopeSite) {
  scopeSite = site;
  graph::RecordScope &scope = graph::recordScope();
  scope.site = scopeSite;
} catch (...) {
  detail::raiseExhausted({});
}

SourceScope::~SourceScope() { scopeSite = previous; }

Recorder::Recorder(graph::OpId op, const SourceLine &where)
    : op(op), where(where) {
  enterLine(where);
}

void Recorder::fail(ErrorInfo error) const {
  if (error.op.empty())
    error.op = graph::info(op).name;
  raise(std::move(error), where);
}

void Recorder::fail(std::string what, std::span<const NodeRef> operands) const {
  ErrorInfo error;
  error.kind = ErrorKind::invalid_argument;
  error.op = graph::info(op).name;
  error.message = error.op + ": " + what;
  const char *separator = ": ";
  for (const NodeRef &operand : operands) {
    if (!operand)
      continue;
    error.shapes.push_back(graph::typeString(*operand));
    error.message += separator + error.shapes.back();
    separator = " x ";
  }
  fail(std::move(error));
}

//===- Numbers ------------------------------------------------------------===//

static uint16_t halfBits(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

static uint16_t bfloatBits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static uint64_t bitsOf(DType dtype, Number value) {
  double real = value.asReal();
  int64_t integer =
      value.isReal ? static_cast<int64_t>(value.real) : value.integer;
  switch (dtype) {
  case DType::f64:
    return std::bit_cast<uint64_t>(real);
  case DType::f32:
    return std::bit_cast<uint32_t>(static_cast<float>(real));
  case DType::f16:
    return halfBits(static_cast<float>(real));
  case DType::bf16:
    return bfloatBits(static_cast<float>(real));
  case DType::boolean:
    return real != 0;
  default: {
    if (isFloat(dtype))
      return toSmallFloat(dtype, static_cast<float>(real));
    unsigned bits = bitWidth(dtype);
    uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
    return static_cast<uint64_t>(integer) & mask;
  }
  }
}

NodeRef scalarNode(DType dtype, Number value, DeviceId device) {
  DefaultFloats floats; // it is rounded here
  return graph::NodeFactory::scalar(dtype, bitsOf(dtype, value), device);
}

DType ownDType(ArgKind kind) {
  switch (kind) {
  case ArgKind::boolean:
    return DType::boolean;
  case ArgKind::integer:
    return DType::i64;
  default:
    return DType::f32;
  }
}

static WeakKind weakKind(ArgKind kind) {
  switch (kind) {
  case ArgKind::boolean:
    return WeakKind::boolean;
  case ArgKind::integer:
    return WeakKind::integer;
  default:
    return WeakKind::floating;
  }
}

//===- Operands -----------------------------------------------------------===//

/// The dtype that the promoted operands are brought to.
static DType commonDType(Promotion promotion, uint32_t promoted,
                         std::span<const Arg *const> args) {
  DType common = DType::boolean;
  bool haveTensor = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(promoted >> i & 1) || !args[i]->isTensor())
      continue;
    DType own = args[i]->node()->dtype();
    if (haveTensor && promotion == Promotion::first)
      break;
    common = haveTensor ? promote(common, own) : own;
    haveTensor = true;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(promoted >> i & 1) || args[i]->isTensor())
      continue;
    if (!haveTensor)
      common = promote(common, ownDType(args[i]->kind));
    else if (promotion != Promotion::first)
      common = promoteWeak(common, weakKind(args[i]->kind));
  }
  if (promotion == Promotion::floating && !hasGradients(common))
    return DType::f32;
  return common;
}

static Dim broadcastDim(Dim lhs, Dim rhs) {
  if (lhs.isConstant() && lhs.value == 1)
    return rhs;
  if (rhs.isConstant() && rhs.value == 1)
    return lhs;
  if (lhs.value == rhs.value)
    return lhs;
  if (lhs.value == 1)
    return rhs;
  return rhs.value == 1 ? lhs : Dim(-1);
}

std::optional<SmallVector<Dim, 6>> broadcastShape(std::span<const Dim> lhs,
                                                  std::span<const Dim> rhs) {
  std::span<const Dim> longer = lhs.size() >= rhs.size() ? lhs : rhs;
  std::span<const Dim> shorter = lhs.size() >= rhs.size() ? rhs : lhs;
  SmallVector<Dim, 6> shape(longer);
  size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    shape[offset + i] = broadcastDim(lhs[lhs.size() - shorter.size() + i],
                                     rhs[rhs.size() - shorter.size() + i]);
    if (shape[offset + i].value < 0)
      return std::nullopt;
  }
  return shape;
}

static bool isSameShape(std::span<const Dim> lhs, std::span<const Dim> rhs) {
  if (lhs.size() != rhs.size())
    return false;
  for (size_t i = 0; i < lhs.size(); ++i) {
    // Equal sizes of different expressions need no op: the builder's shape
    // rule guards them. Only a constant 1 beside a symbol is broadcast.
    bool expands =
        lhs[i].expr != rhs[i].expr && lhs[i].isConstant() && lhs[i].value == 1;
    if (lhs[i].value != rhs[i].value || expands)
      return false;
  }
  return true;
}

Result<NodeRef> broadcastTo(const NodeRef &node, std::span<const Dim> shape) {
  if (isSameShape(node->dims(), shape))
    return node;
  return graph::broadcast(node, shape);
}

/// Whether `shape` broadcasts to `wide` without changing it.
static bool fitsInto(std::span<const Dim> shape, std::span<const Dim> wide) {
  if (shape.size() > wide.size())
    return false;
  std::span<const Dim> last = wide.last(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    bool expands = shape[i].isConstant() && shape[i].value == 1;
    bool isSame =
        shape[i].value == last[i].value && shape[i].expr == last[i].expr;
    if (!isSame && !expands)
      return false;
  }
  return true;
}

namespace {
/// The shape that shapes broadcast to; mostly it is one of them, borrowed.
class JoinedShape {
public:
  /// False when they do not fit.
  bool add(std::span<const Dim> shape) {
    if (fitsInto(shape, joined))
      return true;
    if (fitsInto(joined, shape)) {
      joined = shape;
      return true;
    }
    auto other = broadcastShape(joined, shape);
    if (!other)
      return false;
    storage = std::move(*other);
    joined = storage;
    return true;
  }
  operator std::span<const Dim>() const { return joined; }

private:
  std::span<const Dim> joined;
  SmallVector<Dim, 6> storage;
};
} // namespace

/// Whether the op's result modulo 2^bits is all that a number beside integers
/// decides.
static bool isModular(graph::OpId op) {
  using graph::OpId;
  return op == OpId::add || op == OpId::sub || op == OpId::mul ||
         op == OpId::bitwise_and || op == OpId::bitwise_or ||
         op == OpId::bitwise_xor;
}

static bool isHeldBy(DType dtype, Number number) {
  if (!isInteger(dtype))
    return true;
  if (!number.isReal)
    return graph::term::within(dtype, number).integer == number.integer;
  double above = std::ldexp(1.0, int(valueBits(dtype)) - isSigned(dtype));
  double whole = std::trunc(number.real); // a NaN is nowhere between
  return whole < above && whole >= (isSigned(dtype) ? -above : 0);
}

Status checkHeld(std::string_view op, DType dtype, Number number) {
  if (isHeldBy(dtype, number))
    return {};
  std::string text = number.isReal ? fmt::format("{}", number.real)
                                   : fmt::format("{}", number.integer);
  return makeError(
      ErrorKind::invalid_argument,
      fmt::format("{}: {} is no number of {}", op, text, name(dtype)),
      std::string(op));
}

/// A plain number as a constant of an integer dtype, which need not hold it:
/// sums and products wrap, extremes take the nearest one, for other ops it is
/// an error.
static Result<Number> numberBeside(graph::OpId op, DType dtype, Number number) {
  using graph::OpId;
  if (isHeldBy(dtype, number) || isModular(op))
    return number;
  if (op == OpId::maximum || op == OpId::minimum)
    return graph::term::within(dtype, number);
  SINTER_TRY(checkHeld(graph::info(op).name, dtype, number));
  return number;
}

/// What integers are compared in: a dtype that holds the numbers, too.
static DType comparedIn(DType common, std::span<const Arg *const> args) {
  for (const Arg *arg : args)
    if (!arg->isTensor() && isInteger(common) && !isHeldBy(common, arg->number))
      // What u64 does not hold is below 0, which rounding does not change.
      return common == DType::u64 ? DType::f32 : DType::i64;
  return common;
}

/// The node of a plain number: a constant of the shape, or a dynamic scalar.
static Result<NodeRef> numberNode(const Arg &arg, Number value, unsigned index,
                                  DType dtype, std::span<const Dim> shape,
                                  DeviceId device) {
  if (isComplex(dtype)) {
    SINTER_TRY_ASSIGN(NodeRef part, numberNode(arg, value, index, partOf(dtype),
                                               shape, device));
    return graph::cast(part, dtype);
  }
  if (!arg.dynamic && isComputable(dtype) &&
      isStaticNumber(arg.where, index, arg.number))
    return graph::full(shape, value, dtype, device);
  NodeRef scalar = scalarNode(dtype, value, device);
  if (shape.empty())
    return scalar;
  return graph::broadcast(scalar, shape);
}

/// A tensor operand in the dtype and, if `broadcasts`, the shape.
static Result<NodeRef> tensorNode(const NodeRef &node, DType dtype,
                                  bool broadcasts, std::span<const Dim> shape) {
  NodeRef result = node;
  if (node->dtype() != dtype) {
    SINTER_TRY_ASSIGN(result, graph::cast(node, dtype));
  }
  if (broadcasts)
    return broadcastTo(result, shape);
  return result;
}

/// Whether the operands are tensors that need neither a cast nor a broadcast:
/// the common case.
static bool agree(Promotion promotion, bool broadcasts,
                  std::span<const Arg *const> args) {
  const graph::Node *first = nullptr;
  for (const Arg *arg : args) {
    if (!arg->isTensor() || arg->isEmpty())
      return false;
    const graph::Node *node = arg->node().get();
    if (promotion == Promotion::floating && !isFloat(node->dtype()))
      return false;
    if (!first) {
      first = node;
      continue;
    }
    if (promotion != Promotion::none && node->dtype() != first->dtype())
      return false;
    if (broadcasts && !graph::identicalDims(node->dims(), first->dims()))
      return false;
  }
  return true;
}

void Recorder::resolve(Promotion promotion, uint32_t promoted, bool broadcasts,
                       std::span<const Arg *const> args, const NodeRef **used,
                       NodeRef *made) {
  if (autocastDType() || !agree(promotion, broadcasts, args))
    return convert(promotion, promoted, broadcasts, args, used, made);
  for (size_t i = 0; i < args.size(); ++i)
    used[i] = &args[i]->node();
}

void Recorder::refuseStored(uint32_t promoted, DType common,
                            std::span<const Arg *const> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(promoted >> i & 1) || !args[i]->isTensor())
      continue;
    DType own = args[i]->node()->dtype();
    if (own == common || isComputable(own) || isComplex(own))
      continue;
    std::string what(graph::info(op).name);
    fail(makeError(ErrorKind::unsupported,
                   fmt::format("{}: {} is stored only, and not brought to {}: "
                               "cast it before",
                               what, name(own), name(common)),
                   what));
  }
}

void Recorder::convert(Promotion promotion, uint32_t promoted, bool broadcasts,
                       std::span<const Arg *const> args, const NodeRef **used,
                       NodeRef *made) {
  bool promotes = promotion != Promotion::none;
  JoinedShape shape;
  const graph::Node *placed = nullptr; // an operand that says which device
  for (const Arg *arg : args) {
    if (!arg->isTensor())
      continue;
    if (arg->isEmpty())
      fail("an operand is an empty tensor", {});
    const graph::Node *node = arg->node().get();
    if (!placed ||
        !(node->isLeaf() && node->leafKind() == graph::InputKind::scalar))
      placed = node;
    if (!broadcasts)
      continue;
    if (!shape.add(node->dims())) {
      SmallVector<NodeRef, 4> operands;
      for (const Arg *each : args)
        operands.push_back(each->isTensor() ? each->node() : NodeRef());
      fail("shapes do not broadcast", operands);
    }
  }
  DeviceId device = placed ? placed->device() : currentDevice();
  DType common = promotes ? commonDType(promotion, promoted, args) : DType::f32;
  if (promotes)
    refuseStored(promoted, common, args);
  if (op == graph::OpId::compare)
    common = comparedIn(common, args);
  if (promotes)
    common = autocastTo(op, common);
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg &arg = *args[i];
    bool takesPart = promotes && (promoted >> i & 1);
    if (arg.isTensor()) {
      const NodeRef &node = arg.node();
      DType own = node->dtype();
      DType wanted = takesPart ? common : promotes ? own : autocastTo(op, own);
      if (own == wanted && (!broadcasts || isSameShape(node->dims(), shape))) {
        used[i] = &node;
        continue;
      }
      auto fitted = tensorNode(node, wanted, broadcasts, shape);
      if (!fitted)
        fail(fitted.takeError());
      made[i] = std::move(*fitted);
    } else {
      DType dtype = takesPart ? common : ownDType(arg.kind);
      auto value = numberBeside(op, dtype, arg.number);
      if (!value)
        fail(value.takeError());
      auto number = numberNode(arg, *value, static_cast<unsigned>(i), dtype,
                               shape, device);
      if (!number)
        fail(number.takeError());
      made[i] = std::move(*number);
    }
    used[i] = &made[i];
  }
}

SmallVector<NodeRef, 4> Recorder::operands(Promotion promotion,
                                           uint32_t promoted, bool broadcasts,
                                           std::span<const Arg> args) {
  SmallVector<const Arg *, 8> list;
  for (const Arg &arg : args)
    list.push_back(&arg);
  SmallVector<const NodeRef *, 8> used(args.size());
  SmallVector<NodeRef, 4> made(args.size());
  resolve(promotion, promoted, broadcasts, list, used.data(), made.data());
  SmallVector<NodeRef, 4> nodes;
  for (const NodeRef *node : used)
    nodes.push_back(*node);
  return nodes;
}

Axes Recorder::axes(const Axes &axes, int64_t rank) const {
  if (!axes.isAll())
    return axes;
  int64_t every[Axes::capacity];
  if (rank > static_cast<int64_t>(Axes::capacity))
    fail("more than 8 axes are not supported", {});
  for (int64_t i = 0; i < rank; ++i)
    every[i] = i;
  return Axes(std::span<const int64_t>(every, rank));
}

Tensor Recorder::finish(NodeRef node) {
  Tensor result(std::move(node));
  noteRecorded(result, where);
  return result;
}

} // namespace detail
} // namespace sinter
