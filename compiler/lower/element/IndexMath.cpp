/// Index arithmetic of an Emission: shared, folded, placed far out.
#include "compiler/lower/element/Emission.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

Value Emission::constant(int64_t value) {
  std::vector<uint64_t> key{~uint64_t(0), uint64_t(value)};
  Value &known = scopes.front()->values[key];
  if (!known)
    hoisted({}, /*readsMemory=*/false, [&] {
      known = arith::ConstantIndexOp::create(builder, loc, value);
    });
  return known;
}

int64_t Emission::multipleOf(Value value) const {
  if (auto number = getConstantIntValue(value))
    return *number == 0 ? int64_t(1) << 30 : std::abs(*number);
  auto known = multiples.find(value);
  return known == multiples.end() ? 1 : known->second;
}

// A divisor that is never 0: an index into an empty tensor may be computed,
// where a mask keeps it from being used.
Value Emission::nonZero(Value value) {
  if (getConstantIntValue(value))
    return value;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return arith::MaxUIOp::create(builder, loc, value, one);
}

Value Emission::indexOp(IndexOp code, Value a, Value b) {
  std::vector<uint64_t> key{uint64_t(code),
                            reinterpret_cast<uint64_t>(a.getAsOpaquePointer()),
                            reinterpret_cast<uint64_t>(b.getAsOpaquePointer())};
  for (auto &scope : llvm::reverse(scopes))
    if (auto known = scope->values.find(key); known != scope->values.end())
      return known->second;
  Value result;
  hoisted({a, b}, /*readsMemory=*/false, [&] {
    switch (code) {
    case IndexOp::add:
      result = arith::AddIOp::create(builder, loc, a, b);
      multiples[result] = std::gcd(multipleOf(a), multipleOf(b));
      break;
    case IndexOp::sub:
      result = arith::SubIOp::create(builder, loc, a, b);
      multiples[result] = std::gcd(multipleOf(a), multipleOf(b));
      break;
    case IndexOp::mul:
      result = arith::MulIOp::create(builder, loc, a, b);
      multiples[result] = std::max<int64_t>(1, (multipleOf(a) & 0xffffffff) *
                                                   (multipleOf(b) & 0xfffffff));
      break;
    case IndexOp::floorDiv:
      result = arith::DivUIOp::create(builder, loc, a, nonZero(b));
      break;
    case IndexOp::mod:
      result = arith::RemUIOp::create(builder, loc, a, nonZero(b));
      multiples[result] = std::gcd(multipleOf(a), multipleOf(b));
      break;
    case IndexOp::min:
      result = arith::MinSIOp::create(builder, loc, a, b);
      multiples[result] = std::gcd(multipleOf(a), multipleOf(b));
      break;
    case IndexOp::max:
      result = arith::MaxSIOp::create(builder, loc, a, b);
      break;
    }
    scopes.back()->values[key] = result;
  });
  return result;
}

Value Emission::add(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return constant(*left + *right);
  if (left && *left == 0)
    return b;
  if (right && *right == 0)
    return a;
  if (left)
    return add(b, a);
  // Constants stand outermost, where loads and stores take them in.
  if (auto known = offsets.find(a); known != offsets.end()) {
    auto [inner, number] = known->second;
    if (right)
      return add(inner, constant(number + *right));
    return add(add(inner, b), constant(number));
  }
  if (auto known = offsets.find(b); known != offsets.end())
    return add(b, a);
  Value result = indexOp(IndexOp::add, a, b);
  if (right)
    offsets[result] = {a, *right};
  return result;
}

Value Emission::sub(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return constant(*left - *right);
  if (right)
    return add(a, constant(-*right));
  return indexOp(IndexOp::sub, a, b);
}

Value Emission::mul(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return constant(*left * *right);
  if ((left && *left == 0) || (right && *right == 1))
    return a;
  if ((right && *right == 0) || (left && *left == 1))
    return b;
  if (auto known = offsets.find(a); right && known != offsets.end()) {
    auto [inner, number] = known->second;
    return add(mul(inner, b), constant(number * *right));
  }
  return indexOp(IndexOp::mul, a, b);
}

Value Emission::floorDiv(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right && *right > 0 && *left >= 0)
    return constant(*left / *right);
  if ((right && *right == 1) || (left && *left == 0))
    return a;
  auto known = divisions.find({a.getAsOpaquePointer(), b.getAsOpaquePointer()});
  if (known != divisions.end())
    return known->second.first;
  return indexOp(IndexOp::floorDiv, a, b);
}

Value Emission::mod(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right && *right > 0 && *left >= 0)
    return constant(*left % *right);
  if (right && *right == 1)
    return constant(0);
  if (left && *left == 0)
    return a;
  auto known = divisions.find({a.getAsOpaquePointer(), b.getAsOpaquePointer()});
  if (known != divisions.end())
    return known->second.second;
  return indexOp(IndexOp::mod, a, b);
}

Value Emission::min(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return constant(std::min(*left, *right));
  return a == b ? a : indexOp(IndexOp::min, a, b);
}

Value Emission::max(Value a, Value b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return constant(std::max(*left, *right));
  return a == b ? a : indexOp(IndexOp::max, a, b);
}

Value Emission::extent(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return entry.dims[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value a = extent(binary.getLHS()), b = extent(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return mul(a, b);
  case AffineExprKind::Mod:
    return mod(a, b);
  case AffineExprKind::CeilDiv:
    return floorDiv(add(a, sub(b, constant(1))), b);
  default:
    return floorDiv(a, b);
  }
}

Value Emission::laneOffsets(int64_t step, unsigned count, Type type) {
  SmallVector<Attribute> numbers;
  for (unsigned lane = 0; lane < count; ++lane)
    numbers.push_back(builder.getIntegerAttr(type, step * lane));
  auto attribute = DenseElementsAttr::get(vectorType(type, count), numbers);
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value Emission::perLane(const Coord &coord) {
  if (coord.each)
    return coord.each;
  if (coord.isUniform())
    return coord.base;
  std::vector<uint64_t> key{
      ~uint64_t(1), uint64_t(coord.step), coord.count,
      reinterpret_cast<uint64_t>(coord.base.getAsOpaquePointer())};
  for (auto &scope : llvm::reverse(scopes))
    if (auto known = scope->values.find(key); known != scope->values.end())
      return known->second;
  Value result;
  hoisted({coord.base}, /*readsMemory=*/false, [&] {
    auto type = vectorType(builder.getIndexType(), coord.count);
    Value splat = vector::BroadcastOp::create(builder, loc, type, coord.base);
    Value offsets =
        laneOffsets(coord.step, coord.count, builder.getIndexType());
    result = arith::AddIOp::create(builder, loc, splat, offsets);
    scopes.back()->values[key] = result;
  });
  return result;
}

Coord Emission::add(const Coord &a, const Coord &b) {
  if (!a.each && !b.each) {
    unsigned count = std::max(a.count, b.count);
    return Coord{add(a.base, b.base), a.step + b.step, {}, count};
  }
  unsigned count = a.each ? a.count : b.count;
  Value left = spread(Element{perLane(a)}, count);
  Value right = spread(Element{perLane(b)}, count);
  Value sum = arith::AddIOp::create(builder, loc, left, right);
  return Coord{{}, 0, sum, count};
}

Coord Emission::sub(const Coord &a, const Coord &b) {
  if (!a.each && !b.each) {
    unsigned count = std::max(a.count, b.count);
    return Coord{sub(a.base, b.base), a.step - b.step, {}, count};
  }
  unsigned count = a.each ? a.count : b.count;
  Value left = spread(Element{perLane(a)}, count);
  Value right = spread(Element{perLane(b)}, count);
  Value difference = arith::SubIOp::create(builder, loc, left, right);
  return Coord{{}, 0, difference, count};
}

Coord Emission::scale(const Coord &a, AffineExpr factor) {
  int64_t number = constantOf(factor);
  if (number == 1)
    return a;
  if (!a.each && (a.isUniform() || number >= 0))
    return Coord{mul(a.base, extent(factor)),
                 a.isUniform() ? 0 : a.step * number,
                 {},
                 a.count};
  Value by = spread(Element{extent(factor)}, a.count);
  Value result = arith::MulIOp::create(builder, loc, perLane(a), by);
  return Coord{{}, 0, result, a.count};
}

Coord Emission::clamp(const Coord &a, AffineExpr size) {
  Value zero = constant(0), last = sub(extent(size), constant(1));
  if (a.isUniform())
    return uniform(min(max(a.base, zero), last));
  Value lanes = perLane(a);
  Value low = spread(Element{zero}, a.count);
  Value high = spread(Element{last}, a.count);
  lanes = arith::MaxSIOp::create(builder, loc, lanes, low);
  lanes = arith::MinSIOp::create(builder, loc, lanes, high);
  return Coord{{}, 0, lanes, a.count};
}

bool Emission::staysInRow(const Coord &coord, AffineExpr width) const {
  int64_t number = constantOf(width), run = coord.step * coord.count;
  if (coord.each || coord.step <= 0 || number <= 0)
    return false;
  // A run of lanes that starts at a multiple of its length.
  if (number % run == 0 && multipleOf(coord.base) % run == 0)
    return true;
  return coord.step == 1 && isKeptInRow(coord.base, width);
}

bool Emission::mayBeNegative(Value value) const {
  if (auto range = rangeOf(value))
    return range->first < 0;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::SubIOp>(op))
    return true;
  return isa_and_present<arith::AddIOp, arith::MulIOp>(op) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return mayBeNegative(operand); });
}

std::pair<Coord, Coord> Emission::divide(const Coord &a, AffineExpr divisor) {
  int64_t number = constantOf(divisor);
  if (number == 1)
    return {a, uniform(constant(0))};
  Value by = extent(divisor);
  if (a.isUniform()) {
    Value quotient = floorDiv(a.base, by), remainder = mod(a.base, by);
    products[{quotient.getAsOpaquePointer(), by.getAsOpaquePointer(),
              remainder.getAsOpaquePointer()}] = a.base;
    return {uniform(quotient), uniform(remainder)};
  }
  if (!a.each && number > 0 && a.step % number == 0 && !mayBeNegative(a.base))
    return {Coord{floorDiv(a.base, by), a.step / number, {}, a.count},
            uniform(mod(a.base, by))};
  if (staysInRow(a, divisor))
    return {uniform(floorDiv(a.base, by)),
            Coord{mod(a.base, by), a.step, {}, a.count}};
  Value lanes = perLane(a), splat = spread(Element{nonZero(by)}, a.count);
  Value quotient = arith::DivUIOp::create(builder, loc, lanes, splat);
  Value remainder = arith::RemUIOp::create(builder, loc, lanes, splat);
  return {Coord{{}, 0, quotient, a.count}, Coord{{}, 0, remainder, a.count}};
}

std::optional<std::pair<int64_t, int64_t>>
Emission::rangeOf(Value value) const {
  if (auto number = getConstantIntValue(value))
    return std::pair(*number, *number);
  if (auto known = ranges.find(value); known != ranges.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto a = rangeOf(op->getOperand(0)), b = rangeOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return std::pair(a->first + b->first, a->second + b->second);
  if (isa<arith::SubIOp>(op))
    return std::pair(a->first - b->second, a->second - b->first);
  return std::minmax({a->first * b->first, a->first * b->second,
                      a->second * b->first, a->second * b->second});
}

// The least and the largest of all lanes.
std::optional<std::pair<int64_t, int64_t>>
Emission::rangeOf(const Coord &coord) const {
  auto range = coord.each ? std::nullopt : rangeOf(coord.base);
  int64_t run = coord.step * int64_t(coord.count - 1);
  if (range)
    return std::pair(range->first + std::min<int64_t>(run, 0),
                     range->second + std::max<int64_t>(run, 0));
  return std::nullopt;
}

bool Emission::staysWithin(const Coord &coord, AffineExpr extent) const {
  int64_t size = constantOf(extent);
  auto range = rangeOf(coord);
  return size >= 0 && range && range->first >= 0 && range->second < size;
}

bool Emission::staysOutside(const Coord &coord, AffineExpr extent) const {
  int64_t size = constantOf(extent);
  auto range = rangeOf(coord);
  return size >= 0 && range && (range->second < 0 || range->first >= size);
}

Value Emission::isWithin(const Coord &coord, AffineExpr extentExpr) {
  Value number = perLane(coord);
  Value limit = extent(extentExpr);
  if (!coord.isUniform())
    limit = spread(Element{limit}, coord.count);
  std::vector<uint64_t> key{
      ~uint64_t(3), reinterpret_cast<uint64_t>(number.getAsOpaquePointer()),
      reinterpret_cast<uint64_t>(limit.getAsOpaquePointer())};
  for (auto &scope : llvm::reverse(scopes))
    if (auto known = scope->values.find(key); known != scope->values.end())
      return known->second;
  Value result;
  hoisted({number, limit}, /*readsMemory=*/false, [&] {
    // Negative numbers are large without a sign.
    result = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                   number, limit);
    scopes.back()->values[key] = result;
  });
  return result;
}

Coord Emission::linearize(const Index &index, const Shape &shape) {
  if (index.rank() == 0)
    return uniform(constant(0));
  MLIRContext *context = builder.getContext();
  Coord linear = uniform(constant(0));
  auto append = [&](const Coord &coord, AffineExpr size) {
    if (linear.isUniform() && coord.isUniform()) {
      Value by = extent(size);
      auto known = products.find({linear.base.getAsOpaquePointer(),
                                  by.getAsOpaquePointer(),
                                  coord.base.getAsOpaquePointer()});
      if (known != products.end()) {
        linear = uniform(known->second);
        return;
      }
      Value sum = add(mul(linear.base, by), coord.base);
      divisions[{sum.getAsOpaquePointer(), by.getAsOpaquePointer()}] = {
          linear.base, coord.base};
      linear = uniform(sum);
      return;
    }
    linear = add(scale(linear, size), coord);
  };
  for (auto [dim, coord] : llvm::enumerate(index.lead))
    append(coord, shape[dim]);
  unsigned lead = index.lead.size();
  append(index.tail, product(shape, lead, index.rank(), context));
  return linear;
}

Index Emission::withTail(Index index, const Shape &shape, unsigned tailRank) {
  MLIRContext *context = builder.getContext();
  unsigned rank = index.rank();
  while (index.tailRank > tailRank) {
    unsigned dim = rank - index.tailRank;
    AffineExpr inner = product(shape, dim + 1, rank, context);
    if (isOne(shape[dim])) {
      index.lead.push_back(uniform(constant(0)));
    } else {
      auto [quotient, remainder] = divide(index.tail, inner);
      index.lead.push_back(quotient);
      index.tail = remainder;
    }
    --index.tailRank;
  }
  while (index.tailRank < tailRank) {
    Coord outer = index.lead.pop_back_val();
    unsigned dim = index.lead.size();
    Shape group(shape.begin() + dim, shape.end());
    Index two;
    two.lead.push_back(outer);
    two.tail = index.tail;
    two.tailRank = index.tailRank;
    index.tail = linearize(two, group);
    ++index.tailRank;
  }
  return index;
}

// Lanes at the end of a row and at the beginning of the next one: the rows'
// coordinates are those of two numbers, and each lane takes one of the two.
static SmallVector<Coord> acrossRows(Emission &emission, const Coord &tail,
                                     const Shape &shape) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value width = emission.extent(shape.back());
  // A row further on no lane that counts is before the first.
  bool isBefore = emission.mayBeNegative(tail.base);
  Value start = isBefore ? emission.add(tail.base, width) : tail.base;
  Value row = emission.floorDiv(start, width);
  Value first = emission.mod(start, width);
  if (isBefore)
    row = emission.sub(row, emission.constant(1));
  Value inRow = emission.perLane(emission.along(first, tail.count));
  Value limit = emission.spread(Element{width}, tail.count);
  Value stays = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      inRow, limit);
  Value next = arith::SubIOp::create(builder, loc, inRow, limit);
  auto each = [&](Value here, Value there) {
    Value value = arith::SelectOp::create(builder, loc, stays, here, there);
    return Coord{{}, 0, value, tail.count};
  };
  Shape rows(shape.begin(), shape.end() - 1);
  auto rowCoordinates = [&](Value number) {
    Index index;
    index.tail = emission.uniform(number);
    index.tailRank = rows.size();
    return emission.coordinates(index, rows);
  };
  SmallVector<Coord> here = rowCoordinates(row), result;
  SmallVector<Coord> there =
      rowCoordinates(emission.add(row, emission.constant(1)));
  for (auto [a, b] : llvm::zip(here, there))
    result.push_back(a.base == b.base
                         ? a
                         : each(emission.spread(Element{a.base}, tail.count),
                                emission.spread(Element{b.base}, tail.count)));
  result.push_back(each(inRow, next));
  return result;
}

// Whether a number was made of coordinates of which the last is along `width`.
bool Emission::endsAtKnown(const Coord &coord, AffineExpr width) {
  if (!coord.isUniform() || !isa<AffineConstantExpr>(width))
    return false;
  Value by = extent(width);
  return divisions.count(
      {coord.base.getAsOpaquePointer(), by.getAsOpaquePointer()});
}

SmallVector<Coord> Emission::coordinates(const Index &index,
                                         const Shape &shape) {
  if (index.rank() == 0)
    return {};
  const Coord &tail = index.tail;
  if (index.tailRank > 1 && endsAtKnown(tail, shape.back())) {
    Shape group(shape.end() - index.tailRank, shape.end() - 1);
    auto [row, column] = divide(tail, shape.back());
    Index rows;
    rows.tail = row;
    rows.tailRank = group.size();
    SmallVector<Coord> result(index.lead);
    result.append(coordinates(rows, group));
    result.push_back(column);
    return result;
  }
  if (index.tailRank > 1 && !tail.isUniform() && !tail.each && tail.step == 1) {
    SmallVector<Coord> result(index.lead);
    Shape group(shape.end() - index.tailRank, shape.end());
    if (staysInRow(tail, shape.back())) {
      auto [row, column] = divide(tail, shape.back());
      group.pop_back();
      Index rows;
      rows.tail = row;
      rows.tailRank = group.size();
      result.append(coordinates(rows, group));
      result.push_back(column);
      return result;
    }
    if (constantOf(shape.back()) >= int64_t(tail.count)) {
      result.append(acrossRows(*this, tail, group));
      return result;
    }
  }
  Index full = withTail(index, shape, 1);
  SmallVector<Coord> result(full.lead);
  result.push_back(full.tail);
  return result;
}

Index Emission::fromCoordinates(ArrayRef<Coord> coordinates) {
  Index index;
  if (coordinates.empty())
    return index;
  index.lead.assign(coordinates.begin(), coordinates.end() - 1);
  index.tail = coordinates.back();
  index.tailRank = 1;
  return index;
}

} // namespace sinter::compiler
