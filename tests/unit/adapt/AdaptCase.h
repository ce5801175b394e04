/// What tests of adapted modules share.
#pragma once

#include "tests/unit/adapt/AdaptGolden.h"
#include "tests/unit/nn/Modules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/BasicOps.h>
#include <sinter/nn/BatchNorm.h>
#include <sinter/nn/Linear.h>

#include <string>
#include <vector>

/// Two layers.
struct Mlp {
  sinter::nn::Linear fc1{4, 8}, fc2{8, 3};
  sinter::Tensor forward(const sinter::Tensor &x) const {
    return fc2(relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

/// The model of the goldens, with their values.
struct Normed {
  sinter::nn::Linear fc{2, 3};
  sinter::nn::BatchNorm1d norm{3};
  Normed() {
    fc.weight.set(waves({3, 2}, 0.7));
    fc.bias.set(waves({3}, 1.3));
  }
  sinter::Tensor forward(const sinter::Tensor &x) const { return norm(fc(x)); }
  SINTER_MODULE(Normed, fc, norm)
};

inline sinter::Tensor normedLoss(const Normed &model, int batch) {
  sinter::Tensor difference =
      model(waves({4, 2}, 0.31 + 0.2 * batch)) - waves({4, 3}, 0.9);
  return sinter::mean(difference * difference);
}

/// All values, in order.
inline std::vector<double> valuesOf(const auto &module) {
  std::vector<double> all;
  module.visit([&](const auto &, const sinter::Param &param) {
    for (double value : param.own_value().template to_vector<double>())
      all.push_back(value);
  });
  return all;
}

inline void expectValues(const std::vector<double> &got,
                         const std::vector<double> &want,
                         double tolerance = 2e-5) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

/// Launches and runs of `body`.
struct Counts {
  uint64_t runs = 0, launches = 0, programs = 0, refused = 0;
};
inline Counts countsOf(auto body) {
  sinter::Stats before = sinter::stats();
  body();
  sinter::Stats after = sinter::stats();
  return {after.programs_run - before.programs_run,
          after.launches - before.launches,
          after.compiles + after.disk_hits - before.compiles - before.disk_hits,
          after.donations_refused - before.donations_refused};
}
