/// Pooling layers: the functions of their names with fixed options.
#pragma once

#include <sinter/Module.h>
#include <sinter/Pooling.h>

namespace sinter::nn {

class MaxPool2d {
public:
  MaxPool2d() = default;
  explicit MaxPool2d(const Axes &kernel, const PoolOptions &options = {})
      : kernel(kernel), options(options) {}

  Tensor forward(const Tensor &x) const {
    return max_pool2d(x, kernel, options);
  }

  Axes kernel = 1;
  PoolOptions options;

  SINTER_MODULE(MaxPool2d, kernel, options)
};

class AvgPool2d {
public:
  AvgPool2d() = default;
  explicit AvgPool2d(const Axes &kernel, const AvgPoolOptions &options = {})
      : kernel(kernel), options(options) {}

  Tensor forward(const Tensor &x) const {
    return avg_pool2d(x, kernel, options);
  }

  Axes kernel = 1;
  AvgPoolOptions options;

  SINTER_MODULE(AvgPool2d, kernel, options)
};

/// To `size`, one number or two.
class AdaptiveAvgPool2d {
public:
  AdaptiveAvgPool2d() = default;
  explicit AdaptiveAvgPool2d(const Axes &size,
                             Layout layout = Layout::channels_first)
      : size(size), layout(layout) {}

  Tensor forward(const Tensor &x) const {
    int64_t rows = *size.begin(), columns = size.begin()[size.size() - 1];
    return adaptive_avg_pool(x, {rows, columns}, layout);
  }

  Axes size = 1;
  Layout layout = Layout::channels_first;

  SINTER_MODULE(AdaptiveAvgPool2d, size, layout)
};

} // namespace sinter::nn
