/// Views that rearrange all elements, and copies.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Complex.h>

#include <algorithm>
#include <numeric>

namespace sinter::torch {

//===- Shapes -------------------------------------------------------------===//

/// `reshape` works out a -1; the view's own shape has no -1 in it.
static View viewOf(const Tensor &x, const Dims &dims) {
  return reshapedView(reshape(x, dims).shape());
}

static void viewRule(Call &call, const char *name) {
  Tensor x = call.tensor("self");
  call.giveView("self", viewOf(x, call.dims(name)));
}
static void viewSizeRule(Call &call) { viewRule(call, "size"); }

static void unflattenRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank());
  Dims sizes = call.dims("sizes");
  call.giveView(
      "self", {[=](const Tensor &base) { return unflatten(base, axis, sizes); },
               [](const Tensor &base, const Tensor &part) {
                 return reshape(part, base.shape());
               }});
}

static void squeezeRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> axes;
  if (call.has("dim"))
    for (int64_t axis : call.integers("dim"))
      axes.push_back(call.axisOf(axis, x.rank()));
  else
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  Dims shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    bool isNamed = std::ranges::count(axes, i) > 0;
    // Whether an open axis is one is what the file says.
    bool isOne = x.dim(i).isConstant() && x.dim(i).value == 1;
    if (!isNamed || !isOne)
      shape.push_back(x.dim(i));
  }
  call.giveView("self", reshapedView(shape));
}

static void unsqueezeRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank() + 1);
  Dims shape = x.shape();
  shape.insert(shape.begin() + axis, Dim(1));
  call.giveView("self", reshapedView(shape));
}

//===- Orders of axes -----------------------------------------------------===//

static void givePermuted(Call &call, std::vector<int64_t> order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[size_t(order[i])] = int64_t(i);
  call.giveView("self",
                {[order](const Tensor &base) { return permute(base, order); },
                 [back](const Tensor &, const Tensor &part) {
                   return permute(part, back);
                 }});
}

static void permuteRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> order = call.integers("dims"), sorted;
  if (int64_t(order.size()) != x.rank())
    call.invalid("as many axes as the tensor has are needed");
  for (int64_t &axis : order)
    axis = call.axisOf(axis, x.rank());
  sorted = order;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    call.invalid("an axis comes twice");
  givePermuted(call, order);
}

static void exchange(Call &call, int64_t first, int64_t second) {
  std::vector<int64_t> order(size_t(call.tensor("self").rank()));
  std::iota(order.begin(), order.end(), 0);
  if (order.empty())
    return givePermuted(call, order);
  std::swap(order[size_t(first)], order[size_t(second)]);
  givePermuted(call, order);
}

static void transposeRule(Call &call) {
  int64_t rank = call.tensor("self").rank();
  exchange(call, call.axis("dim0", rank), call.axis("dim1", rank));
}
static void swapaxesRule(Call &call) {
  int64_t rank = call.tensor("self").rank();
  exchange(call, call.axis("axis0", rank), call.axis("axis1", rank));
}

/// Of a matrix; vectors stay.
static void transposedRule(Call &call) {
  int64_t rank = call.tensor("self").rank();
  if (rank > 2)
    call.invalid("a tensor of more than two axes");
  exchange(call, 0, std::max<int64_t>(rank - 1, 0));
}
static void lastTwoRule(Call &call) {
  int64_t rank = call.tensor("self").rank();
  if (rank < 2)
    call.invalid("a tensor of less than two axes");
  exchange(call, rank - 2, rank - 1);
}

static void movedimRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> from = call.integers("source"),
                       to = call.integers("destination"),
                       order(size_t(x.rank()), -1);
  if (from.size() != to.size())
    call.invalid("as many sources as destinations are needed");
  if (order.empty()) {
    for (size_t i = 0; i < from.size(); ++i) {
      call.axisOf(from[i], 0);
      call.axisOf(to[i], 0);
    }
    return givePermuted(call, order);
  }
  std::vector<bool> isTaken(order.size());
  for (size_t i = 0; i < from.size(); ++i) {
    auto source = size_t(call.axisOf(from[i], x.rank()));
    int64_t &place = order[size_t(call.axisOf(to[i], x.rank()))];
    if (place >= 0 || isTaken[source])
      call.invalid("an axis comes twice");
    place = int64_t(source);
    isTaken[source] = true;
  }
  size_t next = 0;
  for (int64_t &axis : order) {
    if (axis >= 0)
      continue;
    while (next < isTaken.size() && isTaken[next])
      ++next;
    axis = int64_t(next++);
  }
  givePermuted(call, order);
}

//===- Repetition ---------------------------------------------------------===//

static void expandRule(Call &call) {
  call.ignore({"implicit"});
  Tensor x = call.tensor("self");
  Dims shape = call.dims("size");
  size_t added = shape.size() - size_t(x.rank());
  if (shape.size() < size_t(x.rank()))
    call.invalid("less sizes than axes");
  for (size_t i = added; i < shape.size(); ++i)
    if (shape[i].isConstant() && shape[i].value == -1)
      shape[i] = x.dim(int64_t(i - added));
  call.giveView(
      "self",
      {[shape](const Tensor &base) { return expand(base, shape); }, {}});
}

static void expandAsRule(Call &call) {
  Dims shape = call.tensor("other").shape();
  call.giveView(
      "self",
      {[shape](const Tensor &base) { return expand(base, shape); }, {}});
}

/// Sizes times counts, of which none is a symbol.
static void repeatRule(Call &call) {
  Tensor x = call.tensor("self");
  Dims counts = call.dims(call.has("repeats") ? "repeats" : "dims");
  if (std::ranges::all_of(counts, &Dim::isConstant)) {
    while (counts.size() < size_t(x.rank()))
      counts.insert(counts.begin(), Dim(1));
    call.give(repeat(x, fixed(counts)));
    return;
  }
  // Counts with symbols: a new axis before each, of so many.
  size_t added = counts.size() - std::min(counts.size(), size_t(x.rank()));
  Dims apart, wide, shape;
  for (size_t i = 0; i < counts.size(); ++i) {
    Dim own = i < added ? Dim(1) : x.dim(int64_t(i - added));
    apart.insert(apart.end(), {Dim(1), own});
    wide.insert(wide.end(), {counts[i], own});
    shape.push_back(counts[i] * own);
  }
  call.give(reshape(expand(reshape(x, apart), wide), shape));
}

static void repeatInterleaveRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"output_size"});
  int64_t count = call.integer("repeats");
  if (!call.has("dim")) {
    call.give(repeat_interleave(flatten(x), count, 0));
    return;
  }
  call.give(repeat_interleave(x, count, call.axis("dim", x.rank())));
}

//===- Copies -------------------------------------------------------------===//

/// What is the tensor itself, as far as values go.
static void sameRule(Call &call) {
  call.ignore({"memory_format"});
  call.giveArgument("self");
}
static void copyRule(Call &call) {
  call.ignore({"memory_format"});
  call.give(call.tensor("self"));
}

static void detachRule(Call &call) {
  call.giveView("self",
                {[](const Tensor &base) { return base.detach(); },
                 [](const Tensor &, const Tensor &part) { return part; }});
}

static void toRule(Call &call) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "non_blocking",
               "copy", "memory_format", "other"});
  call.give(call.tensor("self").to(call.outputDType()));
}

/// `src` in the dtype and shape of `self`.
static void copyFromRule(Call &call) {
  call.ignore({"non_blocking"});
  Tensor x = call.tensor("self");
  call.give(expand(call.tensor("src").to(x.dtype()), x.shape()));
}

static void fillRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor value = asTensor(call, call.value("value"), x.dtype());
  call.give(expand(value, x.shape()));
}
static void zeroRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(zeros(x.shape(), {x.dtype(), x.device()}));
}

static void viewAsRealRule(Call &call) {
  call.giveView("self", {[](const Tensor &base) { return view_as_real(base); },
                         [](const Tensor &, const Tensor &part) {
                           return view_as_complex(part);
                         }});
}
static void viewAsComplexRule(Call &call) {
  call.giveView(
      "self",
      {[](const Tensor &base) { return view_as_complex(base); },
       [](const Tensor &, const Tensor &part) { return view_as_real(part); }});
}

static constexpr Operator rows[] = {
    {"aten.view.default", viewSizeRule},
    {"aten._unsafe_view.default", viewSizeRule},
    {"aten.view_copy.default", viewSizeRule},
    {"aten.unflatten.int", unflattenRule},
    {"aten.squeeze.default", squeezeRule},
    {"aten.squeeze.dim", squeezeRule},
    {"aten.squeeze.dims", squeezeRule},
    {"aten.unsqueeze.default", unsqueezeRule},
    {"aten.permute.default", permuteRule},
    {"aten.transpose.int", transposeRule},
    {"aten.swapaxes.default", swapaxesRule},
    {"aten.swapdims.default", transposeRule},
    {"aten.t.default", transposedRule},
    {"aten.numpy_T.default", transposedRule},
    {"aten.mT.default", lastTwoRule},
    {"aten.movedim.int", movedimRule},
    {"aten.movedim.intlist", movedimRule},
    {"aten.expand.default", expandRule},
    {"aten.expand_as.default", expandAsRule},
    {"aten.repeat.default", repeatRule},
    {"aten.tile.default", repeatRule},
    {"aten.repeat_interleave.self_int", repeatInterleaveRule},
    {"aten.alias.default", sameRule},
    {"aten.lift.default", sameRule},
    {"aten.lift_fresh.default", sameRule},
    {"aten.lift_fresh_copy.default", copyRule},
    {"aten.clone.default", copyRule},
    {"aten.detach.default", detachRule},
    {"aten.detach_copy.default", detachRule},
    {"aten.detach_.default", detachRule},
    {"aten._to_copy.default", toRule},
    {"aten.to.dtype", toRule},
    {"aten.to.dtype_layout", toRule},
    {"aten.to.device", toRule},
    {"aten.to.other", toRule},
    {"aten.type_as.default", toRule},
    {"aten.float.default", toRule},
    {"prims.convert_element_type.default", toRule},
    {"aten.copy.default", copyFromRule},
    {"aten.fill.Scalar", fillRule},
    {"aten.fill.Tensor", fillRule},
    {"aten.zero.default", zeroRule},
    {"aten.view_as_real.default", viewAsRealRule},
    {"aten.view_as_complex.default", viewAsComplexRule},
};

std::span<const Operator> shapeRows() { return rows; }

} // namespace sinter::torch
