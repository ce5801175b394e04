/// Contractions: products summed over shared axes.
#ifndef SINTER_OPS_CONTRACTION_TD
#define SINTER_OPS_CONTRACTION_TD

include "dialects/sinter/OpBase.td"

def Sinter_MatmulOp : Sinter_Op<"matmul", "contraction",
                                [ContractionOpInterface]> {
  let summary = "Matrix product over the last two axes, one per leading index.";
  let description = [{
    lhs[..., m, k] and rhs[..., k, n] give [..., m, n]. Vectors and leading dims
    broadcast in the frontend only. f16 and bf16 accumulate in f32.
  }];
  let arguments = (ins Sinter_Numeric:$lhs, Sinter_Numeric:$rhs);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "matmul";
  let declares = [{
    ::sinter::ir::ContractionMaps getIndexingMaps() {
      return ::sinter::ir::matrixProductMaps(getType().getRank(), getContext());
    }
    ::mlir::Type getSumType() {
      return ::sinter::ir::defaultSumType(getType().getElementType());
    }
  }];
  let promotion = "match";
  let handWritten = 1;
  let example = "matmul(lhs, rhs)";
}

#endif // SINTER_OPS_CONTRACTION_TD
