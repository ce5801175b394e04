/// Attention and embeddings.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Random.h>

#include <cmath>
#include <limits>

namespace sinter::torch {

/// How much each query takes of each key, of which some are left out.
static Tensor attendedInPart(Call &call, const AttentionOptions &options,
                             double p) {
  DType dtype = call.outputDType();
  Tensor query = call.tensor("query").to(dtype),
         key = call.tensor("key").to(dtype),
         value = call.tensor("value").to(dtype);
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2)
    call.invalid("operands that are no matrices");
  if (options.enable_gqa && key.rank() > 2 && value.rank() > 2) {
    int64_t heads = fixed(query.dim(-3));
    auto shared = [&](const Tensor &x) {
      int64_t own = fixed(x.dim(-3));
      if (own < 1 || heads % own != 0)
        call.invalid(std::to_string(heads) + " heads of queries for " +
                     std::to_string(own));
      return repeat_interleave(x, heads / own, x.rank() - 3);
    };
    key = shared(key);
    value = shared(value);
  }
  double scale = options.scale ? *options.scale
                               : 1 / std::sqrt(double(fixed(query.dim(-1))));
  Tensor scores = matmul(query * scale, swapaxes(key, -1, -2));
  Tensor none = full({}, -std::numeric_limits<double>::infinity(),
                     {dtype, call.device()});
  if (options.causal) {
    Dims square{scores.dim(-2), scores.dim(-1)};
    Tensor seen = tril(ones(square, {DType::f32, call.device()})) != 0.0;
    scores = where(seen, scores, none);
  }
  if (options.mask && options.mask->dtype() == DType::boolean)
    scores = where(*options.mask, scores, none);
  else if (options.mask)
    scores = scores + options.mask->to(dtype);
  return matmul(dropout(softmax(scores, -1), p), value);
}

static Tensor attended(Call &call, const AttentionOptions &options) {
  DType dtype = call.outputDType();
  double p = call.real("dropout_p", 0);
  if (p != 0)
    return attendedInPart(call, options, p);
  return scaled_dot_product_attention(call.tensor("query").to(dtype),
                                      call.tensor("key").to(dtype),
                                      call.tensor("value").to(dtype), options);
}

static AttentionOptions optionsOf(Call &call) {
  AttentionOptions options;
  options.causal = call.flag("is_causal");
  if (call.has("scale"))
    options.scale = call.real("scale");
  return options;
}

static void attentionRule(Call &call) {
  AttentionOptions options = optionsOf(call);
  options.enable_gqa = call.flag("enable_gqa");
  options.mask = call.optionalTensor("attn_mask");
  call.give(attended(call, options));
}

/// The forms that a decomposition leaves. Their second result, and the state
/// of random numbers, serve a backward pass of PyTorch's own.
static void kernelAttentionRule(Call &call) {
  AttentionOptions options = optionsOf(call);
  call.ignore({"return_debug_mask", "compute_log_sumexp", "compute_logsumexp"});
  options.mask =
      call.optionalTensor(call.has("attn_bias") ? "attn_bias" : "attn_mask");
  call.give(attended(call, options));
  for (size_t i = 1; i < call.numOutputs(); ++i) {
    const TensorRecord *record = call.outputRecord(i);
    call.give(record ? Value(zeros({0}, {call.outputDType(i), call.device()}))
                     : Value());
  }
}

/// Where the padding stands has a part in gradients alone, which are those of
/// the rows that are looked up.
static void embeddingRule(Call &call) {
  call.ignore({"padding_idx", "scale_grad_by_freq"});
  if (call.flag("sparse"))
    call.unsupported("sparse gradients");
  call.give(embedding(call.tensor("weight"), call.tensor("indices")));
}

static constexpr Operator rows[] = {
    {"aten.scaled_dot_product_attention.default", attentionRule},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default",
     kernelAttentionRule},
    {"aten._scaled_dot_product_efficient_attention.default",
     kernelAttentionRule},
    {"aten._scaled_dot_product_flash_attention.default", kernelAttentionRule},
    {"aten._scaled_dot_product_attention_math.default", kernelAttentionRule},
    {"aten._scaled_dot_product_attention_math_for_mps.default",
     kernelAttentionRule},
    {"aten.embedding.default", embeddingRule},
};

std::span<const Operator> attentionRows() { return rows; }

} // namespace sinter::torch
