/// Activation functions; those of older date stand in Nn.td.
#ifndef SINTER_OPS_ACTIVATIONS_TD
#define SINTER_OPS_ACTIVATIONS_TD

include "dialects/sinter/OpBase.td"

/// An activation with numbers as parameters.
class Sinter_Activation<string mnemonic, dag parameters = (ins),
                        list<string> parameterDefaults = []>
    : Sinter_MathComposite<mnemonic> {
  let arguments = !con((ins Sinter_Float:$x), parameters);
  let shapeArguments = [];
  let defaults = parameterDefaults;
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_LogsigmoidOp : Sinter_Activation<"logsigmoid"> {
  let summary = "Elementwise log(sigmoid(x)), without overflow on the way.";
}
def Sinter_SoftplusOp
    : Sinter_Activation<"softplus",
                        (ins Sinter_Real:$beta, Sinter_Real:$threshold),
                        ["beta = 1", "threshold = 20"]> {
  let summary = "Elementwise log(1 + e^(beta x)) / beta.";
  let description = "x itself where beta x is above the threshold.";
}
def Sinter_MishOp : Sinter_Activation<"mish"> {
  let summary = "Elementwise x * tanh(softplus(x)).";
}
def Sinter_SoftsignOp : Sinter_Activation<"softsign"> {
  let summary = "Elementwise x / (1 + |x|).";
}
def Sinter_TanhshrinkOp : Sinter_Activation<"tanhshrink"> {
  let summary = "Elementwise x - tanh(x).";
}
def Sinter_EluOp : Sinter_Activation<"elu", (ins Sinter_Real:$alpha),
                                     ["alpha = 1"]> {
  let summary = "Elementwise x where positive, else alpha * (e^x - 1).";
}
def Sinter_SeluOp : Sinter_Activation<"selu"> {
  let summary = "Elementwise elu, scaled so that layers normalize themselves.";
}
def Sinter_CeluOp : Sinter_Activation<"celu", (ins Sinter_Real:$alpha),
                                      ["alpha = 1"]> {
  let summary = "Elementwise x where positive, else alpha * (e^(x/alpha) - 1).";
}
def Sinter_LeakyReluOp
    : Sinter_Activation<"leaky_relu", (ins Sinter_Real:$negative_slope),
                        ["negative_slope = 0.01"]> {
  let summary = "Elementwise x where positive, else negative_slope * x.";
}
def Sinter_HardtanhOp
    : Sinter_Activation<"hardtanh", (ins Sinter_Real:$min, Sinter_Real:$max),
                        ["min = -1", "max = 1"]> {
  let summary = "Elementwise x brought into [min, max].";
  let description = "As clamp, but that no gradient flows at the bounds.";
}
def Sinter_Relu6Op : Sinter_Activation<"relu6"> {
  let summary = "Elementwise min(max(x, 0), 6).";
}
def Sinter_HardsigmoidOp : Sinter_Activation<"hardsigmoid"> {
  let summary = "Elementwise relu6(x + 3) / 6.";
  let domains = [Reals<"-2.8", "2.8">];
}
def Sinter_HardswishOp : Sinter_Activation<"hardswish"> {
  let summary = "Elementwise x * relu6(x + 3) / 6.";
  let domains = [Reals<"-2.8", "2.8">];
}
def Sinter_HardshrinkOp
    : Sinter_Activation<"hardshrink", (ins Sinter_Real:$lambda),
                        ["lambda = 0.5"]> {
  let summary = "Elementwise x where |x| is above lambda, else 0.";
  let domains = [Reals<"0.1", "4", "0.5">];
}
def Sinter_SoftshrinkOp
    : Sinter_Activation<"softshrink", (ins Sinter_Real:$lambda),
                        ["lambda = 0.5"]> {
  let summary = "Elementwise x brought nearer to 0 by lambda, down to 0.";
  let domains = [Reals<"0.1", "4", "0.5">];
}
def Sinter_ThresholdOp
    : Sinter_Activation<"threshold",
                        (ins Sinter_Real:$bound, Sinter_Real:$value)> {
  let summary = "Elementwise x where it is above the bound, else value.";
  let example = "threshold(x, 0.5, 2)";
}

#endif // SINTER_OPS_ACTIVATIONS_TD
