/// How the ops of a set are reached from what the kernel stores.
#include "compiler/fuse/Classifier.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

static DimList withoutOnes(ArrayRef<AffineExpr> dims) {
  DimList kept;
  for (AffineExpr dim : dims)
    if (auto constant = dyn_cast<AffineConstantExpr>(dim);
        !constant || constant.getValue() != 1)
      kept.push_back(dim);
  return kept;
}

bool Classifier::isRow(ArrayRef<AffineExpr> dims) const {
  return withoutOnes(dims) == withoutOnes(rowDims);
}

// Whether broadcasting these dims to the full ones gives each row one number.
bool Classifier::isRowNumber(ArrayRef<AffineExpr> dims) const {
  if (rowDims.empty())
    return withoutOnes(dims).empty();
  size_t kept = rowDims.size();
  return dims.size() == fullDims.size() &&
         dims.take_front(kept) == ArrayRef(rowDims) &&
         withoutOnes(dims.drop_front(kept)).empty();
}

void Classifier::reach(Value value, const Access &access) {
  int index = graph.indexOf(value);
  if (index < 0 || !llvm::is_contained(body, unsigned(index)))
    return;
  auto sameKey = [&](const Access &other) {
    return other.key() == access.key();
  };
  if (auto &known = accesses[index]; llvm::none_of(known, sameKey))
    known.push_back(access);
}

// What is made of reductions of columns has one element for each.
void Classifier::reachColumns(llvm::SmallDenseSet<unsigned> &after) {
  after.insert(columns.begin(), columns.end());
  for (unsigned index : body)
    if (llvm::any_of(op(index)->getOperands(), [&](Value operand) {
          int source = graph.indexOf(operand);
          return source >= 0 && after.contains(source);
        }))
      after.insert(index);
  for (unsigned index : outputs)
    if (Value value = op(index)->getResult(0);
        after.contains(index) &&
        withoutOnes(dimsOf(value.getType())) == DimList{fullDims.back()})
      reach(value, {Space::column, 0, estimatedElements(value.getType())});
}

// Whether a view leaves runs of elements as they are, which are as long as
// vectors are, or longer.
static bool keepsRuns(Operation *view) {
  constexpr int64_t run = 16;
  auto transpose = dyn_cast<ir::TransposeOp>(view);
  if (!transpose)
    return isReshape(view);
  DimList dims = dimsOf(transpose.getType());
  return transpose.getPermutation().back() + 1 == int64_t(dims.size()) &&
         dims.back().getLargestKnownDivisor() % run == 0;
}

// Whether elements may be stored one by one.
bool Classifier::isScattered(Value output) const {
  return caps.scatteredElements > 0 &&
         estimatedElements(output.getType()) <= caps.scatteredElements;
}

// What an output has the elements of, in another order: those of a contraction
// are stored where views put them, and so are few of reductions of columns.
Value Classifier::orderedFrom(Value output) const {
  bool ofColumns = rootKind == PatternKind::reduction && !product &&
                   !rowDims.empty() && keepsLastAxis && isScattered(output);
  if (rootKind != PatternKind::contraction && !ofColumns)
    return output;
  Value value = output;
  while (Operation *view = value.getDefiningOp()) {
    int index = graph.indexOf(value);
    if (index < 0 || !llvm::is_contained(body, unsigned(index)))
      return output;
    if (kindOf(view) != PatternKind::view)
      return value;
    if (!keepsRuns(view) &&
        !(isa<ir::TransposeOp>(view) && isScattered(output)))
      return output;
    value = view->getOperand(0);
  }
  return output;
}

// Outputs are walked aligned: in the full space, or one per row or column.
std::optional<Rejection> Classifier::reachOutputs() {
  llvm::SmallDenseSet<unsigned> ofColumns;
  if (!columns.empty())
    reachColumns(ofColumns);
  DimList space =
      rootKind == PatternKind::reduction
          ? fullDims
          : dimsOf(orderedFrom(op(outputs[0])->getResult(0)).getType());
  for (unsigned index : outputs) {
    if (ofColumns.contains(index) && !accesses.lookup(index).empty())
      continue;
    Value value = orderedFrom(op(index)->getResult(0));
    DimList dims = dimsOf(value.getType());
    double count = estimatedElements(value.getType());
    if (rootKind == PatternKind::reduction && isRow(dims) && dims != fullDims) {
      reach(value, {Space::row, 0, count});
      continue;
    }
    if (rootKind == PatternKind::reduction &&
        llvm::is_contained(roots, index)) {
      reach(value, {Space::row, 0, count});
      continue;
    }
    bool isPart =
        rootKind == PatternKind::attention && llvm::is_contained(roots, index);
    if (dims != space && !isPart)
      return Rejection{"shape_space", "outputs of different shapes"};
    storesFull = true;
    reach(value, {Space::full, 0, count});
  }
  if (rootKind == PatternKind::reduction && storesFull && !trailing && !product)
    return Rejection{"full_output",
                     "a reduction along leading axes stores no other shape"};
  return std::nullopt;
}

// A view keeps an access aligned only between rows: reshapes that add or drop
// ones, and the broadcast of a row's number over the row.
std::optional<Rejection> Classifier::reachThroughView(Operation *view,
                                                      const Access &access) {
  DimList to = dimsOf(view->getResult(0).getType());
  if (rootKind == PatternKind::reduction && view->getNumOperands() == 1) {
    Type type = view->getOperand(0).getType();
    DimList from = dimsOf(type);
    double rows = estimatedElements(type);
    bool rowToRow = access.space == Space::row && isReshape(view) &&
                    isRow(to) && isRow(from);
    bool columnToColumn = access.space == Space::column && isReshape(view) &&
                          withoutOnes(to) == withoutOnes(from);
    if (columnToColumn) {
      reach(view->getOperand(0), access);
      return std::nullopt;
    }
    bool spreads =
        (access.space == Space::full || access.space == Space::point) &&
        trailing && isBroadcast(view) && to == fullDims && isRowNumber(from);
    if (rowToRow || spreads) {
      reach(view->getOperand(0), {Space::row, 0, rows});
      return std::nullopt;
    }
  }
  unsigned through = graph.indexOf(view->getResult(0)) + 1;
  for (Value operand : view->getOperands())
    reach(operand,
          {Space::other, through * 4099 + access.through, access.count});
  return std::nullopt;
}

std::optional<Rejection>
Classifier::reachThroughReduction(Operation *reduction, const Access &access) {
  bool isColumn = llvm::is_contained(
      columns, unsigned(graph.indexOf(reduction->getResult(0))));
  if (access.space != (isColumn ? Space::column : Space::row))
    return Rejection{"view_of_root",
                     "a reduction's result is read at another row"};
  Value operand = reduction->getOperand(0);
  reach(operand, {Space::full, 0, estimatedElements(operand.getType())});
  return std::nullopt;
}

std::optional<Rejection> Classifier::reachOperands(unsigned index,
                                                   const Access &access) {
  Operation *node = op(index);
  switch (kindOf(node)) {
  case PatternKind::pointwise:
  case PatternKind::random:
    for (Value operand : node->getOperands())
      reach(operand, access);
    return std::nullopt;
  case PatternKind::source:
    return std::nullopt;
  case PatternKind::view:
    return reachThroughView(node, access);
  case PatternKind::reduction:
    return reachThroughReduction(node, access);
  case PatternKind::gather: {
    Access indexed{Space::other, index * 4099 + 1, access.count};
    bool inRow = access.space == Space::row && trailing &&
                 axesOf(node)[0] >= int64_t(rowDims.size()) &&
                 dimsOf(node->getOperand(0).getType()) == fullDims;
    if (inRow)
      indexed = {Space::point, 0, access.count};
    reach(node->getOperand(0), indexed);
    for (Value operand : node->getOperands().drop_front())
      reach(operand, access);
    return std::nullopt;
  }
  default:
    break;
  }
  bool isKept = product && access.space == Space::point;
  if (access.space != Space::full && !isKept)
    return Rejection{"view_of_root",
                     "the root's result is read through a view"};
  for (auto [number, operand] : llvm::enumerate(node->getOperands()))
    reach(operand, {Space::other, unsigned(index * 4099 + 2 + number),
                    estimatedElements(operand.getType())});
  return std::nullopt;
}

} // namespace sinter::compiler
