/// Shape rules of windows, convolutions and pooling.
#include "runtime/graph/ShapeRules.h"

#include "runtime/graph/ShapeChecks.h"

namespace sinter::graph::shape {

using Ints = std::span<const int64_t>;

static Status checkList(const ShapeContext &context, const char *name,
                        Ints values, size_t count, int64_t least) {
  if (values.size() != count)
    return shapeError(context, std::string(name) + " has " +
                                   std::to_string(values.size()) +
                                   " entries, not " + std::to_string(count));
  for (int64_t value : values)
    if (value < least || value > maxDim)
      return shapeError(context,
                        std::string(name) + " holds " + std::to_string(value));
  return {};
}

static Status checkWindows(const ShapeContext &context, size_t count,
                           Ints sizes, Ints strides, Ints dilations) {
  SINTER_TRY(checkList(context, "sizes", sizes, count, 1));
  SINTER_TRY(checkList(context, "strides", strides, count, 1));
  return checkList(context, "dilations", dilations, count, 1);
}

/// How many windows an axis of `extent` has: at least one.
static Result<Dim> countWindows(const ShapeContext &context, Dim extent,
                                int64_t size, int64_t stride,
                                int64_t dilation) {
  Dim reach((size - 1) * dilation + 1);
  if (!atLeast(context, extent, reach))
    return shapeError(context, "a window of " + std::to_string(reach.value) +
                                   " does not fit into " +
                                   std::to_string(extent.value));
  return floorDiv(extent - reach, Dim(stride)) + Dim(1);
}

//===- window, unwindow ---------------------------------------------------===//

static Result<InferredType> windowsOf(const ShapeContext &context,
                                      std::span<const Dim> dims, Ints axes,
                                      Ints sizes, Ints strides,
                                      Ints dilations) {
  SINTER_TRY(checkWindows(context, axes.size(), sizes, strides, dilations));
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(dims);
  for (size_t j = 0; j < axes.size(); ++j) {
    SINTER_TRY_ASSIGN(result.dims[axes[j]],
                      countWindows(context, dims[axes[j]], sizes[j], strides[j],
                                   dilations[j]));
    result.dims.push_back(Dim(sizes[j]));
  }
  if (result.dims.size() > maxRank)
    return shapeError(context, "too many axes");
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> window(const ShapeContext &context, Ints axes, Ints sizes,
                            Ints strides, Ints dilations) {
  return windowsOf(context, context.operands[0].dims, axes, sizes, strides,
                   dilations);
}

Result<InferredType> unwindow(const ShapeContext &context,
                              std::span<const Dim> shape, Ints axes, Ints sizes,
                              Ints strides, Ints dilations) {
  SINTER_TRY(checkSize(context, shape));
  for (int64_t axis : axes)
    if (axis >= int64_t(shape.size()))
      return shapeError(context, "axis " + std::to_string(axis) +
                                     " is out of range for the shape");
  SINTER_TRY_ASSIGN(InferredType windows,
                    windowsOf(context, shape, axes, sizes, strides, dilations));
  std::span<const Dim> x = context.operands[0].dims;
  bool fits = x.size() == windows.dims.size();
  for (size_t i = 0; fits && i < x.size(); ++i)
    fits = sameDim(context, x[i], windows.dims[i]);
  if (!fits)
    return shapeError(context, "x does not hold the windows of this shape");
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(shape);
  for (int64_t size : sizes)
    result.dims.push_back(Dim(size));
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

//===- Convolutions -------------------------------------------------------===//

namespace {
/// An image's axes: batch, channels and space.
struct Axes {
  size_t channels, space;
  explicit Axes(Layout layout, size_t spaces)
      : channels(layout == Layout::channels_first ? 1 : spaces + 1),
        space(layout == Layout::channels_first ? 2 : 1) {}
};
} // namespace

static Status checkImage(const ShapeContext &context, size_t operand,
                         size_t spaces) {
  if (spaces == 0)
    return shapeError(context, "sizes is empty");
  if (context.operands[operand].dims.size() != spaces + 2)
    return shapeError(context,
                      "an image with " + std::to_string(spaces) +
                          " axes and its batch and channels has rank " +
                          std::to_string(spaces + 2));
  return {};
}

static Status checkConv(const ShapeContext &context, Ints sizes, Ints strides,
                        Ints low, Ints high, Ints dilations, int64_t groups) {
  size_t spaces = sizes.size();
  SINTER_TRY(checkImage(context, 0, spaces));
  SINTER_TRY(checkWindows(context, spaces, sizes, strides, dilations));
  SINTER_TRY(checkList(context, "low", low, spaces, 0));
  SINTER_TRY(checkList(context, "high", high, spaces, 0));
  if (groups < 1)
    return shapeError(context,
                      "groups must be positive, not " + std::to_string(groups));
  if (context.operands[0].dtype != context.operands[1].dtype)
    return shapeError(context, "dtypes differ");
  return {};
}

/// A weight[m, n, sizes...] whose first dim is a multiple of `groups`.
static Status checkWeight(const ShapeContext &context, Ints sizes,
                          int64_t groups) {
  std::span<const Dim> weight = context.operands[1].dims;
  if (weight.size() != sizes.size() + 2)
    return shapeError(context, "the weight must have rank " +
                                   std::to_string(sizes.size() + 2));
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!sameDim(context, weight[i + 2], Dim(sizes[i])))
      return shapeError(context, "the weight's last dims are not the sizes");
  if (!sameDim(context, mod(weight[0], Dim(groups)), Dim(0)))
    return shapeError(context, "the weight's first dim is no multiple of " +
                                   std::to_string(groups) + " groups");
  return {};
}

Result<InferredType> conv(const ShapeContext &context, Ints sizes, Ints strides,
                          Ints low, Ints high, Ints dilations, int64_t groups,
                          Layout layout) {
  SINTER_TRY(checkConv(context, sizes, strides, low, high, dilations, groups));
  SINTER_TRY(checkWeight(context, sizes, groups));
  std::span<const Dim> x = context.operands[0].dims;
  std::span<const Dim> weight = context.operands[1].dims;
  Axes axes(layout, sizes.size());
  if (!sameDim(context, x[axes.channels], weight[1] * Dim(groups)))
    return shapeError(context, "x has " +
                                   std::to_string(x[axes.channels].value) +
                                   " channels, not as many as the weight");
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(x);
  result.dims[axes.channels] = weight[0];
  for (size_t i = 0; i < sizes.size(); ++i) {
    Dim &dim = result.dims[axes.space + i];
    SINTER_TRY_ASSIGN(dim, countWindows(context, dim + Dim(low[i] + high[i]),
                                        sizes[i], strides[i], dilations[i]));
  }
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> convTranspose(const ShapeContext &context, Ints sizes,
                                   Ints strides, Ints low, Ints high,
                                   Ints dilations, int64_t groups,
                                   std::span<const Dim> space, Layout layout) {
  SINTER_TRY(checkConv(context, sizes, strides, low, high, dilations, groups));
  SINTER_TRY(checkWeight(context, sizes, groups));
  if (space.size() != sizes.size())
    return shapeError(context, "space has " + std::to_string(space.size()) +
                                   " dims, not " +
                                   std::to_string(sizes.size()));
  std::span<const Dim> x = context.operands[0].dims;
  std::span<const Dim> weight = context.operands[1].dims;
  Axes axes(layout, sizes.size());
  if (!sameDim(context, x[axes.channels], weight[0]))
    return shapeError(context, "x has not as many channels as the weight");
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(x);
  result.dims[axes.channels] = weight[1] * Dim(groups);
  for (size_t i = 0; i < sizes.size(); ++i) {
    // All that x spreads to.
    Dim reach = (x[axes.space + i] - Dim(1)) * Dim(strides[i]) +
                Dim((sizes[i] - 1) * dilations[i] + 1);
    if (!atLeast(context, space[i] + Dim(low[i] + high[i]), reach))
      return shapeError(context, "the result's space is too small");
    result.dims[axes.space + i] = space[i];
  }
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> convWeight(const ShapeContext &context, Ints sizes,
                                Ints strides, Ints low, Ints high,
                                Ints dilations, int64_t groups, Layout layout) {
  SINTER_TRY(checkConv(context, sizes, strides, low, high, dilations, groups));
  SINTER_TRY(checkImage(context, 1, sizes.size()));
  std::span<const Dim> x = context.operands[0].dims;
  std::span<const Dim> grad = context.operands[1].dims;
  Axes axes(layout, sizes.size());
  if (!sameDim(context, x[0], grad[0]))
    return shapeError(context, "batch dimensions differ");
  for (Dim channels : {x[axes.channels], grad[axes.channels]})
    if (!sameDim(context, mod(channels, Dim(groups)), Dim(0)))
      return shapeError(context, "channels are no multiple of " +
                                     std::to_string(groups) + " groups");
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.push_back(grad[axes.channels]);
  result.dims.push_back(floorDiv(x[axes.channels], Dim(groups)));
  for (size_t i = 0; i < sizes.size(); ++i) {
    SINTER_TRY_ASSIGN(Dim most,
                      countWindows(context,
                                   x[axes.space + i] + Dim(low[i] + high[i]),
                                   sizes[i], strides[i], dilations[i]));
    if (!atLeast(context, most, grad[axes.space + i]))
      return shapeError(context, "grad has more positions than x has windows");
    result.dims.push_back(Dim(sizes[i]));
  }
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

//===- Pooling ------------------------------------------------------------===//

Result<InferredType> pool(const ShapeContext &context, Ints sizes, Ints strides,
                          Ints low, Ints high, Ints dilations, Layout layout) {
  size_t spaces = sizes.size();
  SINTER_TRY(checkImage(context, 0, spaces));
  SINTER_TRY(checkWindows(context, spaces, sizes, strides, dilations));
  SINTER_TRY(checkList(context, "low", low, spaces, 0));
  SINTER_TRY(checkList(context, "high", high, spaces, 0));
  Axes axes(layout, spaces);
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(context.operands[0].dims);
  for (size_t i = 0; i < spaces; ++i) {
    Dim &dim = result.dims[axes.space + i];
    SINTER_TRY_ASSIGN(dim, countWindows(context, dim + Dim(low[i] + high[i]),
                                        sizes[i], strides[i], dilations[i]));
  }
  return result;
}

Result<InferredType> avgPool(const ShapeContext &context, Ints sizes,
                             Ints strides, Ints low, Ints high, Ints dilations,
                             Ints countedLow, Ints countedHigh, double divisor,
                             Layout layout) {
  SINTER_TRY(checkList(context, "counted_low", countedLow, sizes.size(), 0));
  SINTER_TRY(checkList(context, "counted_high", countedHigh, sizes.size(), 0));
  for (int64_t dilation : dilations)
    if (dilation != 1)
      return shapeError(context, "windows of avg_pool have no dilation");
  if (!(divisor == divisor))
    return shapeError(context, "the divisor is not a number");
  return pool(context, sizes, strides, low, high, dilations, layout);
}

} // namespace sinter::graph::shape
