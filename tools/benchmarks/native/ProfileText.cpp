/// Measures the default device and prints a profile.
#include "tools/benchmarks/native/ProfileText.h"

#include "runtime/program/ProfileText.h"

#include <sinter/Basic.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace sn = sinter;
using sn::runtime::Ceilings;

/// The least of a few evaluations.
template <typename Make> static double secondsOf(Make make) {
  double least = 1e9;
  for (int call = 0; call < 5; ++call) {
    auto begin = std::chrono::steady_clock::now();
    make().eval();
    sn::synchronize();
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

static Ceilings measured() {
  constexpr int64_t elements = 64 << 20;
  bool isCpu = sn::default_device().kind == sn::DeviceKind::cpu;
  int64_t side = isCpu ? 1024 : 4096;
  sn::DType dtype = isCpu ? sn::DType::f32 : sn::DType::bf16;
  sn::Tensor x = sn::ones({elements}).eval();
  double copy = secondsOf([&] { return -x; });
  sn::Tensor square = sn::ones({side, side}, {.dtype = dtype}).eval();
  double product = secondsOf([&] { return sn::matmul(square, square); });
  return {2.0 * sizeof(float) * elements / copy,
          2.0 * double(side) * double(side) * double(side) / product,
          isCpu ? "measured: a negation of 256 MiB, a product of f32"
                : "measured: a negation of 256 MiB, a product of bf16"};
}

void bench::printProfile() {
  auto steps = sn::runtime::stepProfiles();
  Ceilings ceilings = measured();
  std::fputs(sn::runtime::profileText(steps, ceilings).c_str(), stderr);
  sn::runtime::resetProfile();
}
