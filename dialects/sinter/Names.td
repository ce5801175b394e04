/// What each op is called elsewhere, for the reference of ops. A test names the
/// ops without a line here.

// Arithmetic.td
def : Names<Sinter_AddOp, "add", "add, add_scalar">;
def : Names<Sinter_SubOp, "sub", "sub, sub_scalar">;
def : Names<Sinter_MulOp, "mul", "mul, mul_scalar">;
def : Names<Sinter_DivOp, "div", "div, div_scalar">;
def : Names<Sinter_MaximumOp, "maximum", "max_pair">;
def : Names<Sinter_MinimumOp, "minimum", "min_pair">;
def : Names<Sinter_NegOp, "neg", "neg">;
def : Names<Sinter_AbsOp, "abs", "abs">;
def : Names<Sinter_ExpOp, "exp", "exp">;
def : Names<Sinter_LogOp, "log", "log">;
def : Names<Sinter_TanhOp, "tanh", "tanh">;
def : Names<Sinter_SinOp, "sin", "sin">;
def : Names<Sinter_CosOp, "cos", "cos">;
def : Names<Sinter_ErfOp, "erf", "erf">;
def : Names<Sinter_SqrtOp, "sqrt", "sqrt">;
def : Names<Sinter_RsqrtOp, "rsqrt", "">;
def : Names<Sinter_CompareOp, "eq, ne, lt, le, gt, ge",
    "equal, not_equal, lower, lower_equal, greater, greater_equal">;
def : Names<Sinter_WhereOp, "where", "mask_where">;
def : Names<Sinter_CastOp, "Tensor.to(dtype)", "cast, int, float, bool">;

// Reduce.td
def : Names<Sinter_SumOp, "sum", "sum, sum_dim">;
def : Names<Sinter_AmaxOp, "amax", "max, max_dim">;
def : Names<Sinter_AminOp, "amin", "min, min_dim">;
def : Names<Sinter_ArgmaxOp, "argmax", "argmax">;
def : Names<Sinter_CumsumOp, "cumsum", "cumsum">;

// Contraction.td
def : Names<Sinter_MatmulOp, "matmul", "matmul">;

// View.td
def : Names<Sinter_ReshapeOp, "reshape", "reshape">;
def : Names<Sinter_TransposeOp, "permute", "permute, swap_dims">;
def : Names<Sinter_BroadcastOp, "Tensor.expand", "expand">;
def : Names<Sinter_SliceOp, "Tensor.__getitem__", "slice">;
def : Names<Sinter_FlipOp, "flip", "flip">;
def : Names<Sinter_ConcatOp, "cat", "cat">;
def : Names<Sinter_PadOp, "nn.functional.pad", "pad">;
def : Names<Sinter_DynamicSliceOp, "", "">;
def : Names<Sinter_DynamicPadOp, "", "">;
def : Names<Sinter_SqueezeOp, "squeeze", "squeeze, squeeze_dims">;
def : Names<Sinter_UnsqueezeOp, "unsqueeze", "unsqueeze_dim, unsqueeze_dims">;
def : Names<Sinter_IotaOp, "arange", "arange">;
def : Names<Sinter_FullOp, "full", "full">;
def : Names<Sinter_ExtentOp, "Tensor.size", "dims">;

// Gather.td
def : Names<Sinter_GatherOp, "gather", "gather">;
def : Names<Sinter_ScatterAddOp, "Tensor.scatter_add",
    "scatter with IndexingUpdateOp::Add">;
def : Names<Sinter_IndexSelectOp, "index_select", "select">;
def : Names<Sinter_EmbeddingOp, "nn.functional.embedding", "module::embedding">;

// Sort.td
def : Names<Sinter_SortOp, "sort (its values)", "sort">;
def : Names<Sinter_ArgsortOp, "argsort", "argsort">;

// Random.td
def : Names<Sinter_RandomUniformOp, "rand",
    "random with Distribution::Uniform">;
def : Names<Sinter_RandomNormalOp, "randn", "random with Distribution::Normal">;
def : Names<Sinter_DropoutOp, "nn.functional.dropout", "nn::Dropout">;

// Scan.td
def : Names<Sinter_ScanIndexOp, "", "">;
def : Names<Sinter_ScanCarryOp, "", "">;
def : Names<Sinter_ScanSliceOp, "", "">;
def : Names<Sinter_ScanEndOp, "", "">;
def : Names<Sinter_ScanLastOp, "", "">;
def : Names<Sinter_ScanStackOp, "", "">;

// Nn.td
def : Names<Sinter_MeanOp, "mean", "mean, mean_dim">;
def : Names<Sinter_VarOp, "var", "var, var_bias">;
def : Names<Sinter_SoftmaxOp, "softmax", "activation::softmax">;
def : Names<Sinter_LogSoftmaxOp, "log_softmax", "activation::log_softmax">;
def : Names<Sinter_ReluOp, "relu", "activation::relu">;
def : Names<Sinter_SquareOp, "square", "square">;
def : Names<Sinter_ClampOp, "clamp", "clamp, clamp_min, clamp_max">;
def : Names<Sinter_SigmoidOp, "sigmoid", "activation::sigmoid">;
def : Names<Sinter_SiluOp, "nn.functional.silu", "activation::silu">;
def : Names<Sinter_AfterOp, "", "">;
def : Names<Sinter_CustomGradientOp, "autograd.Function", "backend extension">;
def : Names<Sinter_GeluOp, "nn.functional.gelu", "activation::gelu">;
def : Names<Sinter_LayerNormOp, "nn.functional.layer_norm", "nn::LayerNorm">;
def : Names<Sinter_CrossEntropyOp, "nn.functional.cross_entropy",
    "nn::loss::CrossEntropyLoss">;

// Windows.td
def : Names<Sinter_WindowOp, "Tensor.unfold", "unfold">;
def : Names<Sinter_UnwindowOp, "nn.functional.fold", "">;
def : Names<Sinter_ConvOp, "nn.functional.conv1d, conv2d, conv3d",
    "module::conv1d, conv2d, conv3d">;
def : Names<Sinter_ConvTransposeOp,
    "nn.functional.conv_transpose1d, conv_transpose2d, conv_transpose3d",
    "module::conv_transpose1d, conv_transpose2d, conv_transpose3d">;
def : Names<Sinter_ConvWeightGradOp, "nn.grad.conv2d_weight", "">;
def : Names<Sinter_MaxPoolOp, "nn.functional.max_pool1d, max_pool2d",
    "module::max_pool1d, max_pool2d">;
def : Names<Sinter_AvgPoolOp, "nn.functional.avg_pool1d, avg_pool2d",
    "module::avg_pool1d, avg_pool2d">;

// Attention.td
def : Names<Sinter_ScaledDotProductAttentionOp,
    "nn.functional.scaled_dot_product_attention",
    "module::attention">;
def : Names<Sinter_AttentionOp, "", "">;
def : Names<Sinter_AttentionLogsumexpOp, "", "">;
def : Names<Sinter_AttentionQueryGradientOp, "", "">;
def : Names<Sinter_AttentionKeyGradientOp, "", "">;
def : Names<Sinter_AttentionValueGradientOp, "", "">;

// Activations.td
def : Names<Sinter_LogsigmoidOp, "nn.functional.logsigmoid",
    "activation::log_sigmoid">;
def : Names<Sinter_SoftplusOp, "nn.functional.softplus",
    "activation::softplus">;
def : Names<Sinter_MishOp, "nn.functional.mish", "activation::mish">;
def : Names<Sinter_SoftsignOp, "nn.functional.softsign",
    "activation::softsign">;
def : Names<Sinter_TanhshrinkOp, "nn.functional.tanhshrink", "">;
def : Names<Sinter_EluOp, "nn.functional.elu", "activation::elu">;
def : Names<Sinter_SeluOp, "selu", "activation::selu">;
def : Names<Sinter_CeluOp, "celu", "activation::celu">;
def : Names<Sinter_LeakyReluOp, "nn.functional.leaky_relu",
    "activation::leaky_relu">;
def : Names<Sinter_HardtanhOp, "nn.functional.hardtanh", "">;
def : Names<Sinter_Relu6Op, "nn.functional.relu6", "">;
def : Names<Sinter_HardsigmoidOp, "nn.functional.hardsigmoid",
    "activation::hard_sigmoid">;
def : Names<Sinter_HardswishOp, "nn.functional.hardswish",
    "activation::hard_swish">;
def : Names<Sinter_HardshrinkOp, "nn.functional.hardshrink", "">;
def : Names<Sinter_SoftshrinkOp, "nn.functional.softshrink", "">;
def : Names<Sinter_ThresholdOp, "nn.functional.threshold",
    "activation::thresholded_relu">;

// Elementwise.td and Math.td
def : Names<Sinter_FloorOp, "floor", "floor">;
def : Names<Sinter_CeilOp, "ceil", "ceil">;
def : Names<Sinter_TruncOp, "trunc", "trunc">;
def : Names<Sinter_RoundOp, "round", "round">;
def : Names<Sinter_Exp2Op, "exp2", "">;
def : Names<Sinter_Expm1Op, "expm1", "">;
def : Names<Sinter_Log2Op, "log2", "">;
def : Names<Sinter_Log10Op, "log10", "">;
def : Names<Sinter_Log1pOp, "log1p", "log1p">;
def : Names<Sinter_AtanOp, "atan", "atan">;
def : Names<Sinter_ErfcOp, "erfc", "">;
def : Names<Sinter_PowOp, "pow", "powf, powi, powf_scalar">;
def : Names<Sinter_Atan2Op, "atan2", "atan2">;
def : Names<Sinter_CopysignOp, "copysign", "">;
def : Names<Sinter_FmodOp, "fmod", "fmod">;
def : Names<Sinter_BitwiseAndOp, "bitwise_and", "bitwise_and">;
def : Names<Sinter_BitwiseOrOp, "bitwise_or", "bitwise_or">;
def : Names<Sinter_BitwiseXorOp, "bitwise_xor", "bitwise_xor">;
def : Names<Sinter_BitwiseNotOp, "bitwise_not", "bitwise_not">;
def : Names<Sinter_ShiftLeftOp, "bitwise_left_shift", "bitwise_left_shift">;
def : Names<Sinter_ShiftRightOp, "bitwise_right_shift", "bitwise_right_shift">;
def : Names<Sinter_SignOp, "sign", "sign">;
def : Names<Sinter_ReciprocalOp, "reciprocal", "recip">;
def : Names<Sinter_FracOp, "frac", "">;
def : Names<Sinter_Deg2radOp, "deg2rad", "deg2rad">;
def : Names<Sinter_Rad2degOp, "rad2deg", "rad2deg">;
def : Names<Sinter_TanOp, "tan", "tan">;
def : Names<Sinter_AsinOp, "asin", "asin">;
def : Names<Sinter_AcosOp, "acos", "acos">;
def : Names<Sinter_SinhOp, "sinh", "sinh">;
def : Names<Sinter_CoshOp, "cosh", "cosh">;
def : Names<Sinter_AsinhOp, "asinh", "asinh">;
def : Names<Sinter_AcoshOp, "acosh", "acosh">;
def : Names<Sinter_AtanhOp, "atanh", "atanh">;
def : Names<Sinter_SincOp, "sinc", "">;
def : Names<Sinter_NanToNumOp, "nan_to_num", "">;
def : Names<Sinter_IsnanOp, "isnan", "is_nan">;
def : Names<Sinter_IsinfOp, "isinf", "is_inf">;
def : Names<Sinter_IsfiniteOp, "isfinite", "is_finite">;
def : Names<Sinter_SignbitOp, "signbit", "">;
def : Names<Sinter_LogicalNotOp, "logical_not", "bool_not">;
def : Names<Sinter_LogicalAndOp, "logical_and", "bool_and">;
def : Names<Sinter_LogicalOrOp, "logical_or", "bool_or">;
def : Names<Sinter_LogicalXorOp, "logical_xor", "bool_xor">;
def : Names<Sinter_FmaxOp, "fmax", "">;
def : Names<Sinter_FminOp, "fmin", "">;
def : Names<Sinter_RemainderOp, "remainder", "remainder">;
def : Names<Sinter_FloorDivideOp, "floor_divide", "">;
def : Names<Sinter_HypotOp, "hypot", "hypot">;
def : Names<Sinter_LogaddexpOp, "logaddexp", "">;
def : Names<Sinter_XlogyOp, "xlogy", "">;

// Folds.td
def : Names<Sinter_ProdOp, "prod", "prod, prod_dim">;
def : Names<Sinter_ArgminOp, "argmin", "argmin">;
def : Names<Sinter_CumprodOp, "cumprod", "cumprod">;
def : Names<Sinter_CummaxOp, "cummax (its values)", "cummax">;
def : Names<Sinter_CumminOp, "cummin (its values)", "cummin">;
def : Names<Sinter_ScatterOp, "Tensor.scatter", "">;
def : Names<Sinter_ScatterProdOp, "Tensor.scatter_reduce(reduce='prod')", "">;
def : Names<Sinter_ScatterAmaxOp, "Tensor.scatter_reduce(reduce='amax')", "">;
def : Names<Sinter_ScatterAminOp, "Tensor.scatter_reduce(reduce='amin')", "">;
def : Names<Sinter_AllOp, "all", "all, all_dim">;
def : Names<Sinter_AnyOp, "any", "any, any_dim">;
def : Names<Sinter_CountNonzeroOp, "count_nonzero", "">;
def : Names<Sinter_LogsumexpOp, "logsumexp", "">;
def : Names<Sinter_LogcumsumexpOp, "logcumsumexp", "">;
def : Names<Sinter_DigammaOp, "special.digamma", "">;
def : Names<Sinter_ErfinvOp, "special.erfinv", "">;
def : Names<Sinter_LgammaOp, "lgamma", "">;
def : Names<Sinter_PolygammaOp, "special.polygamma", "">;
def : Names<Sinter_AxpbyOp, "", "">;
def : Names<Sinter_AdaptiveStepOp, "", "">;
def : Names<Sinter_QuietSoftmaxOp, "", "activation::quiet_softmax">;
def : Names<Sinter_VectorNormOp, "linalg.vector_norm", "linalg::l2_norm">;

// Custom.td
def : Names<Sinter_CustomOp, "library.custom_op", "">;

// Complex.td
def : Names<Sinter_ComplexOp, "complex", "">;
def : Names<Sinter_RealOp, "real", "">;
def : Names<Sinter_ImagOp, "imag", "">;
