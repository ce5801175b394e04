/// One value after the other, in the order of the program.
#include "compiler/fuse/RepeatValues.h"
#include "compiler/analysis/Access.h"
#include "compiler/analysis/ElementCost.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// Of a core's traffic: much is read from caches. What streams reaches so much
// of a GPU's peak.
static constexpr double fromMemory = 0.25, ofPeak = 0.85;

namespace {

/// A value's way back to what is in memory.
struct Origin {
  llvm::SmallSetVector<Value, 4> values;
  /// What is computed again with it, that only its own kernel knows.
  llvm::SmallSetVector<unsigned, 4> between;
  llvm::SmallDenseSet<unsigned> numbers; ///< single ones that were looked at
  double cost = 0;                       ///< operations per element
  double stored = 0; ///< bytes of values that are written in its place
};

class Repeater {
public:
  Repeater(FusionGraph &graph, const FuseOptions &options,
           std::vector<FusionDecision> &decisions)
      : graph(graph), changed(graph), options(options), decisions(decisions) {}

  void run() {
    for (unsigned index = 0; index < graph.size(); ++index)
      consider(index);
  }

private:
  void consider(unsigned index);
  bool isRepeatable(unsigned index) const;
  /// Whether a user walks as many elements as the value has, or makes no more
  /// of them than a load.
  bool isWalkedBy(unsigned index, unsigned user) const;
  /// The other groups that read the value.
  llvm::SmallSetVector<unsigned, 4> readersOf(unsigned index) const;
  bool isKept(unsigned index) const {
    return graph.isReturned(index) || !readersOf(index).empty();
  }
  /// Values that are narrower than `width` may be written in its place.
  bool trace(Operation *op, AffineExpr elements, unsigned width,
             Origin &origin) const;
  bool repeat(unsigned index, unsigned width);
  double savedBytes(unsigned index, const Origin &origin,
                    ArrayRef<unsigned> readers) const;
  bool stillFits(unsigned reader) const;
  bool stillStands(unsigned index) const;
  void record(unsigned index, size_t readers, double bytes);

  FusionGraph &graph;
  FusionGraph changed; ///< the same, and for a moment what is being tried
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
};

} // namespace

static unsigned widthOf(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return byteWidth(*dtypeOf(element));
}

// Whether a product takes the value as the bytes that it is made of.
static bool standsForBytes(Value value) {
  auto less = lessNumber(value);
  return isa<IntegerType>(elementOf(value)) &&
         bool(narrowPart(less ? less->codes : value));
}

bool Repeater::isWalkedBy(unsigned index, unsigned user) const {
  Operation *op = graph.op(user);
  PatternKind kind = kindOf(op);
  if (kind == PatternKind::contraction)
    return standsForBytes(graph.op(index)->getResult(0));
  if (kind != PatternKind::pointwise && kind != PatternKind::reduction)
    return false;
  Value walked =
      kind == PatternKind::reduction ? op->getOperand(0) : op->getResult(0);
  return elementCount(walked.getType()) ==
         elementCount(graph.op(index)->getResult(0).getType());
}

bool Repeater::isRepeatable(unsigned index) const {
  return graph.isCore(index) && !graph.isReturned(index) &&
         kindOf(graph.op(index)) == PatternKind::pointwise && isKept(index) &&
         llvm::all_of(graph.consumers(index), [&](unsigned user) {
           return graph.groupOf(user) == graph.groupOf(index) ||
                  isWalkedBy(index, user);
         });
}

llvm::SmallSetVector<unsigned, 4> Repeater::readersOf(unsigned index) const {
  llvm::SmallSetVector<unsigned, 4> readers;
  for (unsigned user : graph.consumers(index))
    if (graph.groupOf(user) != graph.groupOf(index))
      readers.insert(graph.groupOf(user));
  return readers;
}

// Finds what `op`, which is part of computing so many elements, is made of.
bool Repeater::trace(Operation *op, AffineExpr elements, unsigned width,
                     Origin &origin) const {
  for (Value operand : op->getOperands()) {
    int source = graph.indexOf(operand);
    bool isMade =
        source >= 0 && (!graph.isCore(source) || graph.isRepeated(source));
    // A number that is spread over many elements is kept in their place.
    bool isKnown = source < 0 || isKept(source) ||
                   elementCount(operand.getType()) != elements;
    if (!isMade && isKnown) {
      origin.values.insert(operand);
      continue;
    }
    if (!isMade && widthOf(operand) < width) {
      if (origin.values.insert(operand))
        origin.stored += widthOf(operand);
      continue;
    }
    Operation *made = graph.op(source);
    PatternKind kind = kindOf(made);
    if (!isMade && kind != PatternKind::pointwise)
      return false;
    if (!isMade && !origin.between.insert(source))
      continue;
    if (rankOf(operand) == 0 && !origin.numbers.insert(source).second)
      continue;
    if (kind == PatternKind::view && !isReshape(made) && !isBroadcast(made))
      return false;
    if (kind == PatternKind::pointwise && rankOf(operand) != 0)
      origin.cost += operationsOf(made);
    if (!trace(made, elements, width, origin))
      return false;
  }
  return true;
}

// Per element of the value: its write and reads, less the reads of what it is
// made of where a reader does not do that anyway.
double Repeater::savedBytes(unsigned index, const Origin &origin,
                            ArrayRef<unsigned> readers) const {
  Value value = graph.op(index)->getResult(0);
  AffineExpr elements = elementCount(value.getType());
  double saved = widthOf(value) * double(1 + readers.size()) - origin.stored;
  for (unsigned reader : readers) {
    auto inputs = graph.inputs(graph.body(graph.members(reader)));
    for (Value from : origin.values)
      if (elementCount(from.getType()) == elements &&
          !llvm::is_contained(inputs, from))
        saved -= widthOf(from);
  }
  return saved;
}

bool Repeater::stillFits(unsigned reader) const {
  Classified before =
      classifyKernel(graph, graph.members(reader), options.caps);
  Classified after =
      classifyKernel(changed, changed.members(reader), options.caps);
  auto *old = std::get_if<KernelShape>(&before);
  auto *made = std::get_if<KernelShape>(&after);
  return old && made && StringRef(old->kind) == made->kind &&
         made->recomputed <= old->recomputed;
}

// Whether the value's own kernel can do without storing it.
bool Repeater::stillStands(unsigned index) const {
  const OpSet &members = changed.members(changed.groupOf(index));
  return members.empty() ||
         std::holds_alternative<KernelShape>(
             classifyKernel(changed, members, options.caps)) ||
         std::holds_alternative<Rejection>(classifyKernel(
             graph, graph.members(graph.groupOf(index)), options.caps));
}

void Repeater::record(unsigned index, size_t readers, double bytes) {
  Operation *op = graph.op(index);
  FusionDecision decision;
  decision.accepted = true;
  decision.rule = "repeat";
  decision.bytes =
      int64_t(bytes * estimatedElements(op->getResult(0).getType()));
  auto nodes = nodesOf(op->getLoc());
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv("{0} computed again by {1} kernels, not kept",
                                  op->getName().stripDialect(), readers);
  decisions.push_back(std::move(decision));
}

// In the order of the program: what a value reads comes before it.
static void repeatIn(FusionGraph &graph, unsigned index, const Origin &origin) {
  SmallVector<unsigned> between(origin.between.getArrayRef());
  llvm::sort(between);
  for (unsigned each : between)
    graph.repeat(each);
  graph.repeat(index);
}

// Of what is in memory anyway, or else of something narrower that its kernel
// has: a sum in 16 bits that readers take as f32.
void Repeater::consider(unsigned index) {
  if (isRepeatable(index) && !repeat(index, 0))
    repeat(index, widthOf(graph.op(index)->getResult(0)));
}

bool Repeater::repeat(unsigned index, unsigned width) {
  Operation *op = graph.op(index);
  Origin origin;
  origin.cost = operationsOf(op);
  if (!trace(op, elementCount(op->getResult(0).getType()), width, origin))
    return false;
  // Without anything narrower it is what was tried before.
  if (width != 0 && origin.stored == 0)
    return false;
  auto readers = readersOf(index);
  double saved = savedBytes(index, origin, readers.getArrayRef());
  const KernelCaps &caps = options.caps;
  saved *= caps.byThreads ? 1 / ofPeak : fromMemory;
  if (caps.machine.microsecondsOfBytes(saved) <
      caps.machine.microsecondsOfOperations(
          origin.cost * double(readers.size()), bitsOf(op->getResult(0))))
    return false;
  repeatIn(changed, index, origin);
  if (!stillStands(index) || !llvm::all_of(readers, [&](unsigned reader) {
        return stillFits(reader);
      })) {
    changed = graph;
    return false;
  }
  record(index, readers.size(), saved);
  repeatIn(graph, index, origin);
  return true;
}

void repeatValues(FusionGraph &graph, const FuseOptions &options,
                  std::vector<FusionDecision> &decisions) {
  Repeater(graph, options, decisions).run();
}

} // namespace sinter::compiler
