// Beyond the budget of the compile time merges are refused by a rule of its
// own; what was merged before stays.
// RUN: sinter opt %s --pipeline=number-nodes,form-kernels{max-work=4} | FileCheck %s
// RUN: sinter opt %s --pipeline=number-nodes,form-kernels | FileCheck %s --check-prefix=ALL

// CHECK-DAG: accepted = true, {{.*}}rule = "saves_traffic"
// CHECK-DAG: accepted = false, {{.*}}detail = "{{.*}}: 4 ops were looked at before", {{.*}}rule = "budget"
// CHECK-COUNT-2: program.launch
// ALL-NOT: rule = "budget"
// ALL-COUNT-1: program.launch
// ALL-NOT: program.launch
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = sinter.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = sinter.neg %0 : (tensor<64xf32>) -> tensor<64xf32>
  %2 = sinter.tanh %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = sinter.exp %2 : (tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
