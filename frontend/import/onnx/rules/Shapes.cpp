/// Shapes, and elements in other orders.
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>
#include <numeric>

namespace sinter::onnx {

//===- What a shape is ----------------------------------------------------===//

static void shapeRule(Call &call) {
  Dims dims = call.value(0).shape();
  auto rank = int64_t(dims.size());
  auto place = [&](const char *name, int64_t otherwise) {
    int64_t at =
        call.opset() >= 15 && call.given(name) ? call.integer(name) : otherwise;
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = place("start", 0), end = place("end", rank);
  Known known;
  known.varies = true;
  for (int64_t i = start; i < end; ++i)
    known.integers.push_back(dims[size_t(i)]);
  known.dims = {known.size()};
  call.give(std::move(known));
}

static void sizeRule(Call &call) {
  Known known;
  known.varies = true;
  Dim size(1);
  for (Dim dim : call.value(0).shape())
    size = size * dim;
  known.integers = {size};
  call.give(std::move(known));
}

static void identityRule(Call &call) { call.give(call.value(0)); }

//===- The same elements in another shape ---------------------------------===//

static void reshapeRule(Call &call) {
  Tensor x = call.tensor(0);
  Dims shape;
  if (call.opset() >= 5) {
    shape = call.dims(1, "the shape");
  } else {
    for (int64_t dim : call.integers("shape"))
      shape.emplace_back(dim);
  }
  bool zeroIsZero = call.opset() >= 14 && call.flag("allowzero");
  Dim count(1);
  int64_t open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].isConstant() && shape[i].value == 0 && !zeroIsZero) {
      if (int64_t(i) >= x.rank())
        call.invalid("a dim of 0 has no dim to copy");
      shape[i] = x.dim(int64_t(i));
    }
    if (shape[i].value < -1 || (shape[i].value == -1 && open >= 0))
      call.invalid("the shape has a dim of " + std::to_string(shape[i].value));
    if (shape[i].value == -1)
      open = int64_t(i);
    else
      count = count * shape[i];
  }
  // Of no elements the open dim is known from those that are not 0.
  if (open >= 0 && x.numel() == 0) {
    if (count.value != 0)
      shape[size_t(open)] = Dim(0);
    else
      call.invalid("the shape has a dim of -1 and one of 0");
  }
  call.give(reshape(x, shape));
}

static void flattenRule(Call &call) {
  call.give(asMatrix(call, call.tensor(0), call.integer("axis")));
}

/// An operand from opset 13 on, before that an attribute.
static std::vector<int64_t> axesOf(Call &call) {
  if (call.opset() < 13)
    return call.integers("axes");
  return call.has(1) ? call.integers(1, "axes") : std::vector<int64_t>();
}

static void squeezeRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> axes = call.axesOf(axesOf(call), x.rank());
  bool areNamed = call.opset() < 13 ? call.given("axes") : call.has(1);
  if (!areNamed)
    return call.give(squeeze(x));
  for (int64_t axis : axes)
    if (x.dim(axis).value != 1)
      call.invalid("axis " + std::to_string(axis) + " has " +
                   std::to_string(x.dim(axis).value) + " elements");
  call.give(axes.empty() ? x : squeeze(x, Axes(axes)));
}

static void unsqueezeRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> axes = axesOf(call);
  axes = call.axesOf(axes, x.rank() + int64_t(axes.size()));
  std::ranges::sort(axes);
  for (int64_t axis : axes)
    x = unsqueeze(x, axis);
  call.give(x);
}

static void transposeRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> order = call.integers("perm");
  if (!call.given("perm"))
    for (int64_t i = x.rank(); i-- > 0;)
      order.push_back(i);
  if (int64_t(order.size()) != x.rank())
    call.invalid("perm has another rank");
  order = call.axesOf(order, x.rank());
  call.give(order.size() < 2 ? x : permute(x, Axes(order)));
}

//===- Repeated elements --------------------------------------------------===//

/// The shape that x and another one broadcast to.
static void expandRule(Call &call) {
  Tensor x = call.tensor(0);
  Dims shape = call.dims(1, "the shape");
  if (int64_t(shape.size()) < x.rank())
    shape.insert(shape.begin(), size_t(x.rank()) - shape.size(), Dim(1));
  for (int64_t i = 1; i <= x.rank(); ++i) {
    Dim &wanted = shape[shape.size() - size_t(i)];
    if (wanted.isConstant() && wanted.value == 1)
      wanted = x.dim(-i);
  }
  call.give(broadcast(x, shape));
}

static void tileRule(Call &call) {
  Tensor x = call.tensor(0);
  if (call.opset() < 6) {
    int64_t axis = call.axisOf(call.integer(2, "axis"), x.rank());
    std::vector<int64_t> counts(size_t(x.rank()), 1);
    counts[size_t(axis)] = call.integer(1, "tiles");
    return call.give(repeat(x, Axes(counts)));
  }
  std::vector<int64_t> counts = call.integers(1, "repeats");
  if (int64_t(counts.size()) != x.rank())
    call.invalid("repeats has another rank");
  call.give(counts.empty() ? x : repeat(x, Axes(counts)));
}

//===- Blocks -------------------------------------------------------------===//

static void depthToSpaceRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t block = call.integer("blocksize");
  std::string mode = call.opset() < 11 ? "DCR" : call.text("mode");
  if (x.rank() != 4 || block < 1 || block > mostFactor ||
      (mode != "DCR" && mode != "CRD"))
    call.invalid("a block of " + std::to_string(block) + ", mode " + mode +
                 ", on a tensor of rank " + std::to_string(x.rank()));
  Dim inner = floorDiv(x.dim(1), Dim(block * block));
  if (fixed(x.dim(1)) % (block * block) != 0)
    call.invalid("the channels are no multiple of the block");
  Dim n = x.dim(0), h = x.dim(2), w = x.dim(3);
  Tensor apart = mode == "DCR"
                     ? permute(reshape(x, {n, block, block, inner, h, w}),
                               {0, 3, 4, 1, 5, 2})
                     : permute(reshape(x, {n, inner, block, block, h, w}),
                               {0, 1, 4, 2, 5, 3});
  call.give(reshape(apart, {n, inner, h * Dim(block), w * Dim(block)}));
}

static void spaceToDepthRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t block = call.integer("blocksize");
  std::string mode = call.opset() < 28 ? "DCR" : call.text("mode");
  if (x.rank() != 4 || block < 1 || block > mostFactor ||
      fixed(x.dim(2)) % block != 0 || fixed(x.dim(3)) % block != 0)
    call.invalid("the space is no multiple of the block");
  if (mode != "DCR" && mode != "CRD")
    call.invalid("mode '" + mode + "'");
  Dim n = x.dim(0), c = x.dim(1);
  Dim h = floorDiv(x.dim(2), Dim(block)), w = floorDiv(x.dim(3), Dim(block));
  Tensor apart = reshape(x, {n, c, h, block, w, block});
  Axes order = mode == "DCR" ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4};
  call.give(reshape(permute(apart, order), {n, c * Dim(block * block), h, w}));
}

/// The sums of columns at the places that windows were taken from.
static void col2imRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> space = call.integers(1, "image_shape");
  std::vector<int64_t> sizes = call.integers(2, "block_shape");
  size_t rank = sizes.size();
  auto list = [&](const char *name, size_t count, int64_t otherwise) {
    std::vector<int64_t> numbers = call.integers(name);
    if (numbers.empty())
      numbers.assign(count, otherwise);
    if (numbers.size() != count)
      call.invalid(std::string(name) + " has another rank");
    return numbers;
  };
  std::vector<int64_t> strides = list("strides", rank, 1),
                       dilations = list("dilations", rank, 1),
                       pads = list("pads", 2 * rank, 0);
  if (rank == 0 || space.size() != rank || x.rank() != 3)
    call.invalid("image_shape and block_shape have different ranks");
  int64_t window = 1;
  Dims apart{x.dim(0), Dim(-1)}, whole{x.dim(0), Dim(0)};
  std::vector<int64_t> axes;
  std::vector<Padding> cut;
  Dims counts;
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t each : {sizes[i], strides[i], dilations[i]})
      if (each < 1 || each > mostFactor)
        call.invalid("a block, stride or dilation of " + std::to_string(each));
    for (int64_t each : {space[i], pads[i], pads[rank + i]})
      if (each < -mostFactor || each > mostFactor)
        call.invalid("an image or padding of " + std::to_string(each));
    int64_t padded = space[i] + pads[i] + pads[rank + i];
    int64_t reach = (sizes[i] - 1) * dilations[i] + 1;
    if (padded < reach || __builtin_mul_overflow(window, sizes[i], &window))
      call.invalid("blocks do not fit the image");
    axes.push_back(int64_t(i) + 2);
    counts.emplace_back((padded - reach) / strides[i] + 1);
    whole.emplace_back(padded);
    cut.push_back({int64_t(i) + 2, -pads[i], -pads[rank + i]});
  }
  if (fixed(x.dim(1)) % window != 0)
    call.invalid("the channels are no multiple of the block");
  int64_t channels = x.dim(1).value / window;
  apart[1] = whole[1] = Dim(channels);
  for (int64_t size : sizes)
    apart.emplace_back(size);
  apart.insert(apart.end(), counts.begin(), counts.end());
  // Windows stand last, their positions where the space was.
  std::vector<int64_t> order{0, 1};
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(2 + rank + i));
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(2 + i));
  Tensor windows = permute(reshape(x, apart), Axes(order));
  Tensor places = unwindow(windows, whole, Axes(axes), Axes(sizes),
                           Axes(strides), Axes(dilations));
  std::vector<int64_t> windowAxes;
  for (size_t i = 0; i < rank; ++i)
    windowAxes.push_back(int64_t(2 + rank + i));
  call.give(pad(sum(places, Axes(windowAxes)), cut));
}

static constexpr Operator rows[] = {
    {"Shape", 1, 14, "", shapeRule},
    {"Shape", 15, 0, "end:int start:int=0", shapeRule},
    {"Size", 1, 0, "", sizeRule},
    {"Identity", 1, 0, "", identityRule},
    {"Reshape", 1, 4, "shape:ints consumed_inputs:ints", reshapeRule},
    {"Reshape", 5, 13, "", reshapeRule},
    {"Reshape", 14, 0, "allowzero:int=0", reshapeRule},
    {"Flatten", 1, 0, "axis:int=1", flattenRule},
    {"Squeeze", 1, 12, "axes:ints", squeezeRule},
    {"Squeeze", 13, 0, "", squeezeRule},
    {"Unsqueeze", 1, 12, "axes:ints!", unsqueezeRule},
    {"Unsqueeze", 13, 0, "", unsqueezeRule},
    {"Transpose", 1, 0, "perm:ints", transposeRule},
    {"Expand", 8, 0, "", expandRule},
    {"Tile", 1, 0, "", tileRule},
    {"DepthToSpace", 1, 10, "blocksize:int!", depthToSpaceRule},
    {"DepthToSpace", 11, 0, "blocksize:int! mode:string=DCR", depthToSpaceRule},
    {"SpaceToDepth", 1, 27, "blocksize:int!", spaceToDepthRule},
    {"SpaceToDepth", 28, 0, "blocksize:int! mode:string=DCR", spaceToDepthRule},
    {"Col2Im", 18, 0, "dilations:ints pads:ints strides:ints", col2imRule},
};

std::span<const Operator> shapeRows() { return rows; }

} // namespace sinter::onnx
