/// Finds regions and cuts them where the least has to be turned.
#include "compiler/simplify/LayoutRegion.h"

#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/MinimumCut.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;

namespace sinter::compiler {

using ir::AxisOrder;
using ir::ImageRole;
using ir::Movement;
using ir::resultNumber;

// Nanoseconds of one core for a byte: of a tensor that is turned so that
// channels are last, and back; of an element of a window where channels are
// first, in a product, with so many channels that their windows leave the cache
// before they are read, and otherwise. They only weigh against each other.
static constexpr double turnNanoseconds = 0.06;
static constexpr double turnBackNanoseconds = 0.1;
static constexpr double productNanoseconds = 0.04;
static constexpr double wideProductNanoseconds = 0.1;
static constexpr double windowNanoseconds = 0.02;
static constexpr double manyChannels = 32;
// Windows that are not neighbours are read in single elements.
static constexpr double stepFactor = 3;
// Between equal cuts: what follows an op of the region is stored as its result.
static constexpr double followingNanoseconds = 1e-4;

static double channelsOr(AffineExpr dim, double unknown) {
  auto constant = dyn_cast<AffineConstantExpr>(dim);
  return constant ? double(constant.getValue()) : unknown;
}

static double elementBytes(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return double(byteWidth(*ir::dtypeOf(element)));
}

static Value tensorOf(Operation *op, int which) {
  return which == resultNumber ? op->getResult(0) : op->getOperand(which);
}

static const ir::ReorderRule *ruleOf(Operation *op) {
  auto described = dyn_cast_or_null<ir::SinterOpInterface>(op);
  return described ? described.getReorderRule() : nullptr;
}

//===- Discovery ----------------------------------------------------------===//

// Of an op over images: windows have fewer places than what they lie over.
static SmallVector<double, 4> imagePlaces(ir::ImageOpInterface op, int which,
                                          double places) {
  ArrayRef<ImageRole> roles = op.getImageRoles();
  size_t number = which == resultNumber ? roles.size() - 1 : size_t(which);
  auto step = double(op.getWindowStep());
  double image = roles[number] == ImageRole::image ? places : places * step;
  return llvm::map_to_vector<4>(roles, [&](ImageRole role) {
    return role == ImageRole::image       ? image
           : role == ImageRole::positions ? image / step
                                          : 0;
  });
}

static SmallVector<double, 4> placesOf(Operation *op, int which,
                                       double places) {
  if (auto image = dyn_cast<ir::ImageOpInterface>(op))
    return imagePlaces(image, which, places);
  SmallVector<double, 4> result(op->getNumOperands() + 1, places);
  Movement movement = ruleOf(op)->movement;
  if (movement == Movement::gathers)
    result.back() = 0;
  else if (movement == Movement::repeats)
    result.front() = 0;
  return result;
}

LayoutRegion::LayoutRegion(ir::ImageOpInterface seed,
                           llvm::DenseSet<Operation *> &taken)
    : taken(taken) {
  int which = seed.getImageRoles()[0] == ImageRole::weight ? resultNumber : 0;
  int64_t rank =
      cast<RankedTensorType>(tensorOf(seed, which).getType()).getRank();
  placeAxes = unsigned(rank - 1);
  reach(seed, which,
        seed.isChannelsLast() ? ir::recordedOrder(rank)
                              : ir::channelsLast(rank),
        1);
  for (unsigned number = 0; number < list.size(); ++number)
    reachNeighbours(number);
}

void LayoutRegion::reach(Operation *op, int which, ArrayRef<int64_t> order,
                         double places) {
  const ir::ReorderRule *rule = ruleOf(op);
  if (!rule || taken.contains(op))
    return;
  auto orders = rule->find(op, which, order);
  if (!orders)
    return;
  taken.insert(op);
  numbers[op] = unsigned(list.size());
  list.push_back({op, std::move(*orders), placesOf(op, which, places)});
}

// A tensor that is stored as recorded either way leads on from ops over images
// only, and by ops that keep its axes: the rest of a program is none of this
// pass's business.
void LayoutRegion::reachNeighbours(unsigned number) {
  LayoutPart part = list[number]; // the list grows
  bool isPlain = llvm::all_of(part.orders.operands, ir::isRecorded) &&
                 ir::isRecorded(part.orders.result);
  auto keepsAxes = [&](Operation *op) {
    const ir::ReorderRule *rule = ruleOf(op);
    return rule && (rule->movement == Movement::turns ||
                    rule == &ir::reorder::sameEverywhere ||
                    isa<ir::ImageOpInterface>(op));
  };
  auto lead = [&](int which) {
    ArrayRef<int64_t> order = part.order(which);
    bool isSame = ir::isRecorded(order);
    Value value = tensorOf(part.op, which);
    if (isSame && (!isPlain || part.placesOf(which) == 0 || order.size() < 3))
      return;
    auto visit = [&](Operation *op, int to) {
      if (!isSame || keepsAxes(op))
        reach(op, to, order, part.placesOf(which));
    };
    if (Operation *producer = value.getDefiningOp())
      visit(producer, resultNumber);
    for (OpOperand &use : value.getUses())
      visit(use.getOwner(), int(use.getOperandNumber()));
  };
  for (int which = 0; which < int(part.orders.operands.size()); ++which)
    lead(which);
  lead(resultNumber);
}

//===- Costs --------------------------------------------------------------===//

// Of one place: what stands behind batch and space.
double LayoutRegion::elements(Value value, ArrayRef<int64_t> order) const {
  constexpr double unknown = 64;
  auto dims = dimsOf(value.getType());
  if (order.empty())
    return 1;
  double count = 1;
  size_t place = std::min<size_t>(placeAxes, order.size() - 1);
  for (; place < order.size(); ++place)
    count *= channelsOr(dims[order[place]], unknown);
  return count;
}

double LayoutRegion::cost(Value value, ArrayRef<int64_t> order,
                          double places) const {
  if (ir::isRecorded(order))
    return 0;
  constexpr double leastElements = 1e-3;
  return std::max(leastElements, places * elements(value, order)) *
         elementBytes(value);
}

// Where channels are first, windows stand apart: a product copies each, with
// all of its elements but one of them more than it would otherwise.
double LayoutRegion::imageCost(const LayoutPart &part) const {
  auto image = cast<ir::ImageOpInterface>(part.op);
  if (image.isChannelsLast())
    return 0;
  ArrayRef<ImageRole> roles = image.getImageRoles();
  bool isSum = image.isProduct();
  for (auto [number, role] : llvm::enumerate(roles)) {
    int which = number + 1 == roles.size() ? resultNumber : int(number);
    if (role == ImageRole::weight)
      isSum &= !isOne(dimsOf(tensorOf(part.op, which).getType())[1]);
  }
  // Windows are taken of the first operand, at the places of the other.
  double places = 0;
  for (auto [role, each] : llvm::zip(roles, part.places))
    if (role != roles[0] && role != ImageRole::weight)
      places = each;
  Value windowed = part.op->getOperand(0);
  double channels = elements(windowed, part.order(0));
  double bytes = places * channels * elementBytes(windowed);
  auto window = double(image.getWindowElements());
  if (!isSum)
    return bytes * window * windowNanoseconds;
  double perByte =
      channels < manyChannels ? productNanoseconds : wideProductNanoseconds;
  return bytes * (window - 1) * perByte *
         (image.getWindowStep() > 1 ? stepFactor : 1);
}

double LayoutRegion::costAsRecorded(const LayoutPart &part) const {
  double result = cost(part.op->getResult(0), part.orders.result,
                       part.placesOf(resultNumber)) *
                  followingNanoseconds;
  if (isa<ir::ImageOpInterface>(part.op))
    return imageCost(part);
  // Its operand, where the result is as recorded.
  if (ruleOf(part.op)->movement == Movement::turns)
    result += std::max(cost(part.op->getResult(0), part.orders.result,
                            part.placesOf(resultNumber)),
                       cost(part.op->getOperand(0), part.order(0),
                            part.placesOf(0))) *
              turnNanoseconds;
  return result;
}

//===- The choice ---------------------------------------------------------===//

void LayoutRegion::choose() {
  MinimumCut cut;
  double asRecorded = 0;
  for (const LayoutPart &part : list) {
    double own = costAsRecorded(part);
    asRecorded += own;
    cut.addCost(MinimumCut::first, cut.addNode(), own);
  }
  llvm::DenseSet<Value> seen;
  for (const LayoutPart &part : list)
    for (int which = resultNumber; which < int(part.op->getNumOperands());
         ++which) {
      Value value = tensorOf(part.op, which);
      if (seen.insert(value).second)
        addTurns(cut, value, part.placesOf(which));
    }
  std::vector<bool> isTurned = cut.run();
  for (auto [number, part] : llvm::enumerate(list))
    part.isTurned = isTurned[nodeOf(unsigned(number))];
  saved = asRecorded - cut.cost();
  // For each place of the seed's image so far.
  const LayoutPart &seed = list.front();
  int which = seed.placesOf(0) == 1 ? 0 : resultNumber;
  auto dims = dimsOf(tensorOf(seed.op, which).getType());
  for (int64_t axis : seed.order(which).take_front(placeAxes))
    saved *= estimate(dims[axis]);
}

// What it costs that the op that makes a tensor is turned and one that reads it
// is not, or the other way round: once, however many there are.
void LayoutRegion::addTurns(MinimumCut &cut, Value value, double places) const {
  unsigned maker = MinimumCut::second;
  ArrayRef<int64_t> made;
  auto found = numbers.find(value.getDefiningOp());
  if (found != numbers.end() &&
      !ir::isRecorded(list[found->second].orders.result)) {
    maker = nodeOf(found->second);
    made = list[found->second].orders.result;
  }
  double bytes = cost(value, made, places);
  unsigned back = cut.addNode();
  cut.addCost(maker, back, bytes * turnBackNanoseconds);
  std::map<AxisOrder, unsigned> turns;
  for (OpOperand &use : value.getUses()) {
    auto reader = numbers.find(use.getOwner());
    AxisOrder wanted;
    if (reader != numbers.end())
      wanted = list[reader->second].orders.operands[use.getOperandNumber()];
    if (ir::isRecorded(wanted)) {
      cut.addCost(back, MinimumCut::second, MinimumCut::never);
      continue;
    }
    unsigned node = nodeOf(reader->second);
    bool isSame = ArrayRef<int64_t>(wanted) == made;
    cut.addCost(back, isSame ? node : MinimumCut::second, MinimumCut::never);
    auto [turn, isNew] = turns.try_emplace(wanted, 0);
    if (isNew) {
      turn->second = cut.addNode();
      cut.addCost(turn->second, isSame ? maker : MinimumCut::second,
                  cost(value, wanted, places) * turnNanoseconds);
    }
    cut.addCost(node, turn->second, MinimumCut::never);
  }
}

} // namespace sinter::compiler
