/// Which ops are methods of Tensor, too: `x.exp()` beside `exp(x)`.
///
/// The class is declared once, and nearly every file of users knows it: one
/// more method builds them all again, one more function does not.

def : Methods<[
    // Arithmetic.td
    Sinter_AddOp, Sinter_SubOp, Sinter_MulOp, Sinter_DivOp, Sinter_MaximumOp,
    Sinter_MinimumOp, Sinter_NegOp, Sinter_AbsOp, Sinter_ExpOp, Sinter_LogOp,
    Sinter_TanhOp, Sinter_SinOp, Sinter_CosOp, Sinter_ErfOp, Sinter_SqrtOp,
    Sinter_RsqrtOp, Sinter_CompareOp, Sinter_CastOp,
    // View.td
    Sinter_ReshapeOp, Sinter_TransposeOp, Sinter_BroadcastOp, Sinter_SliceOp,
    Sinter_FlipOp, Sinter_PadOp, Sinter_SqueezeOp, Sinter_UnsqueezeOp,
    // Reduce.td
    Sinter_SumOp, Sinter_AmaxOp, Sinter_AminOp, Sinter_ArgmaxOp,
    Sinter_CumsumOp,
    // Contraction.td
    Sinter_MatmulOp,
    // Gather.td
    Sinter_GatherOp, Sinter_ScatterAddOp, Sinter_IndexSelectOp,
    // Nn.td
    Sinter_MeanOp, Sinter_VarOp, Sinter_SoftmaxOp, Sinter_QuietSoftmaxOp,
    Sinter_LogSoftmaxOp, Sinter_ReluOp, Sinter_SquareOp, Sinter_ClampOp,
    Sinter_SigmoidOp, Sinter_SiluOp, Sinter_GeluOp, Sinter_LayerNormOp,
    Sinter_CrossEntropyOp,
    // Windows.td
    Sinter_WindowOp,
    // Elementwise.td
    Sinter_FloorOp, Sinter_CeilOp, Sinter_TruncOp, Sinter_RoundOp,
    Sinter_Exp2Op, Sinter_Expm1Op, Sinter_Log2Op, Sinter_Log10Op,
    Sinter_Log1pOp, Sinter_AtanOp, Sinter_ErfcOp, Sinter_ErfinvOp,
    Sinter_LgammaOp, Sinter_DigammaOp, Sinter_PolygammaOp, Sinter_PowOp,
    Sinter_Atan2Op, Sinter_CopysignOp, Sinter_FmodOp, Sinter_BitwiseAndOp,
    Sinter_BitwiseOrOp, Sinter_BitwiseXorOp, Sinter_BitwiseNotOp,
    Sinter_ShiftLeftOp, Sinter_ShiftRightOp,
    // Math.td
    Sinter_SignOp, Sinter_ReciprocalOp, Sinter_FracOp, Sinter_Deg2radOp,
    Sinter_Rad2degOp, Sinter_TanOp, Sinter_AsinOp, Sinter_AcosOp, Sinter_SinhOp,
    Sinter_CoshOp, Sinter_AsinhOp, Sinter_AcoshOp, Sinter_AtanhOp,
    Sinter_SincOp, Sinter_IsnanOp, Sinter_IsinfOp, Sinter_IsfiniteOp,
    Sinter_SignbitOp, Sinter_LogicalNotOp, Sinter_LogicalAndOp,
    Sinter_LogicalOrOp, Sinter_LogicalXorOp, Sinter_FmaxOp, Sinter_FminOp,
    Sinter_RemainderOp, Sinter_FloorDivideOp, Sinter_HypotOp,
    Sinter_LogaddexpOp, Sinter_XlogyOp,
    // Activations.td
    Sinter_LogsigmoidOp, Sinter_SoftplusOp, Sinter_MishOp, Sinter_SoftsignOp,
    Sinter_TanhshrinkOp, Sinter_EluOp, Sinter_SeluOp, Sinter_CeluOp,
    Sinter_LeakyReluOp, Sinter_HardtanhOp, Sinter_Relu6Op, Sinter_HardsigmoidOp,
    Sinter_HardswishOp, Sinter_HardshrinkOp, Sinter_SoftshrinkOp,
    Sinter_ThresholdOp,
    // Folds.td
    Sinter_ProdOp, Sinter_ArgminOp, Sinter_CumprodOp, Sinter_LogcumsumexpOp,
    Sinter_ScatterOp, Sinter_ScatterProdOp, Sinter_ScatterAmaxOp,
    Sinter_ScatterAminOp, Sinter_AllOp, Sinter_AnyOp, Sinter_CountNonzeroOp,
    Sinter_LogsumexpOp, Sinter_VectorNormOp
]>;
