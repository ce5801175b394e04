/// Attention of com.microsoft, in the forms that ONNX Runtime fuses.
#include "frontend/import/onnx/rules/Heads.h"

#include <cmath>
#include <limits>

namespace sinter::onnx {

static constexpr const char *domain = "com.microsoft";

namespace {
/// Queries, keys and values [batch, heads, length, width].
struct Parts {
  Tensor query, key, value;
};
} // namespace

/// The number that the scores are multiplied by.
static double scaleOf(Call &call, const Tensor &query) {
  double scale = call.given("scale") ? call.real("scale") : 0;
  return scale != 0 ? scale : 1 / std::sqrt(double(fixed(query.dim(3))));
}

/// Which keys are seen: a number of keys for each of the batch, their ends and
/// beginnings, or a flag for each key, or for each query and key. What is not
/// seen gets `mask_filter_value`.
static Tensor filterOf(Call &call, size_t input, const Tensor &query,
                       const Tensor &key) {
  Tensor mask = call.tensor(input);
  int64_t batch = fixed(query.dim(0)), keys = fixed(key.dim(2));
  std::vector<int64_t> dims = numbersOf(mask);
  Tensor seen;
  if (dims.size() == 1 && (dims[0] == batch || dims[0] == 2 * batch)) {
    Tensor place = reshape(arange(keys, {mask.dtype(), mask.device()}),
                           {1, 1, 1, Dim(keys)});
    Tensor bounds = reshape(mask, {-1, 1, 1, 1});
    seen = place < sliceAxis(bounds, 0, 0, batch);
    if (dims[0] == 2 * batch)
      seen = seen && place >= sliceAxis(bounds, 0, batch, 2 * batch);
  } else if (dims.size() == 2 && dims[1] == keys) {
    seen = reshape(mask, {Dim(dims[0]), 1, 1, Dim(keys)}) != 0;
  } else if (dims.size() == 3 && dims[2] == keys) {
    seen = unsqueeze(mask, 1) != 0;
  } else {
    call.unsupported("a mask of rank " + std::to_string(dims.size()) +
                     " and these sizes");
  }
  double hidden = call.real("mask_filter_value");
  Options options{query.dtype(), query.device()};
  return where(seen, full({}, 0.0, options), full({}, hidden, options));
}

/// What is added to the scores: the filter, the bias, and what keeps a query
/// from keys behind it.
static Tensor addedOf(Call &call, const Parts &parts, size_t filter,
                      size_t bias, bool isCausal) {
  Tensor added;
  auto add = [&](const Tensor &more) {
    added = added.defined() ? added + more : more;
  };
  if (call.has(filter))
    add(filterOf(call, filter, parts.query, parts.key));
  if (call.has(bias))
    add(call.tensor(bias));
  if (isCausal) {
    Dims shape{parts.query.dim(2), parts.key.dim(2)};
    Options index{DType::i64, parts.query.device()};
    int64_t past = fixed(shape[1]) - fixed(shape[0]);
    Options options{parts.query.dtype(), parts.query.device()};
    double none = -std::numeric_limits<double>::infinity();
    add(where(iota(shape, 1, index) <= iota(shape, 0, index) + past,
              full({}, 0.0, options), full({}, none, options)));
  }
  return added;
}

/// softmax(q k^T * scale + added) v as [batch, length, heads * width].
static Tensor attended(Call &call, const Parts &parts, const Tensor &added) {
  AttentionOptions options{.scale = scaleOf(call, parts.query)};
  if (added.defined())
    options.mask = added;
  return together(scaled_dot_product_attention(parts.query, parts.key,
                                               parts.value, options));
}

//===- Attention ----------------------------------------------------------===//

/// One product gives queries, keys and values; a past is [2, batch, heads,
/// length, width].
static void attentionRule(Call &call) {
  Tensor x = call.tensor(0), y = matmul(x, call.tensor(1));
  if (x.rank() != 3 || call.value(1).rank() != 2)
    call.invalid("the operands are no rows and a matrix");
  if (call.has(2))
    y = y + call.tensor(2);
  if (call.flag("do_rotary"))
    call.unsupported("do_rotary");
  if (call.flag("past_present_share_buffer"))
    call.unsupported("past_present_share_buffer");
  int64_t width = fixed(y.dim(2)), heads = call.integer("num_heads");
  std::vector<int64_t> sizes = call.integers("qkv_hidden_sizes");
  if (sizes.empty())
    sizes.assign(3, width / 3);
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[1] != sizes[0] ||
      sizes[2] < 1 || sizes[0] > width || sizes[2] > width ||
      sizes[0] + sizes[1] + sizes[2] != width)
    call.invalid("qkv_hidden_sizes do not fit the weights");
  Parts parts;
  parts.query = apart(call, sliceAxis(y, 2, 0, sizes[0]), heads);
  parts.key = apart(call, sliceAxis(y, 2, sizes[0], 2 * sizes[0]), heads);
  parts.value = apart(call, sliceAxis(y, 2, 2 * sizes[0], width), heads);
  if (call.has(4)) {
    Tensor past = call.tensor(4);
    if (past.rank() != 5)
      call.invalid("the past has rank " + std::to_string(past.rank()));
    parts.key = concat({select(past, 0, 0), parts.key}, 2);
    parts.value = concat({select(past, 0, 1), parts.value}, 2);
  }
  if (call.wants(1))
    call.give(1, stack({parts.key, parts.value}, 0));
  Tensor added = addedOf(call, parts, 3, 5, call.flag("unidirectional"));
  call.give(attended(call, parts, added));
}

//===- MultiHeadAttention -------------------------------------------------===//

/// Operands that are packed together, apart, or keys and values that are in
/// heads already.
static Parts partsOf(Call &call) {
  Tensor query = call.tensor(0);
  int64_t heads = call.integer("num_heads");
  auto side = [](const Tensor &packed, int64_t at) {
    return permute(select(packed, 3, at), {0, 2, 1, 3});
  };
  if (query.rank() == 5)
    return {side(query, 0), side(query, 1), side(query, 2)};
  if (query.rank() != 3)
    call.invalid("the query has rank " + std::to_string(query.rank()));
  if (!call.has(1))
    call.unsupported("a query that attends to itself");
  std::vector<Tensor> biases(3);
  if (call.has(3)) {
    Tensor bias = call.tensor(3);
    int64_t width = fixed(query.dim(2)), all = fixed(bias.dim(0));
    if (bias.rank() != 1 || all < 2 * width)
      call.invalid("the bias does not fit the query");
    biases = {sliceAxis(bias, 0, 0, width),
              sliceAxis(bias, 0, width, 2 * width),
              sliceAxis(bias, 0, 2 * width, all)};
  }
  auto inHeads = [&](const Tensor &x, size_t at) {
    if (x.rank() == 4)
      return x;
    if (x.rank() != 3)
      call.invalid("an operand has rank " + std::to_string(x.rank()));
    return apart(call, biases[at].defined() ? x + biases[at] : x, heads);
  };
  Tensor key = call.tensor(1);
  if (key.rank() == 5)
    return {inHeads(query, 0), side(key, 0), side(key, 1)};
  return {inHeads(query, 0), inHeads(key, 1), inHeads(call.tensor(2), 2)};
}

static void multiHeadAttentionRule(Call &call) {
  Parts parts = partsOf(call);
  if (call.has(8) || call.has(9))
    call.unsupported("a past that shares its buffer");
  if (call.has(6) != call.has(7))
    call.invalid("the past of keys or values is missing");
  if (call.has(6)) {
    parts.key = concat({call.tensor(6), parts.key}, 2);
    parts.value = concat({call.tensor(7), parts.value}, 2);
  }
  call.give(1, parts.key);
  call.give(2, parts.value);
  Tensor added = addedOf(call, parts, 4, 5, call.flag("unidirectional"));
  call.give(attended(call, parts, added));
}

//===- GroupQueryAttention ------------------------------------------------===//

namespace {
/// One node: what is attended to, and where it stands in the cache.
struct Grouped {
  Parts parts;
  Tensor past;    ///< keys before the first query: [batch, 1], i64
  int64_t length; ///< of the cache
};
} // namespace

static Grouped groupedOf(Call &call) {
  Tensor query = call.tensor(0);
  int64_t heads = call.integer("num_heads"), own = call.integer("kv_num_heads");
  if (query.rank() != 3 || heads < 1 || own < 1 || heads > mostFactor ||
      own > mostFactor || heads % own != 0)
    call.invalid(std::to_string(heads) + " heads over " + std::to_string(own) +
                 " and a query of rank " + std::to_string(query.rank()));
  Grouped grouped;
  if (call.has(1)) {
    grouped.parts = {apart(call, query, heads),
                     apart(call, call.tensor(1), own),
                     apart(call, call.tensor(2), own)};
  } else {
    Tensor all = apart(call, query, heads + 2 * own);
    grouped.parts = {sliceAxis(all, 1, 0, heads),
                     sliceAxis(all, 1, heads, heads + own),
                     sliceAxis(all, 1, heads + own, heads + 2 * own)};
  }
  int64_t queries = fixed(query.dim(1));
  int64_t total = call.integer(6, "the total length");
  Tensor ends = reshape(call.tensor(5).to(DType::i64), {-1, 1});
  // A first prompt begins at 0, however long each of its rows is.
  grouped.past = total == queries ? zeros_like(ends) : ends + (1 - queries);
  int64_t kept = call.has(3) ? fixed(call.tensor(3).dim(2)) : 0;
  grouped.length = std::max(kept, total);
  return grouped;
}

/// The cache with what is new at its place, and 0 behind that.
static Tensor cached(Call &call, const Grouped &grouped, size_t past,
                     const Tensor &fresh) {
  Dims shape = fresh.shape();
  shape[2] = Dim(grouped.length);
  Tensor cache = zeros(shape, {fresh.dtype(), fresh.device()});
  if (call.has(past)) {
    Tensor old = call.tensor(past);
    int64_t more = grouped.length - fixed(old.dim(2));
    cache = more > 0 ? pad(old, {{2, 0, more}}) : old;
  }
  Options index{DType::i64, fresh.device()};
  Tensor first = reshape(grouped.past, {-1, 1, 1, 1});
  cache = scatter(cache, iota(fresh.shape(), 2, index) + first, fresh, 2);
  Tensor place = iota({1, 1, Dim(grouped.length), 1}, 2, index);
  Tensor isUsed = place < first + fixed(fresh.dim(2));
  return where(isUsed, cache, zeros_like(cache));
}

/// Which of the cache each query sees: those up to it, or a window of them.
static Tensor seenOf(Call &call, const Grouped &grouped) {
  Dims shape{1, 1, grouped.parts.query.dim(2), Dim(grouped.length)};
  Options index{DType::i64, call.device()};
  Tensor place = iota(shape, 3, index);
  Tensor last = iota(shape, 2, index) + reshape(grouped.past, {-1, 1, 1, 1});
  Tensor seen = place <= last;
  int64_t window = call.integer("local_window_size");
  return window > 0 ? seen && place > last - window : seen;
}

static void groupQueryAttentionRule(Call &call) {
  if (call.flag("smooth_softmax") || call.has(11))
    call.unsupported("a softmax with a sink");
  Grouped grouped = groupedOf(call);
  Parts &parts = grouped.parts;
  if (call.flag("do_rotary")) {
    Tensor at = arange(parts.query.dim(2), {DType::i64, call.device()});
    Rotation rotation{call.tensor(7), call.tensor(8), at + grouped.past, 0,
                      call.flag("rotary_interleaved")};
    parts.query = rotated(call, parts.query, rotation);
    parts.key = rotated(call, parts.key, rotation);
  }
  parts.key = cached(call, grouped, 3, parts.key);
  parts.value = cached(call, grouped, 4, parts.value);
  call.give(1, parts.key);
  call.give(2, parts.value);
  Tensor key = shared(call, parts.key, parts.query);
  Tensor value = shared(call, parts.value, parts.query);
  Tensor scores = matmul(widened(parts.query), swapaxes(widened(key), 2, 3)) *
                  scaleOf(call, parts.query);
  double cap = call.real("softcap");
  if (cap != 0)
    scores = tanh(scores / cap) * cap;
  if (call.has(10))
    scores = scores + call.tensor(10);
  double none = -std::numeric_limits<double>::infinity();
  scores = where(seenOf(call, grouped), scores, full_like(scores, none));
  Tensor y = matmul(softmax(scores, -1), widened(value));
  call.give(together(y.to(parts.query.dtype())));
}

//===- RotaryEmbedding ----------------------------------------------------===//

/// Positions for each element, or one number that all count from.
static void rotaryRule(Call &call) {
  Tensor x = call.tensor(0), positions = call.tensor(1).to(DType::i64);
  if (call.flag("is_packed_batching"))
    call.unsupported("is_packed_batching");
  if (call.given("scale") && call.real("scale") != 1)
    call.unsupported("a scale");
  bool isPacked = x.rank() == 3;
  int64_t width = call.integer("rotary_embedding_dim");
  if (isPacked) {
    int64_t heads = call.integer("num_heads");
    int64_t size = 2 * fixed(call.tensor(2).dim(-1));
    if (heads == 0 && size > 0)
      heads = fixed(x.dim(2)) / size;
    x = apart(call, x, heads);
  }
  if (x.rank() != 4)
    call.invalid("the tensor has rank " + std::to_string(x.rank()));
  if (positions.numel() == 1)
    positions =
        reshape(positions, {1, 1}) +
        reshape(arange(x.dim(2), {DType::i64, x.device()}), {1, x.dim(2)});
  Rotation rotation{call.tensor(2), call.tensor(3), positions, width,
                    call.flag("interleaved")};
  Tensor y = rotated(call, x, rotation);
  call.give(isPacked ? together(y) : y);
}

static constexpr Operator rows[] = {
    {"Attention", 1, 0,
     "do_rotary:int=0 mask_filter_value:float=-10000.0 num_heads:int! "
     "past_present_share_buffer:int=0 qkv_hidden_sizes:ints "
     "rotary_embedding_dim:int=0 scale:float unidirectional:int=0",
     attentionRule, domain},
    {"MultiHeadAttention", 1, 0,
     "mask_filter_value:float=-10000.0 num_heads:int! scale:float "
     "unidirectional:int=0",
     multiHeadAttentionRule, domain},
    {"GroupQueryAttention", 1, 0,
     "do_rotary:int=0 kv_num_heads:int! local_window_size:int=-1 "
     "num_heads:int! "
     "rotary_interleaved:int=0 scale:float smooth_softmax:int=0 "
     "softcap:float=0.0",
     groupQueryAttentionRule, domain},
    {"RotaryEmbedding", 1, 0,
     "interleaved:int=0 is_packed_batching:int=0 num_heads:int=0 "
     "rotary_embedding_dim:int=0 scale:float=1.0",
     rotaryRule, domain},
};

std::span<const Operator> microsoftAttentionRows() { return rows; }

} // namespace sinter::onnx
