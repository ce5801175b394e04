/// Values of symbolic sizes beside each other: sizes that are equal, or 1, now,
/// and that no two expressions say alike. Each program gives what the same one
/// gives of sizes that are numbers.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace sn = sinter;

namespace {

/// Leaves, whose axes are symbols or numbers; each has values of its own.
class Leaves {
public:
  explicit Leaves(bool areSymbols) : areSymbols(areSymbols) {}

  sn::Tensor leaf(const sn::Dims &shape) {
    int64_t count = 1;
    for (sn::Dim dim : shape)
      count *= dim.value;
    std::vector<float> values(count);
    for (float &value : values)
      value = std::sin(float(next++));
    sn::Tensor made = sn::tensor(values, shape).require_grad();
    for (size_t axis = 0; areSymbols && axis < shape.size(); ++axis)
      made.dynamic(int64_t(axis));
    all.push_back(made);
    return made;
  }
  std::vector<sn::Tensor> all;

private:
  const bool areSymbols;
  int next = 0;
};

/// Makes a matrix of this size.
struct Way {
  const char *name;
  std::function<sn::Tensor(Leaves &, int64_t rows, int64_t columns)> make;
};

std::vector<Way> ways() {
  using L = Leaves;
  auto matrix = [](const sn::Tensor &image) {
    return sn::squeeze(sn::squeeze(image, 0), 0);
  };
  return {
      {"leaf", [](L &l, int64_t rows,
                  int64_t columns) { return l.leaf({rows, columns}); }},
      {"slice",
       [](L &l, int64_t rows, int64_t columns) {
         sn::Tensor x = l.leaf({rows + 1, columns + 2});
         return sn::slice(x, {1, 2}, {x.dim(0), x.dim(1)}, {1, 1});
       }},
      {"transposed",
       [](L &l, int64_t rows, int64_t columns) {
         return sn::transpose(l.leaf({columns, rows}), {1, 0});
       }},
      {"product",
       [](L &l, int64_t rows, int64_t columns) {
         return sn::matmul(l.leaf({rows, 3}), l.leaf({3, columns}));
       }},
      {"max_pool",
       [=](L &l, int64_t rows, int64_t columns) {
         sn::Tensor x = l.leaf({1, 1, rows + 1, columns + 2});
         return matrix(sn::max_pool2d(x, {2, 3}, {.stride = {1, 1}}));
       }},
      {"avg_pool",
       [=](L &l, int64_t rows, int64_t columns) {
         sn::Tensor x = l.leaf({1, 1, 3 * rows - 1, 2 * columns});
         return matrix(sn::avg_pool2d(x, {1, 2}, {.stride = {3, 2}}));
       }},
      {"stacked",
       [](L &l, int64_t rows, int64_t columns) {
         sn::Tensor x = l.leaf({rows, 1});
         std::vector<sn::Tensor> parts{x};
         if (columns > 1)
           parts.push_back(l.leaf({rows, columns - 1}));
         return sn::concat(parts, 1);
       }},
      {"sum",
       [](L &l, int64_t rows, int64_t columns) {
         return sn::sum(l.leaf({rows, 2, columns}), 1);
       }},
  };
}

/// The value, and the gradients of all leaves.
std::vector<std::vector<float>> resultsOf(const Way &a, const Way &b,
                                          std::array<int64_t, 4> sizes,
                                          bool areSymbols) {
  Leaves leaves(areSymbols);
  sn::Tensor x = a.make(leaves, sizes[0], sizes[1]);
  sn::Tensor y = b.make(leaves, sizes[2], sizes[3]);
  sn::Tensor out = sn::maximum(x, y) * y + x;
  sn::Gradients gradients = sn::sum(out * out).backward();
  std::vector<std::vector<float>> results{out.to_vector<float>()};
  for (const sn::Tensor &leaf : leaves.all)
    results.push_back(gradients(leaf).to_vector<float>());
  return results;
}

} // namespace

TEST(SymbolicSizes, ValuesBesideEachOther) {
  // Rows and columns of both.
  constexpr std::array<int64_t, 4> sizes[] = {
      {4, 5, 4, 5}, {4, 5, 1, 5}, {1, 5, 4, 1}, {4, 1, 1, 1}, {1, 1, 4, 5}};
  std::vector<Way> all = ways();
  size_t number = 0;
  for (const Way &a : all)
    for (const Way &b : all)
      for (int taken = 0; taken < 2; ++taken) {
        const auto &own = sizes[number++ % std::size(sizes)];
        SCOPED_TRACE(std::string(a.name) + " and " + b.name + " of " +
                     std::to_string(own[0]) + "x" + std::to_string(own[1]) +
                     ", " + std::to_string(own[2]) + "x" +
                     std::to_string(own[3]));
        auto got = resultsOf(a, b, own, true);
        auto want = resultsOf(a, b, own, false);
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i].size(), want[i].size());
          for (size_t at = 0; at < got[i].size(); ++at)
            ASSERT_NEAR(got[i][at], want[i][at], 1e-4) << i << ", " << at;
        }
      }
}
