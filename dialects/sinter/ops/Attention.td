/// Attention: softmax(query key^T) value, and what its gradients are made of.
#ifndef SINTER_OPS_ATTENTION_TD
#define SINTER_OPS_ATTENTION_TD

include "dialects/sinter/OpBase.td"

/// Which keys a query sees: all, or those at its own position and before.
def Sinter_AttentionSpan : Sinter_Choice<"AttentionSpan", ["all", "causal"]>;

def Sinter_ScaledDotProductAttentionOp
    : Sinter_Composite<"scaled_dot_product_attention"> {
  let summary = "softmax(query key^T * scale + mask) value.";
  let description = [{
    query[..., t, d], key[..., s, d] and value[..., s, e] give [..., t, e]. The
    mask has the scores' shape [..., t, s], or rank 0. With `causal`, query i
    sees the keys up to i. The row of a query that sees none is 0.
  }];
  let arguments = (ins Sinter_Float:$query, Sinter_Float:$key,
                       Sinter_Float:$value, Sinter_Float:$mask,
                       Sinter_AttentionSpan:$span, Sinter_Real:$scale);
  let shapeRule = "attention";
  let shapeArguments = [];
  let domains = [Reals<"-1", "1">];
  let handWritten = 1;
  let precision = "low";
  let example = "scaled_dot_product_attention(query, key, value)";
}

/// What the compiler makes of attention. Scores are query key^T * scale + mask
/// (a mask of rank 0 that is 0 is none), in f32 for f16 and bf16, and are never
/// in memory. The result has a row per row of operand `walked`. Where all scores
/// of a query are -inf the sum of their exp counts as 1: nothing is weighed.
class Sinter_AttentionPart<string mnemonic, int walked>
    : Sinter_Op<mnemonic, "attention", [AttentionOpInterface]> {
  let results = (outs Sinter_Float:$result);
  let shapeArguments = [];
  let domains = [Reals<"-1", "1">];
  let declares = [{
    static unsigned getWalkedOperand() { return }] # walked # [{; }
  }];
}

def Sinter_AttentionOp : Sinter_AttentionPart<"attention", 0> {
  let summary = "softmax of the scores, times value.";
  let arguments = (ins Sinter_Float:$query, Sinter_Float:$key,
                       Sinter_Float:$mask, Sinter_Float:$value,
                       Sinter_AttentionSpan:$span, Sinter_Real:$scale);
  let shapeRule = "attentionValue";
  let example = "attention(query, key, mask, value, AttentionSpan::all, 0.5)";
}
def Sinter_AttentionLogsumexpOp
    : Sinter_AttentionPart<"attention_logsumexp", 0> {
  let summary = "log of the sum of exp of a query's scores.";
  let description = "[..., t, 1], in f32 for f16 and bf16.";
  let arguments = (ins Sinter_Float:$query, Sinter_Float:$key,
                       Sinter_Float:$mask, Sinter_AttentionSpan:$span,
                       Sinter_Real:$scale);
  let shapeRule = "attentionRows";
  let example =
      "attention_logsumexp(query, key, mask, AttentionSpan::all, 0.5)";
}

/// Gradients: P = exp(scores - logsumexp), dS = P (grad value^T - delta), where
/// delta is the sum of grad * result over a query's row. The result is
/// multiplied by `factor`.
class Sinter_AttentionGradient<string mnemonic, int walked, string rule>
    : Sinter_AttentionPart<mnemonic, walked> {
  let arguments = (ins Sinter_Float:$query, Sinter_Float:$key,
                       Sinter_Float:$mask, Sinter_Float:$value,
                       Sinter_Float:$grad, Sinter_Float:$logsumexp,
                       Sinter_Float:$delta, Sinter_AttentionSpan:$span,
                       Sinter_Real:$scale, Sinter_Real:$factor);
  let shapeRule = rule;
  let example = mnemonic # "(query, key, mask, value, grad, logsumexp, delta, "
                "AttentionSpan::all, 0.5, 2)";
}
def Sinter_AttentionQueryGradientOp
    : Sinter_AttentionGradient<"attention_query_gradient", 0,
                               "attentionQueryGradient"> {
  let summary = "dS key * factor.";
}
def Sinter_AttentionKeyGradientOp
    : Sinter_AttentionGradient<"attention_key_gradient", 1,
                               "attentionKeyGradient"> {
  let summary = "dS^T query * factor.";
}
def Sinter_AttentionValueGradientOp
    : Sinter_AttentionGradient<"attention_value_gradient", 1,
                               "attentionValueGradient"> {
  let summary = "P^T grad * factor.";
}

#endif // SINTER_OPS_ATTENTION_TD
