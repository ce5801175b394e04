/// The order of reductions and prefixes, bit by bit, whatever the target, the
/// shape's being known and the way a row is worked on.
#include "compiler/lower/element/ReductionOrder.h"
#include "tests/unit/lower/KernelRunner.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace sinter::compiler {
namespace {

using Floats = std::vector<float>;

constexpr float infinity = std::numeric_limits<float>::infinity();

Floats randoms(int64_t count, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-2, 2);
  Floats result(count);
  for (float &value : result)
    value = draw(engine);
  return result;
}

std::string number(int64_t value) { return std::to_string(value); }

// A type of those dims, and the same with symbols for all of them, the first
// being s0.
std::string typeOf(const std::vector<int64_t> &dims,
                   const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t dim : dims)
    text += number(dim) + "x";
  return text + element + ">";
}
std::string symbolicType(const std::vector<int> &symbols, int count,
                         const std::string &element = "f32") {
  std::string text = "tensor<", results, names;
  for (int symbol : symbols) {
    text += "?x";
    results += (results.empty() ? "s" : ", s") + number(symbol);
  }
  for (int i = 0; i < count; ++i)
    names += (i ? ", s" : "s") + number(i);
  return text + element + ", affine_map<()[" + names + "] -> (" + results +
         ")>>";
}

bool sameBits(const Floats &a, const Floats &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class RowsTest : public testing::TestWithParam<const char *> {
public:
  // Runs over inputs and outputs, one chunk a call.
  void run(const std::string &text, std::vector<void *> buffers,
           std::vector<int64_t> dims = {}) {
    KernelRunner kernel(text, GetParam());
    ASSERT_EQ(kernel.error, "") << text;
    kernel.run(std::move(buffers), std::move(dims), 1);
  }
};

// Blocks of 64 one after the other, in chunks of 8192.
float blockSum(const std::function<float(int64_t)> &at, int64_t count) {
  float total = 0;
  for (int64_t chunk = 0; chunk < count; chunk += canonicalChunk) {
    float inChunk = 0;
    int64_t end = std::min(chunk + canonicalChunk, count);
    for (int64_t block = chunk; block < end; block += canonicalBlock) {
      float inBlock = 0;
      for (int64_t i = block; i < std::min(block + canonicalBlock, end); ++i)
        inBlock += at(i);
      inChunk += inBlock;
    }
    total += inChunk;
  }
  return total;
}

// 64 lanes merged as a tree, in chunks of 8192.
float laneSum(const std::function<float(int64_t)> &at, int64_t count) {
  float total = 0;
  for (int64_t chunk = 0; chunk < count; chunk += canonicalChunk) {
    float lanes[canonicalLanes] = {};
    for (int64_t i = chunk; i < std::min(chunk + canonicalChunk, count); ++i)
      lanes[i % canonicalLanes] += at(i);
    for (int64_t half = canonicalLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        lanes[lane] += lanes[lane + half];
    total += lanes[0];
  }
  return total;
}

// Whatever vectors the images' rows fill.
TEST_P(RowsTest, ImagesAreSummedForEachChannel) {
  struct Sizes {
    int64_t images, channels, height, width;
  };
  for (Sizes z : {Sizes{1, 3, 2, 2}, Sizes{3, 2, 1, 5}, Sizes{5, 4, 7, 7},
                  Sizes{9, 1, 14, 14}, Sizes{13, 3, 28, 28}, Sizes{2, 5, 8, 8},
                  Sizes{3, 2, 3, 43}, Sizes{0, 2, 4, 4}}) {
    int64_t space = z.height * z.width, count = z.images * space;
    Floats x = randoms(count * z.channels), want;
    for (int64_t channel = 0; channel < z.channels; ++channel)
      want.push_back(laneSum(
          [&](int64_t i) {
            int64_t image = i / space;
            return x[(image * z.channels + channel) * space + i % space];
          },
          count));
    auto body = [](const std::string &from, const std::string &to) {
      return "%0 = sinter.sum %x {axes = array<i64: 0, 2, 3>, keepdims = "
             "false} : (" +
             from + ") -> " + to + "\nprogram.yield %0 : " + to;
    };
    std::string to = typeOf({z.channels});
    std::string from = typeOf({z.images, z.channels, z.height, z.width});
    Floats got(want.size());
    run(kernelText("reduce", 0, "%x: " + from, body(from, to)),
        {x.data(), got.data()});
    EXPECT_TRUE(sameBits(got, want)) << from;
    std::string some = "tensor<?x" + number(z.channels) + "x" +
                       number(z.height) + "x" + number(z.width) +
                       "xf32, affine_map<()[s0] -> (s0, " + number(z.channels) +
                       ", " + number(z.height) + ", " + number(z.width) + ")>>";
    Floats again(want.size());
    run(kernelText("reduce", 1, "%x: " + some, body(some, to)),
        {x.data(), again.data()}, {z.images});
    EXPECT_TRUE(sameBits(again, want)) << some;
    std::string open = symbolicType({0, 1, 2, 3}, 4);
    Floats last(want.size());
    run(kernelText("reduce", 4, "%x: " + open,
                   body(open, symbolicType({1}, 4))),
        {x.data(), last.data()}, {z.images, z.channels, z.height, z.width});
    EXPECT_TRUE(sameBits(last, want)) << open << " as " << from;
  }
}

TEST_P(RowsTest, ColumnsAreSummedInBlocks) {
  struct Sizes {
    int64_t lead, rows, columns;
  };
  for (Sizes z :
       {Sizes{1, 0, 9}, Sizes{1, 1, 1}, Sizes{1, 5, 3}, Sizes{2, 63, 8},
        Sizes{5, 7, 64}, Sizes{37, 9, 20}, Sizes{2, 49, 530}, Sizes{1, 64, 10},
        Sizes{3, 65, 64}, Sizes{1, 200, 520}, Sizes{2, 130, 1030},
        Sizes{1, 8262, 7}, Sizes{1, 20000, 3}}) {
    Floats x = randoms(z.lead * z.rows * z.columns), want;
    for (int64_t lead = 0; lead < z.lead; ++lead)
      for (int64_t column = 0; column < z.columns; ++column)
        want.push_back(blockSum(
            [&](int64_t row) {
              return x[(lead * z.rows + row) * z.columns + column];
            },
            z.rows));
    auto body = [](const std::string &from, const std::string &to) {
      return "%0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (" +
             from + ") -> " + to + "\nprogram.yield %0 : " + to;
    };
    std::string from = typeOf({z.lead, z.rows, z.columns});
    std::string to = typeOf({z.lead, z.columns});
    Floats got(want.size());
    run(kernelText("reduce", 0, "%x: " + from, body(from, to)),
        {x.data(), got.data()});
    EXPECT_TRUE(sameBits(got, want)) << from;
    from = symbolicType({0, 1, 2}, 3), to = symbolicType({0, 2}, 3);
    Floats again(want.size());
    run(kernelText("reduce", 3, "%x: " + from, body(from, to)),
        {x.data(), again.data()}, {z.lead, z.rows, z.columns});
    EXPECT_TRUE(sameBits(again, want)) << z.rows << " x " << z.columns;
  }
}

// Two reductions of one operand, what is done to their results, and a bias.
TEST_P(RowsTest, ColumnsShareAPass) {
  int64_t rows = 150, columns = 77;
  Floats x = randoms(rows * columns), bias = randoms(columns, 2);
  std::string full = typeOf({rows, columns}), row = typeOf({columns});
  std::string places = typeOf({columns}, "i64");
  std::string axes = " {axes = array<i64: 0>, keepdims = false} : (" + full +
                     ") -> " + row + "\n";
  std::string two = " : (" + row + ", " + row + ") -> " + row + "\n";
  Floats sums(columns), most(columns);
  std::vector<int64_t> where(columns);
  run(kernelText(
          "reduce", 0, "%x: " + full + ", %b: " + row,
          "%e = sinter.abs %x : (" + full + ") -> " + full +
              "\n%0 = sinter.sum %e" + axes + "%1 = sinter.amax %x" + axes +
              "%2 = sinter.argmax %x {axis = 0 : i64, keepdims = "
              "false} : (" +
              full + ") -> " + places + "\n%3 = sinter.add %0, %b" + two +
              "program.yield %3, %1, %2 : " + row + ", " + row + ", " + places),
      {x.data(), bias.data(), sums.data(), most.data(), where.data()});
  for (int64_t column = 0; column < columns; ++column) {
    float sum = blockSum(
        [&](int64_t i) { return std::abs(x[i * columns + column]); }, rows);
    EXPECT_EQ(sums[column], sum + bias[column]);
    int64_t best = 0;
    for (int64_t i = 1; i < rows; ++i)
      if (x[i * columns + column] > x[best * columns + column])
        best = i;
    EXPECT_EQ(where[column], best);
    EXPECT_EQ(most[column], x[best * columns + column]);
  }
}

TEST_P(RowsTest, TheFirstOfEqualElementsIsTheLargest) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t length : {1, 9, 64, 70, 8200}) {
    Floats x(5 * length, -infinity); // a row of nothing else
    std::vector<int64_t> want = {0, length - 1, length / 2, 0, length / 3};
    x[2 * length - 1] = -1;
    for (int64_t i = length / 2; i < length; ++i)
      x[2 * length + i] = 3;
    for (int64_t i = 0; i < length; ++i)
      x[3 * length + i] = 0;
    x[4 * length + length / 3] = nan;
    x[4 * length + length - 1] = nan;
    for (int axis : {0, 1}) {
      // Along columns, of the transpose.
      Floats data = x;
      if (axis == 0)
        for (int64_t i = 0; i < 5; ++i)
          for (int64_t j = 0; j < length; ++j)
            data[j * 5 + i] = x[i * length + j];
      std::string from = axis ? typeOf({5, length}) : typeOf({length, 5});
      std::vector<int64_t> got(5);
      run(kernelText("reduce", 0, "%x: " + from,
                     "%0 = sinter.argmax %x {axis = " + number(axis) +
                         " : i64, keepdims = false} : (" + from +
                         ") -> tensor<5xi64>\nprogram.yield %0 : "
                         "tensor<5xi64>"),
          {data.data(), got.data()});
      EXPECT_EQ(got, want) << from;
    }
  }
}

std::string softmaxBody(const std::string &x, const std::string &s,
                        const std::string &shape, const std::string &symbols) {
  std::string reduce =
      "{axes = array<i64: 1>, keepdims = true} : (" + x + ") -> " + s + "\n";
  std::string spread = "{shape = affine_map<()" + symbols + " -> (" + shape +
                       ")>} : (" + s + ") -> " + x + "\n";
  std::string two = " : (" + x + ", " + x + ") -> " + x + "\n";
  return "%0 = sinter.amax %x " + reduce + "%1 = sinter.broadcast %0 " +
         spread + "%2 = sinter.sub %x, %1" + two + "%3 = sinter.exp %2 : (" +
         x + ") -> " + x + "\n%4 = sinter.sum %3 " + reduce +
         "%5 = sinter.broadcast %4 " + spread + "%6 = sinter.div %3, %5" + two +
         "program.yield %6 : " + x;
}

// Rows that are staged, and one that is too long for it. One kernel is loaded
// at a time: they have one name.
TEST_P(RowsTest, StagedRowsHaveTheSameBits) {
  const std::vector<int64_t> lengths = {1, 7, 63, 64, 65, 200, 8300, 40000};
  auto rowsOf = [](int64_t length) -> int64_t { return length > 1000 ? 2 : 5; };
  auto dataOf = [&](int64_t length) {
    Floats data = randoms(rowsOf(length) * length);
    if (length > 1) // gives NaN
      std::fill_n(data.begin() + length, length, -infinity);
    return data;
  };
  std::vector<Floats> wanted;
  {
    std::string x = symbolicType({0, 1}, 2);
    std::string s = "tensor<?x1xf32, affine_map<()[s0, s1] -> (s0, 1)>>";
    KernelRunner symbolic(kernelText("rowwise", 2, "%x: " + x,
                                     softmaxBody(x, s, "s0, s1", "[s0, s1]")),
                          GetParam());
    ASSERT_EQ(symbolic.error, "");
    for (int64_t length : lengths) {
      Floats data = dataOf(length), want(data.size());
      symbolic.run({data.data(), want.data()}, {rowsOf(length), length}, 1);
      wanted.push_back(want);
    }
  }
  for (auto [number, length] : llvm::enumerate(lengths)) {
    int64_t rows = rowsOf(length);
    Floats data = dataOf(length), got(data.size());
    std::string full = typeOf({rows, length}), one = typeOf({rows, 1});
    std::string dims = std::to_string(rows) + ", " + std::to_string(length);
    run(kernelText("rowwise", 0, "%x: " + full,
                   softmaxBody(full, one, dims, "")),
        {data.data(), got.data()});
    EXPECT_TRUE(sameBits(got, wanted[number])) << length;
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += got[row * length + i];
      if (row == 1 && length > 1)
        EXPECT_TRUE(std::isnan(sum));
      else
        EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

// Turns a vector of 64 numbers, from the end where it runs backwards, into
// their running sums: pairs, then pairs with those 1, 2, 4, ... before them.
void sumVector(std::array<float, 64> &x, bool backwards) {
  if (backwards)
    std::reverse(x.begin(), x.end());
  std::array<float, 32> pairs;
  for (int i = 0; i < 32; ++i)
    pairs[i] = x[2 * i] + x[2 * i + 1];
  for (int distance = 1; distance < 32; distance *= 2)
    for (int i = 31; i >= distance; --i)
      pairs[i] = pairs[i - distance] + pairs[i];
  for (int i = 0; i < 32; ++i) {
    x[2 * i] = (i ? pairs[i - 1] : 0.0f) + x[2 * i];
    x[2 * i + 1] = pairs[i];
  }
  if (backwards)
    std::reverse(x.begin(), x.end());
}

// The running sums along an axis of at most 64 rows, or at most 4096 columns:
// along rows vector by vector, along columns one element after the other.
Floats sumsAlong(const Floats &x, int64_t rows, int64_t columns, int axis,
                 bool backwards) {
  Floats sums = x;
  int64_t length = axis ? columns : rows, width = axis ? 64 : 1;
  int64_t vectors = (length + width - 1) / width;
  for (int64_t fiber = 0; fiber < (axis ? rows : columns); ++fiber) {
    float before = 0;
    for (int64_t number = 0; number < vectors; ++number) {
      int64_t first = (backwards ? vectors - 1 - number : number) * width;
      int64_t count = std::min(width, length - first);
      auto place = [&](int64_t i) {
        return axis ? fiber * columns + first + i : first * columns + fiber;
      };
      std::array<float, 64> vector{};
      for (int64_t i = 0; i < count; ++i)
        vector[i] = x[place(i)];
      if (axis)
        sumVector(vector, backwards);
      for (int64_t i = 0; i < count; ++i)
        sums[place(i)] = before + vector[i];
      before += vector[axis && !backwards ? 63 : 0];
    }
  }
  return sums;
}

TEST_P(RowsTest, PrefixesRunSideBySide) {
  for (bool backwards : {false, true})
    for (int axis : {0, 1}) {
      auto body = [&](const std::string &type) {
        return "%0 = sinter.cumsum %x {axis = " + number(axis) +
               " : i64, reverse = " + (backwards ? "true" : "false") + "} : (" +
               type + ") -> " + type + "\nprogram.yield %0 : " + type;
      };
      auto check = [&](KernelRunner &kernel, int64_t rows, int64_t columns,
                       std::vector<int64_t> dims) {
        ASSERT_EQ(kernel.error, "");
        Floats x = randoms(rows * columns), got(x.size());
        kernel.run({x.data(), got.data()}, std::move(dims), 1);
        EXPECT_TRUE(sameBits(got, sumsAlong(x, rows, columns, axis, backwards)))
            << rows << " x " << columns << " along " << axis;
      };
      {
        std::string type = symbolicType({0, 1}, 2);
        KernelRunner symbolic(
            kernelText("prefix", 2, "%x: " + type, body(type)), GetParam());
        for (int64_t rows : {0, 1, 7, 8, 9, 19})
          for (int64_t columns : {0, 1, 9, 64, 70, 330})
            check(symbolic, rows, columns, {rows, columns});
      }
      for (int64_t rows : {3, 8, 19})
        for (int64_t columns : {9, 64, 330}) {
          std::string type = typeOf({rows, columns});
          KernelRunner fixed(kernelText("prefix", 0, "%x: " + type, body(type)),
                             GetParam());
          check(fixed, rows, columns, {});
        }
    }
}

// Outputs that no cache holds are written past them.
TEST_P(RowsTest, LargeOutputsAreWhole) {
  int64_t count = (int64_t(1) << 24) + 11;
  Floats x = randoms(count), got(count + 1, 7);
  // Buffers of a program are aligned.
  auto aligned = [](Floats &floats) {
    floats.resize(floats.size() + 64);
    auto address = reinterpret_cast<uintptr_t>(floats.data());
    size_t bytes = (256 - address % 256) % 256;
    return &floats[bytes / sizeof(float)];
  };
  float *to = aligned(got);
  to[count] = 7;
  std::string fixed = typeOf({count}), open = symbolicType({0}, 1);
  for (const std::string &type : {fixed, open}) {
    std::fill_n(to, count, 0);
    run(kernelText("map", type == open, "%x: " + type,
                   "%0 = sinter.neg %x : (" + type + ") -> " + type +
                       "\nprogram.yield %0 : " + type),
        {x.data(), to}, {count});
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i)
      wrong += to[i] != -x[i];
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(to[count], 7);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RowsTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
