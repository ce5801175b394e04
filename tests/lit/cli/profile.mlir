// RUN: rm -rf %t && mkdir %t
// RUN: sinter profile %s --dim s0=64 --repeat 3 --trace %t/trace.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=TRACE < %t/trace.json
// RUN: sinter compile %s -o %t/m.sinter
// RUN: sinter profile %t/m.sinter --dim s0=64 --repeat 3 --json | FileCheck %s --check-prefix=JSON
// RUN: not sinter profile %t/none.sinter 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: sh -c "sinter profile %s --repeat x; test $? = 2"
// RUN: sh -c "sinter profile; test $? = 2"

// Two products, each a kernel; the first has the ReLU in it.
// CHECK: ceilings: {{[0-9.]+}} GB/s, {{[0-9.]+}} GFLOP/s, measured: a copy of
// CHECK-NEXT: share times mean us least us GB/s GFLOP/s bytes us flops us of it kernel
// CHECK-DAG: contraction {{.*}}: matmul full maximum
// CHECK-DAG: contraction {{.*}}: matmul {{$}}
// CHECK: under 25 % of its bound, over 3 % of the time
// CHECK: before the first launch, ms: opening {{[0-9.]+}}, planning 0.0, passes {{[0-9.]+}}, code {{[0-9.]+}}, machine_code 0.0, loading {{[0-9.]+}}, graphs 0.0
// TRACE: {"displayTimeUnit": "ns", "traceEvents": [
// TRACE-COUNT-6: {"ph": "X", "pid": 0, "tid": 0, "ts": {{[0-9.]+}}, "dur": {{[0-9.]+}}, "name": "matmul{{.*}}", "cat": "contraction",
// TRACE-NOT: "ph"
// Twice 64 x 4 x 32 operations and the ReLU's; 64 x 4, 4 x 32 and 64 x 32 f32.
// JSON: "runs": 3,
// JSON-NEXT: "ceilings": {"gb_per_s": {{[0-9.]+}}, "gflop_per_s": {{[0-9.]+}}, "from": "measured:
// JSON-NEXT: "before_first_launch_ms": {"opening": {{[0-9.]+}}, "planning": 0.00, "passes": 0.00,
// JSON: "ops": "matmul full maximum", "site": "", "lines": [], "launches": 1, "runs": 3, {{.*}} "bytes": 9728, "flops": 18432, "bytes_us": {{[0-9.]+}}, "flops_us": {{[0-9.]+}}, "bound": "{{memory|compute}}", "percent_of_bound": {{[0-9.]+}}}
// FILE: error: {{.*}}none.sinter: cannot open
#in = affine_map<()[s0] -> (s0, 4)>
#mid = affine_map<()[s0] -> (s0, 32)>
#out = affine_map<()[s0] -> (s0, 8)>
func.func @main(%x: tensor<?x4xf32, #in> {sinter.name = "x"}, %w: tensor<4x32xf32> {sinter.name = "w"}, %v: tensor<32x8xf32> {sinter.name = "v"}) -> (tensor<?x8xf32, #out> {sinter.name = "y"}) {
  %0 = sinter.matmul %x, %w : (tensor<?x4xf32, #in>, tensor<4x32xf32>) -> tensor<?x32xf32, #mid>
  %1 = sinter.relu %0 : (tensor<?x32xf32, #mid>) -> tensor<?x32xf32, #mid>
  %2 = sinter.matmul %1, %v : (tensor<?x32xf32, #mid>, tensor<32x8xf32>) -> tensor<?x8xf32, #out>
  return %2 : tensor<?x8xf32, #out>
}
