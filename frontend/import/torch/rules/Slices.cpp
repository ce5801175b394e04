/// Views that take a part.
#include "frontend/import/torch/rules/Rules.h"

#include <algorithm>

namespace sinter::torch {

//===- Ranges -------------------------------------------------------------===//

namespace {
/// [start, limit) along an axis. A start below 0 counts from the end, where
/// the axis is open.
struct Range {
  int64_t axis = 0;
  Dim start, limit;
  int64_t step = 1;
};
} // namespace

/// A bound as PyTorch reads it: from the end, and no farther than the axis.
static Dim clamped(Dim bound, Dim size) {
  bool isOpen = !size.isConstant();
  if (bound.isConstant() && bound.value < 0) {
    if (bound.value + size.value < 0)
      return Dim(0);
    return size + bound;
  }
  // Whether an open axis is long enough is a guard of this recording.
  if (bound.value >= size.value)
    return isOpen || !bound.isConstant() ? size : Dim(size.value);
  return bound;
}

static Range rangeOf(Call &call, const Tensor &x) {
  Range range;
  range.axis = call.axis("dim", x.rank(), 0);
  Dim size = x.dim(range.axis);
  range.step = call.integer("step", 1);
  if (range.step < 1)
    call.invalid("a step of " + std::to_string(range.step));
  Dim start = call.has("start") ? call.dim("start") : Dim(0);
  Dim limit = call.has("end") ? call.dim("end") : size;
  range.limit = clamped(limit, size);
  bool countsFromEnd = start.isConstant() && start.value < 0 &&
                       start.value + size.value >= 0 && !size.isConstant();
  range.start = countsFromEnd ? start : clamped(start, size);
  if (!countsFromEnd && range.start.value > range.limit.value)
    range.limit = range.start;
  // A bound that is as long as the axis is now need not be its end: the file
  // says whether the result is open.
  const TensorRecord *result = call.outputRecord();
  bool isNumber = result && !call.hasMisstatedArgument() &&
                  size_t(range.axis) < result->sizes.size() &&
                  result->sizes[size_t(range.axis)].number &&
                  !size.isConstant() && range.start.isConstant() &&
                  range.start.value >= 0;
  int64_t count =
      isNumber ? *result->sizes[size_t(range.axis)].number : int64_t(0);
  if (count > 0 && count <= size.value)
    range.limit = Dim(range.start.value + (count - 1) * range.step + 1);
  return range;
}

static void sliceRule(Call &call) {
  Range range = rangeOf(call, call.tensor("self"));
  call.giveView("self", {[range](const Tensor &base) {
                           return sliceAxis(base, range.axis, range.start,
                                            range.limit, range.step);
                         },
                         [range](const Tensor &base, const Tensor &part) {
                           return putSlice(base, part, range.axis, range.start,
                                           range.limit, range.step);
                         }});
}

static void sliceScatterRule(Call &call) {
  Tensor x = call.tensor("self");
  Range range = rangeOf(call, x);
  call.give(putSlice(x, call.tensor("src"), range.axis, range.start,
                     range.limit, range.step));
}

static View narrowed(int64_t axis, Dim start, Dim length) {
  return {[=](const Tensor &base) {
            return sliceAxis(base, axis, start, start + length);
          },
          [=](const Tensor &base, const Tensor &part) {
            return putSlice(base, part, axis, start, start + length);
          }};
}

static void narrowRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank());
  call.giveView("self", narrowed(axis, clamped(call.dim("start"), x.dim(axis)),
                                 call.dim("length")));
}

//===- One of an axis -----------------------------------------------------===//

/// An index from the end, where the axis is open, as a range of one.
static View selected(int64_t axis, Dim index, Dim size) {
  Dim start = index;
  bool countsFromEnd = index.isConstant() && index.value < 0;
  if (countsFromEnd && size.isConstant())
    start = size + index;
  Dim limit = start.value < 0 ? size + start + Dim(1) : start + Dim(1);
  auto without = [axis](const Tensor &part) {
    Dims shape = part.shape();
    shape.erase(shape.begin() + axis);
    return reshape(part, shape);
  };
  return {[=](const Tensor &base) {
            return without(sliceAxis(base, axis, start, limit));
          },
          [=](const Tensor &base, const Tensor &part) {
            return putSlice(base, unsqueeze(part, axis), axis, start, limit);
          }};
}

static View selectedBy(Call &call, const Tensor &x) {
  int64_t axis = call.axis("dim", x.rank());
  if (x.rank() == 0)
    call.invalid("a tensor without axes");
  Dim index = call.dim("index"), size = x.dim(axis);
  if (index.value < -size.value || index.value >= size.value)
    call.invalid("index " + std::to_string(index.value) + " of an axis of " +
                 std::to_string(size.value));
  return selected(axis, index, size);
}

static void selectRule(Call &call) {
  call.giveView("self", selectedBy(call, call.tensor("self")));
}
static void selectScatterRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(selectedBy(call, x).put(x, call.tensor("src").to(x.dtype())));
}

static void unbindRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank(), 0);
  if (x.rank() == 0)
    call.invalid("a tensor without axes");
  int64_t size = fixed(x.dim(axis));
  requireParts(call, size);
  std::vector<View> views;
  for (int64_t i = 0; i < size; ++i)
    views.push_back(selected(axis, i, x.dim(axis)));
  call.giveViews("self", std::move(views));
}

//===- Several parts ------------------------------------------------------===//

static void giveParts(Call &call, int64_t axis, const Dims &sizes) {
  requireParts(call, int64_t(sizes.size()));
  std::vector<View> views;
  Dim start(0);
  for (Dim size : sizes) {
    views.push_back(narrowed(axis, start, size));
    start = start + size;
  }
  call.giveViews("self", std::move(views));
}

/// Parts of one size; the last may be shorter.
static Dims equalParts(Call &call, int64_t all, int64_t size) {
  if (size < 1)
    call.invalid("parts of " + std::to_string(size));
  int64_t count = all / size + (all % size != 0);
  requireParts(call, std::max<int64_t>(count, 1));
  Dims sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(std::min(size, all - i * size));
  if (sizes.empty())
    sizes.push_back(Dim(0));
  return sizes;
}

static void splitRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank(), 0);
  giveParts(call, axis,
            equalParts(call, fixed(x.dim(axis)), call.integer("split_size")));
}

static void splitSizesRule(Call &call) {
  Tensor x = call.tensor("self");
  const char *name = call.has("split_sizes") ? "split_sizes" : "split_size";
  giveParts(call, call.axis("dim", x.rank(), 0), call.dims(name));
}

static void chunkRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank(), 0), chunks = call.integer("chunks");
  if (chunks < 1)
    call.invalid(std::to_string(chunks) + " chunks");
  int64_t all = fixed(x.dim(axis));
  giveParts(
      call, axis,
      equalParts(call, all,
                 std::max<int64_t>(1, all / chunks + (all % chunks != 0))));
}

static void tensorSplitRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank(), 0);
  int64_t all = fixed(x.dim(axis));
  Dims sizes;
  if (call.has("sections")) {
    int64_t sections = call.integer("sections");
    if (sections < 1)
      call.invalid(std::to_string(sections) + " sections");
    requireParts(call, sections);
    for (int64_t i = 0; i < sections; ++i)
      sizes.push_back(all / sections + (i < all % sections));
  } else {
    int64_t start = 0;
    std::vector<int64_t> ends = call.integers("indices");
    ends.push_back(all);
    for (int64_t end : ends) {
      int64_t next = std::clamp(end < 0 ? end + all : end, start, all);
      sizes.push_back(next - start);
      start = next;
    }
  }
  giveParts(call, axis, sizes);
}

//===- Diagonals and windows ----------------------------------------------===//

static void diagonalRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t offset = call.integer("offset", 0),
          first = call.axis("dim1", x.rank(), 0),
          second = call.axis("dim2", x.rank(), 1);
  call.giveView("self", {[=](const Tensor &base) {
                           return diagonal(base, offset, first, second);
                         },
                         [=](const Tensor &base, const Tensor &part) {
                           return putDiagonal(base, part, offset, first,
                                              second);
                         }});
}

static void unfoldRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dimension", x.rank()), size = call.integer("size"),
          step = call.integer("step");
  call.giveView(
      "self",
      {[=](const Tensor &base) { return unfold(base, axis, size, step); }, {}});
}

static constexpr Operator rows[] = {
    {"aten.slice.Tensor", sliceRule},
    {"aten.slice_scatter.default", sliceScatterRule},
    {"aten.narrow.default", narrowRule},
    {"aten.select.int", selectRule},
    {"aten.select_scatter.default", selectScatterRule},
    {"aten.unbind.int", unbindRule},
    {"aten.split.Tensor", splitRule},
    {"aten.unsafe_split.Tensor", splitRule},
    {"aten.split.sizes", splitSizesRule},
    {"aten.split_with_sizes.default", splitSizesRule},
    {"aten.chunk.default", chunkRule},
    {"aten.unsafe_chunk.default", chunkRule},
    {"aten.tensor_split.sections", tensorSplitRule},
    {"aten.tensor_split.indices", tensorSplitRule},
    {"aten.diagonal.default", diagonalRule},
    {"aten.unfold.default", unfoldRule},
};

std::span<const Operator> sliceRows() { return rows; }

} // namespace sinter::torch
