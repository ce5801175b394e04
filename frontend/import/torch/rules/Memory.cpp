/// Shapes of tensors that PyTorch gives a view of where its memory allows that,
/// and a copy where not: what a later change in place reaches depends on it.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/import/torch/Expressions.h"

#include <algorithm>
#include <map>

namespace sinter::torch {

namespace {
/// Sizes and strides of a tensor, in elements.
struct Layout {
  std::vector<int64_t> dims, strides;
};
} // namespace

/// Strides as the file says them, for the sizes of this recording. Empty where
/// the file does not say enough.
static std::optional<Layout> layoutOf(const Call &call, const Tensor &x) {
  const TensorRecord *record = call.inputRecord("self");
  if (!record || int64_t(record->strides.size()) != x.rank() ||
      record->sizes.size() != record->strides.size())
    return std::nullopt;
  Layout layout;
  std::map<std::string, int64_t, std::less<>> symbols;
  for (size_t i = 0; i < record->sizes.size(); ++i) {
    layout.dims.push_back(x.dim(int64_t(i)).value);
    if (isSymbol(record->sizes[i].expression))
      symbols[record->sizes[i].expression] = layout.dims.back();
  }
  for (const SizeRecord &stride : record->strides) {
    std::optional<int64_t> number =
        stride.number ? stride.number : evaluate(stride.expression, symbols);
    // Products with sizes fit, too.
    if (!number || *number < 0 || *number > INT32_MAX)
      return std::nullopt;
    layout.strides.push_back(*number);
  }
  return layout;
}

/// Axes of one size, and those that follow each other in memory, as one.
static Layout merged(const Layout &layout) {
  Layout merged;
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    if (layout.dims[i] == 1)
      continue;
    bool follows = !merged.dims.empty() &&
                   merged.strides.back() == layout.dims[i] * layout.strides[i];
    if (follows) {
      merged.dims.back() *= layout.dims[i];
      merged.strides.back() = layout.strides[i];
    } else {
      merged.dims.push_back(layout.dims[i]);
      merged.strides.push_back(layout.strides[i]);
    }
  }
  return merged;
}

/// Whether a view can have the shape (at::detail::computeStride): its axes must
/// be made of whole ones that follow each other in memory.
static bool canBeViewed(const Layout &layout, const Dims &shape) {
  Layout own = merged(layout);
  size_t next = 0;
  int64_t left = 1; // elements of the own axis that are not taken yet
  for (Dim dim : shape) {
    if (dim.value == 1)
      continue;
    if (dim.value == 0)
      return true;
    if (left == 1) {
      if (next == own.dims.size())
        return false;
      left = own.dims[next++];
    }
    if (left % dim.value != 0)
      return false;
    left /= dim.value;
  }
  return left == 1;
}

static void giveShape(Call &call, const Tensor &shaped) {
  std::optional<Layout> layout = layoutOf(call, call.tensor("self"));
  if (layout && !canBeViewed(*layout, shaped.shape()))
    call.give(shaped);
  else
    call.giveView("self", reshapedView(shaped.shape()));
}

static void reshapeRule(Call &call) {
  giveShape(call, reshape(call.tensor("self"), call.dims("shape")));
}
static void likeOtherRule(Call &call) {
  giveShape(call, reshape(call.tensor("self"), call.tensor("other").shape()));
}
static void flattenRule(Call &call) {
  Tensor x = call.tensor("self");
  giveShape(call, flatten(x, call.axis("start_dim", x.rank(), 0),
                          call.axis("end_dim", x.rank(), -1)));
}

/// Whether elements stand in memory in the order that is asked for.
static bool standsAs(const Layout &layout, int64_t format) {
  constexpr int64_t channelsLast = 2, channelsLast3d = 3, preserve = 4;
  if (format == preserve)
    return true;
  Layout ordered = layout;
  bool isLast = (format == channelsLast && layout.dims.size() == 4) ||
                (format == channelsLast3d && layout.dims.size() == 5);
  if (isLast) {
    std::rotate(ordered.dims.begin() + 1, ordered.dims.begin() + 2,
                ordered.dims.end());
    std::rotate(ordered.strides.begin() + 1, ordered.strides.begin() + 2,
                ordered.strides.end());
  }
  Layout all = merged(ordered);
  bool isEmpty = std::ranges::count(layout.dims, 0) > 0;
  return isEmpty || all.dims.empty() ||
         (all.dims.size() == 1 && all.strides[0] == 1);
}

static void contiguousRule(Call &call) {
  constexpr int64_t plain = 1;
  const Value &format = call.value("memory_format");
  std::optional<Layout> layout = layoutOf(call, call.tensor("self"));
  if (layout && !standsAs(*layout, format.isNone() ? plain : format.code))
    call.give(call.tensor("self"));
  else
    call.giveArgument("self");
}

static constexpr Operator rows[] = {
    {"aten.reshape.default", reshapeRule},
    {"aten.reshape_as.default", likeOtherRule},
    {"aten.view_as.default", likeOtherRule},
    {"aten.flatten.using_ints", flattenRule},
    {"aten.contiguous.default", contiguousRule},
};

std::span<const Operator> memoryRows() { return rows; }

} // namespace sinter::torch
