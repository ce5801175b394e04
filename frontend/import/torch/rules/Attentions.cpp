/// Attention and embeddings.
#include "frontend/import/torch/rules/Rules.h"

namespace sinter::torch {

static Tensor attended(Call &call, const AttentionOptions &options) {
  if (call.real("dropout_p", 0) != 0)
    call.unsupported("dropout in attention");
  DType dtype = call.outputDType();
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
