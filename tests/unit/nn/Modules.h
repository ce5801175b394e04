/// What tests of modules share.
#pragma once

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

/// The paths of all Params, in order.
inline std::vector<std::string> namesOf(const auto &module) {
  std::vector<std::string> names;
  module.visit([&](const auto &path, const auto &) {
    names.push_back(std::string(path));
  });
  return names;
}

/// Numbers that repeat late: sin(step), sin(2 step), ...
inline sinter::Tensor waves(const sinter::Dims &shape, double step,
                            sinter::DType dtype = sinter::DType::f32) {
  int64_t count = 1;
  for (sinter::Dim dim : shape)
    count *= dim.value;
  std::vector<double> values;
  for (int64_t i = 1; i <= count; ++i)
    values.push_back(std::sin(step * double(i)));
  return sinter::tensor(values, shape).to(dtype);
}

inline void expectNear(const sinter::Tensor &got, const sinter::Tensor &want,
                       double tolerance = 2e-5) {
  auto a = got.to_vector<double>(), b = want.to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

/// Programs that `body` runs and compiles or fetches.
struct Work {
  uint64_t runs = 0, programs = 0;
};
inline Work workOf(auto body) {
  sinter::Stats before = sinter::stats();
  body();
  sinter::Stats after = sinter::stats();
  return {after.programs_run - before.programs_run,
          after.compiles + after.disk_hits - before.compiles -
              before.disk_hits};
}

/// Expects an invalid_argument of that op, whose text has `part` and a line of
/// the caller's file.
template <typename F>
void expectRejected(
    std::string_view op, std::string_view part, F body,
    std::source_location here = std::source_location::current()) {
  std::string file(here.file_name());
  file = file.substr(file.rfind('/') + 1);
  try {
    body();
    FAIL() << "no error where one was expected: " << part;
  } catch (const sinter::Error &error) {
    EXPECT_EQ(error.kind(), sinter::ErrorKind::invalid_argument)
        << error.what();
    EXPECT_EQ(error.op(), op);
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
        << error.what();
    EXPECT_NE(error.site().find(file), std::string::npos) << error.what();
  }
}
