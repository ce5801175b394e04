/// Composites: recorded as one node, written in other ops.
#ifndef SINTER_OPS_NN_TD
#define SINTER_OPS_NN_TD

include "dialects/sinter/OpBase.td"

def Sinter_MeanOp : Sinter_Composite<"mean"> {
  let summary = "Mean over axes.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axes:$axes,
                       Sinter_Boolean:$keepdims);
  let precision = "full";
  let shapeRule = "sum";
  let defaults = ["axes = {}", "keepdims = false"];
  let example = "mean(x, {1})";
}
def Sinter_VarOp : Sinter_Composite<"var"> {
  let summary = "Variance over axes.";
  let description = [{
    The sum of squared differences from the mean, divided by the number of
    elements less `correction`.
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_Axes:$axes,
                       Sinter_Real:$correction, Sinter_Boolean:$keepdims);
  let precision = "full";
  let shapeRule = "sum";
  let shapeArguments = ["axes", "keepdims"];
  let defaults = ["axes = {}", "correction = 1", "keepdims = false"];
  let example = "var(x, {1})";
}
def Sinter_SoftmaxOp : Sinter_Composite<"softmax"> {
  let summary = "exp(x) divided by its sum along an axis.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis);
  let precision = "full";
  let shapeRule = "softmax";
  let defaults = ["axis = -1"];
  let example = "softmax(x)";
}
def Sinter_QuietSoftmaxOp : Sinter_Composite<"quiet_softmax"> {
  let summary = "exp(x) divided by 1 plus its sum along an axis.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis);
  let precision = "full";
  let shapeRule = "softmax";
  let defaults = ["axis = -1"];
  let example = "quiet_softmax(x)";
}
def Sinter_LogSoftmaxOp : Sinter_Composite<"log_softmax"> {
  let summary = "The logarithm of softmax along an axis.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis);
  let precision = "full";
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
def Sinter_SquareOp : Sinter_Composite<"square"> {
  let summary = "Elementwise x * x.";
  let arguments = (ins Sinter_Numeric:$x);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "sameAsFirst";
  let promotion = "none";
  let example = "square(x)";
}
def Sinter_ClampOp : Sinter_Composite<"clamp"> {
  let summary = "Elementwise x brought into [min, max].";
  let description = [{
    min(max(x, min), max): `max` where min is above it. The bounds are converted
    to x's dtype, and without one there is none. The gradient flows where x is
    in the range, bounds included.
  }];
  let arguments = (ins Sinter_Numeric:$x, Sinter_Number:$min,
                       Sinter_Number:$max);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let promotion = "none";
  let defaults = ["min = -std::numeric_limits<double>::infinity()",
                  "max = std::numeric_limits<double>::infinity()"];
  let example = "clamp(x, -1, 1)";
}
def Sinter_SigmoidOp : Sinter_Composite<"sigmoid"> {
  let summary = "Elementwise 1 / (1 + e^-x).";
  let arguments = (ins Sinter_Float:$x);
  let shapeRule = "sameAsFirst";
  let example = "sigmoid(x)";
}
def Sinter_SiluOp : Sinter_Composite<"silu"> {
  let summary = "Elementwise x * sigmoid(x).";
  let arguments = (ins Sinter_Float:$x);
  let shapeRule = "sameAsFirst";
  let example = "silu(x)";
}
def Sinter_CustomGradientOp : Sinter_Composite<"custom_gradient"> {
  let summary = "A value whose gradient a function of the user gives.";
  let description = [{
    The value itself. While recorded, a chain of these links a custom function's
    value to its inputs, one each; elsewhere its gradient is that of `value`.
  }];
  let arguments = (ins Sinter_Float:$value, Sinter_Tensor:$input);
  let shapeRule = "sameAsFirst";
  let promotion = "none";
  let handWritten = 1;
  let example = "custom_gradient([](auto inputs) { return exp(inputs[0]); }, "
                "[](const CustomContext &c) { return std::vector{c.result * "
                "c.gradient}; })({value})";
}
def Sinter_AfterOp : Sinter_Composite<"after"> {
  let reorder = "sameAsFirst";
  let summary = "A value that is there once another one is.";
  let description = [{
    `value` itself. What is computed from it is computed after `earlier`, and
    not together with what is computed from `value` elsewhere: `checkpoint`
    records it, so that values are computed again when they are needed.
  }];
  let arguments = (ins Sinter_Tensor:$value, Sinter_Tensor:$earlier);
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = "sameAsFirst";
  let promotion = "none";
  let handWritten = 1;
  let example = "checkpoint([](const Tensor &x) { return exp(x); }, value)";
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
  let precision = "full";
  let shapeRule = "layerNorm";
  let shapeArguments = [];
  let defaults = ["eps = 1e-5"];
  let example = "layer_norm(x, weight, bias)";
}
def Sinter_AxpbyOp : Sinter_Composite<"axpby"> {
  let summary = "x * a + y * b.";
  let description = [{
    The operands behind x have its shape or are numbers (of rank 0).
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_Float:$a, Sinter_Float:$y,
                       Sinter_Float:$b);
  let shapeRule = "withNumbers";
  let example = "axpby(x, 0.9, y, 0.1)";
}
def Sinter_AdaptiveStepOp : Sinter_Composite<"adaptive_step"> {
  let summary = "x - direction * rate / (sqrt(square) * scale + eps).";
  let description = [{
    A step of Adam (Kingma and Ba, 2015) and its kin, with the running means in
    `direction` and `square`. The operands behind x have its shape or are
    numbers (of rank 0).
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_Float:$direction,
                       Sinter_Float:$square, Sinter_Float:$rate,
                       Sinter_Float:$scale, Sinter_Float:$eps);
  let shapeRule = "withNumbers";
  let domains = [Reals<"-4", "4">, Reals<"-4", "4">, Reals<"0.1", "8">,
                 Reals<"-4", "4">, Reals<"0.5", "2">, Reals<"0.1", "1">];
  let example = "adaptive_step(x, direction, square, 1e-3, 1, 1e-8)";
}
def Sinter_CrossEntropyOp : Sinter_Composite<"cross_entropy"> {
  let summary = "Mean of -log(softmax(logits)) at the labels.";
  let description = "A label out of range is an error.";
  let arguments = (ins Sinter_Float:$logits, Sinter_Index:$labels);
  let precision = "full";
  let shapeRule = "crossEntropy";
  let promoted = ["logits"];
  let domains = [Reals<"-4", "4">, Positions];
  let example = "cross_entropy(logits, labels)";
}

#endif // SINTER_OPS_NN_TD
