/// Sorts: every way in which rows are brought in order, against the standard
/// library's stable sort.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace sinter::compiler {
namespace {

using Floats = std::vector<float>;
using Positions = std::vector<int64_t>;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class SortTest : public testing::TestWithParam<const char *> {};

struct Sort {
  std::string type, result, positions, count;
  int axis = 1;
  bool descending = false;

  std::string op(const char *name, const std::string &to) const {
    return std::string("sinter.") + name +
           " %x {axis = " + std::to_string(axis) +
           " : i64, descending = " + (descending ? "true" : "false") +
           ", count = " + count + "} : (" + type + ") -> " + to;
  }
  std::string kernel(int symbols) const {
    return kernelText(
        "sort", symbols, "%x: " + type,
        "%0 = " + op("sort", result) + "\n%1 = " + op("argsort", positions) +
            "\nprogram.yield %0, %1 " + ": " + result + ", " + positions);
  }
};

std::string typeOf(int64_t rows, int64_t columns, const std::string &element) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "x" + element + ">";
}

Sort fixedSort(int64_t rows, int64_t columns, int64_t count, bool descending,
               const std::string &element = "f32", int axis = 1) {
  int64_t keptRows = axis ? rows : count, kept = axis ? count : columns;
  return {typeOf(rows, columns, element),
          typeOf(keptRows, kept, element),
          typeOf(keptRows, kept, "i64"),
          "affine_map<() -> (" + std::to_string(count) + ")>",
          axis,
          descending};
}

bool isBefore(float a, float b) {
  return !std::isnan(a) && (std::isnan(b) || a < b);
}

Positions order(const float *row, int64_t columns, bool descending) {
  Positions all(columns);
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin(), all.end(), [&](int64_t a, int64_t b) {
    return descending ? isBefore(row[b], row[a]) : isBefore(row[a], row[b]);
  });
  return all;
}

// Numbers, many of them equal, with whatever a float can be among them.
Floats draw(int64_t count, int kind) {
  std::mt19937 random(kind + 1);
  Floats values(count);
  const float special[] = {0.0f, -0.0f, nan, -nan, inf, -inf, 1e-40f, -1e-40f};
  for (float &value : values) {
    int64_t number = int64_t(random());
    float small = float(number % 7 - 3), any = float(number % 100003) * 0.37f;
    switch (kind) {
    case 0:
      value = number & 1 ? any : -any;
      break;
    case 1:
      value = small;
      break;
    case 2:
      value = number % 3 ? any - 9000 : special[number / 3 % 8];
      break;
    case 3:
      value = special[number % 8];
      break;
    default:
      value = float(&value - values.data());
      break;
    }
  }
  return values;
}
constexpr int kinds = 5;

void expectSorted(KernelRunner &kernel, const Floats &x, int64_t rows,
                  int64_t columns, int64_t count, bool descending,
                  std::vector<int64_t> dims, const std::string &what) {
  Floats values(rows * count + 1, 7);
  Positions positions(rows * count + 1, -7), wanted = positions;
  kernel.run({const_cast<float *>(x.data()), values.data(), positions.data()},
             std::move(dims), 1);
  for (int64_t row = 0; row < rows; ++row) {
    Positions sorted = order(&x[row * columns], columns, descending);
    std::copy_n(sorted.begin(), count, &wanted[row * count]);
  }
  ASSERT_EQ(positions, wanted) << what;
  for (int64_t i = 0; i < rows * count; ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]),
              std::bit_cast<uint32_t>(x[i / count * columns + positions[i]]))
        << what << " at " << i;
  EXPECT_EQ(values.back(), 7) << what;
}

// Ranks, digits in the frame, digits in a workspace; all, and the first few.
TEST_P(SortTest, Floats) {
  for (int64_t columns : {1, 5, 8, 64, 193, 256, 257, 1024, 4096, 4500})
    for (int64_t count : {columns, std::min<int64_t>(columns, 3),
                          std::min<int64_t>(columns, 20)}) {
      for (bool descending : {false, true}) {
        int64_t rows = 11;
        Sort sort = fixedSort(rows, columns, count, descending);
        KernelRunner kernel(sort.kernel(0), GetParam());
        ASSERT_EQ(kernel.error, "");
        for (int kind = 0; kind < kinds; ++kind)
          expectSorted(kernel, draw(rows * columns, kind), rows, columns, count,
                       descending, {},
                       std::to_string(columns) + " of kind " +
                           std::to_string(kind));
      }
    }
}

TEST_P(SortTest, SymbolicRows) {
  auto dims = [](const char *list) {
    return ", affine_map<()[s0, s1] -> (" + std::string(list) + ")>>";
  };
  for (int64_t count : {0, 4}) {
    Sort sort;
    sort.descending = true;
    sort.type = "tensor<?x?xf32" + dims("s0, s1");
    std::string kept = count ? "4" : "?";
    std::string list = count ? "s0, 4" : "s0, s1";
    sort.result = "tensor<?x" + kept + "xf32" + dims(list.c_str());
    sort.positions = "tensor<?x" + kept + "xi64" + dims(list.c_str());
    sort.count =
        count ? "affine_map<() -> (4)>" : "affine_map<()[s0, s1] -> (s1)>";
    KernelRunner kernel(sort.kernel(2), GetParam());
    ASSERT_EQ(kernel.error, "");
    for (int64_t rows : {0, 1, 9, 40})
      for (int64_t columns : {0, 4, 7, 190, 256, 257, 1000})
        if (columns >= count)
          for (int kind = 0; kind < kinds; ++kind)
            expectSorted(kernel, draw(rows * columns, kind), rows, columns,
                         count ? count : columns, true, {rows, columns},
                         std::to_string(rows) + " x " +
                             std::to_string(columns));
  }
}

// Every element type, along every axis, against the reference.
TEST_P(SortTest, ElementTypes) {
  for (const char *element :
       {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "i1"})
    for (int axis : {0, 1})
      for (int64_t length : {6, 300, 600})
        for (bool wide : {false, true}) {
          int64_t count = wide ? 5 : length;
          int64_t rows = axis ? 3 : length, columns = axis ? length : 3;
          Sort sort = fixedSort(rows, columns, count, wide, element, axis);
          CheckOptions options;
          options.target = GetParam();
          if (wide) {
            options.low = -1e6, options.high = 1e6;
            options.lowest = element == std::string("ui8") ? 0 : -128;
            options.highest = 127;
          }
          EXPECT_EQ(checkKernel(sort.kernel(0), options), "") << sort.kernel(0);
        }
}

TEST_P(SortTest, WideIntegers) {
  int64_t rows = 2, columns = 300;
  for (bool descending : {false, true})
    for (int64_t count : {columns, int64_t(7)}) {
      Sort sort = fixedSort(rows, columns, count, descending, "i64");
      KernelRunner kernel(sort.kernel(0), GetParam());
      ASSERT_EQ(kernel.error, "");
      std::mt19937_64 random(3);
      std::vector<int64_t> x(rows * columns);
      for (int64_t &value : x)
        value = int64_t(random() >> (random() % 50)) * (random() & 1 ? 1 : -1);
      x[5] = INT64_MIN, x[6] = INT64_MAX, x[7] = INT64_MIN;
      std::vector<int64_t> values(rows * count), positions(rows * count);
      kernel.run({x.data(), values.data(), positions.data()});
      for (int64_t row = 0; row < rows; ++row) {
        Positions all(columns);
        std::iota(all.begin(), all.end(), 0);
        const int64_t *own = &x[row * columns];
        std::stable_sort(all.begin(), all.end(), [&](int64_t a, int64_t b) {
          return descending ? own[b] < own[a] : own[a] < own[b];
        });
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(positions[row * count + i], all[i]) << i;
          ASSERT_EQ(values[row * count + i], own[all[i]]) << i;
        }
      }
    }
}

// What is computed before the sort, and read through a view.
TEST_P(SortTest, Prologue) {
  std::string type = typeOf(260, 5, "f32"), view = typeOf(5, 260, "f32"),
              to = typeOf(5, 9, "f32");
  std::string body =
      "%a = sinter.transpose %x {permutation = array<i64: 1, 0>} : (" + type +
      ") -> " + view + "\n%b = sinter.neg %a : (" + view + ") -> " + view +
      "\n%0 = sinter.sort %b {axis = 1 : i64, descending = true, count = "
      "affine_map<() -> (9)>} : (" +
      view + ") -> " + to + "\nprogram.yield %0 : " + to;
  CheckOptions options;
  options.target = GetParam();
  std::string text = kernelText("sort", 0, "%x: " + type, body);
  EXPECT_EQ(checkKernel(text, options), "");
}

INSTANTIATE_TEST_SUITE_P(Targets, SortTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
