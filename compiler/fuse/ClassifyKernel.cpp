/// The rules of kernel kinds.
///
/// A kernel walks an index space and pulls values from its outputs inward. The
/// classification does the same walk on ops: every op gets the accesses by
/// which it is reached. An access is *aligned* when its index is the walked
/// index itself; a value of the kernel's root can only be reached aligned,
/// because it exists at no other index.
#include "compiler/fuse/ClassifyKernel.h"
#include "compiler/import/Types.h"
#include "compiler/lower/EmitKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

namespace {

/// The space that an access walks.
enum class Space : uint8_t {
  full,  ///< the elements of the outputs, or those that a reduction reads
  row,   ///< one per reduction result
  point, ///< in the walked row, at a column that data decide
  other, ///< any other index: through a view that moves elements
};

struct Access {
  Space space = Space::full;
  /// Tells accesses of space `other` apart: the view they came through.
  unsigned through = 0;
  double count = 0; ///< elements walked, estimated
  auto key() const { return std::pair(space, through); }
};

bool isRoot(PatternKind kind) {
  return kind != PatternKind::pointwise && kind != PatternKind::view &&
         kind != PatternKind::source && kind != PatternKind::random &&
         kind != PatternKind::gather;
}

using DimList = SmallVector<AffineExpr>;

DimList withoutOnes(ArrayRef<AffineExpr> dims) {
  DimList kept;
  for (AffineExpr dim : dims)
    if (auto constant = dyn_cast<AffineConstantExpr>(dim);
        !constant || constant.getValue() != 1)
      kept.push_back(dim);
  return kept;
}

/// Classifies one set.
class Classifier {
public:
  Classifier(const FusionGraph &graph, const OpSet &coreOps,
             const KernelCaps &caps)
      : graph(graph), coreOps(coreOps), caps(caps) {}

  Classified run();

private:
  std::optional<Rejection> findRoots();
  std::optional<Rejection> checkRowSpace();
  std::optional<Rejection> reachOutputs();
  std::optional<Rejection> reachOperands(unsigned index, const Access &access);
  std::optional<Rejection> reachThroughView(Operation *op,
                                            const Access &access);
  std::optional<Rejection> reachThroughReduction(Operation *op,
                                                 const Access &access);
  std::optional<Rejection> checkPrologue();
  std::optional<Rejection> checkParallelism();
  void reach(Value value, const Access &access);
  bool isRow(ArrayRef<AffineExpr> dims) const;
  bool isRowNumber(ArrayRef<AffineExpr> dims) const;
  void findFeedback();
  const char *kind() const;
  double recomputedWork() const;

  Operation *op(unsigned index) const { return graph.op(index); }

  const FusionGraph &graph;
  const OpSet &coreOps;
  const KernelCaps &caps;
  OpSet body, outputs;
  OpSet roots;
  PatternKind rootKind = PatternKind::pointwise;
  /// Of reductions: what they read, and which of its axes stay.
  DimList fullDims, rowDims;
  bool trailing = false;   ///< the reduced axes are the last ones
  bool storesFull = false; ///< an output has one element per element read
  bool feedsBack = false;  ///< a result is read back per element
  llvm::DenseMap<unsigned, SmallVector<Access, 2>> accesses;
};

} // namespace

std::optional<Rejection> Classifier::findRoots() {
  for (unsigned index : body) {
    PatternKind kind = kindOf(op(index));
    if (!isRoot(kind))
      continue;
    bool severalReductions =
        kind == PatternKind::reduction && rootKind == PatternKind::reduction;
    if (!roots.empty() && !severalReductions)
      return Rejection{"two_roots",
                       llvm::formatv("{0} and {1}",
                                     op(roots[0])->getName().stripDialect(),
                                     op(index)->getName().stripDialect())};
    roots.push_back(index);
    rootKind = kind;
  }
  return std::nullopt;
}

// All reductions of a kernel run along the same axes of the same dims.
std::optional<Rejection> Classifier::checkRowSpace() {
  SmallVector<int64_t> axes;
  for (unsigned index : roots) {
    DimList dims = dimsOf(op(index)->getOperand(0).getType());
    SmallVector<int64_t> own = axesOf(op(index));
    if (index != roots[0] && (dims != fullDims || own != axes))
      return Rejection{"two_roots", "reductions along different axes"};
    fullDims = dims;
    axes = own;
  }
  for (auto [axis, dim] : llvm::enumerate(fullDims))
    if (!llvm::is_contained(axes, int64_t(axis)))
      rowDims.push_back(dim);
  trailing = llvm::all_of(axes, [&](int64_t axis) {
    return axis >= int64_t(fullDims.size() - axes.size());
  });
  return std::nullopt;
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

// Outputs are walked aligned: in the full space, or one per row.
std::optional<Rejection> Classifier::reachOutputs() {
  DimList space = rootKind == PatternKind::reduction
                      ? fullDims
                      : dimsOf(op(outputs[0])->getResult(0).getType());
  for (unsigned index : outputs) {
    Value value = op(index)->getResult(0);
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
    if (dims != space)
      return Rejection{"shape_space", "outputs of different shapes"};
    storesFull = true;
    reach(value, {Space::full, 0, count});
  }
  if (rootKind == PatternKind::reduction && storesFull && !trailing)
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
  if (access.space != Space::row)
    return Rejection{"view_of_root",
                     "a reduction's result is read at another row"};
  Value operand = reduction->getOperand(0);
  reach(operand, {Space::full, 0, estimatedElements(operand.getType())});
  return std::nullopt;
}

std::optional<Rejection> Classifier::reachOperands(unsigned index,
                                                   const Access &access) {
  Operation *node = op(index);
  bool aligned = access.space == Space::full || access.space == Space::row;
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
  if (!aligned || access.space != Space::full)
    return Rejection{"view_of_root",
                     "the root's result is read through a view"};
  for (auto [number, operand] : llvm::enumerate(node->getOperands()))
    reach(operand, {Space::other, unsigned(index * 4099 + 2 + number),
                    estimatedElements(operand.getType())});
  return std::nullopt;
}

// What a root reads several times is not computed in its kernel, but for
// changes of the element type.
std::optional<Rejection> Classifier::checkPrologue() {
  if (rootKind == PatternKind::reduction || roots.empty())
    return std::nullopt;
  llvm::SmallDenseSet<unsigned> before;
  for (unsigned index : llvm::reverse(body)) {
    bool feedsRoot = llvm::is_contained(roots, index) || before.contains(index);
    if (!feedsRoot)
      continue;
    for (Value operand : op(index)->getOperands())
      if (int source = graph.indexOf(operand); source >= 0)
        before.insert(source);
  }
  for (unsigned index : coreOps) {
    if (!before.contains(index))
      continue;
    Operation *node = op(index);
    bool converts = kindOf(node) == PatternKind::pointwise &&
                    node->getNumOperands() == 1 &&
                    getElementTypeOrSelf(node->getOperand(0).getType()) !=
                        getElementTypeOrSelf(node->getResult(0).getType());
    if (!converts || rootKind != PatternKind::contraction)
      return Rejection{"prologue_cost",
                       llvm::formatv("{0} would be computed several times",
                                     node->getName().stripDialect())};
    if (llvm::is_contained(outputs, index))
      return Rejection{"full_output", "an operand of the root is stored too"};
  }
  if (rootKind != PatternKind::contraction && coreOps.size() > 1)
    return Rejection{"epilogue",
                     "this kind of kernel stores its root's result only"};
  return std::nullopt;
}

std::optional<Rejection> Classifier::checkParallelism() {
  if (rootKind != PatternKind::reduction || !rowDims.empty() ||
      kind() != StringRef(kernel_kinds::rowwise))
    return std::nullopt;
  double elements = estimatedElements(op(roots[0])->getOperand(0).getType());
  if (elements <= caps.serialElements)
    return std::nullopt;
  return Rejection{"parallelism", "one row would be worked on by one thread"};
}

const char *Classifier::kind() const {
  switch (rootKind) {
  case PatternKind::reduction:
    return storesFull || feedsBack ? kernel_kinds::rowwise
                                   : kernel_kinds::reduce;
  case PatternKind::contraction:
    return kernel_kinds::contraction;
  case PatternKind::scatter:
    return kernel_kinds::gatherScatter;
  case PatternKind::prefix:
    return kernel_kinds::prefix;
  default:
    return kernel_kinds::map;
  }
}

// Finds a result of a reduction in the elements that the kernel walks.
void Classifier::findFeedback() {
  if (rootKind != PatternKind::reduction)
    return;
  llvm::SmallDenseSet<unsigned> after(roots.begin(), roots.end());
  for (unsigned index : body) {
    if (llvm::is_contained(roots, index))
      continue;
    if (llvm::none_of(op(index)->getOperands(), [&](Value operand) {
          int source = graph.indexOf(operand);
          return source >= 0 && after.contains(source);
        }))
      continue;
    after.insert(index);
    feedsBack |= llvm::any_of(accesses.lookup(index), [](const Access &access) {
      return access.space != Space::row;
    });
  }
}

// Work beyond once per element: an op that is reached by several accesses, or
// by one that walks more elements than it has.
double Classifier::recomputedWork() const {
  double total = 0;
  for (unsigned index : coreOps) {
    PatternKind kind = kindOf(op(index));
    if (isRoot(kind) || rankOf(op(index)->getResult(0)) == 0)
      continue;
    double walked = 0;
    auto known = accesses.find(index);
    if (known != accesses.end())
      for (const Access &access : known->second)
        walked += access.count;
    double own = estimatedElements(op(index)->getResult(0).getType());
    if (walked > own)
      total += (walked - own) * arithmeticCost(op(index));
  }
  return total;
}

Classified Classifier::run() {
  body = graph.body(coreOps);
  outputs = graph.outputs(coreOps);
  if (body.size() > caps.ops)
    return Rejection{"cap_ops", llvm::formatv("{0} ops", body.size())};
  size_t buffers = graph.inputs(body).size() + outputs.size();
  if (buffers > caps.buffers)
    return Rejection{"cap_live", llvm::formatv("{0} buffers", buffers)};
  if (auto rejected = findRoots())
    return *rejected;
  if (rootKind == PatternKind::reduction)
    if (auto rejected = checkRowSpace())
      return *rejected;
  if (auto rejected = reachOutputs())
    return *rejected;
  for (unsigned index : llvm::reverse(body)) {
    SmallVector<Access, 2> reached = accesses.lookup(index);
    for (const Access &access : reached)
      if (auto rejected = reachOperands(index, access))
        return *rejected;
  }
  findFeedback();
  if (feedsBack && !trailing)
    return Rejection{"full_output", "rows are not contiguous"};
  if (auto rejected = checkPrologue())
    return *rejected;
  if (auto rejected = checkParallelism())
    return *rejected;
  return KernelShape{kind(), recomputedWork()};
}

Classified classifyKernel(const FusionGraph &graph, const OpSet &coreOps,
                          const KernelCaps &caps) {
  return Classifier(graph, coreOps, caps).run();
}

} // namespace sinter::compiler
