/// Row staging: which values, and the sources that store and load them.
#include "compiler/lower/reduce/RowStaging.h"

#include "compiler/analysis/ElementCost.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Bytes of all staged values: a part of the second-level cache.
static constexpr int64_t mostBytes = 128 * 1024;
// Operations that computing an element again may take: a store and a load are
// not free. One read at a position that was read before takes more.
static constexpr double cheapest = 6, readAgain = 32;

static graph::PatternKind kindOf(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind();
}

static bool isReduction(Operation *op) {
  return kindOf(op) == graph::PatternKind::reduction;
}

// ---- which values
// ------------------------------------------------------------

RowStaging::RowStaging(program::KernelOp kernel, Operation *row,
                       unsigned tailRank, int64_t frameBytes)
    : kernel(kernel), shape(shapeOf(row->getOperand(0))), tailRank(tailRank) {
  ReductionAxes axes = reductionAxes(row);
  for (Operation &op : kernel.getBlock()) {
    if (isa<program::YieldOp>(op) || !isReduction(&op))
      continue;
    if (shapeOf(op.getOperand(0)) != shape ||
        reductionAxes(&op).axes != axes.axes || !reducesTrailing(&op))
      return;
  }
  findReaders();
  Seen seen;
  SmallVector<Value> roots;
  for (Value output : kernel.getOutputs())
    if (isAlongRow(output))
      roots.push_back(output);
    else
      order(output, seen);
  addPass(nullptr, roots);
  int64_t bytes = 0;
  for (const Staged &one : staged)
    bytes += (memoryType(elementOf(one.value)).getIntOrFloatBitWidth() + 7) / 8;
  int64_t most = frameBytes < mostBytes ? frameBytes / 4 : mostBytes;
  if (bytes)
    longestRow = most / bytes / canonicalLanes * canonicalLanes;
}

bool RowStaging::isAlongRow(Value value) const {
  return shapeOf(value) == shape;
}

void RowStaging::findReaders() {
  for (Operation &op : kernel.getBlock()) {
    if (isa<program::YieldOp>(op))
      continue;
    bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return afterReduction.contains(operand);
    });
    if (follows || isReduction(&op))
      afterReduction.insert(op.getResult(0));
  }
}

// Adds the passes of reductions below a number of the row.
void RowStaging::order(Value number, Seen &seen) {
  Operation *op = number.getDefiningOp();
  if (!op || !afterReduction.contains(number) || !seen.insert(number).second)
    return;
  if (isReduction(op))
    return addPass(op, op->getOperand(0));
  for (Value operand : op->getOperands())
    order(operand, seen);
}

void RowStaging::addPass(Operation *reduction, ArrayRef<Value> roots) {
  for (const Pass &pass : passes)
    if (pass.reduction == reduction)
      return;
  Pass pass;
  pass.reduction = reduction;
  Seen seen, known;
  for (Value root : roots)
    findNumbers(root, pass, seen);
  for (Value number : pass.numbers)
    order(number, known);
  passes.push_back(pass);
  Seen walked;
  for (Value root : roots)
    stage(root, passes.size() - 1, walked);
}

// Views that spread a row's number over the row.
void RowStaging::findNumbers(Value value, Pass &pass, Seen &seen) const {
  Operation *op = value.getDefiningOp();
  if (!op || !afterReduction.contains(value) || !seen.insert(value).second)
    return;
  if (ir::repeatsElements(op))
    pass.numbers.push_back(value);
  else if (isa<ir::PointwiseOpInterface>(op))
    for (Value operand : op->getOperands())
      findNumbers(operand, pass, seen);
}

// Stages what an earlier pass computes, where computing it again costs more.
void RowStaging::stage(Value value, unsigned pass, Seen &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !isAlongRow(value) || !seen.insert(value).second)
    return;
  bool isRandom = kindOf(op) == graph::PatternKind::random;
  if (!isRandom && !isa<ir::PointwiseOpInterface>(op))
    return;
  auto [first, isNew] = firstPass.try_emplace(value, pass);
  if (!isNew && first->second != pass) {
    if (llvm::any_of(staged,
                     [&](const Staged &one) { return one.value == value; }))
      return;
    Seen counted;
    if (cost(value, counted) > cheapest) {
      Staged one;
      one.value = value;
      one.producer = passes[first->second].reduction;
      staged.push_back(one);
      return;
    }
  }
  for (Value operand : op->getOperands())
    stage(operand, pass, seen);
}

// Of computing an element from what is read or known in a row.
double RowStaging::cost(Value value, Seen &seen) const {
  Operation *op = value.getDefiningOp();
  // Rows of a product stand in the frame as it is.
  if (!op || !seen.insert(value).second ||
      kindOf(op) == graph::PatternKind::contraction)
    return 0;
  double total = operationsOf(op);
  if (kindOf(op) == graph::PatternKind::gather)
    total = readAgain;
  if (ir::repeatsElements(op))
    return 0;
  if (!isAlongRow(value) || isReduction(op))
    return total;
  for (Value operand : op->getOperands())
    total += cost(operand, seen);
  return total;
}

// ---- the sources
// -------------------------------------------------------------

// The staged value, computed and stored or loaded.
class StagedSource final : public ElementSource {
public:
  StagedSource(RowStaging &staging, unsigned number,
               std::unique_ptr<ElementSource> computed)
      : ElementSource(computed->tensor), staging(staging), number(number),
        computed(std::move(computed)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    RowStaging::Staged &one = staging.staged[number];
    if (!staging.isRowIndex(index))
      return computed->at(emission, index, lanes);
    if (one.isStored)
      return load(emission, one.buffer, index.tail.base, lanes.count);
    Element element = computed->at(emission, index, lanes);
    bool isProducing = !staging.running.empty() &&
                       staging.running.back() == one.producer &&
                       lanes.count > 1;
    // What is known before its pass is not asked for again there, and so not
    // stored.
    if (!isProducing)
      one.isKnownEarlier = true;
    if (one.isKnownEarlier)
      return element;
    // Lanes beyond the row's end fall into the array's rest.
    Value value = emission.spread(element, lanes.count);
    value = toMemory(emission, value, elementOf(tensor));
    vector::StoreOp::create(emission.builder, emission.loc, value, one.buffer,
                            index.tail.base);
    one.hasStore = true;
    return element;
  }

private:
  Element load(Emission &emission, Value buffer, Value at, unsigned count) {
    OpBuilder &builder = emission.builder;
    Type element = elementOf(tensor);
    Value value;
    if (count == 1)
      value = memref::LoadOp::create(builder, emission.loc, buffer, at);
    else
      value = vector::LoadOp::create(
          builder, emission.loc,
          emission.vectorType(memoryType(element), count), buffer, at);
    return Element{fromMemory(emission, value, element)};
  }

  RowStaging &staging;
  unsigned number;
  std::unique_ptr<ElementSource> computed;
};

// A reduction: what its pass needs is computed ahead of it.
class PassSource final : public ElementSource {
public:
  PassSource(RowStaging &staging, std::unique_ptr<ElementSource> reduction)
      : ElementSource(reduction->tensor), staging(staging),
        reduction(std::move(reduction)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Element element;
    staging.run(emission, tensor.getDefiningOp(),
                [&] { element = reduction->at(emission, index, lanes); });
    return element;
  }

private:
  RowStaging &staging;
  std::unique_ptr<ElementSource> reduction;
};

bool RowStaging::isRowIndex(const Index &index) const {
  if (index.tailRank != tailRank || index.lead.size() != rowLead.size() ||
      index.tail.each || (index.tail.step != 1 && index.tail.step != 0))
    return false;
  return llvm::all_of(llvm::zip(index.lead, rowLead), [](auto pair) {
    auto [a, b] = pair;
    return a.isUniform() && b.isUniform() && a.base == b.base;
  });
}

// Where views spread a row's number.
Index RowStaging::numberIndex(Emission &emission, ArrayRef<Coord> lead) const {
  Index index;
  index.lead.assign(lead.begin(), lead.end());
  index.tail = emission.uniform(emission.constant(0));
  index.tailRank = tailRank;
  return index;
}

void RowStaging::computeTogether(Emission &emission,
                                 ArrayRef<SmallVector<Coord>> leads) const {
  for (const Pass &pass : passes)
    for (Value number : pass.numbers)
      for (const SmallVector<Coord> &lead : leads)
        emission.at(number, numberIndex(emission, lead), Lanes{});
}

void RowStaging::run(Emission &emission, Operation *reduction,
                     llvm::function_ref<void()> emit) {
  const Pass *pass = llvm::find_if(
      passes, [&](const Pass &one) { return one.reduction == reduction; });
  if (pass == passes.end())
    return emit();
  Index index = numberIndex(emission, rowLead);
  for (Value number : pass->numbers)
    emission.at(number, index, Lanes{});
  running.push_back(reduction);
  emit();
  running.pop_back();
  for (Staged &one : staged)
    one.isStored |=
        one.hasStore && !one.isKnownEarlier && one.producer == reduction;
}

void RowStaging::prepare(Emission &emission) {
  run(emission, nullptr, [] {});
}

void RowStaging::begin(Emission &emission, ArrayRef<Coord> lead) {
  rowLead.assign(lead.begin(), lead.end());
  unsigned rank = shape.size();
  MLIRContext *context = kernel->getContext();
  int64_t length = constantOf(product(shape, rank - tailRank, rank, context));
  int64_t room =
      llvm::alignTo(length < 0 ? longestRow : length, canonicalLanes);
  for (auto [number, one] : llvm::enumerate(staged)) {
    auto type = MemRefType::get({room}, memoryType(elementOf(one.value)));
    one.buffer = emission.frameBuffer(one.value.getAsOpaquePointer(), type);
    one.hasStore = one.isStored = one.isKnownEarlier = false;
    emission.setSource(one.value,
                       std::make_unique<StagedSource>(
                           *this, number, makeSource(emission, one.value)));
  }
  for (const Pass &pass : passes)
    if (pass.reduction) {
      Value result = pass.reduction->getResult(0);
      emission.setSource(result, std::make_unique<PassSource>(
                                     *this, makeSource(emission, result)));
    }
}

void RowStaging::end(Emission &emission) {
  for (const Staged &one : staged)
    emission.setSource(one.value, makeSource(emission, one.value));
  for (const Pass &pass : passes)
    if (pass.reduction)
      emission.setSource(pass.reduction->getResult(0),
                         makeSource(emission, pass.reduction->getResult(0)));
}

} // namespace sinter::compiler
