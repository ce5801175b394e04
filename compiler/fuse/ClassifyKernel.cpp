/// The rules of kernel kinds.
#include "compiler/analysis/Marks.h"
#include "compiler/fuse/Classifier.h"
#include "compiler/fuse/CountEmissions.h"
#include "compiler/import/Types.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/lower/reduce/BlockRows.h"
#include "compiler/target/TargetAttr.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// What GPUs store so in less time than a launch takes.
static constexpr unsigned scatteredByThreads = 1 << 17;

KernelCaps capsOf(program::TargetAttr target) {
  KernelCaps caps;
  caps.statistics = !target.getThreads();
  caps.columnsOfRows = target.getBlocks();
  caps.byThreads = target.getThreads();
  caps.machine = machineOf(target);
  caps.scatteredElements = target.getThreads() ? scatteredByThreads : 0;
  return caps;
}

bool shareScores(Operation *a, Operation *b) {
  auto one = dyn_cast<ir::AttentionOpInterface>(a);
  auto other = dyn_cast<ir::AttentionOpInterface>(b);
  bool sameScores = one && other && one.getQuery() == other.getQuery() &&
                    one.getKey() == other.getKey() &&
                    one.getMask() == other.getMask() &&
                    one.getSpan() == other.getSpan() &&
                    one.getScale().bitwiseIsEqual(other.getScale()) &&
                    one.getWalkedOperand() == other.getWalkedOperand();
  if (!sameScores)
    return false;
  // Gradients read the same rest, too; what is none reads no more.
  unsigned common = std::min(a->getNumOperands(), b->getNumOperands());
  return (a->getNumOperands() > 4) == (b->getNumOperands() > 4) &&
         llvm::equal(a->getOperands().take_front(common),
                     b->getOperands().take_front(common));
}

bool areParts(Operation *a, Operation *b) {
  return shareScores(a, b) || sortTogether(a, b);
}

bool isRoot(PatternKind kind) {
  return kind != PatternKind::pointwise && kind != PatternKind::view &&
         kind != PatternKind::source && kind != PatternKind::random &&
         kind != PatternKind::gather;
}

// Reductions may follow one contraction, whose rows or columns they take.
std::optional<Rejection> Classifier::addRoot(unsigned index) {
  PatternKind kind = kindOf(op(index));
  bool isReduction = kind == PatternKind::reduction;
  bool severalReductions = isReduction && rootKind == PatternKind::reduction;
  if (isReduction && rootKind == PatternKind::contraction) {
    product = roots[0];
    roots.clear();
  } else if (!roots.empty() && !severalReductions &&
             !areParts(op(roots[0]), op(index))) {
    return Rejection{"two_roots",
                     llvm::formatv("{0} and {1}",
                                   op(roots[0])->getName().stripDialect(),
                                   op(index)->getName().stripDialect())};
  }
  roots.push_back(index);
  rootKind = kind;
  return std::nullopt;
}

std::optional<Rejection> Classifier::findRoots() {
  for (unsigned index : body)
    if (isRoot(kindOf(op(index))))
      if (auto rejected = addRoot(index))
        return rejected;
  auto isOther = [&](unsigned index) {
    return kindOf(op(index)) != PatternKind::opaque && !isReshape(op(index));
  };
  if (rootKind == PatternKind::opaque && llvm::any_of(body, isOther))
    return Rejection{"opaque",
                     llvm::formatv("{0} is code of the user's",
                                   op(roots[0])->getName().stripDialect())};
  return std::nullopt;
}

// Sets reductions of columns aside, where a block of threads works on each row
// that others reduce.
void Classifier::findColumns() {
  if (!caps.columnsOfRows || product)
    return;
  auto row = llvm::find_if(roots, [&](unsigned index) {
    int64_t rank = rankOf(op(index)->getOperand(0));
    return rank > 1 && axesOf(op(index)) == SmallVector<int64_t>{rank - 1};
  });
  if (row == roots.end())
    return;
  Type type = op(*row)->getOperand(0).getType();
  DimList dims = dimsOf(type);
  auto length = dyn_cast<AffineConstantExpr>(dims.back());
  if (!length || !isRowOfBlock(length.getValue()) ||
      estimatedElements(type) < caps.leastRows * double(length.getValue()) ||
      !llvm::all_of(body,
                    [&](unsigned index) { return joinsBlockRows(op(index)); }))
    return;
  SmallVector<int64_t> others =
      llvm::to_vector(llvm::seq<int64_t>(0, dims.size() - 1));
  for (unsigned index : roots)
    if (axesOf(op(index)) == others &&
        dimsOf(op(index)->getOperand(0).getType()) == dims)
      columns.push_back(index);
  if (columns.size() > mostColumnResults)
    columns.clear();
  llvm::erase_if(roots, [&](unsigned index) {
    return llvm::is_contained(columns, index);
  });
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
  keepsLastAxis = !llvm::is_contained(axes, int64_t(fullDims.size()) - 1);
  trailing = llvm::all_of(axes, [&](int64_t axis) {
    return axis >= int64_t(fullDims.size() - axes.size());
  });
  return std::nullopt;
}

// The reductions run along rows of the product, from it on, or along columns.
std::optional<Rejection> Classifier::checkStatistics() const {
  Operation *contraction = op(*product);
  DimList dims = dimsOf(contraction->getResult(0).getType());
  llvm::SmallDenseSet<unsigned> after{*product};
  for (unsigned index : body)
    if (llvm::any_of(op(index)->getOperands(), [&](Value operand) {
          int source = graph.indexOf(operand);
          return source >= 0 && after.contains(source);
        }))
      after.insert(index);
  auto refuse = [&](const char *what) {
    return Rejection{"two_roots",
                     llvm::formatv("{0} does not take {1} of {2}",
                                   op(roots[0])->getName().stripDialect(), what,
                                   contraction->getName().stripDialect())};
  };
  bool takesAll = fullDims == dims && llvm::all_of(roots, [&](unsigned root) {
                    return after.contains(root);
                  });
  if (!trailing && !rowDims.empty()) {
    bool alongColumns = rowDims.size() == 1 &&
                        axesOf(op(roots[0])).back() + 2 == int64_t(dims.size());
    return takesAll && alongColumns ? checkColumnStatistics()
                                    : refuse("columns");
  }
  bool alongRows =
      trailing && !rowDims.empty() && rowDims.size() + 1 == dims.size();
  return takesAll && alongRows ? checkRowStatistics() : refuse("rows");
}

// Whether a value can be had from what the kernel stores, without the product.
bool Classifier::isComputedFromStored(Value value) const {
  DimList dims = dimsOf(op(*product)->getResult(0).getType());
  llvm::SmallSetVector<Value, 16> behind;
  behind.insert(value);
  for (unsigned next = 0; next < behind.size(); ++next) {
    Value made = behind[next];
    int index = graph.indexOf(made);
    bool isInside = index >= 0 && llvm::is_contained(body, unsigned(index));
    if (!isInside || (llvm::is_contained(outputs, unsigned(index)) &&
                      dimsOf(made.getType()) == dims))
      continue;
    if (unsigned(index) == *product)
      return false;
    behind.insert_range(op(index)->getOperands());
  }
  return true;
}

constexpr const char *sharesTiles =
    "a block's threads share the tiles of a product, and keep none of them";

// Columns are taken from what is stored, while it is near: what is small stays
// near for a kernel of its own, too, and that is one launch.
std::optional<Rejection> Classifier::checkColumnStatistics() const {
  if (!caps.statistics)
    return Rejection{"column_statistics", sharesTiles};
  for (unsigned root : roots)
    if (!isComputedFromStored(op(root)->getOperand(0)))
      return Rejection{"column_statistics",
                       llvm::formatv("what {0} takes of {1} is not stored",
                                     op(root)->getName().stripDialect(),
                                     op(*product)->getName().stripDialect())};
  double bytes = estimatedBytes(op(*product)->getResult(0).getType());
  if (bytes < caps.leastColumnBytes)
    return Rejection{"column_statistics",
                     llvm::formatv("{0:f0} bytes are near when they are read "
                                   "again",
                                   bytes)};
  return std::nullopt;
}

// Blocks of rows cost no more than the product's own parts. How many rows there
// are does not count: it may be known at run time only.
std::optional<Rejection> Classifier::checkRowStatistics() const {
  if (!caps.statistics)
    return Rejection{"row_statistics", sharesTiles};
  Operation *contraction = op(*product);
  DimList dims = dimsOf(contraction->getResult(0).getType());
  auto columns = dyn_cast<AffineConstantExpr>(dims.back());
  if (!columns || columns.getValue() < 2 || columns.getValue() > caps.keptRow)
    return Rejection{"row_statistics",
                     llvm::formatv("a row that is kept has 2 to {0} elements",
                                   caps.keptRow)};
  DimList left = dimsOf(contraction->getOperand(0).getType());
  DType dtype =
      *dtypeOf(getElementTypeOrSelf(contraction->getResult(0).getType()));
  constexpr unsigned leastBytes = 4; // narrow ones are copied as f32
  double operand = estimate(left.back()) * double(columns.getValue()) *
                   std::max<unsigned>(leastBytes, byteWidth(dtype));
  if (operand > caps.blockOperand)
    return Rejection{"row_statistics",
                     llvm::formatv("each block of rows would read {0:f0} bytes "
                                   "of the right operand",
                                   operand)};
  return std::nullopt;
}

// Whether the kernel's parts of attention alone read a value, as rows that take
// part in products.
bool Classifier::isRowsOperand(unsigned index) const {
  Value value = op(index)->getResult(0);
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *reader = use.getOwner();
    if (llvm::none_of(body, [&](unsigned at) { return op(at) == reader; }))
      return true;
    auto part = dyn_cast<ir::AttentionOpInterface>(reader);
    constexpr unsigned matrices = 5; // the mask aside
    return part && value != part.getMask() && use.getOperandNumber() < matrices;
  });
}

// Whether an op before a contraction costs less than to store its result and
// read it again. A contraction copies an operand that is computed, so that it
// is computed once or a few times; so do a sort, and attention the rows of its
// matrices.
bool Classifier::isCheapPrologue(unsigned index) const {
  Operation *node = op(index);
  bool takesPrologue =
      rootKind == PatternKind::contraction || product ||
      rootKind == PatternKind::sort ||
      (rootKind == PatternKind::attention && isRowsOperand(index));
  if (!takesPrologue || kindOf(node) != PatternKind::pointwise)
    return false;
  bool converts = node->getNumOperands() == 1 &&
                  getElementTypeOrSelf(node->getOperand(0).getType()) !=
                      getElementTypeOrSelf(node->getResult(0).getType());
  constexpr double cheapest = 3;
  return converts || operationsOf(node) <= cheapest;
}

// Whether the prologue reads more than what it would store. A few scalars do
// not count.
bool Classifier::readsMore(const OpSet &prologue) const {
  OpSet before = graph.body(prologue);
  double read = 0, stored = 0;
  for (Value input : graph.inputs(before))
    read += estimatedBytes(input.getType());
  for (unsigned index : graph.outputs(prologue))
    stored += estimatedBytes(op(index)->getResult(0).getType());
  constexpr double scalarBytes = 64;
  return read > stored + scalarBytes;
}

// What a root reads several times is not computed in its kernel, but for cheap
// ops before a contraction or a sort.
std::optional<Rejection> Classifier::checkPrologue() {
  if ((rootKind == PatternKind::reduction && !product) || roots.empty())
    return std::nullopt;
  OpSet fed = product ? OpSet{*product} : roots;
  llvm::SmallDenseSet<unsigned> before;
  for (unsigned index : llvm::reverse(body)) {
    bool feedsRoot = llvm::is_contained(fed, index) || before.contains(index);
    if (!feedsRoot)
      continue;
    for (Value operand : op(index)->getOperands())
      if (int source = graph.indexOf(operand); source >= 0)
        before.insert(source);
  }
  OpSet prologue;
  for (unsigned index : coreOps) {
    if (!before.contains(index))
      continue;
    if (!isCheapPrologue(index))
      return Rejection{"prologue_cost",
                       llvm::formatv("{0} would be computed several times",
                                     op(index)->getName().stripDialect())};
    if (llvm::is_contained(outputs, index))
      return Rejection{"full_output", "an operand of the root is stored too"};
    prologue.push_back(index);
  }
  if (!prologue.empty() && readsMore(prologue))
    return Rejection{"prologue_cost", "it reads more than it would store"};
  if (rootKind != PatternKind::contraction && !product &&
      coreOps.size() > roots.size() + prologue.size())
    return Rejection{"epilogue",
                     "this kind of kernel stores its root's result only"};
  return std::nullopt;
}

// Of fewer rows than these, each longer than that, those who work on a row
// would store it while others have nothing to do.
struct FewRows {
  double rows, longest;
};
static constexpr FewRows ofCores = {8, 1 << 18}, ofBlocks = {64, 1 << 17};

std::optional<Rejection> Classifier::checkParallelism() {
  if (rootKind != PatternKind::reduction ||
      kind() != StringRef(kernel_kinds::rowwise))
    return std::nullopt;
  double elements = estimatedElements(op(roots[0])->getOperand(0).getType());
  double rows = 1;
  for (AffineExpr dim : rowDims)
    rows *= estimate(dim);
  if (rowDims.empty() && elements > caps.serialElements)
    return Rejection{"parallelism", "one row would be worked on by one thread"};
  const FewRows &few = caps.columnsOfRows ? ofBlocks : ofCores;
  if (storesFull && rows < few.rows && elements > rows * few.longest)
    return Rejection{"parallelism",
                     llvm::formatv("{0:f0} long rows would be worked on by as "
                                   "many threads",
                                   rows)};
  return std::nullopt;
}

const char *Classifier::kind() const {
  switch (rootKind) {
  case PatternKind::reduction:
    if (product)
      return kernel_kinds::contraction;
    return storesFull || feedsBack ? kernel_kinds::rowwise
                                   : kernel_kinds::reduce;
  case PatternKind::contraction:
    return kernel_kinds::contraction;
  case PatternKind::scatter:
    return kernel_kinds::gatherScatter;
  case PatternKind::prefix:
    return kernel_kinds::prefix;
  case PatternKind::sort:
    return kernel_kinds::sort;
  case PatternKind::attention:
    return kernel_kinds::attention;
  case PatternKind::opaque:
    return kernel_kinds::opaque;
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

// Whether an op only makes elements wider.
static bool onlyWidens(Operation *op) {
  auto widthOf = [](Value value) {
    return byteWidth(*dtypeOf(getElementTypeOrSelf(value.getType())));
  };
  return kindOf(op) == PatternKind::pointwise && op->getNumOperands() == 1 &&
         widthOf(op->getOperand(0)) < widthOf(op->getResult(0)) &&
         operationsOf(op) <= 1;
}

// Work beyond once per element: an op that is reached by several accesses, or
// by one that walks more elements than it has.
double Classifier::recomputedWork() const {
  double total = 0;
  for (unsigned index : coreOps) {
    PatternKind kind = kindOf(op(index));
    if (isRoot(kind) || rankOf(op(index)->getResult(0)) == 0 ||
        (caps.byThreads && onlyWidens(op(index))))
      continue;
    double walked = 0;
    auto known = accesses.find(index);
    if (known != accesses.end())
      for (const Access &access : known->second)
        walked += access.count;
    Value value = op(index)->getResult(0);
    double own = estimatedElements(value.getType());
    if (walked > own)
      total += caps.machine.microsecondsOfOperations(
          (walked - own) * operationsOf(op(index)), bitsOf(value));
  }
  // Threads of a tile have few others beside them, and tensor cores wait for
  // them; elsewhere memory is waited for anyway. An estimate: on an H200, 16
  // products of a ResNet of 64 images seemed to take 380 us more for the
  // variance's root, of which the model knew 1.6 each, in times that vary by
  // half of that.
  constexpr double besideTiles = 12;
  bool isOfTiles = caps.byThreads && (rootKind == PatternKind::contraction ||
                                      rootKind == PatternKind::attention);
  return isOfTiles ? besideTiles * total : total;
}

// Whether the emitter would write the ops too often. One op has to be a kernel:
// what it repeats was settled before.
std::optional<Rejection> Classifier::checkCopies() const {
  bool isAlone =
      coreOps.size() == 1 && llvm::none_of(body, [&](unsigned index) {
        return graph.isRepeated(index);
      });
  if (isAlone)
    return std::nullopt;
  size_t inputs = graph.inputs(body).size();
  uint64_t most = mostEmissions(body, inputs, caps.copies);
  if (EmissionCounter(graph, body, outputs, most).total() <= most)
    return std::nullopt;
  return Rejection{"cap_copies",
                   llvm::formatv("over {0} elements would be written out for "
                                 "{1} ops and inputs",
                                 most, body.size() + inputs)};
}

// Caps are limits of what is done at once. What cannot be done in parts, one op
// that reads what is stored, is done, and so is code of the user's, which is
// alone in its kernel.
std::optional<Rejection> Classifier::checkCaps() const {
  if (body.size() == 1 ||
      (coreOps.size() == 1 && kindOf(op(coreOps[0])) == PatternKind::opaque))
    return std::nullopt;
  if (body.size() > caps.ops)
    return Rejection{"cap_ops", llvm::formatv("{0} ops", body.size())};
  size_t buffers = graph.inputs(body).size() + outputs.size();
  if (buffers > caps.buffers)
    return Rejection{"cap_live", llvm::formatv("{0} buffers", buffers)};
  return std::nullopt;
}

std::optional<Rejection> Classifier::checkTurned() const {
  for (unsigned index : coreOps)
    if (op(index)->hasAttr(turnedAttr) &&
        llvm::any_of(graph.consumers(index), [&](unsigned reader) {
          return llvm::is_contained(coreOps, reader);
        }))
      return Rejection{"sectors",
                       llvm::formatv("{0} is stored: it would be read across "
                                     "memory",
                                     op(index)->getName().stripDialect())};
  return std::nullopt;
}

Classified Classifier::run() {
  body = graph.body(coreOps);
  outputs = graph.outputs(coreOps);
  // What every kernel that reads it computes again.
  if (outputs.empty())
    return Rejection{"no_output", "it stores nothing"};
  if (auto rejected = checkCaps())
    return *rejected;
  if (auto rejected = checkTurned())
    return *rejected;
  // Before accesses are looked at, of which there may be as many.
  if (auto rejected = checkCopies())
    return *rejected;
  for (unsigned index : body)
    if (op(index)->hasAttr(checksAttr) && coreOps != OpSet{index})
      return Rejection{"check", "positions are checked by themselves"};
  if (auto rejected = findRoots())
    return *rejected;
  if (rootKind == PatternKind::reduction)
    findColumns();
  if (rootKind == PatternKind::reduction)
    if (auto rejected = checkRowSpace())
      return *rejected;
  if (product)
    if (auto rejected = checkStatistics())
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
  if (!columns.empty() && kind() != StringRef(kernel_kinds::rowwise))
    return Rejection{"two_roots", "reductions along different axes"};
  if (auto rejected = checkPrologue())
    return *rejected;
  if (auto rejected = checkParallelism())
    return *rejected;
  return KernelShape{kind(), recomputedWork(), !columns.empty()};
}

Classified classifyKernel(const FusionGraph &graph, const OpSet &coreOps,
                          const KernelCaps &caps) {
  return Classifier(graph, coreOps, caps).run();
}

} // namespace sinter::compiler
