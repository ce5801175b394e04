/// What views do to the parts of axes, and values written by parts.
#include "compiler/simplify/AxisParts.h"

#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;
using DimList = SmallVector<AffineExpr>;

// What is further behind a value is taken as it is.
static constexpr unsigned deepest = 24;

//===- Finding parts ------------------------------------------------------===//

static PartList wholeAxis(AffineExpr dim, bool isRepeated = false) {
  return isOne(dim) ? PartList() : PartList{{dim, isRepeated}};
}

SmallVector<PartList> wholeAxes(Value value) {
  return llvm::map_to_vector(dimsOf(value.getType()),
                             [](AffineExpr dim) { return wholeAxis(dim); });
}

// How often `divisor` goes into a constant without a rest; 0 where it does not.
static int64_t timesIn(AffineExpr divisor, AffineExpr number) {
  auto by = dyn_cast<AffineConstantExpr>(divisor);
  auto of = dyn_cast<AffineConstantExpr>(number);
  bool divides = by && of && by.getValue() > 0 && of.getValue() > 0 &&
                 of.getValue() % by.getValue() == 0;
  return divides ? of.getValue() / by.getValue() : 0;
}

std::optional<SmallVector<PartList>> regroup(ArrayRef<PartList> lists,
                                             ArrayRef<AffineExpr> dims) {
  SmallVector<AxisPart> waiting;
  for (const PartList &list : llvm::reverse(lists))
    waiting.append(list.rbegin(), list.rend());
  SmallVector<PartList> result;
  for (AffineExpr dim : dims) {
    AffineExpr size = getAffineConstantExpr(1, dim.getContext());
    PartList own;
    while (size != dim) {
      if (waiting.empty())
        return std::nullopt;
      AxisPart part = waiting.pop_back_val();
      int64_t missing = timesIn(size, dim);
      AffineExpr all = size * part.extent;
      bool isCut = missing > 0 && timesIn(dim, all) > 1;
      if (isCut) {
        int64_t rest = timesIn(dim, all);
        waiting.push_back(
            {getAffineConstantExpr(rest, dim.getContext()), part.isRepeated});
        part.extent = getAffineConstantExpr(missing, dim.getContext());
      } else if (isa<AffineConstantExpr>(dim) && timesIn(all, dim) == 0) {
        return std::nullopt;
      }
      own.push_back(part);
      size = size * part.extent;
    }
    result.push_back(std::move(own));
  }
  return waiting.empty() ? std::optional(std::move(result)) : std::nullopt;
}

static bool sameExtents(const PartList &a, const PartList &b) {
  return llvm::equal(a, b, [](const AxisPart &one, const AxisPart &other) {
    return one.extent == other.extent;
  });
}

// Of an axis of several values that are read at the same places: parts that
// repeat in all of them, cut as in one of them. An axis that is whole may be
// cut in any way.
static PartList commonParts(const PartList &a, const PartList &b) {
  const PartList &cut = a.size() > b.size() ? a : b;
  const PartList &other = a.size() > b.size() ? b : a;
  if (other.size() != 1 && !sameExtents(cut, other)) {
    AffineExpr whole = cut[0].extent;
    for (const AxisPart &part : ArrayRef(cut).drop_front())
      whole = whole * part.extent;
    return {{whole, false}};
  }
  PartList common = cut;
  for (auto [number, part] : llvm::enumerate(common))
    part.isRepeated &= other[other.size() == 1 ? 0 : number].isRepeated;
  return common;
}

std::optional<SmallVector<PartList>> AxisParts::ofJoin(Operation *op,
                                                       unsigned depth) {
  unsigned axis = *ir::viewMapOf(op)->joins();
  Lists lists = find(op->getOperand(0), depth);
  for (Value operand : op->getOperands().drop_front()) {
    const Lists &others = find(operand, depth);
    for (auto [number, list] : llvm::enumerate(lists))
      if (number != axis)
        list = commonParts(list, others[number]);
  }
  lists[axis] = wholeAxis(dimsOf(op->getResult(0).getType())[axis]);
  return lists;
}

// Null for a view whose axes are taken as they are.
std::optional<SmallVector<PartList>> AxisParts::behind(Operation *op,
                                                       unsigned depth) {
  auto map = ir::viewMapOf(op);
  if (!map)
    return std::nullopt;
  if (map->joins())
    return ofJoin(op, depth);
  const ir::ViewPart &part = map->part();
  if (map->keepsLinearOrder)
    return regroup(find(part.operand, depth), map->shape);
  if (!map->isStrided() || map->takesWindows())
    return std::nullopt;
  const Lists &from = find(part.operand, depth);
  Lists lists;
  for (auto [number, dim] : llvm::enumerate(map->shape)) {
    auto place = part.along(unsigned(number));
    bool isWhole = place && part.axes[place->axis].extent == dim;
    lists.push_back(isWhole ? from[place->axis] : wholeAxis(dim, !place));
  }
  return lists;
}

SmallVector<PartList> AxisParts::ofPointwise(Operation *op, unsigned depth) {
  Lists lists = find(op->getOperand(0), depth);
  for (Value operand : op->getOperands().drop_front())
    for (auto [list, other] : llvm::zip(lists, find(operand, depth)))
      list = commonParts(list, other);
  return lists;
}

SmallVector<PartList> AxisParts::compute(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  auto isEmpty = [](AffineExpr dim) {
    auto constant = dyn_cast<AffineConstantExpr>(dim);
    return constant && constant.getValue() == 0;
  };
  if (!op || depth >= deepest || !isa<ir::SinterOpInterface>(op) ||
      llvm::any_of(dimsOf(value.getType()), isEmpty))
    return wholeAxes(value);
  if (isa<ir::FullOp>(op))
    return llvm::map_to_vector(dimsOf(value.getType()), [](AffineExpr dim) {
      return wholeAxis(dim, true);
    });
  if (kindOf(op) == PatternKind::pointwise)
    return ofPointwise(op, depth + 1);
  if (kindOf(op) == PatternKind::view)
    if (auto lists = behind(op, depth + 1))
      return std::move(*lists);
  return wholeAxes(value);
}

const SmallVector<PartList> &AxisParts::find(Value value, unsigned depth) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Lists lists = compute(value, depth);
  return known.insert_or_assign(value, std::move(lists)).first->second;
}

bool AxisParts::isMixed(Value value, unsigned axis) {
  auto repeats = [](const AxisPart &part) { return part.isRepeated; };
  const PartList &list = of(value)[axis];
  return llvm::any_of(list, repeats) && !llvm::all_of(list, repeats);
}

//===- Writing values by parts --------------------------------------------===//

static DimList flat(const PartBuilder::Cuts &cuts) {
  DimList dims;
  for (const auto &cut : cuts)
    llvm::append_range(dims, cut);
  return dims;
}

RankedTensorType PartBuilder::typeLike(Value value,
                                       ArrayRef<AffineExpr> dims) const {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return tensorType(element, dims, symbols);
}

Value PartBuilder::reshape(Value value, ArrayRef<AffineExpr> dims) {
  if (ArrayRef(dimsOf(value.getType())) == dims)
    return value;
  return ir::ReshapeOp::create(builder, value.getLoc(), typeLike(value, dims),
                               value,
                               shapeAttr(value.getContext(), dims, symbols));
}

Value PartBuilder::broadcast(Value value, ArrayRef<AffineExpr> dims) {
  if (ArrayRef(dimsOf(value.getType())) == dims)
    return value;
  return ir::BroadcastOp::create(builder, value.getLoc(), typeLike(value, dims),
                                 value,
                                 shapeAttr(value.getContext(), dims, symbols));
}

Value PartBuilder::transpose(Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  DimList from = dimsOf(value.getType());
  DimList dims =
      llvm::map_to_vector(order, [&](int64_t axis) { return from[axis]; });
  return ir::TransposeOp::create(builder, value.getLoc(), typeLike(value, dims),
                                 value, builder.getDenseI64ArrayAttr(order));
}

// Axes that are read only at their one step get the value's, others one of 1.
std::optional<PartBuilder::Apart>
PartBuilder::buildBroadcast(Operation *op, const Cuts &cuts) {
  Value x = op->getOperand(0);
  DimList inner = dimsOf(x.getType()),
          dims = dimsOf(op->getResult(0).getType());
  size_t added = dims.size() - inner.size();
  Cuts behind(inner.size());
  SmallVector<bool> isOwn;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    bool isHere = axis >= added && inner[axis - added] == dim;
    isOwn.append(cuts[axis].size(), isHere);
    if (isHere)
      behind[axis - added] = cuts[axis];
  }
  Apart found = build(x, behind);
  Apart result;
  DimList from = dimsOf(found.value.getType()), wide;
  size_t next = 0;
  for (bool isHere : isOwn) {
    result.isRepeated.push_back(!isHere || found.isRepeated[next]);
    wide.push_back(isHere ? from[next] : builder.getAffineConstantExpr(1));
    next += isHere;
  }
  result.value = reshape(found.value, wide);
  return result;
}

std::optional<PartBuilder::Apart> PartBuilder::buildReshape(Operation *op,
                                                            const Cuts &cuts) {
  Value x = op->getOperand(0);
  SmallVector<PartList> lists;
  for (const auto &cut : cuts) {
    PartList list;
    for (AffineExpr extent : cut)
      list.push_back({extent, false});
    lists.push_back(std::move(list));
  }
  DimList dims = dimsOf(x.getType());
  auto behind = regroup(lists, dims);
  if (!behind)
    return std::nullopt;
  Cuts inner;
  size_t count = 0;
  for (const PartList &list : *behind) {
    count += list.size();
    inner.push_back({});
    for (const AxisPart &part : list)
      inner.back().push_back(part.extent);
  }
  // Where an axis of x ends within a part, x has more of them.
  if (count != flat(cuts).size())
    return std::nullopt;
  return build(x, inner);
}

std::optional<PartBuilder::Apart>
PartBuilder::buildTranspose(Operation *op, const Cuts &cuts) {
  auto [operand, permutation] = *ir::permutedOperand(op->getResult(0));
  Cuts behind(cuts.size());
  for (auto [axis, from] : llvm::enumerate(permutation))
    behind[from] = cuts[axis];
  SmallVector<int64_t> begin;
  int64_t count = 0;
  for (const auto &cut : behind) {
    begin.push_back(count);
    count += int64_t(cut.size());
  }
  SmallVector<int64_t> order;
  for (int64_t from : permutation)
    for (size_t part = 0; part < behind[from].size(); ++part)
      order.push_back(begin[from] + int64_t(part));
  Apart found = build(operand, behind);
  Apart result;
  result.value = transpose(found.value, order);
  for (int64_t axis : order)
    result.isRepeated.push_back(found.isRepeated[axis]);
  return result;
}

// Axes that are cut stay as they are.
std::optional<PartBuilder::Apart> PartBuilder::buildSlice(Operation *op,
                                                          const Cuts &cuts) {
  auto slice = cast<ir::SliceOp>(op);
  DimList inner = dimsOf(slice.getX().getType());
  DimList dims = dimsOf(slice.getType());
  Cuts behind(cuts);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (inner[axis] == dims[axis])
      continue;
    if (cuts[axis].size() != 1)
      return std::nullopt;
    behind[axis] = {inner[axis]};
  }
  Apart found = build(slice.getX(), behind);
  DimList limits, own = dimsOf(found.value.getType());
  SmallVector<int64_t> starts, steps;
  size_t next = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    for (size_t part = 0; part < cuts[axis].size(); ++part, ++next) {
      bool isCut = inner[axis] != dims[axis] && !found.isRepeated[next];
      limits.push_back(isCut ? slice.getLimits().getResult(axis) : own[next]);
      starts.push_back(isCut ? slice.getStarts()[axis] : 0);
      steps.push_back(isCut ? slice.getSteps()[axis] : 1);
      if (isCut)
        own[next] = dims[axis];
    }
  found.value =
      ir::SliceOp::create(builder, op->getLoc(), typeLike(found.value, own),
                          found.value, builder.getDenseI64ArrayAttr(starts),
                          shapeAttr(op->getContext(), limits, symbols),
                          builder.getDenseI64ArrayAttr(steps));
  return found;
}

SmallVector<AffineExpr>
PartBuilder::spreadDims(ArrayRef<AffineExpr> extents,
                        ArrayRef<bool> isRepeated) const {
  DimList dims(extents);
  for (auto [dim, flag] : llvm::zip(dims, isRepeated))
    if (flag)
      dim = builder.getAffineConstantExpr(1);
  return dims;
}

std::optional<PartBuilder::Apart> PartBuilder::buildJoin(Operation *op,
                                                         const Cuts &cuts) {
  unsigned axis = *ir::viewMapOf(op)->joins();
  if (cuts[axis].size() != 1)
    return std::nullopt;
  size_t position = 0;
  for (unsigned before = 0; before < axis; ++before)
    position += cuts[before].size();
  // Each stays as long as it is along the axis.
  SmallVector<Apart> all;
  DimList extents = flat(cuts);
  SmallVector<bool> isRepeated(extents.size(), true);
  for (Value operand : op->getOperands()) {
    Cuts own(cuts);
    own[axis] = {dimsOf(operand.getType())[axis]};
    all.push_back(build(operand, own));
    for (auto [flag, other] : llvm::zip(isRepeated, all.back().isRepeated))
      flag &= other;
  }
  isRepeated[position] = false;
  DimList dims = spreadDims(extents, isRepeated);
  SmallVector<Value> operands;
  for (auto [operand, each] : llvm::zip(op->getOperands(), all)) {
    DimList own(dims);
    own[position] = dimsOf(operand.getType())[axis];
    operands.push_back(broadcast(each.value, own));
  }
  Value joined = ir::ConcatOp::create(
      builder, op->getLoc(), typeLike(operands[0], dims), operands,
      builder.getI64IntegerAttr(int64_t(position)));
  return Apart{joined, isRepeated};
}

PartBuilder::Apart PartBuilder::buildPointwise(Operation *op,
                                               const Cuts &cuts) {
  SmallVector<Apart> all;
  for (Value operand : op->getOperands())
    all.push_back(build(operand, cuts));
  // What repeats in all of them.
  DimList extents = flat(cuts);
  SmallVector<bool> isRepeated(extents.size(), true);
  for (const Apart &each : all)
    for (auto [flag, other] : llvm::zip(isRepeated, each.isRepeated))
      flag &= other;
  DimList dims = spreadDims(extents, isRepeated);
  OperationState state(op->getLoc(), op->getName());
  for (const Apart &each : all)
    state.addOperands(broadcast(each.value, dims));
  state.addAttributes(op->getAttrs());
  state.addTypes(typeLike(op->getResult(0), dims));
  return {builder.create(state)->getResult(0), isRepeated};
}

std::optional<PartBuilder::Apart>
PartBuilder::buildView(Operation *op, const Cuts &cuts, bool hasRepeats) {
  auto map = ir::viewMapOf(op);
  if (!map)
    return std::nullopt;
  if (map->repeats())
    return buildBroadcast(op, cuts);
  if (map->keepsLinearOrder)
    return buildReshape(op, cuts);
  if (map->permutation())
    return buildTranspose(op, cuts);
  if (hasRepeats && map->selects())
    return buildSlice(op, cuts);
  if (hasRepeats && map->joins())
    return buildJoin(op, cuts);
  return std::nullopt;
}

// What several ways lead to is written once.
PartBuilder::Apart PartBuilder::build(Value value, const Cuts &cuts) {
  for (auto &[known, apart] : made[value])
    if (known == cuts)
      return apart;
  ++depth;
  Apart apart = write(value, cuts);
  --depth;
  made[value].push_back({cuts, apart});
  return apart;
}

PartBuilder::Apart PartBuilder::write(Value value, const Cuts &cuts) {
  DimList extents = flat(cuts);
  Operation *op = value.getDefiningOp();
  auto repeats = [](const PartList &list) {
    return llvm::any_of(list,
                        [](const AxisPart &part) { return part.isRepeated; });
  };
  // What repeats nothing has its elements as they are, cut or not; but a view
  // that joined axes is undone.
  bool isNear = op && depth <= deepest;
  bool hasRepeats = isNear && llvm::any_of(parts.of(value), repeats);
  if (auto full = hasRepeats ? dyn_cast<ir::FullOp>(op) : ir::FullOp()) {
    DimList ones(extents.size(), builder.getAffineConstantExpr(1));
    Type type = typeLike(value, ones);
    Value number =
        ir::FullOp::create(builder, value.getLoc(), type,
                           shapeAttr(value.getContext(), ones, symbols),
                           full.getValueAttr(), full.getDtypeAttr());
    return {number, SmallVector<bool>(extents.size(), true)};
  }
  if (isNear && kindOf(op) == PatternKind::view)
    if (auto viewed = buildView(op, cuts, hasRepeats))
      return *viewed;
  if (hasRepeats && kindOf(op) == PatternKind::pointwise)
    return buildPointwise(op, cuts);
  return {reshape(value, extents), SmallVector<bool>(extents.size(), false)};
}

} // namespace sinter::compiler
