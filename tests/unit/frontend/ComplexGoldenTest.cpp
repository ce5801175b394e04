/// Functions of complex numbers, their gradients, and Fourier transforms as
/// PyTorch has them (tests/goldens/dtypes); what they refuse.
#include "tests/unit/frontend/Counting.h"
#include "tests/unit/frontend/DTypeGolden.h"

#include <sinter/Basic.h>
#include <sinter/Complex.h>
#include <sinter/Ops.h>

#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

namespace sn = sinter;
using sn::DType;
using sn::Tensor;

namespace {

Tensor complexOf(const Golden &golden, const std::string &name) {
  return sn::view_as_complex(golden.tensor(name));
}

/// The golden's numbers, which are pairs where `found` is complex.
void expectClose(const Tensor &found, const Tensor &wanted, double tolerance,
                 const std::string &what) {
  bool isComplex = found.dtype() == DType::c64 || found.dtype() == DType::c128;
  Tensor numbers = isComplex ? sn::view_as_real(found) : found;
  ASSERT_EQ(numbers.rank(), wanted.rank()) << what;
  for (int64_t axis = 0; axis < wanted.rank(); ++axis)
    ASSERT_EQ(numbers.dim(axis).value, wanted.dim(axis).value) << what;
  EXPECT_EQ(numbers.dtype(), wanted.dtype()) << what;
  std::vector<double> a = numbers.to_vector<double>();
  std::vector<double> b = wanted.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    // A part is as exact as the number that it is of.
    double size = std::max(std::abs(b[i]), isComplex ? std::abs(b[i ^ 1]) : 1);
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, size))
        << what << ": number " << i;
  }
}

using Binary = Tensor (*)(const Tensor &, const Tensor &);

const std::map<std::string, Binary> functions = {
    {"add", [](const Tensor &x, const Tensor &y) { return x + y; }},
    {"sub", [](const Tensor &x, const Tensor &y) { return x - y; }},
    {"mul", [](const Tensor &x, const Tensor &y) { return x * y; }},
    {"div", [](const Tensor &x, const Tensor &y) { return x / y; }},
    {"pow", [](const Tensor &x, const Tensor &y) { return sn::pow(x, y); }},
    {"real_mul",
     [](const Tensor &x, const Tensor &y) { return x * sn::real(y); }},
    {"real_sub",
     [](const Tensor &x, const Tensor &y) { return sn::real(y) - x; }},
    {"real_div",
     [](const Tensor &x, const Tensor &y) { return sn::real(y) / x; }},
    {"div_real",
     [](const Tensor &x, const Tensor &y) { return x / sn::real(y); }},
    {"neg", [](const Tensor &x, const Tensor &) { return -x; }},
    {"exp", [](const Tensor &x, const Tensor &) { return sn::exp(x); }},
    {"log", [](const Tensor &x, const Tensor &) { return sn::log(x); }},
    {"sqrt", [](const Tensor &x, const Tensor &) { return sn::sqrt(x); }},
    {"reciprocal",
     [](const Tensor &x, const Tensor &) { return sn::reciprocal(x); }},
    {"pow3", [](const Tensor &x, const Tensor &) { return sn::pow(x, 3); }},
    {"pow_2", [](const Tensor &x, const Tensor &) { return sn::pow(x, -2); }},
    {"pow1_5", [](const Tensor &x, const Tensor &) { return sn::pow(x, 1.5); }},
    {"abs", [](const Tensor &x, const Tensor &) { return sn::abs(x); }},
    {"angle", [](const Tensor &x, const Tensor &) { return sn::angle(x); }},
    {"conj", [](const Tensor &x, const Tensor &) { return sn::conj(x); }},
    {"sum", [](const Tensor &x, const Tensor &) { return sn::sum(x); }},
    {"mean", [](const Tensor &x, const Tensor &) { return sn::mean(x, 0); }},
    {"cumsum",
     [](const Tensor &x, const Tensor &) { return sn::cumsum(x, 0); }},
    {"matmul",
     [](const Tensor &x, const Tensor &y) {
       return sn::matmul(sn::reshape(x, {3, 4}), sn::reshape(y, {4, 3}));
     }},
    {"polar",
     [](const Tensor &x, const Tensor &y) {
       return sn::polar(sn::abs(sn::real(x)), sn::real(y));
     }},
};

} // namespace

TEST(ComplexGolden, Functions) {
  Golden golden("complex");
  for (std::string dtype : {"c64", "c128"}) {
    Tensor x = complexOf(golden, dtype + "/x"),
           y = complexOf(golden, dtype + "/y");
    for (const auto &[name, function] : functions)
      expectClose(function(x, y), golden.tensor(dtype + "/" + name),
                  dtype == "c64" ? 2e-5 : 1e-12, dtype + " " + name);
  }
}

TEST(ComplexGolden, Gradients) {
  Golden golden("complex");
  for (const auto &[name, function] : functions) {
    Tensor x = complexOf(golden, "c128/x").require_grad();
    Tensor y = complexOf(golden, "c128/y").require_grad();
    Tensor size = sn::abs(function(x, y));
    std::vector<Tensor> gradients = sn::grad(sn::sum(size * size), {x, y});
    expectClose(gradients[0], golden.tensor("c128/grad_" + name + "_x"), 1e-10,
                name + " by x");
    if (std::string by = "c128/grad_" + name + "_y"; golden.has(by))
      expectClose(gradients[1], golden.tensor(by), 1e-10, name + " by y");
  }
}

TEST(ComplexGolden, TransformsOfEveryLength) {
  Golden golden("fft");
  for (std::string n : {"1", "2", "7", "60", "127", "521"}) {
    Tensor x = complexOf(golden, n + "/x"), wanted = golden.tensor(n + "/fft");
    expectClose(sn::fft(x), wanted, 1e-11, n);
    expectClose(sn::ifft(sn::fft(x)), golden.tensor(n + "/x"), 1e-12, n);
    // In f32, as near as 24 bits and so many sums allow.
    expectClose(sn::fft(x.to(DType::c64)), wanted.to(DType::f32), 2e-4, n);
  }
}

TEST(ComplexGolden, TransformsAlongAxes) {
  Golden golden("fft");
  Tensor x = complexOf(golden, "60/x"), cube = sn::reshape(x, {3, 4, 5});
  auto expect = [&](const Tensor &found, const std::string &name) {
    expectClose(found, golden.tensor("60/" + name), 1e-12, name);
  };
  using enum sn::FourierNorm;
  expect(sn::ifft(x, ortho), "ifft_ortho");
  expect(sn::fft(cube, {.n = 7, .dim = 0}), "fft_n7_d0");
  expect(sn::ifft(cube, {.n = 2, .dim = 1, .norm = forward}),
         "ifft_n2_d1_forward");
  expect(sn::rfft(sn::real(x), sn::FourierOptions()), "rfft");
  expect(sn::rfft(sn::real(x)), "rfft"); // in pairs
  expect(sn::rfft(sn::real(x), {.n = 33}), "rfft_n33");
  expect(sn::irfft(x), "irfft");
  expect(sn::irfft(x, {.n = 9}), "irfft_n9");
  expect(sn::fft2(cube), "fft2");
  expect(sn::ifft2(cube, {.dim = {0, 2}}), "ifft2_d02");
  expect(sn::fftn(cube), "fftn");
  expect(sn::fftn(cube, {.s = {3, 6}, .norm = ortho}), "fftn_s36_ortho");
  expect(sn::ifftn(sn::real(cube)), "ifftn");
}

TEST(ComplexGolden, GradientOfATransform) {
  // sum |X|^2 = n sum |x|^2, of which 2 n x is the gradient.
  Golden golden("fft");
  for (std::string n : {"60", "521"}) {
    Tensor x = complexOf(golden, n + "/x").require_grad();
    Tensor size = sn::abs(sn::fft(x));
    Tensor slope = sn::grad(sn::sum(size * size), {x})[0];
    Tensor wanted = golden.tensor(n + "/x") * (2.0 * double(x.numel()));
    expectClose(slope, wanted, 1e-9, n);
  }
}

TEST(Complex, WhatHasNoMeaningIsRefused) {
  Tensor x = sn::complex(sn::ones({2, 2}), 1);
  auto refused = [](const std::string &text, auto function) {
    expectError(sn::ErrorKind::unsupported, text, function);
  };
  refused("compare: complex numbers have no order", [&] { x < x; });
  refused("floor: cannot compute with c64", [&] { sn::floor(x); });
  refused("maximum: cannot compute with c64", [&] { sn::maximum(x, x); });
  refused("amax: cannot compute with c64", [&] { sn::amax(x); });
  refused("sort: cannot compute with c64", [&] { sn::sort(x); });
  refused("tanh: cannot compute with c64", [&] { sn::tanh(x); });
  refused("softmax: cannot compute with c64", [&] { sn::softmax(x, 0); });
  refused("bitwise_and: cannot compute with c64",
          [&] { sn::bitwise_and(x, x); });
  refused("f8e5m2 is stored only",
          [&] { x + sn::zeros({2}).to(DType::f8e5m2); });
  expectError(sn::ErrorKind::invalid_argument, "imag: operand x must be",
              [] { sn::imag(sn::zeros({2})); });
  expectError(sn::ErrorKind::invalid_argument,
              "view_as_complex: the operand must be f32 or f64 [.., 2]",
              [] { sn::view_as_complex(sn::zeros({3})); });
}
