/// Pooling layers: the functions of their names with fixed options.
#pragma once

#include <sinter/Arguments.h>
#include <sinter/Module.h>
#include <sinter/Pooling.h>

#include <source_location>
#include <vector>

namespace sinter::detail {

/// The windows that a pooling layer is made with.
template <typename Options>
void checkWindows(const Arguments &call, const Axes &kernel,
                  const Options &options, size_t spaces) {
  call.eachAtLeast(1, "kernel", kernel, spaces)
      .eachAtLeast(0, "padding", options.padding, spaces);
  if (!options.stride.isAll())
    call.eachAtLeast(1, "stride", options.stride, spaces);
  if constexpr (requires { options.dilation; })
    call.eachAtLeast(1, "dilation", options.dilation, spaces);
  else
    call.notNegative("divisor", options.divisor);
}

} // namespace sinter::detail

namespace sinter::nn {

/// `max_pool1d` and `max_pool2d`.
template <int spaces> class MaxPoolLayer {
public:
  using Where = std::source_location;

  MaxPoolLayer() = default;
  explicit MaxPoolLayer(const Axes &kernel, const PoolOptions &options = {},
                        Where where = Where::current())
      : kernel(kernel), options(options) {
    detail::Arguments call("max_pool", where);
    detail::checkWindows(call, kernel, options, spaces);
  }

  Tensor forward(const Tensor &x) const {
    return spaces == 1 ? max_pool1d(x, kernel, options)
                       : max_pool2d(x, kernel, options);
  }

  Axes kernel = 1;
  PoolOptions options;

  SINTER_MODULE(MaxPoolLayer, kernel, options)
};
using MaxPool1d = MaxPoolLayer<1>;
using MaxPool2d = MaxPoolLayer<2>;

/// `avg_pool1d` and `avg_pool2d`.
template <int spaces> class AvgPoolLayer {
public:
  using Where = std::source_location;

  AvgPoolLayer() = default;
  explicit AvgPoolLayer(const Axes &kernel, const AvgPoolOptions &options = {},
                        Where where = Where::current())
      : kernel(kernel), options(options) {
    detail::Arguments call("avg_pool", where);
    detail::checkWindows(call, kernel, options, spaces);
  }

  Tensor forward(const Tensor &x) const {
    return spaces == 1 ? avg_pool1d(x, kernel, options)
                       : avg_pool2d(x, kernel, options);
  }

  Axes kernel = 1;
  AvgPoolOptions options;

  SINTER_MODULE(AvgPoolLayer, kernel, options)
};
using AvgPool1d = AvgPoolLayer<1>;
using AvgPool2d = AvgPoolLayer<2>;

/// `adaptive_avg_pool` or `adaptive_max_pool` to `size`, one number for each
/// axis of the space, or one for all.
template <Tensor (*pool)(const Arg &, const Axes &, Layout), size_t spaces>
class AdaptivePoolLayer {
public:
  using Where = std::source_location;

  AdaptivePoolLayer() = default;
  explicit AdaptivePoolLayer(const Axes &size,
                             Layout layout = Layout::channels_first,
                             Where where = Where::current())
      : size(size), layout(layout) {
    detail::Arguments("adaptive_pool", where)
        .eachAtLeast(1, "size", size, spaces);
  }

  Tensor forward(const Tensor &x) const {
    std::vector<int64_t> all(size.begin(), size.end());
    if (all.size() == 1)
      all.resize(spaces, all.front());
    return pool(x, all, layout);
  }

  Axes size = 1;
  Layout layout = Layout::channels_first;

  SINTER_MODULE(AdaptivePoolLayer, size, layout)
};
using AdaptiveAvgPool1d = AdaptivePoolLayer<adaptive_avg_pool, 1>;
using AdaptiveAvgPool2d = AdaptivePoolLayer<adaptive_avg_pool, 2>;
using AdaptiveMaxPool1d = AdaptivePoolLayer<adaptive_max_pool, 1>;
using AdaptiveMaxPool2d = AdaptivePoolLayer<adaptive_max_pool, 2>;

} // namespace sinter::nn
