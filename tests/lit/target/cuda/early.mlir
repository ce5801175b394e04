// Kernels for devices that can do so start while the ones before still run, and
// touch no memory before those have ended. What follows one starts when it has
// begun, not before.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=EARLY
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=LATE

// EARLY: .entry map_
// EARLY-NOT: ld.global
// EARLY: griddepcontrol.wait; griddepcontrol.launch_dependents;
// EARLY-NOT: griddepcontrol
// EARLY: .entry contraction_
// EARLY: mbarrier.init
// EARLY: griddepcontrol.wait; griddepcontrol.launch_dependents;
// EARLY: cp.async.bulk.tensor
// EARLY-NOT: griddepcontrol
// LATE-NOT: griddepcontrol

func.func @main(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> (tensor<512x512xbf16>, tensor<512x512xbf16>) {
  %0 = sinter.exp %x : (tensor<512x512xbf16>) -> tensor<512x512xbf16>
  %1 = sinter.matmul %0, %w : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %0, %1 : tensor<512x512xbf16>, tensor<512x512xbf16>
}
