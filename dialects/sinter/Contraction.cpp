/// Contractions by their loops.
#include "dialects/sinter/Contraction.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"

using namespace mlir;

namespace sinter::ir {

// Loops beside those of batches.
constexpr unsigned matrixLoops = 3;

ContractionMaps matrixProductMaps(unsigned rank, MLIRContext *context) {
  unsigned batches = rank - 2, loops = batches + matrixLoops;
  auto mapTo = [&](ContractionLoop first, ContractionLoop second) {
    SmallVector<unsigned> axes = llvm::to_vector(llvm::seq(0U, batches));
    axes.push_back(batches + unsigned(first));
    axes.push_back(batches + unsigned(second));
    return AffineMap::getMultiDimMapWithTargets(loops, axes, context);
  };
  using enum ContractionLoop;
  return {mapTo(m, k), mapTo(k, n), mapTo(m, n)};
}

static unsigned numberOf(AffineMap map, ContractionLoop loop) {
  return map.getNumDims() - matrixLoops + unsigned(loop);
}

unsigned axisOf(AffineMap map, ContractionLoop loop) {
  return *map.getResultPosition(
      getAffineDimExpr(numberOf(map, loop), map.getContext()));
}

Type defaultSumType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return scalarType(element);
}

AffineExpr depthOf(ContractionOpInterface op) {
  return dimsOf(op.getLhs().getType())[op.getLhsAxis(ContractionLoop::k)];
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

/// A tensor, and which of its elements takes part.
struct Read {
  Value tensor;
  SmallVector<AffineExpr> place; ///< an expression of loops for each axis
};

} // namespace

// Goes on to what is behind axes in another order or repeated ones.
static void passAxes(Read &read) {
  while (true) {
    if (auto turned = permutedOperand(read.tensor)) {
      SmallVector<AffineExpr> place(read.place);
      for (auto [axis, from] : llvm::enumerate(turned->permutation))
        place[from] = read.place[axis];
      read = {turned->operand, std::move(place)};
      continue;
    }
    Value repeated = repeatedOperand(read.tensor);
    if (!repeated)
      return;
    SmallVector<AffineExpr> dims =
        dimsOf(cast<RankedTensorType>(repeated.getType()));
    SmallVector<AffineExpr> place(ArrayRef(read.place).take_back(dims.size()));
    for (auto [dim, at] : llvm::zip(dims, place))
      if (isOne(dim))
        at = getAffineConstantExpr(0, at.getContext());
    read = {repeated, std::move(place)};
  }
}

// What numbers of more bits were converted from.
static bool passConversion(Read &read) {
  auto conversion = read.tensor.getDefiningOp<CastOp>();
  if (!conversion)
    return false;
  Type from = conversion.getX().getType().getElementType();
  Type to = conversion.getType().getElementType();
  if (!from.isIntOrFloat() || !to.isIntOrFloat() || from.isInteger(1) ||
      from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
    return false;
  read.tensor = conversion.getX();
  passAxes(read);
  return true;
}

std::optional<OperandDecoding> decodingBehind(Value operand, AffineMap map) {
  auto mapOf = [&](const Read &read) {
    return AffineMap::get(map.getNumDims(), 0, read.place, map.getContext());
  };
  Read read{operand, SmallVector<AffineExpr>(map.getResults())};
  passAxes(read);
  Type element = getElementTypeOrSelf(operand.getType());
  Read codes = read;
  if (passConversion(codes))
    return OperandDecoding{codes.tensor, mapOf(codes), element, {}, {}};
  auto product = read.tensor.getDefiningOp<MulOp>();
  if (!product)
    return std::nullopt;
  for (unsigned number : {0, 1}) {
    codes = {product->getOperand(number), read.place};
    passAxes(codes);
    Read scale{product->getOperand(1 - number), read.place};
    passAxes(scale);
    // A factor that no two codes share is an operand of its own.
    AffineMap codesMap = mapOf(codes), scaleMap = mapOf(scale);
    bool isShared = false;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      isShared |=
          codesMap.isFunctionOfDim(loop) && !scaleMap.isFunctionOfDim(loop);
    if (isShared && passConversion(codes))
      return OperandDecoding{codes.tensor, mapOf(codes), element, scale.tensor,
                             scaleMap};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

ContractionOpInterface matrixProductOf(Operation *op) {
  auto contraction = dyn_cast_or_null<ContractionOpInterface>(op);
  if (!contraction)
    return {};
  RankedTensorType type = contraction.getResult().getType();
  Type element = type.getElementType();
  ContractionMaps maps = contraction.getIndexingMaps();
  ContractionMaps plain = matrixProductMaps(type.getRank(), op->getContext());
  bool isPlain = maps.lhs == plain.lhs && maps.rhs == plain.rhs &&
                 contraction.getLhs().getType().getElementType() == element &&
                 contraction.getRhs().getType().getElementType() == element &&
                 contraction.getSumType() == defaultSumType(element);
  return isPlain ? contraction : ContractionOpInterface();
}

ContractionOpInterface matrixProductOf(Value result) {
  return matrixProductOf(result.getDefiningOp());
}

// Whether lowering brings elements to what they are summed in: floats are
// widened, others are it already.
static bool isSummedIn(RankedTensorType operand, Type sum) {
  Type scalar = scalarType(operand.getElementType());
  bool isWidened = isa<FloatType>(scalar) && isa<FloatType>(sum) &&
                   scalar.getIntOrFloatBitWidth() < sum.getIntOrFloatBitWidth();
  return scalar == sum || isWidened;
}

LogicalResult verifyContraction(Operation *op) {
  auto contraction = cast<ContractionOpInterface>(op);
  RankedTensorType type = contraction.getResult().getType();
  if (type.getRank() < 2)
    return op->emitOpError("is a contraction without rows or columns");
  ContractionMaps maps = contraction.getIndexingMaps();
  ContractionMaps plain = matrixProductMaps(type.getRank(), op->getContext());
  if (maps.result != plain.result)
    return op->emitOpError("has a result that is not [batch..., m, n]");
  auto hasAxes = [](AffineMap map, RankedTensorType type, ContractionLoop first,
                    ContractionLoop second, ContractionLoop none) {
    return map.getNumResults() == type.getRank() &&
           map.isProjectedPermutation() &&
           map.isFunctionOfDim(numberOf(map, first)) &&
           map.isFunctionOfDim(numberOf(map, second)) &&
           !map.isFunctionOfDim(numberOf(map, none));
  };
  using enum ContractionLoop;
  if (!hasAxes(maps.lhs, contraction.getLhs().getType(), m, k, n) ||
      !hasAxes(maps.rhs, contraction.getRhs().getType(), k, n, m))
    return op->emitOpError("has an operand without one axis for each loop");
  for (Value operand : {contraction.getLhs(), contraction.getRhs()})
    if (!isSummedIn(cast<RankedTensorType>(operand.getType()),
                    contraction.getSumType()))
      return op->emitOpError("cannot sum elements of ")
             << operand.getType() << " in " << contraction.getSumType();
  return success();
}

} // namespace sinter::ir
