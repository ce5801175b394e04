/// The rules by which ops take other orders of axes.
#include "dialects/sinter/Reorder.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::ir {

using llvm::SmallVector; // not the runtime's
using Order = ArrayRef<int64_t>;

//===- Orders -------------------------------------------------------------===//

AxisOrder recordedOrder(size_t rank) {
  return llvm::to_vector<6>(llvm::seq<int64_t>(0, int64_t(rank)));
}

bool isRecorded(Order order) {
  return llvm::all_of(llvm::enumerate(order), [](auto each) {
    return each.value() == int64_t(each.index());
  });
}

AxisOrder placesOf(Order order) {
  AxisOrder places(order.size(), 0);
  for (auto [place, axis] : llvm::enumerate(order))
    places[axis] = int64_t(place);
  return places;
}

AxisOrder channelsLast(size_t rank) {
  AxisOrder order{0};
  for (size_t axis = 2; axis < rank; ++axis)
    order.push_back(int64_t(axis));
  order.push_back(1);
  return order;
}

template <typename T>
static SmallVector<T> inOrder(ArrayRef<T> list, Order order) {
  return llvm::map_to_vector(order, [&](int64_t axis) { return list[axis]; });
}

RankedTensorType storedType(RankedTensorType type, Order order,
                            unsigned numSymbols) {
  return tensorType(type.getElementType(),
                    inOrder<AffineExpr>(dimsOf(type), order), numSymbols);
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType typeOf(Operation *op, int which) {
  return which == resultNumber ? typeOf(op->getResult(0))
                               : typeOf(op->getOperand(which));
}

/// The first `count` of an order, if they are the first axes and what follows
/// is in place.
static std::optional<AxisOrder> leading(Order order, size_t count) {
  if (order.size() < count)
    return std::nullopt;
  for (auto [place, axis] : llvm::enumerate(order))
    if (place < count ? axis >= int64_t(count) : axis != int64_t(place))
      return std::nullopt;
  return AxisOrder(order.take_front(count));
}

static AxisOrder withTail(Order order, size_t rank) {
  AxisOrder result(order);
  for (size_t axis = order.size(); axis < rank; ++axis)
    result.push_back(int64_t(axis));
  return result;
}

//===- Building -----------------------------------------------------------===//

namespace {
/// A copy of an op under construction.
class Copy {
public:
  Copy(Operation *op, ValueRange operands)
      : op(op), state(op->getLoc(), op->getName()), symbols(numSymbolsOf(op)) {
    state.addOperands(operands);
    state.addAttributes(op->getAttrs());
  }

  /// Axes as places of an order, those of a set ascending.
  void nameAxes(Order order) {
    AxisOrder places = placesOf(order);
    if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
      set("axis", IntegerAttr::get(axis.getType(), places[axis.getInt()]));
    if (!op->hasAttr("axes"))
      return;
    SmallVector<int64_t> axes =
        llvm::map_to_vector(ints("axes"), [&](int64_t a) { return places[a]; });
    llvm::sort(axes);
    set("axes", axes);
  }
  /// A list with one entry for each axis.
  void orderInts(StringRef name, Order order) {
    set(name, inOrder(ints(name), order));
  }
  void orderDims(StringRef name, Order order) {
    AffineMap map = op->getAttrOfType<AffineMapAttr>(name).getValue();
    auto dims = inOrder<AffineExpr>(map.getResults(), order);
    set(name, AffineMapAttr::get(AffineMap::get(0, map.getNumSymbols(), dims,
                                                op->getContext())));
  }
  void set(StringRef name, Attribute value) {
    state.attributes.set(name, value);
  }
  Value make(OpBuilder &builder, Order order) {
    return makeOfDims(
        builder, inOrder<AffineExpr>(dimsOf(typeOf(op->getResult(0))), order));
  }
  Value makeOfDims(OpBuilder &builder, ArrayRef<AffineExpr> dims) {
    Type element = typeOf(op->getResult(0)).getElementType();
    state.addTypes(tensorType(element, dims, symbols));
    return builder.create(state)->getResult(0);
  }

private:
  ArrayRef<int64_t> ints(StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  }
  void set(StringRef name, ArrayRef<int64_t> values) {
    set(name, DenseI64ArrayAttr::get(op->getContext(), values));
  }

  Operation *op;
  OperationState state;
  unsigned symbols;
};
} // namespace

//===- All tensors alike --------------------------------------------------===//

static std::optional<TensorOrders> findSame(Operation *op, int, Order order) {
  auto rank = int64_t(order.size());
  bool fits = typeOf(op, resultNumber).getRank() == rank &&
              llvm::all_of(op->getOperands(), [&](Value operand) {
                return typeOf(operand).getRank() == rank;
              });
  if (!fits)
    return std::nullopt;
  TensorOrders orders;
  orders.operands.assign(op->getNumOperands(), AxisOrder(order));
  orders.result = AxisOrder(order);
  return orders;
}

static std::optional<TensorOrders> findSameAsFirst(Operation *op, int which,
                                                   Order order) {
  if (which != 0 && which != resultNumber)
    return std::nullopt;
  TensorOrders orders;
  for (Value operand : op->getOperands())
    orders.operands.push_back(recordedOrder(typeOf(operand).getRank()));
  orders.operands.front() = AxisOrder(order);
  orders.result = AxisOrder(order);
  return orders;
}

static Value buildSame(OpBuilder &builder, Operation *op, ValueRange operands,
                       const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.nameAxes(orders.result);
  return copy.make(builder, orders.result);
}

static Value buildSlice(OpBuilder &builder, Operation *op, ValueRange operands,
                        const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.orderInts("starts", orders.result);
  copy.orderDims("limits", orders.result);
  copy.orderInts("steps", orders.result);
  return copy.make(builder, orders.result);
}

static Value buildPad(OpBuilder &builder, Operation *op, ValueRange operands,
                      const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.orderInts("low", orders.result);
  copy.orderDims("shape", orders.result);
  copy.orderInts("interior", orders.result);
  return copy.make(builder, orders.result);
}

static Value buildFull(OpBuilder &builder, Operation *op, ValueRange operands,
                       const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.orderDims("shape", orders.result);
  return copy.make(builder, orders.result);
}

//===- Reductions ---------------------------------------------------------===//

static SmallVector<int64_t> reducedAxes(Operation *op) {
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return SmallVector<int64_t>(axes.asArrayRef());
  return {op->getAttrOfType<IntegerAttr>("axis").getInt()};
}

// The operand decides: of a few elements any order is as good.
static std::optional<TensorOrders> findReduction(Operation *op, int which,
                                                 Order order) {
  if (which == resultNumber)
    return std::nullopt;
  bool keeps = op->getAttrOfType<BoolAttr>("keepdims").getValue();
  TensorOrders orders{{AxisOrder(order)}, AxisOrder(order)};
  if (keeps)
    return orders;
  SmallVector<int64_t> reduced = reducedAxes(op);
  auto isBefore = [](int64_t axis) {
    return [axis](int64_t other) { return other < axis; };
  };
  orders.result.clear();
  for (int64_t axis : order)
    if (!llvm::is_contained(reduced, axis))
      orders.result.push_back(axis - llvm::count_if(reduced, isBefore(axis)));
  return orders;
}

// Whether elements may be folded part by part, the results in turn: none is
// rounded on the way.
static bool foldsInParts(Operation *op) {
  if (!op->hasAttr("axes"))
    return false;
  switch (cast<FoldOpInterface>(op).getFold()) {
  case Fold::maximum:
  case Fold::minimum:
    return true;
  case Fold::sum:
  case Fold::product: {
    Type element = typeOf(op->getResult(0)).getElementType();
    return !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32;
  }
  default:
    return false;
  }
}

// Of a reduced axis behind one that stays, which is behind others that are
// reduced: those others first, so that what is neighbours in memory is folded
// side by side, and few elements are left for the rest.
static Value buildInParts(OpBuilder &builder, Operation *op, Value x,
                          const TensorOrders &orders) {
  AxisOrder places = placesOf(orders.operands[0]);
  SmallVector<int64_t> before, behind;
  for (int64_t axis : reducedAxes(op))
    behind.push_back(places[axis]);
  auto isKept = [&](int64_t place) {
    return !llvm::is_contained(behind, place);
  };
  int64_t last = typeOf(x).getRank() - 1;
  while (last >= 0 && !isKept(last))
    --last;
  llvm::copy_if(behind, std::back_inserter(before),
                [&](int64_t place) { return place < last; });
  llvm::erase_if(behind, [&](int64_t place) { return place < last; });
  if (before.empty() || behind.empty() || !foldsInParts(op))
    return {};
  llvm::sort(before);
  llvm::sort(behind);
  bool keeps = op->getAttrOfType<BoolAttr>("keepdims").getValue();
  SmallVector<AffineExpr> dims = dimsOf(typeOf(x));
  for (int64_t place : llvm::reverse(before))
    if (keeps)
      dims[place] = builder.getAffineConstantExpr(1);
    else
      dims.erase(dims.begin() + place);
  for (int64_t &place : behind)
    place -= keeps ? 0 : int64_t(before.size());
  Copy first(op, x);
  first.set("axes", builder.getDenseI64ArrayAttr(before));
  Copy second(op, first.makeOfDims(builder, dims));
  second.set("axes", builder.getDenseI64ArrayAttr(behind));
  return second.make(builder, orders.result);
}

static Value buildReduction(OpBuilder &builder, Operation *op,
                            ValueRange operands, const TensorOrders &orders) {
  if (Value made = buildInParts(builder, op, operands[0], orders))
    return made;
  Copy copy(op, operands);
  copy.nameAxes(orders.operands[0]);
  return copy.make(builder, orders.result);
}

//===- Broadcasts ---------------------------------------------------------===//

// The result decides. An operand of lower rank has its last axes.
static std::optional<TensorOrders> findBroadcast(Operation *op, int which,
                                                 Order order) {
  if (which != resultNumber)
    return std::nullopt;
  int64_t missing =
      typeOf(op, resultNumber).getRank() - typeOf(op, 0).getRank();
  TensorOrders orders{{{}}, AxisOrder(order)};
  for (int64_t axis : order)
    if (axis >= missing)
      orders.operands[0].push_back(axis - missing);
  return orders;
}

static Value buildBroadcast(OpBuilder &builder, Operation *op,
                            ValueRange operands, const TensorOrders &orders) {
  Value x = operands[0];
  RankedTensorType type = typeOf(x);
  auto missing = int64_t(orders.result.size()) - type.getRank();
  if (missing > 0) {
    // Ones where the operand has no axis, so that others stand behind them.
    SmallVector<AffineExpr> from = dimsOf(type), dims;
    auto next = from.begin();
    for (int64_t axis : orders.result)
      dims.push_back(axis < missing ? builder.getAffineConstantExpr(1)
                                    : *next++);
    unsigned symbols = numSymbolsOf(op);
    auto shape =
        AffineMapAttr::get(AffineMap::get(0, symbols, dims, op->getContext()));
    x = ReshapeOp::create(builder, op->getLoc(),
                          tensorType(type.getElementType(), dims, symbols), x,
                          shape);
  }
  Copy copy(op, x);
  copy.orderDims("shape", orders.result);
  return copy.make(builder, orders.result);
}

//===- Reshapes -----------------------------------------------------------===//

namespace {
/// Neighbouring axes on both sides of a reshape that hold the same elements.
/// One side of an axis of 1 may be empty.
struct AxisGroup {
  SmallVector<int64_t, 2> before, after;
};
} // namespace

// The fewest axes from `i` and `j` on with equally many elements; all that are
// left where expressions cannot tell.
static AxisGroup takeGroup(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to,
                           size_t &i, size_t &j) {
  AxisGroup group;
  AffineExpr left = getAffineConstantExpr(1, from.front().getContext());
  AffineExpr right = left;
  auto take = [&](bool isLeft) {
    (isLeft ? group.before : group.after).push_back(int64_t(isLeft ? i : j));
    if (isLeft)
      left = left * from[i++];
    else
      right = right * to[j++];
  };
  take(i < from.size());
  while (left != right && (i < from.size() || j < to.size()))
    take(i < from.size() &&
         (j == to.size() || dimOf(left).value < dimOf(right).value));
  return group;
}

static SmallVector<AxisGroup> groupsOf(ArrayRef<AffineExpr> from,
                                       ArrayRef<AffineExpr> to) {
  SmallVector<AxisGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    bool isSame = i < from.size() && j < to.size() && from[i] == to[j];
    if (!isSame && i < from.size() && isOne(from[i]))
      groups.push_back({{int64_t(i++)}, {}});
    else if (!isSame && j < to.size() && isOne(to[j]))
      groups.push_back({{}, {int64_t(j++)}});
    else
      groups.push_back(takeGroup(from, to, i, j));
  }
  return groups;
}

// A group stays together, its axes in their order.
static std::optional<TensorOrders> findReshape(Operation *op, int which,
                                               Order given) {
  auto from = dimsOf(typeOf(op, 0)), to = dimsOf(typeOf(op, resultNumber));
  if (from.empty() || to.empty())
    return std::nullopt;
  Order order = given;
  bool isResult = which == resultNumber;
  SmallVector<AxisGroup> groups = groupsOf(from, to);
  AxisOrder other;
  auto emit = [&](size_t number) {
    llvm::append_range(other,
                       isResult ? groups[number].before : groups[number].after);
  };
  auto ownOf = [&](size_t number) -> Order {
    return isResult ? groups[number].after : groups[number].before;
  };
  // Axes of 1 that only the other side has stay behind their neighbours.
  auto emitEmpty = [&](size_t number) {
    for (; number < groups.size() && ownOf(number).empty(); ++number)
      emit(number);
  };
  emitEmpty(0);
  while (!order.empty()) {
    size_t number = 0;
    while (ownOf(number).empty() || ownOf(number)[0] != order[0])
      if (++number == groups.size())
        return std::nullopt;
    Order own = ownOf(number);
    if (order.size() < own.size() || order.take_front(own.size()) != own)
      return std::nullopt;
    order = order.drop_front(own.size());
    emit(number);
    emitEmpty(number + 1);
  }
  TensorOrders orders{{AxisOrder(given)}, std::move(other)};
  if (isResult)
    std::swap(orders.operands[0], orders.result);
  return orders;
}

static Value buildReshape(OpBuilder &builder, Operation *op,
                          ValueRange operands, const TensorOrders &orders) {
  return buildFull(builder, op, operands, orders);
}

//===- Transposes ---------------------------------------------------------===//

// The same elements in the same places: nothing is left to do.
static std::optional<TensorOrders> findTranspose(Operation *op, int which,
                                                 Order order) {
  Order permutation = cast<TransposeOp>(op).getPermutation();
  AxisOrder places = placesOf(permutation);
  TensorOrders orders{{AxisOrder(order)}, AxisOrder(order)};
  if (which == resultNumber)
    for (int64_t &axis : orders.operands[0])
      axis = permutation[axis];
  else
    for (int64_t &axis : orders.result)
      axis = places[axis];
  return orders;
}

static Value buildTranspose(OpBuilder &, Operation *, ValueRange operands,
                            const TensorOrders &) {
  return operands[0];
}

//===- Windows ------------------------------------------------------------===//

// The windows' axes stay last, and in their order.
static std::optional<TensorOrders> findWindows(Operation *op, int which,
                                               Order order) {
  size_t rank = typeOf(op, resultNumber).getRank();
  ArrayRef<int64_t> axes =
      op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  size_t imageRank = rank - axes.size();
  auto image =
      order.size() == imageRank ? AxisOrder(order) : leading(order, imageRank);
  if (!image)
    return std::nullopt;
  AxisOrder places = placesOf(*image);
  if (!llvm::is_sorted(
          llvm::map_range(axes, [&](int64_t axis) { return places[axis]; })))
    return std::nullopt;
  return TensorOrders{{withTail(*image, typeOf(op, 0).getRank())},
                      withTail(*image, rank)};
}

static Value buildWindows(OpBuilder &builder, Operation *op,
                          ValueRange operands, const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.nameAxes(orders.result);
  if (auto shape = op->getAttrOfType<AffineMapAttr>("shape"))
    copy.orderDims(
        "shape",
        Order(orders.result).take_front(shape.getValue().getNumResults()));
  return copy.make(builder, orders.result);
}

//===- Images -------------------------------------------------------------===//

static std::optional<TensorOrders> findImage(Operation *op, int which,
                                             Order order) {
  auto image = cast<ImageOpInterface>(op);
  ArrayRef<ImageRole> roles = image.getImageRoles();
  auto orderOf = [&](size_t number, RankedTensorType type) {
    bool turns = roles[number] != ImageRole::weight && !image.isChannelsLast();
    return turns ? channelsLast(type.getRank()) : recordedOrder(type.getRank());
  };
  size_t count = op->getNumOperands();
  TensorOrders orders;
  for (size_t number = 0; number < count; ++number)
    orders.operands.push_back(orderOf(number, typeOf(op, int(number))));
  orders.result = orderOf(count, typeOf(op, resultNumber));
  Order own = which == resultNumber ? orders.result : orders.operands[which];
  if (own != order)
    return std::nullopt;
  return orders;
}

static Value buildImage(OpBuilder &builder, Operation *op, ValueRange operands,
                        const TensorOrders &orders) {
  Copy copy(op, operands);
  copy.set("layout", builder.getStringAttr("channels_last"));
  return copy.make(builder, orders.result);
}

//===- The table ----------------------------------------------------------===//

namespace reorder {
const ReorderRule sameEverywhere{Movement::none, findSame, buildSame};
const ReorderRule sameAsFirst{Movement::none, findSameAsFirst, buildSame};
const ReorderRule reduction{Movement::gathers, findReduction, buildReduction};
const ReorderRule broadcast{Movement::repeats, findBroadcast, buildBroadcast};
const ReorderRule reshape{Movement::none, findReshape, buildReshape};
const ReorderRule transpose{Movement::turns, findTranspose, buildTranspose};
const ReorderRule slice{Movement::none, findSame, buildSlice};
const ReorderRule pad{Movement::none, findSame, buildPad};
const ReorderRule windows{Movement::none, findWindows, buildWindows};
const ReorderRule full{Movement::none, findSame, buildFull};
const ReorderRule image{Movement::none, findImage, buildImage};
} // namespace reorder

} // namespace sinter::ir
