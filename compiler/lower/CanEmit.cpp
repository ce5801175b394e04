/// Which kernels can be emitted: a look at the structure.
#include "compiler/analysis/Limits.h"
#include "compiler/lower/contraction/ColumnStatistics.h"
#include "compiler/lower/contraction/RowStatistics.h"
#include "compiler/lower/element/Index.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

using namespace mlir;

namespace sinter::compiler {

static bool refuse(std::string *why, const llvm::Twine &text) {
  if (why)
    *why = text.str();
  return false;
}

// Whether `value` is stored and used for nothing else.
static bool isOnlyStored(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<program::YieldOp>(user);
  });
}

bool sortTogether(Operation *a, Operation *b) {
  auto isSort = [](Operation *op) {
    auto described = dyn_cast<ir::SinterOpInterface>(op);
    return described && described.getPatternKind() == graph::PatternKind::sort;
  };
  return isSort(a) && isSort(b) && a->getOperands() == b->getOperands() &&
         a->getAttrDictionary() == b->getAttrDictionary();
}

// Whether the rows of attention's tensors have constant lengths that fit in a
// kernel's frame.
static bool hasFixedLengths(Operation *op) {
  Value mask = cast<ir::AttentionOpInterface>(op).getMask();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (operand == mask)
      return true;
    int64_t length = constantOf(shapeOf(operand).back());
    return length >= 0 && length <= longestAttentionRow;
  });
}

// Whether a kernel has this op only, aside from reshapes of its inputs.
static bool isAlone(Operation *op) {
  return isOnlyStored(op->getResult(0)) &&
         llvm::all_of(*op->getBlock(), [&](Operation &other) {
           return &other == op || isa<program::YieldOp>(other) ||
                  ir::keepsLinearOrder(&other);
         });
}

bool canEmit(program::KernelOp kernel, std::string *why) {
  using graph::PatternKind;
  unsigned contractions = 0, owners = 0, reductions = 0, parts = 0;
  Value product;
  Operation *sort = nullptr;
  for (Operation &op : kernel.getBlock()) {
    if (isa<program::YieldOp>(op))
      continue;
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (!described)
      return refuse(why, op.getName().getStringRef() + " is not a tensor op");
    switch (described.getPatternKind()) {
    case PatternKind::pointwise:
    case PatternKind::view:
    case PatternKind::source:
    case PatternKind::random:
    case PatternKind::gather:
      break;
    case PatternKind::reduction:
      ++reductions;
      break;
    case PatternKind::contraction:
      ++contractions;
      product = op.getResult(0);
      break;
    case PatternKind::attention:
      ++parts;
      if (!isOnlyStored(op.getResult(0)))
        return refuse(why,
                      op.getName().getStringRef() + "'s result must be stored");
      if (!hasFixedLengths(&op))
        return refuse(why, op.getName().getStringRef() +
                               " takes rows of a fixed length of at most " +
                               llvm::Twine(longestAttentionRow));
      break;
    case PatternKind::sort:
      if (!isOnlyStored(op.getResult(0)))
        return refuse(why,
                      op.getName().getStringRef() + "'s result must be stored");
      if (sort && !sortTogether(sort, &op))
        return refuse(why, "two sorts that differ");
      sort = &op;
      break;
    case PatternKind::opaque:
      return isAlone(&op) || refuse(why, op.getName().getStringRef() +
                                             " takes and gives buffers");
    case PatternKind::scatter:
    case PatternKind::prefix:
      ++owners;
      if (!isOnlyStored(op.getResult(0)))
        return refuse(why,
                      op.getName().getStringRef() + "'s result must be stored");
      break;
    default:
      return refuse(why, op.getName().getStringRef() +
                             " has no emitter; expand it first");
    }
  }
  if (sort && (owners || contractions || parts || reductions))
    return refuse(why, "a sort beside another root");
  if (owners > 1 || contractions > 1 || (owners && contractions))
    return refuse(why, "more than one contraction, scatter or prefix");
  if (parts && (owners || contractions || reductions))
    return refuse(why, "attention beside another root");
  if (reductions && owners)
    return refuse(why, "a reduction beside a scatter or prefix");
  if (reductions && contractions) {
    bool fits = hasRowStatistics(kernel) ? keepsRowsFor(product, kernel, why)
                                         : takesColumnsOf(product, kernel, why);
    if (!fits)
      return false;
  }
  if (owners && kernel.getOutputs().size() > 1)
    return refuse(why, "a scatter or prefix kernel has one output");
  return true;
}

} // namespace sinter::compiler
