/// Composites: recorded as one node, written in other ops.
#ifndef SINTER_OPS_NN_TD
#define SINTER_OPS_NN_TD

include "dialects/sinter/OpBase.td"

def Sinter_MeanOp : Sinter_Composite<"mean"> {
  let summary = "Mean over axes.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axes:$axes,
                       Sinter_Boolean:$keepdims);
  let shapeRule = "sum";
  let defaults = ["axes = {}", "keepdims = false"];
  let example = "mean(x, {1})";
}
def Sinter_SoftmaxOp : Sinter_Composite<"softmax"> {
  let summary = "exp(x) divided by its sum along an axis.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis);
  let shapeRule = "softmax";
  let defaults = ["axis = -1"];
  let example = "softmax(x)";
}
def Sinter_LogSoftmaxOp : Sinter_Composite<"log_softmax"> {
  let summary = "The logarithm of softmax along an axis.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis);
  let shapeRule = "softmax";
  let defaults = ["axis = -1"];
  let example = "log_softmax(x)";
}
def Sinter_ReluOp : Sinter_Composite<"relu"> {
  let summary = "Elementwise max(x, 0); its gradient at 0 is 0.";
  let arguments = (ins Sinter_Numeric:$x);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "sameAsFirst";
  let promotion = "none";
  let domains = [Reals<"-4", "4", "0">];
  let example = "relu(x)";
}
def Sinter_GeluForm : Sinter_Choice<"GeluForm", ["tanh", "none"]>;
def Sinter_GeluOp : Sinter_Composite<"gelu"> {
  let summary = "Elementwise x times the normal distribution function of x.";
  let description = [{
    `none` is exact, by `erf`; `tanh` approximates by a hyperbolic tangent.
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_GeluForm:$approximate);
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let defaults = ["approximate = GeluForm::none"];
  let example = "gelu(x)";
}
def Sinter_LayerNormOp : Sinter_Composite<"layer_norm"> {
  let summary = "Rows brought to mean 0 and variance 1, scaled and shifted.";
  let description = [{
    (x - mean) / sqrt(variance + eps) * weight + bias over the last axis.
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_Float:$weight,
                       Sinter_Float:$bias, Sinter_Real:$eps);
  let shapeRule = "layerNorm";
  let shapeArguments = [];
  let defaults = ["eps = 1e-5"];
  let example = "layer_norm(x, weight, bias)";
}
def Sinter_CrossEntropyOp : Sinter_Composite<"cross_entropy"> {
  let summary = "Mean of -log(softmax(logits)) at the labels.";
  let description = "A label out of range is an error.";
  let arguments = (ins Sinter_Float:$logits, Sinter_Index:$labels);
  let shapeRule = "crossEntropy";
  let promoted = ["logits"];
  let domains = [Reals<"-4", "4">, Positions];
  let example = "cross_entropy(logits, labels)";
}

#endif // SINTER_OPS_NN_TD
