/// Casts to and from the stored dtypes and the unsigned integers, as ml_dtypes
/// and NumPy have them (tests/goldens/dtypes), and what else is done with
/// stored dtypes: they are moved and compared, and not computed with.
#include "tests/unit/frontend/DTypeGolden.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sn = sinter;
using sn::DType;
using sn::Tensor;

namespace {

constexpr DType storedFloats[] = {DType::f8e4m3fn,   DType::f8e5m2,
                                  DType::f8e4m3fnuz, DType::f8e5m2fnuz,
                                  DType::f8e8m0fnu,  DType::f4e2m1};
constexpr DType storedIntegers[] = {DType::i4, DType::u4, DType::i2, DType::u2};

/// The same numbers, the signs of zeros among them; NaNs are alike.
void expectSame(const Tensor &found, const Tensor &wanted,
                const std::string &what) {
  std::vector<double> a = found.to_vector<double>();
  std::vector<double> b = wanted.to_vector<double>();
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    bool isSame = (std::isnan(a[i]) && std::isnan(b[i])) ||
                  (a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]));
    ASSERT_TRUE(isSame) << what << ": element " << i << " is " << a[i]
                        << ", not " << b[i];
  }
}

template <typename F>
void expectUnsupported(const std::string &text, F &&function) {
  try {
    function();
    ADD_FAILURE() << "no error: " << text;
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::unsupported) << error.what();
    EXPECT_NE(error.message().find(text), std::string::npos) << error.what();
  }
}

} // namespace

TEST(StoredDTypes, EveryCodeIsItsNumber) {
  for (DType dtype : storedFloats) {
    Golden golden(name(dtype));
    std::vector<uint8_t> all(golden.tensor("values").numel());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = uint8_t(i);
    Tensor codes = sn::from_bytes(std::as_bytes(std::span(all)), dtype,
                                  {int64_t(all.size())});
    std::string what(name(dtype));
    expectSame(codes, golden.tensor("values"), what + " on the host");
    expectSame(codes.to(DType::f32), golden.tensor("values"), what);
    expectSame(codes.to(DType::f64), golden.tensor("values"), what);
    // And back: only NaNs have several codes.
    expectSame(codes.to(DType::f32).to(dtype), codes, what + " and back");
  }
}

TEST(StoredDTypes, NumbersBecomeTheNearestCode) {
  for (DType dtype : storedFloats) {
    Golden golden(name(dtype));
    for (std::string source : {"f64", "f32", "f16", "bf16"}) {
      Tensor x = golden.tensor(source).to(*sn::parseDType(source));
      std::string what = source + " to " + std::string(name(dtype));
      expectSame(x.to(dtype), golden.codes(source + "_codes", dtype), what);
      if (!golden.has(source + "_saturated") || dtype == DType::f8e8m0fnu)
        continue;
      double most = golden.codes(source + "_saturated", dtype)
                        .to(DType::f32)
                        .to_vector<double>()[0];
      Tensor within =
          sn::clamp(x.to(DType::f32), -std::fabs(most), std::fabs(most));
      expectSame(within.to(dtype), golden.codes(source + "_saturated", dtype),
                 what + ", saturated");
    }
  }
}

TEST(StoredDTypes, PartsOfBytes) {
  for (DType dtype : storedIntegers) {
    Golden golden(name(dtype));
    std::string what(name(dtype));
    Tensor x = golden.tensor("i32");
    Tensor wanted = golden.codes("i32_codes", dtype);
    expectSame(x.to(dtype), wanted, what);
    expectSame(x.to(DType::i64).to(dtype), wanted, what);
    expectSame(x.to(dtype).to(DType::i32), wanted, what + " to i32");
    Tensor values = golden.tensor("values");
    expectSame(values.to(dtype), values, what + " of f32");
    expectSame(values.to(dtype).to(DType::f16), values, what + " to f16");
    // Floats out of range saturate, as in other integers.
    double least = values.to_vector<double>().front();
    double most = values.to_vector<double>().back();
    Tensor far = sn::tensor({-1e9F, 1e9F, 2.9F, NAN}).to(dtype);
    EXPECT_EQ(far.to_vector<double>(),
              (std::vector<double>{least, most, std::min(most, 2.0), 0}));
  }
}

TEST(StoredDTypes, UnsignedIntegers) {
  Golden golden("integers");
  for (std::string from : {"u16", "u32", "u64", "f32", "f64"})
    for (std::string to :
         {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}) {
      std::string what = from + "_to_" + to;
      if (!golden.has(what))
        continue;
      Tensor found = golden.tensor(from).to(*sn::parseDType(to));
      std::vector<uint64_t> a = found.to_vector<uint64_t>();
      EXPECT_EQ(a, golden.tensor(what).to_vector<uint64_t>()) << what;
      EXPECT_EQ(found.to_vector<double>(),
                golden.tensor(what).to_vector<double>())
          << what;
    }
}

TEST(StoredDTypes, AreMoved) {
  for (DType dtype : storedFloats) {
    std::vector<float> elements = {1, 2, 4, 0.5F, 2, 1};
    Tensor numbers = sn::tensor(elements, {2, 3});
    Tensor x = numbers.to(dtype);
    auto same = [&](const Tensor &found, const Tensor &wanted) {
      EXPECT_EQ(found.dtype(), dtype);
      expectSame(found, wanted, std::string(name(dtype)));
    };
    same(sn::transpose(x, {1, 0}), sn::transpose(numbers, {1, 0}));
    same(sn::reshape(x, {3, 2}), sn::reshape(numbers, {3, 2}));
    same(sn::slice(x, {0, 1}, {2, 3}, {1, 1}),
         sn::slice(numbers, {0, 1}, {2, 3}, {1, 1}));
    same(sn::flip(x, {1}), sn::flip(numbers, {1}));
    same(sn::concat({x, x}, 0), sn::concat({numbers, numbers}, 0));
    same(sn::broadcast(x, {2, 2, 3}), sn::broadcast(numbers, {2, 2, 3}));
    Tensor at = sn::tensor(std::vector<int64_t>{2, 0});
    same(sn::index_select(x, at, 1), sn::index_select(numbers, at, 1));
    Tensor two = sn::full({2, 3}, 2.0).to(dtype);
    EXPECT_EQ((x == two).to_vector<bool>(),
              (std::vector<bool>{false, true, false, false, true, false}));
    same(sn::where(x == two, x, two), sn::full({2, 3}, 2.0));
  }
}

TEST(StoredDTypes, OneFactorOfAProduct) {
  std::vector<float> numbers;
  for (int i = 0; i < 48 * 32; ++i)
    numbers.push_back(float(i % 13 - 6) / 4);
  Tensor a = sn::tensor(numbers, {32, 48}), b = sn::tensor(numbers, {48, 32});
  Tensor stored = b.to(DType::f8e4m3fn);
  Tensor found = sn::matmul(a, stored.to(DType::f32));
  expectSame(found, sn::matmul(a, b), "matmul"); // all numbers have codes
}

TEST(StoredDTypes, AreNotComputedWith) {
  Tensor f8 = sn::ones({2}).to(DType::f8e5m2), i4 = sn::ones({2}).to(DType::i4);
  expectUnsupported("add: cannot compute with f8e5m2", [&] { f8 + f8; });
  expectUnsupported("exp: ", [&] { sn::exp(f8); });
  expectUnsupported("mul: ", [&] { i4 *i4; });
  expectUnsupported("sum: ", [&] { sn::sum(f8); });
  expectUnsupported("add: f8e5m2 is stored only, and not brought to f32",
                    [&] { f8 + sn::ones({2}); });
  expectUnsupported("exp: i4 is stored only", [&] { sn::exp(i4); });
  expectUnsupported("full: cannot compute with f8e5m2",
                    [&] { sn::full({2}, 1.0, {.dtype = DType::f8e5m2}); });
}

/// Of an op that has no elements, and the gradient of what is not used.
TEST(StoredDTypes, HaveZeros) {
  Tensor none = sn::zeros({0, 3}, {.dtype = DType::i32}), one = sn::ones({2});
  for (DType dtype :
       {DType::f8e4m3fn, DType::f8e8m0fnu, DType::u4, DType::i2}) {
    SCOPED_TRACE(std::string(sn::name(dtype)));
    Tensor table = sn::unsqueeze(one.to(dtype), 1);
    Tensor rows = sn::embedding(table, none);
    EXPECT_EQ(rows.dtype(), dtype);
    EXPECT_TRUE(rows.to_vector<float>().empty());
  }
  Tensor x = one.to(DType::f8e5m2), y = one * 2.0;
  x.require_grad();
  y.require_grad();
  Tensor unused = sn::grad(sn::sum(y), {x}).front();
  EXPECT_EQ(unused.dtype(), DType::f8e5m2);
  expectSame(unused, sn::zeros({2}), "grad");
}

/// Also with those that lines show again and again, which constants are made
/// of.
TEST(StoredDTypes, ComparesWithPlainNumbers) {
  using Flags = std::vector<bool>;
  for (DType dtype : {DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz,
                      DType::f8e5m2fnuz, DType::f8e8m0fnu, DType::f4e2m1}) {
    Tensor x = sn::tensor({1.F, 2.F, 4.F}).to(dtype);
    EXPECT_EQ((x == 1.0).to_vector<bool>(), (Flags{true, false, false}));
    EXPECT_EQ((x == 2.0).to_vector<bool>(), (Flags{false, true, false}));
    EXPECT_EQ((x > 2.0).to_vector<bool>(), (Flags{false, false, true}));
    Tensor chosen = sn::where(x == 4.0, x, 1.0);
    EXPECT_EQ(chosen.dtype(), dtype);
    expectSame(chosen, sn::tensor({1.F, 1.F, 4.F}), "where");
  }
  Tensor i = sn::tensor<int32_t>({0, 1, -2}).to(DType::i4);
  EXPECT_EQ((i == 1).to_vector<bool>(), (Flags{false, true, false}));
  EXPECT_EQ((i < 0).to_vector<bool>(), (Flags{false, false, true}));
  EXPECT_EQ((i < 9).to_vector<bool>(), (Flags{true, true, true}));
}

TEST(StoredDTypes, Unsigned64ComparesWithPlainNumbers) {
  uint64_t top = std::numeric_limits<uint64_t>::max();
  Tensor u = sn::tensor(std::vector<uint64_t>{0, 5, top});
  using Flags = std::vector<bool>;
  EXPECT_EQ((u < -1).to_vector<bool>(), (Flags{false, false, false}));
  EXPECT_EQ((u <= -1).to_vector<bool>(), (Flags{false, false, false}));
  EXPECT_EQ((u > -1).to_vector<bool>(), (Flags{true, true, true}));
  EXPECT_EQ((u > 5).to_vector<bool>(), (Flags{false, false, true}));
  EXPECT_EQ(sn::amax(u).to_vector<uint64_t>(), std::vector<uint64_t>{top});
  EXPECT_NE(u.to_string().find(" 18446744073709551615], dtype=u64"),
            std::string::npos);
}
