/// SmallNet: what tests export: two layers with a norm and dropout.
#pragma once

#include <sinter/Basic.h>

namespace sinter::test {

struct SmallNet {
  nn::Linear fc1, fc2;
  nn::BatchNorm1d norm;
  nn::Dropout dropout{0.25};
  explicit SmallNet(int64_t inputs = 16, int64_t hidden = 24)
      : fc1(inputs, hidden), fc2(hidden, 10), norm(hidden) {}
  Tensor forward(const Tensor &x) const {
    return fc2(dropout(relu(norm(fc1(x)))));
  }
  SINTER_MODULE(SmallNet, fc1, norm, dropout, fc2)
};

} // namespace sinter::test
