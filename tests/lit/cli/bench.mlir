// RUN: sinter bench matmul_bias_relu softmax --m 32 --n 48 --k 16 --rows 8 --cols 32 --seconds 0 | FileCheck %s
// RUN: sinter bench %s layer_norm gelu add sum_rows sum_columns --rows 8 --cols 16 --dtype f64 --seconds 0 --dim s0=3 --json | FileCheck %s --check-prefix=JSON
// RUN: sinter bench matmul_bias_relu --dtype bf16 --m 16 --n 16 --k 16 --seconds 0 | FileCheck %s --check-prefix=HALF
// RUN: not sinter bench nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sinter bench softmax --dtype f99 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: sh -c "sinter bench softmax --rows 0; test $? = 2"
// RUN: sh -c "sinter bench softmax --seconds x; test $? = 2"
// RUN: sh -c "sinter bench; test $? = 2"
// RUN: sh -c "sinter bench nothing; test $? = 1"

// CHECK: least us {{.*}} launches  case
// CHECK-NEXT: 1  matmul_bias_relu
// CHECK-NEXT: 1  softmax
// JSON: [{"case": "{{.*}}bench.mlir", "least_us": {{[0-9.]+}}, "median_us": {{.*}}, "bytes": 48, "flops": 0, "launches": 1},
// JSON-NEXT: {"case": "layer_norm", {{.*}} "bytes": 2304,
// JSON: {"case": "sum_columns", {{.*}}}]
// HALF: matmul_bias_relu
// UNKNOWN: error: {{.*}}nothing
// DTYPE: error: --dtype is f32, f64, f16 or bf16 {{.*}}, got 'f99'
#rows = affine_map<()[s0] -> (s0, 2)>
func.func @main(%x: tensor<?x2xf32, #rows> {sinter.name = "x"}) -> tensor<?x2xf32, #rows> {
  %0 = sinter.exp %x : (tensor<?x2xf32, #rows>) -> tensor<?x2xf32, #rows>
  return %0 : tensor<?x2xf32, #rows>
}
