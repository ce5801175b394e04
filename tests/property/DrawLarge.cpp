/// Draws joins, chains, unrolled loops and attention.
#include "tests/property/DrawLarge.h"

#include "runtime/graph/AttrWords.h"

#include <algorithm>
#include <numeric>

namespace sinter::property {

namespace {

using Dims = std::vector<int64_t>;

std::vector<Dim> dimsOf(const Dims &values) {
  return {values.begin(), values.end()};
}

/// The drawer with what the kinds share.
class LargeDrawer {
public:
  LargeDrawer(RecipeDrawer &drawer, DType dtype)
      : drawer(drawer), dtype(isFloat(dtype) ? dtype : DType::f32) {}

  void drawJoin(size_t count);
  void drawNumbers(size_t count);
  void drawViews(size_t count);
  void drawRecurrence(size_t count);
  void drawHeads();

private:
  int64_t pick(int64_t count) { return below(drawer.random, count); }
  uint32_t leaf(const Dims &dims) {
    return drawer.addLeaf(dtype, dims, {DomainKind::reals, -1, 1, noPoint});
  }
  uint32_t apply(const char *op, std::vector<uint32_t> operands,
                 const graph::AttrWriter &attrs = {}) {
    auto words = attrs.view();
    return drawer.apply(graph::findOp(op), std::move(operands),
                        {words.begin(), words.end()});
  }
  uint32_t view(uint32_t x);
  uint32_t toShape(const char *op, uint32_t x, const Dims &dims) {
    graph::AttrWriter attrs;
    attrs.dims(dimsOf(dims));
    return apply(op, {x}, attrs);
  }
  uint32_t turned(uint32_t x, const Dims &order) {
    graph::AttrWriter attrs;
    attrs.ints(order);
    return apply("transpose", {x}, attrs);
  }
  uint32_t forHeads(uint32_t x, int64_t times, int64_t spelling);
  uint32_t withAnotherLength(uint32_t x);
  uint32_t join(std::vector<uint32_t> operands, int64_t axis) {
    graph::AttrWriter attrs;
    attrs.integer(axis);
    return apply("concat", std::move(operands), attrs);
  }

  RecipeDrawer &drawer;
  DType dtype;
};

} // namespace

/// A view of as many elements.
uint32_t LargeDrawer::view(uint32_t x) {
  Dims dims = drawer.shapeOf(x);
  graph::AttrWriter attrs;
  Dims numbers(dims.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), drawer.random);
  switch (pick(3)) {
  case 0:
    attrs.ints(std::span(numbers).first(1));
    return apply("flip", {x}, attrs);
  case 1:
    attrs.ints(numbers);
    return apply("transpose", {x}, attrs);
  default:
    std::ranges::reverse(dims);
    if (dims == drawer.shapeOf(x))
      dims = {1, std::accumulate(dims.begin(), dims.end(), int64_t(1),
                                 std::multiplies<>())};
    attrs.dims(dimsOf(dims));
    return apply("reshape", {x}, attrs);
  }
}

/// Short ones get longer, long ones shorter.
uint32_t LargeDrawer::withAnotherLength(uint32_t x) {
  Dims dims = drawer.shapeOf(x), zeros(dims.size()), ones(dims.size(), 1);
  Dims starts = zeros;
  graph::AttrWriter attrs;
  if (dims[0] > 3) {
    starts[0] = pick(2);
    dims[0] += starts[0] - 1 - pick(2);
    attrs.ints(starts);
    attrs.dims(dimsOf(dims));
    attrs.ints(ones);
    return apply("slice", {x}, attrs);
  }
  starts[0] = pick(3);
  dims[0] += 2;
  attrs.ints(starts);
  attrs.dims(dimsOf(dims));
  attrs.ints(zeros);
  attrs.number(Number(0.5));
  return apply("pad", {x}, attrs);
}

/// Of leaves, views of them and what is computed; some are there twice.
void LargeDrawer::drawJoin(size_t count) {
  int64_t axis = pick(2);
  Dims dims{1 + pick(3), 1 + pick(3)};
  std::vector<uint32_t> operands;
  while (operands.size() < count) {
    dims[axis] = 1 + pick(5);
    switch (pick(4)) {
    case 0:
      operands.push_back(operands.empty()
                             ? leaf(dims)
                             : operands[pick(int64_t(operands.size()))]);
      break;
    case 1: {
      graph::AttrWriter attrs;
      attrs.ints(Dims{pick(2)});
      operands.push_back(apply("flip", {leaf(dims)}, attrs));
      break;
    }
    case 2:
      operands.push_back(apply("tanh", {leaf(dims)}));
      break;
    default:
      operands.push_back(leaf(dims));
    }
  }
  join(std::move(operands), axis);
}

/// None makes a difference larger.
void LargeDrawer::drawNumbers(size_t count) {
  static constexpr const char *unary[] = {"sin", "tanh", "neg", "abs", "cos"};
  uint32_t last = leaf({}), other = leaf({});
  for (size_t made = 0; made < count; ++made) {
    if (pick(8) == 0) {
      last = apply("maximum", {last, other});
      if (pick(2) == 0)
        other = pick(2) == 0 ? leaf({}) : last;
    } else {
      last = apply(unary[pick(std::size(unary))], {last});
    }
  }
}

void LargeDrawer::drawViews(size_t count) {
  uint32_t last = leaf({2 + pick(3), 2 + pick(3)});
  for (size_t made = 0; made < count; ++made)
    last = pick(10) == 0 ? withAnotherLength(last) : view(last);
}

void LargeDrawer::drawRecurrence(size_t count) {
  Dims dims{2, 3};
  uint32_t state = leaf(dims), weights = leaf({3, 3}), given = leaf(dims);
  std::vector<uint32_t> states;
  while (states.size() < count) {
    uint32_t next = apply("matmul", {state, weights});
    state = apply("tanh", {apply("add", {next, given})});
    states.push_back(state);
  }
  join(std::move(states), pick(2));
}

/// [batch, heads, rows, columns] with each head `times` times: neighbours, or
/// one after the other; before a transpose; changed once they are apart.
uint32_t LargeDrawer::forHeads(uint32_t x, int64_t times, int64_t spelling) {
  const Dims own = drawer.shapeOf(x), turn{0, 2, 1, 3};
  Dims apart(own), wide, joined(own);
  if (spelling == 1) { // keys before heads
    std::swap(apart[1], apart[2]);
    joined = apart;
    x = turned(x, turn);
  }
  int64_t axis = spelling == 1 ? 2 : 1;
  apart.insert(apart.begin() + axis + (spelling == 2 ? 0 : 1), 1);
  wide = apart;
  wide[axis + (spelling == 2 ? 0 : 1)] = times;
  joined[axis] *= times;
  x = toShape("broadcast", toShape("reshape", x, apart), wide);
  x = toShape("reshape", x, joined);
  if (spelling == 1)
    x = turned(x, turn);
  return spelling == 3 ? apply("tanh", {x}) : x;
}

void LargeDrawer::drawHeads() {
  int64_t batch = 1 + pick(3), heads = 1 + pick(3), times = 2 + pick(2),
          queries = 1 + pick(4) * pick(2), keys = 1 + pick(9),
          length = 1 + pick(6), spelling = pick(4);
  Dims all{batch, heads * times, queries, length},
      shared{batch, heads, keys, length};
  uint32_t query = leaf(all);
  uint32_t key = forHeads(leaf(shared), times, spelling);
  uint32_t value = forHeads(leaf(shared), times, pick(2) ? spelling : pick(4));
  if (pick(3) == 0) { // batch and heads are one axis
    auto flat = [&](uint32_t x) {
      Dims dims = drawer.shapeOf(x);
      return toShape("reshape", x, {dims[0] * dims[1], dims[2], dims[3]});
    };
    query = flat(query), key = flat(key), value = flat(value);
  }
  Dims order(drawer.shapeOf(key).size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.end()[-1], order.end()[-2]);
  uint32_t scores = apply("matmul", {query, turned(key, order)});
  graph::AttrWriter last;
  last.integer(int64_t(order.size()) - 1);
  apply("matmul", {apply("softmax", {scores}, last), value});
}

void drawLarge(RecipeDrawer &drawer, Large kind, size_t count, DType dtype) {
  LargeDrawer large(drawer, dtype);
  switch (kind) {
  case Large::none:
    break;
  case Large::join:
    large.drawJoin(count);
    break;
  case Large::numbers:
    large.drawNumbers(count);
    break;
  case Large::views:
    large.drawViews(count);
    break;
  case Large::recurrence:
    large.drawRecurrence(count);
    break;
  case Large::heads:
    large.drawHeads();
    break;
  }
}

} // namespace sinter::property
