/// What fusion decides on graphs that everybody knows: how many launches, and
/// by which rule two neighbours stay apart.
#include <sinter/Basic.h>

#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <source_location>
#include <sstream>

namespace sn = sinter;

namespace {

struct Decided {
  size_t launches = 0;
  /// `rule: producer into consumer`, of merges that were refused.
  std::set<std::string> borders = {};
};

/// Reads what `explain` says, and expects every refusal to name its rule, its
/// bytes and a line of this file.
Decided decide(std::initializer_list<sn::Tensor> results) {
  static const std::regex launch("launch .*");
  static const std::regex refused(
      "not fused (\\w+): (\\d+) bytes, [\\d.]+ us; .*TextbookTest.cpp:\\d+; "
      "(\\w+ (?:into|beside) \\w+).*");
  Decided decided;
  std::istringstream text(sn::explain(results));
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (std::regex_match(line, launch))
      ++decided.launches;
    else if (std::regex_match(line, match, refused))
      decided.borders.insert(match[1].str() + ": " + match[3].str());
    else if (!line.empty()) {
      EXPECT_EQ(line.find("not fused"), std::string::npos) << line;
    }
  }
  return decided;
}

void expectDecided(std::initializer_list<sn::Tensor> results, size_t launches,
                   const std::set<std::string> &borders) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not fuse";
  Decided decided = decide(results);
  EXPECT_EQ(decided.launches, launches) << sn::explain(results);
  EXPECT_EQ(decided.borders, borders) << sn::explain(results);
}

/// Where a GPU's blocks share what one thread of the processor has.
void expectDecided(std::initializer_list<sn::Tensor> results,
                   const Decided &onCpu, const Decided &onGpu) {
  bool isCpu = sn::default_device() == sn::device("cpu");
  const Decided &expected = isCpu ? onCpu : onGpu;
  expectDecided(results, expected.launches, expected.borders);
}

/// Values that no folding sees through.
// Each input has a line of its own: at one line, sizes that vary are symbolic.
sn::Tensor input(const sn::Dims &shape,
                 std::source_location where = std::source_location::current()) {
  int64_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = 0.01f * float(i % 97) - 0.3f;
  return sn::tensor(values, shape, {}, where);
}

} // namespace

TEST(Textbook, LinearLayer) {
  sn::Tensor x = input({64, 96}), w = input({96, 128}), b = input({128});
  expectDecided({sn::gelu(sn::matmul(x, w) + b)}, 1, {});
}

TEST(Textbook, TwoLayers) {
  sn::Tensor x = input({64, 96}), w = input({96, 128}), v = input({128, 32});
  sn::Tensor y = sn::matmul(sn::relu(sn::matmul(x, w)), v);
  expectDecided({y}, 2, {"two_roots: maximum into matmul"});
}

TEST(Textbook, Softmax) {
  sn::Tensor x = input({64, 128});
  sn::Tensor e = sn::exp(x - sn::amax(x, {1}, true));
  expectDecided({e / sn::sum(e, {1}, true)}, 1, {});
}

TEST(Textbook, NormOfAResidual) {
  sn::Tensor x = input({64, 128}), y = input({64, 128});
  sn::Tensor w = input({128}), b = input({128});
  expectDecided({sn::layer_norm(x + y, w, b, 1e-5)}, 1, {});
}

// Root mean square: a norm that no op has the name of.
TEST(Textbook, RootMeanSquareNorm) {
  sn::Tensor x = input({64, 128}), w = input({128});
  sn::Tensor scale = sn::rsqrt(sn::mean(x * x, {1}, true) + 1e-6);
  expectDecided({x * scale * w}, 1, {});
}

// What follows a layer takes its rows in one kernel with it.
TEST(Textbook, NormOfALayer) {
  sn::Tensor x = input({64, 96}), w = input({96, 128}), b = input({128});
  sn::Tensor residual = input({64, 128});
  sn::Tensor y = sn::matmul(x, w) + b + residual;
  expectDecided(
      {sn::layer_norm(y, b, b, 1e-5)}, {1},
      {2, {"row_statistics: add into sub", "row_statistics: add into sum"}});
}

// The rows of every sequence of a batch.
TEST(Textbook, NormOfALayerOverABatch) {
  sn::Tensor x = input({4, 16, 96}), w = input({96, 128}), b = input({128});
  sn::Tensor residual = input({4, 16, 128});
  sn::Tensor y = residual + (sn::matmul(x, w) + b);
  expectDecided(
      {sn::layer_norm(y, b, b, 1e-5), y}, {1},
      {2, {"row_statistics: add into sub", "row_statistics: add into sum"}});
}

TEST(Textbook, SoftmaxOfALayer) {
  sn::Tensor x = input({64, 96}), w = input({96, 10}), b = input({10});
  expectDecided(
      {sn::softmax(sn::matmul(x, w) + b, -1)}, {1},
      {2, {"row_statistics: add into amax", "row_statistics: add into sub"}});
}

// Rows too long to be kept.
TEST(Textbook, SoftmaxOfAWideLayer) {
  sn::Tensor x = input({64, 32}), w = input({32, 1100});
  expectDecided(
      {sn::softmax(sn::matmul(x, w), -1)}, 2,
      {"row_statistics: matmul into amax", "row_statistics: matmul into sub"});
}

// What a layer passes on is summed over its rows while it is stored.
TEST(Textbook, GradientOfABias) {
  sn::Tensor up = input({1024, 64}), w = input({64, 256});
  sn::Tensor slope = input({1024, 256}), b = input({256});
  sn::Tensor down = sn::matmul(up, w) * slope;
  expectDecided({down, b - 0.1 * sn::sum(down, {0})}, {1},
                {2, {"column_statistics: mul into sum"}});
}

// Nobody else reads the product: it is stored for the sum alone.
TEST(Textbook, SumOverTheRowsOfALayer) {
  sn::Tensor x = input({1024, 64}), w = input({64, 256});
  expectDecided({sn::sum(sn::matmul(x, w), {0})}, 2,
                {"column_statistics: matmul into sum"});
}

TEST(Textbook, CrossEntropyWithItsGradient) {
  sn::Tensor logits = input({64, 10});
  logits.require_grad();
  sn::Tensor labels = sn::tensor(std::vector<int64_t>(64, 3));
  sn::Tensor loss = sn::cross_entropy(logits, labels);
  sn::Tensor gradient = sn::grad(loss, {logits})[0];
  std::set<std::string> borders = {"two_roots: sub into sub",
                                   "two_roots: sum into log"};
  Decided onGpu{3, borders};
  onGpu.borders.insert("check: gather into gather");
  expectDecided({loss, gradient}, {2, borders}, onGpu);
}

TEST(Textbook, AdamUpdate) {
  sn::Tensor p = input({64, 128}), g = input({64, 128});
  sn::Tensor m = input({64, 128}), v = input({64, 128});
  sn::Tensor mean = m * 0.9 + g * 0.1, square = v * 0.999 + g * g * 0.001;
  sn::Tensor next = p - mean / (sn::sqrt(square) + 1e-8) * 0.001;
  expectDecided({mean, square, next}, 1, {});
}

TEST(Textbook, EmbeddingThenNorm) {
  sn::Tensor table = input({1000, 64}), w = input({64}), b = input({64});
  sn::Tensor words = sn::tensor(std::vector<int64_t>(48, 7));
  expectDecided({sn::layer_norm(sn::embedding(table, words), w, b, 1e-5)}, 1,
                {});
}

// The variance keeps the axis of its own mean: two sums, and two kernels, each
// of which reads x.
TEST(Textbook, MeanAndVariance) {
  sn::Tensor x = input({64, 4096});
  expectDecided({sn::mean(x, {1}), sn::var(x, {1})}, 2, {});
}

TEST(Textbook, LinearGradients) {
  sn::Tensor x = input({64, 96}), w = input({96, 128}), b = input({128});
  for (sn::Tensor *each : {&x, &w, &b})
    each->require_grad();
  sn::Tensor y = sn::mean(sn::square(sn::relu(sn::matmul(x, w) + b)));
  std::vector<sn::Tensor> g = sn::grad(y, {x, w, b});
  expectDecided(
      {g[0], g[1], g[2]}, 4,
      {"two_roots: where into matmul", "column_statistics: where into sum"});
}
