/// Complex tensors become tensors of floats: two, their parts, or one of pairs.
/// Nothing behind this pass knows complex numbers.
#include "compiler/Passes.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Complex.h"
#include "sinter/generated/classes/Gather.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SPLITCOMPLEX
#include "sinter/generated/Passes.h.inc"

namespace {

/// A complex value: its parts, or pairs along a last axis, or both.
struct Parts {
  Value re, im, pairs = {};
};

/// Rewrites one program.
class Splitter {
public:
  explicit Splitter(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  void run();

private:
  void takeArguments();
  void split(Operation *op);
  bool keepPairs(Operation *op);
  /// The parts of a value, taken out of its pairs where these are all there is.
  Parts partsOf(Value value);
  Value pairsOf(Value value);
  void splitCast(ir::CastOp cast);
  Value cloneFor(Operation *op, Value Parts::*part);
  void joinResults();
  Value partOfPairs(Value pairs, int64_t part, Type type, Location loc);
  Value joined(const Parts &parts, Location loc);
  Value withPartAxis(Value part, Location loc);
  /// A number in each place of a tensor like `like`.
  Value filled(Value like, double number, Location loc);
  Value castTo(Value value, Type element, Location loc);

  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, Parts> forms;
  SmallVector<Operation *> replaced;
};

} // namespace

static ComplexType complexType(Value value) {
  return dyn_cast<ComplexType>(getElementTypeOrSelf(value.getType()));
}

static RankedTensorType withElement(Type tensor, Type element) {
  return tensorType(element, dimsOf(tensor), numSymbolsOf(tensor));
}

// The type of one part.
static RankedTensorType partType(Type tensor) {
  auto complex = cast<ComplexType>(getElementTypeOrSelf(tensor));
  return withElement(tensor, complex.getElementType());
}

// The dims, and one more for the two parts.
static RankedTensorType pairsType(Type tensor) {
  SmallVector<AffineExpr> dims = dimsOf(tensor);
  dims.push_back(getAffineConstantExpr(2, tensor.getContext()));
  auto complex = cast<ComplexType>(getElementTypeOrSelf(tensor));
  return tensorType(complex.getElementType(), dims, numSymbolsOf(tensor));
}

//===- Where memory holds pairs -------------------------------------------===//

Value Splitter::partOfPairs(Value pairs, int64_t part, Type type,
                            Location loc) {
  SmallVector<AffineExpr> limits = dimsOf(pairs.getType());
  SmallVector<int64_t> starts(limits.size(), 0), steps(limits.size(), 1);
  starts.back() = part;
  limits.back() = builder.getAffineConstantExpr(part + 1);
  SmallVector<AffineExpr> dims = dimsOf(type);
  dims.push_back(builder.getAffineConstantExpr(1));
  unsigned symbols = numSymbolsOf(type);
  Value column = ir::SliceOp::create(
      builder, loc, tensorType(getElementTypeOrSelf(type), dims, symbols),
      pairs, builder.getDenseI64ArrayAttr(starts),
      shapeAttr(builder.getContext(), limits, symbols),
      builder.getDenseI64ArrayAttr(steps));
  return ir::ReshapeOp::create(builder, loc, type, column, shapeAttr(type));
}

void Splitter::takeArguments() {
  for (BlockArgument argument : function.getBody().front().getArguments()) {
    if (!complexType(argument))
      continue;
    argument.setType(pairsType(argument.getType()));
    forms[argument].pairs = argument;
    function.setArgAttr(argument.getArgNumber(), port_attrs::complex,
                        builder.getUnitAttr());
  }
}

Parts Splitter::partsOf(Value value) {
  Parts parts = forms.lookup(value);
  if (parts.re)
    return parts;
  Location loc = value.getLoc();
  SmallVector<AffineExpr> dims = dimsOf(parts.pairs.getType());
  dims.pop_back();
  Type type = tensorType(getElementTypeOrSelf(parts.pairs.getType()), dims,
                         numSymbolsOf(parts.pairs.getType()));
  parts.re = partOfPairs(parts.pairs, 0, type, loc);
  parts.im = partOfPairs(parts.pairs, 1, type, loc);
  return forms[value] = parts;
}

Value Splitter::pairsOf(Value value) {
  Parts parts = forms.lookup(value);
  if (!parts.pairs) {
    parts.pairs = joined(parts, value.getLoc());
    forms[value] = parts;
  }
  return parts.pairs;
}

Value Splitter::withPartAxis(Value part, Location loc) {
  SmallVector<AffineExpr> dims = dimsOf(part.getType());
  dims.push_back(builder.getAffineConstantExpr(1));
  Type type = tensorType(getElementTypeOrSelf(part.getType()), dims,
                         numSymbolsOf(part.getType()));
  return ir::ReshapeOp::create(builder, loc, type, part, shapeAttr(type));
}

// By the position of the part: what each element reads is known there, where a
// concat looks for the operand that it lies in.
Value Splitter::joined(const Parts &parts, Location loc) {
  Type element = getElementTypeOrSelf(parts.re.getType());
  SmallVector<AffineExpr> dims = dimsOf(parts.re.getType());
  dims.push_back(builder.getAffineConstantExpr(2));
  unsigned symbols = numSymbolsOf(parts.re.getType());
  auto spread = [&](Value value) -> Value {
    Type type =
        tensorType(getElementTypeOrSelf(value.getType()), dims, symbols);
    return ir::BroadcastOp::create(builder, loc, type, value, shapeAttr(type));
  };
  Type pair = RankedTensorType::get({2}, builder.getI32Type());
  Value part = ir::IotaOp::create(builder, loc, pair, shapeAttr(pair),
                                  builder.getI64IntegerAttr(0),
                                  TypeAttr::get(builder.getI32Type()));
  Value isImaginary = castTo(part, builder.getI1Type(), loc);
  return ir::WhereOp::create(
      builder, loc, tensorType(element, dims, symbols), spread(isImaginary),
      spread(withPartAxis(parts.im, loc)), spread(withPartAxis(parts.re, loc)));
}

void Splitter::joinResults() {
  Operation *end = function.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands()) {
    if (!forms.contains(operand.get()))
      continue;
    function.setResultAttr(operand.getOperandNumber(), port_attrs::complex,
                           builder.getUnitAttr());
    operand.set(pairsOf(operand.get()));
  }
}

//===- Ops ----------------------------------------------------------------===//

Value Splitter::filled(Value like, double number, Location loc) {
  Type element = getElementTypeOrSelf(like.getType());
  return ir::FullOp::create(
      builder, loc, like.getType(), shapeAttr(like.getType()),
      builder.getF64FloatAttr(number), TypeAttr::get(element));
}

Value Splitter::castTo(Value value, Type element, Location loc) {
  if (getElementTypeOrSelf(value.getType()) == element)
    return value;
  return ir::CastOp::create(builder, loc, withElement(value.getType(), element),
                            value, TypeAttr::get(element));
}

// To a complex dtype: a real number has no imaginary part. From one: the real
// part, and to bool whether either part is not 0.
void Splitter::splitCast(ir::CastOp cast) {
  Location loc = cast.getLoc();
  Value x = cast.getX();
  auto to = complexType(cast.getResult());
  if (to && forms.contains(x)) {
    Parts parts = partsOf(x);
    forms[cast.getResult()] = {castTo(parts.re, to.getElementType(), loc),
                               castTo(parts.im, to.getElementType(), loc)};
    return;
  }
  if (to) {
    Value re = castTo(x, to.getElementType(), loc);
    forms[cast.getResult()] = {re, filled(re, 0, loc)};
    return;
  }
  Parts parts = partsOf(x);
  Type element = getElementTypeOrSelf(cast.getType());
  Value number = castTo(parts.re, element, loc);
  if (element.isInteger(1))
    number = ir::AddOp::create(builder, loc, number.getType(), number,
                               castTo(parts.im, element, loc)); // or
  cast.getResult().replaceAllUsesWith(number);
}

// The op on one part of each complex operand.
Value Splitter::cloneFor(Operation *op, Value Parts::*part) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (forms.contains(operand))
      mapping.map(operand, partsOf(operand).*part);
  Operation *clone = builder.clone(*op, mapping);
  OpResult result = clone->getResult(0);
  result.setType(partType(result.getType()));
  if (auto full = dyn_cast<ir::FullOp>(clone))
    full.setDtypeAttr(TypeAttr::get(getElementTypeOrSelf(result.getType())));
  // Numbers among the attributes are real.
  if (part == &Parts::im && clone->hasAttr("value"))
    clone->setAttr("value", builder.getF64FloatAttr(0));
  return result;
}

static void append(Operation *op, StringRef name, int64_t number) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
  SmallVector<int64_t> numbers(list.asArrayRef());
  numbers.push_back(number);
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

static void appendTwo(Operation *op, StringRef name) {
  AffineMap map = op->getAttrOfType<AffineMapAttr>(name).getValue();
  SmallVector<AffineExpr> dims(map.getResults());
  dims.push_back(getAffineConstantExpr(2, op->getContext()));
  op->setAttr(name, shapeAttr(op->getContext(), dims, map.getNumSymbols()));
}

static bool fillsWithZero(ir::PadOp pad) {
  if (auto real = dyn_cast<FloatAttr>(pad.getValue()))
    return real.getValue().isZero();
  return cast<IntegerAttr>(pad.getValue()).getInt() == 0;
}

// Makes an op on tensors one on tensors with a last axis of two. Axes count
// from the front, so that most say the same.
static bool addPartAxis(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<ir::AddOp, ir::SubOp, ir::NegOp, ir::FlipOp, ir::ConcatOp,
            ir::DynamicSliceOp, ir::DynamicPadOp, ir::IndexSelectOp, ir::SumOp,
            ir::CumsumOp>([](Operation *) { return true; })
      .Case<ir::ReshapeOp, ir::BroadcastOp>([](Operation *view) {
        appendTwo(view, "shape");
        return true;
      })
      .Case([](ir::TransposeOp transpose) {
        append(transpose, "permutation", transpose.getPermutation().size());
        return true;
      })
      .Case([](ir::SliceOp slice) {
        append(slice, "starts", 0);
        appendTwo(slice, "limits");
        append(slice, "steps", 1);
        return true;
      })
      .Case([](ir::PadOp pad) {
        append(pad, "low", 0);
        appendTwo(pad, "shape");
        append(pad, "interior", 0);
        return fillsWithZero(pad);
      })
      .Default([](Operation *) { return false; });
}

// What only moves pairs moves them as they lie; so do sums.
bool Splitter::keepPairs(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    auto form = forms.find(operand);
    if (form == forms.end())
      continue;
    if (!form->second.pairs)
      return false;
    mapping.map(operand, form->second.pairs);
  }
  if (mapping.getValueMap().empty())
    return false;
  Operation *clone = builder.clone(*op, mapping);
  if (!addPartAxis(clone)) {
    clone->erase();
    return false;
  }
  OpResult result = clone->getResult(0);
  result.setType(pairsType(result.getType()));
  forms[op->getResult(0)].pairs = result;
  return true;
}

void Splitter::split(Operation *op) {
  builder.setInsertionPoint(op);
  replaced.push_back(op);
  if (auto complex = dyn_cast<ir::ComplexOp>(op)) {
    forms[complex.getResult()] = {complex.getRe(), complex.getIm()};
  } else if (auto real = dyn_cast<ir::RealOp>(op)) {
    real.getResult().replaceAllUsesWith(partsOf(real.getX()).re);
  } else if (auto imag = dyn_cast<ir::ImagOp>(op)) {
    imag.getResult().replaceAllUsesWith(partsOf(imag.getX()).im);
  } else if (auto cast = dyn_cast<ir::CastOp>(op)) {
    splitCast(cast);
  } else if (!keepPairs(op)) {
    // What else takes complex numbers is linear in them.
    Parts parts{cloneFor(op, &Parts::re), cloneFor(op, &Parts::im)};
    forms[op->getResult(0)] = parts;
  }
}

void Splitter::run() {
  Block &block = function.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (complexType(op.getResult(0)) ||
        llvm::any_of(op.getOperands(), complexType))
      ops.push_back(&op);
  takeArguments();
  for (Operation *op : ops)
    split(op);
  joinResults();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}

namespace {

struct SplitComplexPass : impl::SplitComplexBase<SplitComplexPass> {
  using Base::Base;
  void runOnOperation() override { Splitter(mainOf(getOperation())).run(); }
};

} // namespace
} // namespace sinter::compiler
