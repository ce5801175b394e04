/// Pools.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Pooling.h>
#include <sinter/Transforms.h>

#include <algorithm>

namespace sinter::torch {

/// The last axes of x, as many as its kernel has.
static Axes spaceOf(const Tensor &x, size_t axes) {
  std::vector<int64_t> space;
  for (size_t i = 0; i < axes; ++i)
    space.push_back(x.rank() - int64_t(axes - i));
  return space;
}

static void checkRank(Call &call, const Tensor &x, size_t axes) {
  if (x.rank() != int64_t(axes) + 1 && x.rank() != int64_t(axes) + 2)
    call.invalid("a tensor of rank " + std::to_string(x.rank()) + " with " +
                 std::to_string(axes) + " axes of space");
}

//===- Largest ------------------------------------------------------------===//

static PoolOptions poolOptions(Call &call, size_t axes) {
  PoolOptions options;
  std::vector<int64_t> stride = call.integers("stride");
  if (!stride.empty())
    options.stride = call.integers("stride", axes, 1);
  options.padding = call.integers("padding", axes, 0);
  options.dilation = call.integers("dilation", axes, 1);
  options.ceil_mode = call.flag("ceil_mode");
  return options;
}

template <size_t axes> static void maxPoolRule(Call &call) {
  Tensor x = call.tensor("self");
  checkRank(call, x, axes);
  Axes kernel = call.integers("kernel_size", axes, 1);
  PoolOptions options = poolOptions(call, axes);
  if constexpr (axes == 1)
    call.give(max_pool1d(x, kernel, options));
  else if constexpr (axes == 2)
    call.give(max_pool2d(x, kernel, options));
  else
    call.give(max_pool3d(x, kernel, options));
}

template <size_t axes> static void maxPoolIndicesRule(Call &call) {
  Tensor x = call.tensor("self");
  checkRank(call, x, axes);
  auto [values, indices] = max_pool_with_indices(
      x, call.integers("kernel_size", axes, 1), poolOptions(call, axes));
  call.give(values);
  call.give(indices);
}

static Tensor flatSpace(const Tensor &x, size_t axes) {
  Dims dims = x.shape();
  Dim space(1);
  for (size_t i = 0; i < axes; ++i) {
    space = space * dims.back();
    dims.pop_back();
  }
  dims.push_back(space);
  return reshape(x, dims);
}

/// Each gradient goes to the element that was the largest.
template <size_t axes> static void maxPoolBackwardRule(Call &call) {
  call.ignore({"kernel_size", "stride", "padding", "dilation", "ceil_mode"});
  Tensor x = call.tensor("self"), grad = call.tensor("grad_output");
  Tensor indices = call.tensor("indices");
  checkRank(call, x, axes);
  if (grad.rank() != x.rank() || indices.rank() != x.rank())
    call.invalid("a gradient of another rank");
  Tensor flat = flatSpace(zeros_like(x), axes);
  Tensor put = scatter_add(flat, flatSpace(indices, axes),
                           flatSpace(grad, axes), flat.rank() - 1);
  call.give(reshape(put, x.shape()));
}

static void maxUnpoolRule(Call &call) {
  call.ignore({"stride", "padding"});
  call.give(max_unpool(call.tensor("self"), call.tensor("indices"),
                       call.dims("output_size")));
}

//===- Means --------------------------------------------------------------===//

static AvgPoolOptions avgOptions(Call &call, size_t axes) {
  AvgPoolOptions options;
  std::vector<int64_t> stride = call.integers("stride");
  if (!stride.empty())
    options.stride = call.integers("stride", axes, 1);
  options.padding = call.integers("padding", axes, 0);
  options.ceil_mode = call.flag("ceil_mode");
  options.count_include_pad = call.flag("count_include_pad", true);
  options.divisor = double(call.integer("divisor_override", 0));
  return options;
}

template <size_t axes>
static Tensor averaged(const Tensor &x, const Axes &kernel,
                       const AvgPoolOptions &options) {
  if constexpr (axes == 1)
    return avg_pool1d(x, kernel, options);
  else if constexpr (axes == 2)
    return avg_pool2d(x, kernel, options);
  else
    return avg_pool3d(x, kernel, options);
}

template <size_t axes> static void avgPoolRule(Call &call) {
  Tensor x = call.tensor("self");
  checkRank(call, x, axes);
  call.give(averaged<axes>(x, call.integers("kernel_size", axes, 1),
                           avgOptions(call, axes)));
}

/// What a function of x passes back.
template <typename F> static void giveBackward(Call &call, F &&function) {
  Vjp back = vjp([&](std::span<const Tensor> xs) { return function(xs[0]); },
                 {call.tensor("self")});
  call.give(back({call.tensor("grad_output")})[0]);
}

template <size_t axes> static void avgPoolBackwardRule(Call &call) {
  Axes kernel = call.integers("kernel_size", axes, 1);
  AvgPoolOptions options = avgOptions(call, axes);
  giveBackward(call, [&](const Tensor &x) {
    return averaged<axes>(x, kernel, options);
  });
}

//===- Of a size ----------------------------------------------------------===//

/// One window is a mean, whatever the size of the space.
static Tensor evened(const Tensor &x, const std::vector<int64_t> &size) {
  bool isOne =
      std::ranges::all_of(size, [](int64_t each) { return each == 1; });
  return isOne ? mean(x, spaceOf(x, size.size()), true)
               : adaptive_avg_pool(x, size);
}

template <size_t axes> static void adaptiveMeanRule(Call &call) {
  Tensor x = call.tensor("self");
  checkRank(call, x, axes);
  call.give(evened(x, call.integers("output_size", axes, 1)));
}

template <size_t axes> static void adaptiveMeanBackwardRule(Call &call) {
  Tensor grad = call.tensor("grad_output");
  checkRank(call, grad, axes);
  checkRank(call, call.tensor("self"), axes);
  std::vector<int64_t> size;
  for (size_t i = axes; i > 0; --i)
    size.push_back(fixed(grad.dim(-int64_t(i))));
  giveBackward(call, [&](const Tensor &x) { return evened(x, size); });
}

namespace {
/// The windows along one axis: where each begins and ends.
struct Windows {
  std::vector<int64_t> first, last;
  int64_t longest = 0;
};
} // namespace

static Windows windowsOf(int64_t from, int64_t to) {
  Windows windows;
  for (int64_t i = 0; i < to; ++i) {
    windows.first.push_back(i * from / to);
    windows.last.push_back(((i + 1) * from + to - 1) / to - 1);
    windows.longest = std::max(windows.longest,
                               windows.last.back() - windows.first.back() + 1);
  }
  return windows;
}

/// Positions in the flat space, of each element of each window: shorter windows
/// repeat their last one.
static std::vector<int64_t> positionsOf(const std::vector<Windows> &windows,
                                        const std::vector<int64_t> &space) {
  std::vector<int64_t> outer{0}; // of the axes before, window by window
  size_t per = 1;
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    const Windows &own = windows[axis];
    std::vector<int64_t> next;
    for (size_t window = 0; window * per < outer.size(); ++window)
      for (size_t i = 0; i < own.first.size(); ++i)
        for (size_t before = 0; before < per; ++before)
          for (int64_t k = 0; k < own.longest; ++k)
            next.push_back(outer[window * per + before] * space[axis] +
                           std::min(own.first[i] + k, own.last[i]));
    outer = std::move(next);
    per *= size_t(own.longest);
  }
  return outer;
}

/// The largest element of each window, and where it stands.
template <size_t axes> static void adaptiveMaxRule(Call &call) {
  Tensor x = call.tensor("self");
  checkRank(call, x, axes);
  std::vector<int64_t> size = call.integers("output_size", axes, 1), space;
  std::vector<Windows> windows;
  int64_t outputs = 1, taps = 1;
  for (size_t i = 0; i < axes; ++i) {
    space.push_back(fixed(x.dim(-int64_t(axes - i))));
    requireFew(call, size[i], "windows");
    requireFew(call, space[i], "elements along an axis");
    windows.push_back(windowsOf(space[i], size[i]));
    outputs *= size[i];
    taps *= windows[i].longest;
    if (outputs < 1 || taps < 1)
      call.unsupported("windows of no elements");
    requireFew(call, outputs, "windows");
    requireFew(call, taps, "elements of a window");
    requireFew(call, outputs * taps, "elements of windows");
  }
  Tensor places = tensor(positionsOf(windows, space), {outputs * taps},
                         {DType::i64, x.device()});
  Tensor flat = flatSpace(x, axes);
  int64_t last = flat.rank() - 1;
  Dims dims = flat.shape();
  dims.back() = Dim(outputs);
  Dims apart = dims;
  apart.emplace_back(taps);
  Tensor taken = reshape(index_select(flat, places, last), apart);
  Tensor at = argmax(taken, last + 1, true);
  Tensor where = broadcast(reshape(places, {outputs, taps}), apart);
  Dims shape = x.shape();
  for (size_t i = 0; i < axes; ++i)
    shape[shape.size() - axes + i] = Dim(size[i]);
  call.give(reshape(gather(taken, at, last + 1), shape));
  call.give(reshape(gather(where, at, last + 1), shape));
}

//===- Windows ------------------------------------------------------------===//

static PatchOptions patchOptions(Call &call) {
  PatchOptions options;
  options.dilation = call.integers("dilation", 2, 1);
  options.padding = call.integers("padding", 2, 0);
  options.stride = call.integers("stride", 2, 1);
  return options;
}

static void columnsRule(Call &call) {
  Tensor x = call.tensor("self");
  bool isSingle = x.rank() == 3;
  Tensor columns =
      im2col(isSingle ? unsqueeze(x, 0) : x, call.integers("kernel_size", 2, 1),
             patchOptions(call));
  call.give(isSingle ? squeeze(columns, 0) : columns);
}

static void imageRule(Call &call) {
  Tensor x = call.tensor("self");
  bool isSingle = x.rank() == 2;
  Tensor image =
      col2im(isSingle ? unsqueeze(x, 0) : x, call.integers("output_size", 2, 1),
             call.integers("kernel_size", 2, 1), patchOptions(call));
  call.give(isSingle ? squeeze(image, 0) : image);
}

static constexpr Operator rows[] = {
    {"aten.max_pool1d.default", maxPoolRule<1>},
    {"aten.max_pool2d.default", maxPoolRule<2>},
    {"aten.max_pool3d.default", maxPoolRule<3>},
    {"aten.max_pool1d_with_indices.default", maxPoolIndicesRule<1>},
    {"aten.max_pool2d_with_indices.default", maxPoolIndicesRule<2>},
    {"aten.max_pool3d_with_indices.default", maxPoolIndicesRule<3>},
    {"aten.max_pool2d_with_indices_backward.default", maxPoolBackwardRule<2>},
    {"aten.max_pool3d_with_indices_backward.default", maxPoolBackwardRule<3>},
    {"aten.max_unpool2d.default", maxUnpoolRule},
    {"aten.max_unpool3d.default", maxUnpoolRule},
    {"aten.avg_pool1d.default", avgPoolRule<1>},
    {"aten.avg_pool2d.default", avgPoolRule<2>},
    {"aten.avg_pool3d.default", avgPoolRule<3>},
    {"aten.avg_pool2d_backward.default", avgPoolBackwardRule<2>},
    {"aten.avg_pool3d_backward.default", avgPoolBackwardRule<3>},
    {"aten.adaptive_avg_pool1d.default", adaptiveMeanRule<1>},
    {"aten.adaptive_avg_pool2d.default", adaptiveMeanRule<2>},
    {"aten.adaptive_avg_pool3d.default", adaptiveMeanRule<3>},
    {"aten._adaptive_avg_pool2d.default", adaptiveMeanRule<2>},
    {"aten._adaptive_avg_pool3d.default", adaptiveMeanRule<3>},
    {"aten._adaptive_avg_pool2d_backward.default", adaptiveMeanBackwardRule<2>},
    {"aten._adaptive_avg_pool3d_backward.default", adaptiveMeanBackwardRule<3>},
    {"aten.adaptive_max_pool1d.default", adaptiveMaxRule<1>},
    {"aten.adaptive_max_pool2d.default", adaptiveMaxRule<2>},
    {"aten.adaptive_max_pool3d.default", adaptiveMaxRule<3>},
    {"aten.im2col.default", columnsRule},
    {"aten.col2im.default", imageRule},
};

std::span<const Operator> poolingRows() { return rows; }

} // namespace sinter::torch
