/// Matrix products.
#include "frontend/import/onnx/rules/Rules.h"

namespace sinter::onnx {

static void matmulRule(Call &call) {
  call.sameDTypes();
  call.give(matmul(call.tensor(0), call.tensor(1)));
}

static Tensor turned(const Tensor &x) { return swapaxes(x, -2, -1); }

/// x times a number, in x's dtype.
static Tensor scaled(const Tensor &x, double factor) {
  return factor == 1 ? x : (x * factor).to(x.dtype());
}

static void gemmRule(Call &call) {
  Tensor a = call.tensor(0), b = call.tensor(1);
  if (a.rank() != 2 || b.rank() != 2)
    call.invalid("the operands are no matrices");
  if (call.flag("transA"))
    a = turned(a);
  if (call.flag("transB"))
    b = turned(b);
  Tensor y = scaled(matmul(a, b), call.real("alpha"));
  if (call.has(2) && call.real("beta") != 0)
    y = y + scaled(call.tensor(2), call.real("beta"));
  call.give(y);
}

static void einsumRule(Call &call) {
  call.sameDTypes();
  std::string equation;
  for (char letter : call.text("equation"))
    if (letter != ' ')
      equation += letter;
  std::vector<Tensor> operands = call.tensors();
  call.give(einsum(equation, std::span<const Tensor>(operands)));
}

/// Of com.microsoft: operands are turned in their last two axes, or what stands
/// before the last axis comes first.
static void fusedMatmulRule(Call &call) {
  Tensor a = call.tensor(0), b = call.tensor(1);
  auto arranged = [&](Tensor x, const char *last, const char *batch) {
    if (call.flag(batch))
      x = movedim(x, 0, x.rank() - 2);
    return call.flag(last) ? turned(x) : x;
  };
  a = arranged(a, "transA", "transBatchA");
  b = arranged(b, "transB", "transBatchB");
  call.give(scaled(matmul(a, b), call.real("alpha")));
}

/// Operands 0 and another one less their zero points; the left one may have one
/// for each row.
static Tensor productLessZeros(Call &call, size_t leftZero, size_t right,
                               size_t rightZero) {
  return matmul(lessZero(call, call.tensor(0), leftZero, 1),
                lessZero(call, call.tensor(right), rightZero));
}

static void matmulIntegerRule(Call &call) {
  call.give(productLessZeros(call, 2, 1, 3));
}

static void qlinearMatmulRule(Call &call) {
  Tensor scaleA = call.tensor(1).to(DType::f32);
  Tensor scaleB = call.tensor(4).to(DType::f32);
  if (scaleA.rank() == 1 && scaleA.dim(0).value != 1)
    scaleA = unsqueeze(scaleA, 1);
  Tensor scale = scaleA * scaleB / call.tensor(6).to(DType::f32);
  Tensor y = productLessZeros(call, 2, 3, 5).to(DType::f32) * scale;
  call.give(requantized(y, call.tensor(7)));
}

static void detRule(Call &call) { call.give(det(call.tensor(0))); }

static constexpr const char *gemm =
    "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0";

static constexpr Operator rows[] = {
    {"MatMul", 1, 0, "", matmulRule},
    {"Gemm", 1, 6,
     "alpha:float=1.0 beta:float=1.0 transA:int=0 transB:int=0 broadcast:int=0",
     gemmRule},
    {"Gemm", 7, 0, gemm, gemmRule},
    {"Einsum", 12, 0, "equation:string!", einsumRule},
    {"Det", 11, 0, "", detRule},
    {"MatMulInteger", 10, 0, "", matmulIntegerRule},
    {"QLinearMatMul", 10, 0, "", qlinearMatmulRule},
    {"FusedMatMul", 1, 0,
     "alpha:float=1.0 transA:int=0 transB:int=0 transBatchA:int=0 "
     "transBatchB:int=0",
     fusedMatmulRule, "com.microsoft"},
};

std::span<const Operator> contractionRows() { return rows; }

} // namespace sinter::onnx
