/// TfIdfVectorizer: how often sequences of numbers stand in rows.
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>

namespace sinter::onnx {

namespace {

/// The sequences of one length in the pool.
struct Grams {
  int64_t length;
  std::vector<int64_t> items;   ///< [count, length]
  std::vector<int64_t> columns; ///< of the result, one for each

  int64_t count() const { return int64_t(columns.size()); }
};

} // namespace

/// The sequences by their lengths; those that are too short or long are left
/// out.
static std::vector<Grams> gramsOf(Call &call) {
  std::vector<int64_t> pool = call.integers("pool_int64s");
  std::vector<int64_t> starts = call.integers("ngram_counts");
  std::vector<int64_t> columns = call.integers("ngram_indexes");
  std::vector<Grams> all;
  size_t next = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    auto length = int64_t(i) + 1;
    int64_t end = i + 1 < starts.size() ? starts[i + 1] : int64_t(pool.size());
    if (starts[i] < 0 || end < starts[i] || end > int64_t(pool.size()) ||
        (end - starts[i]) % length != 0)
      call.invalid("ngram_counts do not cut the pool");
    auto count = size_t((end - starts[i]) / length);
    if (count > columns.size() - next)
      call.invalid("ngram_indexes are fewer than the pool's sequences");
    if (count > 0 && length >= call.integer("min_gram_length") &&
        length <= call.integer("max_gram_length"))
      all.push_back({length,
                     {pool.begin() + starts[i], pool.begin() + end},
                     {columns.begin() + int64_t(next),
                      columns.begin() + int64_t(next + count)}});
    next += count;
  }
  return all;
}

/// How often each sequence stands in x [rows, n] with `step` from one of its
/// elements to the next: [rows, count].
static Tensor counted(const Tensor &x, const Grams &grams, int64_t step) {
  int64_t places = fixed(x.dim(1)) - (grams.length - 1) * step;
  Tensor items =
      hostIntegers(grams.items, {grams.count(), grams.length}, x.device());
  Tensor holds;
  for (int64_t i = 0; i < grams.length; ++i) {
    Tensor part = unsqueeze(sliceAxis(x, 1, i * step, i * step + places), 1);
    Tensor own = part == unsqueeze(sliceAxis(items, 1, i, i + 1), 0);
    holds = holds.defined() ? holds && own : own;
  }
  return sum(holds.to(DType::f32), 2);
}

/// Sums over all steps: [rows, columns].
static Tensor frequencies(Call &call, const Tensor &x, int64_t columns) {
  Tensor result = zeros({x.dim(0), columns}, {DType::f32, x.device()});
  int64_t length = fixed(x.dim(1)), skips = call.integer("max_skip_count");
  if (skips < 0)
    call.invalid("max_skip_count is " + std::to_string(skips));
  for (const Grams &grams : gramsOf(call)) {
    // One element is met once, whatever is skipped.
    int64_t most = grams.length == 1 ? 0 : std::min(skips, length);
    Tensor at = hostIntegers(grams.columns, {1, grams.count()}, x.device());
    at = broadcast(at, {x.dim(0), Dim(grams.count())});
    for (int64_t step = 1; step <= most + 1; ++step) {
      if (grams.length > 1 && step > (length - 1) / (grams.length - 1))
        break;
      result = scatter_add(result, at, counted(x, grams, step), 1);
    }
  }
  return result;
}

static void tfIdfRule(Call &call) {
  if (call.given("pool_strings"))
    call.unsupported("a pool of strings");
  Tensor x = call.tensor(0).to(DType::i64);
  bool isRow = x.rank() < 2;
  if (x.rank() > 2 || isFloat(call.value(0).dtype()))
    call.invalid("the tensor is no row, or rows, of integers");
  if (isRow)
    x = reshape(x, {1, -1});
  std::vector<int64_t> indexes = call.integers("ngram_indexes");
  if (indexes.empty())
    call.invalid("ngram_indexes are empty");
  auto [least, largest] = std::ranges::minmax(indexes);
  if (least < 0 || largest > mostFactor)
    call.invalid("an index of a sequence is out of range");
  Tensor y = frequencies(call, x, largest + 1);
  std::string mode = call.text("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    call.invalid("mode '" + mode + "'");
  if (mode == "IDF")
    y = (y > 0).to(DType::f32);
  std::vector<double> weights = call.reals("weights");
  if (mode != "TF" && !weights.empty()) {
    if (int64_t(weights.size()) <= largest)
      call.invalid("the weights are fewer than the columns");
    weights.resize(size_t(largest) + 1);
    y = y * hostReals(weights, {1, largest + 1}, DType::f32, call.device());
  }
  call.give(isRow ? reshape(y, {-1}) : y);
}

static constexpr Operator rows[] = {
    {"TfIdfVectorizer", 9, 0,
     "max_gram_length:int! max_skip_count:int! min_gram_length:int! "
     "mode:string! ngram_counts:ints! ngram_indexes:ints! pool_int64s:ints "
     "pool_strings:strings weights:floats",
     tfIdfRule},
};

std::span<const Operator> gramRows() { return rows; }

} // namespace sinter::onnx
