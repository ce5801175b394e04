/// Attention and what stands around it.
#include "frontend/import/onnx/rules/Heads.h"

#include "frontend/ElementwiseFunctions.h"

#include "frontend/import/onnx/ModelRecorder.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace sinter::onnx {

namespace {

/// The operands of one node as [batch, heads, length, width].
struct Heads {
  Tensor query, key, value;
  bool arePacked = false; ///< they came as [batch, length, heads * width]
};

} // namespace

Tensor apart(Call &call, const Tensor &x, int64_t heads) {
  if (heads < 1 || fixed(x.dim(2)) % heads != 0)
    call.invalid("the width is no multiple of " + std::to_string(heads) +
                 " heads");
  Dim width(x.dim(2).value / heads);
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
}

Tensor together(const Tensor &x) {
  Tensor turned = permute(x, {0, 2, 1, 3});
  return reshape(turned, {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

static Heads headsOf(Call &call) {
  Heads heads{call.tensor(0), call.tensor(1), call.tensor(2)};
  heads.arePacked = heads.query.rank() == 3;
  if (heads.arePacked) {
    heads.query = apart(call, heads.query, call.integer("q_num_heads"));
    heads.key = apart(call, heads.key, call.integer("kv_num_heads"));
    heads.value = apart(call, heads.value, call.integer("kv_num_heads"));
  }
  for (const Tensor *each : {&heads.query, &heads.key, &heads.value})
    if (each->rank() != 4)
      call.invalid("an operand has rank " + std::to_string(each->rank()));
  return heads;
}

Tensor shared(Call &call, const Tensor &x, const Tensor &query) {
  int64_t own = fixed(x.dim(1)), wanted = fixed(query.dim(1));
  if (own == wanted)
    return x;
  if (own < 1 || wanted % own != 0)
    call.invalid(std::to_string(wanted) + " heads over " + std::to_string(own));
  return repeat_interleave(x, wanted / own, 1);
}

/// A mask for fewer keys than there are: the others are not seen.
static Tensor fullMask(const Tensor &mask, Dim keys) {
  int64_t missing = fixed(keys) - fixed(mask.dim(-1));
  if (missing <= 0)
    return mask;
  double hidden = mask.dtype() == DType::boolean
                      ? 0
                      : -std::numeric_limits<double>::infinity();
  return pad(mask, {{mask.rank() - 1, 0, missing}}, PadMode::constant, hidden);
}

/// Which keys each query may see, besides the mask; undefined: all.
static Tensor visible(Call &call, const Heads &heads, Dim past) {
  Dim queries = heads.query.dim(2), keys = heads.key.dim(2);
  Dims shape{queries, keys};
  Options index{DType::i64, call.device()};
  Tensor seen, row = iota(shape, 0, index), column = iota(shape, 1, index);
  auto restrict = [&](const Tensor &more) {
    seen = seen.defined() ? logical_and(seen, more) : more;
  };
  Tensor position = row;
  if (past.value != 0)
    position = row + fixed(past);
  bool hasLengths = call.opset() >= 24 && call.has(6);
  if (hasLengths) {
    // Queries are the last of the keys that count.
    Tensor lengths =
        reshape(call.tensor(6).to(DType::i64), {-1, Dim(1), Dim(1), Dim(1)});
    restrict(column < lengths);
    position = row + (lengths - fixed(queries));
  }
  if (call.flag("is_causal"))
    restrict(column <= position);
  if (call.opset() >= 25) {
    int64_t left = call.integer("left_window_size"),
            right = call.integer("right_window_size");
    if (left >= 0)
      restrict(column >= position - left);
    if (right >= 0)
      restrict(column <= position + right);
  }
  return seen;
}

static Tensor masked(const Tensor &scores, const Tensor &mask) {
  if (mask.dtype() != DType::boolean)
    return scores + mask.to(scores.dtype());
  double none = -std::numeric_limits<double>::infinity();
  return where(mask, scores, full({}, none, {scores.dtype(), scores.device()}));
}

/// Rows that see nothing give 0.
static Tensor weightsOf(const Tensor &scores) {
  double none = -std::numeric_limits<double>::infinity();
  Tensor isEmpty = amax(scores, -1, true) == none;
  return where(isEmpty, zeros_like(scores), softmax(scores, -1));
}

static void attentionRule(Call &call) {
  Heads heads = headsOf(call);
  Dim past(0);
  if (call.has(4)) {
    past = call.tensor(4).dim(2);
    heads.key = concat({call.tensor(4), heads.key}, 2);
    heads.value = concat({call.tensor(5), heads.value}, 2);
  }
  call.give(1, heads.key);
  call.give(2, heads.value);
  DType dtype = heads.query.dtype();
  double scale = call.given("scale")
                     ? call.real("scale")
                     : 1 / std::sqrt(double(fixed(heads.query.dim(3))));
  Tensor query = widened(heads.query);
  Tensor key = widened(shared(call, heads.key, heads.query));
  Tensor value = widened(shared(call, heads.value, heads.query));
  Tensor scores = matmul(query, swapaxes(key, 2, 3)) * scale;
  int64_t mode = call.integer("qk_matmul_output_mode");
  auto show = [&](int64_t stage, const Tensor &seen) {
    if (mode == stage)
      call.give(3, seen.to(dtype));
  };
  show(0, scores);
  double cap = call.real("softcap");
  if (cap != 0)
    scores = tanh(scores / cap) * cap;
  show(1, scores);
  if (call.has(3))
    scores = masked(scores, fullMask(call.tensor(3), heads.key.dim(2)));
  Tensor seen = visible(call, heads, past);
  if (seen.defined())
    scores = masked(scores, seen);
  show(2, scores);
  Tensor weights = weightsOf(scores);
  show(3, weights);
  Tensor y = matmul(weights, value).to(dtype);
  call.give(heads.arePacked ? together(y) : y);
}

/// Attention whose scores and weights graphs of the node may change.
static void flexAttentionRule(Call &call) {
  Heads heads{call.tensor(0), call.tensor(1), call.tensor(2)};
  for (const Tensor *each : {&heads.query, &heads.key, &heads.value})
    if (each->rank() != 4)
      call.invalid("an operand has rank " + std::to_string(each->rank()));
  DType dtype = heads.query.dtype();
  DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  if (call.given("softmax_precision"))
    wide = call.dtypeAttribute("softmax_precision");
  double scale = call.given("scale")
                     ? call.real("scale")
                     : 1 / std::sqrt(double(fixed(heads.query.dim(3))));
  Tensor key = shared(call, heads.key, heads.query);
  Tensor value = shared(call, heads.value, heads.query);
  auto changed = [&](const Tensor &x, const char *name) {
    const GraphRecord *graph = call.graph(name);
    if (!graph)
      return x;
    std::vector<Value> results = call.recorder().call(*graph, {Value(x)});
    if (results.size() != 1 || results[0].isNothing() || results[0].isList())
      call.invalid(std::string(name) + " does not give one tensor");
    return results[0].tensor(call.device());
  };
  Tensor product = matmul(widened(heads.query), swapaxes(widened(key), 2, 3));
  Tensor scores = changed((product * scale).to(wide), "score_mod");
  Tensor weights = changed(softmax(scores, -1), "prob_mod");
  call.give(matmul(weights.to(dtype), value));
}

//===- Rotary embedding ---------------------------------------------------===//

Tensor rotated(Call &call, const Tensor &x, const Rotation &rotation) {
  int64_t size = fixed(x.dim(3)), width = rotation.width;
  width = width == 0 ? size : width;
  if (width < 2 || width > size || width % 2 != 0)
    call.invalid("rotary_embedding_dim is " + std::to_string(width));
  int64_t half = width / 2;
  Tensor cosines = rotation.cosines, sines = rotation.sines;
  if (rotation.positions.defined()) {
    cosines = embedding(cosines, rotation.positions);
    sines = embedding(sines, rotation.positions);
  }
  if (cosines.rank() != 3 || fixed(cosines.dim(2)) != half)
    call.invalid("the caches have another width");
  cosines = unsqueeze(cosines, 1);
  sines = unsqueeze(sines, 1);
  Tensor turned = sliceAxis(x, 3, 0, width), first, second;
  if (rotation.isInterleaved) {
    first = sliceAxis(turned, 3, 0, width, 2);
    second = sliceAxis(turned, 3, 1, width, 2);
  } else {
    first = sliceAxis(turned, 3, 0, half);
    second = sliceAxis(turned, 3, half, width);
  }
  Tensor real = first * cosines - second * sines;
  Tensor imaginary = first * sines + second * cosines;
  Tensor y = concat({real, imaginary}, 3);
  if (rotation.isInterleaved)
    y = reshape(stack({real, imaginary}, 4), turned.shape());
  return width < size ? concat({y, sliceAxis(x, 3, width, size)}, 3) : y;
}

static void rotaryRule(Call &call) {
  Tensor x = call.tensor(0);
  bool isPacked = x.rank() == 3;
  if (isPacked)
    x = apart(call, x, call.integer("num_heads"));
  if (x.rank() != 4)
    call.invalid("the tensor has rank " + std::to_string(x.rank()));
  Rotation rotation{call.tensor(1), call.tensor(2), Tensor(),
                    call.integer("rotary_embedding_dim"),
                    call.flag("interleaved")};
  if (call.has(3))
    rotation.positions = call.tensor(3).to(DType::i64);
  Tensor y = rotated(call, x, rotation);
  call.give(isPacked ? together(y) : y);
}

static constexpr Operator rows[] = {
    {"Attention", 23, 24,
     "is_causal:int=0 kv_num_heads:int=0 q_num_heads:int=0 "
     "qk_matmul_output_mode:int=0 scale:float softcap:float=0.0 "
     "softmax_precision:int",
     attentionRule},
    {"Attention", 25, 0,
     "is_causal:int=0 kv_num_heads:int=0 left_window_size:int=-1 "
     "q_num_heads:int=0 qk_matmul_output_mode:int=0 right_window_size:int=-1 "
     "scale:float softcap:float=0.0 softmax_precision:int",
     attentionRule},
    {"FlexAttention", 1, 0,
     "prob_mod:graph scale:float score_mod:graph softmax_precision:int",
     flexAttentionRule, "ai.onnx.preview"},
    {"RotaryEmbedding", 23, 0,
     "interleaved:int=0 num_heads:int=0 rotary_embedding_dim:int=0",
     rotaryRule},
};

std::span<const Operator> attentionRows() { return rows; }

} // namespace sinter::onnx
