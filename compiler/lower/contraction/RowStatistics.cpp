/// Row statistics: which kernels have them, and the rows that are kept.
#include "compiler/lower/contraction/RowStatistics.h"

#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

static std::optional<PatternKind> kindOf(Operation &op) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  if (!described)
    return std::nullopt;
  return described.getPatternKind();
}

bool hasRowStatistics(program::KernelOp kernel) {
  bool multiplies = false, reduces = false;
  for (Operation &op : kernel.getBlock()) {
    multiplies |= kindOf(op) == PatternKind::contraction;
    reduces |= kindOf(op) == PatternKind::reduction &&
               canonicalOrder(&op) == CanonicalOrder::lanes;
  }
  return multiplies && reduces;
}

static bool refuse(std::string *why, const llvm::Twine &text) {
  if (why)
    *why = text.str();
  return false;
}

// Whether the reduction takes rows of a tensor of the product's shape.
static bool reducesRows(Operation *reduction, const Shape &shape) {
  return shapeOf(reduction->getOperand(0)) == shape &&
         reductionAxes(reduction).axes ==
             SmallVector<int64_t>{int64_t(shape.size()) - 1};
}

// Whether an op that reads elements of the product at its own place gives
// elements at that place, or numbers of its row.
static bool keepsPlace(Operation *op, PatternKind kind) {
  switch (kind) {
  case PatternKind::pointwise:
  case PatternKind::reduction:
    return true;
  case PatternKind::gather: {
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    Value operand = op->getOperand(0);
    return axis && axis.getInt() == int64_t(shapeOf(operand).size()) - 1;
  }
  default:
    return false;
  }
}

bool keepsRowsFor(Value product, program::KernelOp kernel, std::string *why) {
  Shape shape = shapeOf(product);
  int64_t columns = constantOf(shape.back());
  if (columns < 2 || columns > longestKeptRow)
    return refuse(why, "rows of a product that are reduced have 2 to " +
                           llvm::Twine(longestKeptRow) + " elements");
  // Elements that stand at the product's own places.
  llvm::DenseSet<Value> placed{product};
  for (Operation &op : kernel.getBlock()) {
    auto kind = kindOf(op);
    if (!kind)
      continue;
    if (kind == PatternKind::reduction && !reducesRows(&op, shape))
      return refuse(why, "a reduction beside a contraction takes its rows");
    bool reads = llvm::any_of(op.getOperands(), [&](Value operand) {
      return placed.contains(operand);
    });
    if (!reads)
      continue;
    if (!keepsPlace(&op, *kind))
      return refuse(why, "a product whose rows are reduced is read at its own "
                         "place");
    if (kind == PatternKind::pointwise)
      placed.insert(op.getResult(0));
  }
  Shape rows(shape.begin(), shape.end() - 1);
  for (Value output : kernel.getOutputs()) {
    Shape own = shapeOf(output);
    bool isRow =
        own == rows || (own.size() == shape.size() && isOne(own.back()) &&
                        Shape(own.begin(), own.end() - 1) == rows);
    if (own != shape && !isRow)
      return refuse(why, "outputs have an element for each of a product or of "
                         "its rows");
  }
  return true;
}

namespace {

class KeptProduct final : public ElementSource {
public:
  KeptProduct(Value product, const MatrixTile::KeptSums &sums)
      : ElementSource(product), sums(sums) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Coord> places = emission.coordinates(index, shapeOf(tensor));
    Coord column = places.pop_back_val(), row = places.pop_back_val();
    MLIRContext *context = emission.builder.getContext();
    Coord line =
        emission.scale(emission.sub(row, emission.uniform(sums.firstRow)),
                       getAffineConstantExpr(sums.stride, context));
    Value sum =
        loadLanes(emission, sums.buffer, emission.add(line, column), lanes);
    return Element{fromAccumulator(emission, sum, elementOf(tensor))};
  }

private:
  const MatrixTile::KeptSums sums;
};

} // namespace

std::unique_ptr<ElementSource>
makeKeptProduct(Value product, const MatrixTile::KeptSums &sums) {
  return std::make_unique<KeptProduct>(product, sums);
}

} // namespace sinter::compiler
