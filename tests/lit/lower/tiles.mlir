// A schedule names the tile of a product: the first of the list is taken
// unasked, another one gives another kernel of the same name. The choice is
// printed, and stands in the model file.
// RUN: split-file %s %t
// RUN: sh %t/tile.sh %t/f32.mlir cuda:sm_90 | FileCheck %s --check-prefix=FMA
// RUN: sh %t/tile.sh %t/bf16.mlir cuda:sm_90 | FileCheck %s --check-prefix=HOPPER
// RUN: sh %t/tile.sh %t/f32.mlir vulkan:h200 | FileCheck %s --check-prefix=FMA
// RUN: sh %t/tile.sh %t/bf16.mlir vulkan:h200 | FileCheck %s --check-prefix=FRAGMENTS
// RUN: sh %t/tile.sh %t/f32.mlir cpu | FileCheck %s --check-prefix=CORES
// RUN: sh %t/tile.sh %t/f64.mlir cuda:sm_90 | FileCheck %s --check-prefix=THREADS
// RUN: sh %t/tile.sh %t/symbolic.mlir cuda:sm_90 | FileCheck %s --check-prefix=RANGES
// RUN: not sinter inspect %t/f32.mlir --stage fuse --target cuda:sm_90 \
// RUN:   --tile nothing=x 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not sinter inspect %t/f32.mlir --stage fuse --tile x 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not sinter inspect %t/f32.mlir --stage fuse --tile x=y --tune 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BOTH

// Of cores the blocks that a chunk takes, and of threads without a unit for
// whole blocks how many rows and columns each of them sums.
// CORES: tile [[K:contraction_[0-9a-f]+]]=[[FIRST:block .*]]
// CORES-NEXT: tile [[K]]=[[SECOND:block .*]]
// CORES: first is unasked
// CORES: second is another
// CORES: program.kernel @[[K]]({{.*}} schedule = #program.schedule<skeleton = contraction, tile = "[[SECOND]]">
// CORES: error: {{.*}}has no tile 'none'; it is one of [[FIRST]], [[SECOND]]
// Of sizes with code of their own each has tiles.
// RANGES: tile [[K:contraction_[0-9a-f]+]]=warpgroups
// RANGES: tile [[K]]=fma
// RANGES: first is unasked
// RANGES: second is another
// THREADS: tile [[K:contraction_[0-9a-f]+]]=[[FIRST:tile .*]]
// THREADS-NEXT: tile [[K]]=[[SECOND:tile .*]]
// THREADS: first is unasked
// THREADS: second is another
// KERNEL: error: tile 'x': the program has no kernel 'nothing'
// FORM: error: --tile needs KERNEL=TILE, not 'x'
// BOTH: error: --tile says what --tune would choose

// FMA: tile [[K:contraction_[0-9a-f]+]]=[[FIRST:fma .*]]
// FMA-NEXT: tile [[K]]=[[SECOND:fma .*]]
// FMA: first is unasked
// FMA: second is another
// FMA: program.kernel @[[K]]({{.*}} schedule = #program.schedule<skeleton = contraction, tile = "[[SECOND]]">
// FMA: needs
// FMA: kernel [[K]]
// FMA-NEXT: tile [[K]]=[[SECOND]]
// FMA: error: {{.*}}has no tile 'none'; it is one of [[FIRST]], [[SECOND]]

// HOPPER: tile [[K:contraction_[0-9a-f]+]]=[[FIRST:warpgroups .*]]
// HOPPER-NEXT: tile [[K]]=[[SECOND:warpgroups .*]]
// HOPPER: first is unasked
// HOPPER: second is another
// HOPPER: program.kernel @[[K]]({{.*}} schedule = #program.schedule<skeleton = contraction, tile = "[[SECOND]]">
// HOPPER: kernel [[K]]
// HOPPER-NEXT: tile [[K]]=[[SECOND]]

// FRAGMENTS: tile [[K:contraction_[0-9a-f]+]]=[[FIRST:fragments .*]]
// FRAGMENTS-NEXT: tile [[K]]=[[SECOND:fragments .*]]
// FRAGMENTS: first is unasked
// FRAGMENTS: second is another
// FRAGMENTS: program.kernel @[[K]]({{.*}} schedule = #program.schedule<skeleton = contraction, tile = "[[SECOND]]">
// FRAGMENTS: kernel [[K]]
// FRAGMENTS-NEXT: tile [[K]]=[[SECOND]]

//--- tile.sh
set -e
model="$1 --target $2"
sinter inspect $model --stage target | grep '^tile ' > $1.tiles
cat $1.tiles
first=$(sed -n '1s/^tile //p' $1.tiles)
second=$(sed -n '2s/^tile //p' $1.tiles)
sinter inspect $model --stage lower > $1.unasked
sinter inspect $model --stage lower --tile "$first" > $1.first
sinter inspect $model --stage lower --tile "$second" > $1.second
cmp $1.unasked $1.first && echo first is unasked
cmp -s $1.unasked $1.second || echo second is another
sinter inspect $model --stage fuse --tile "$second"
sinter compile $model -o $1.sinter --tile "$second"
sinter inspect $1.sinter
sinter inspect $model --stage target --tile "${first%%=*}=none" 2>&1 || true
//--- f32.mlir
func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x512xf32>) -> tensor<512x512xf32> {
  %0 = sinter.matmul %x, %w : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
//--- bf16.mlir
func.func @main(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}
//--- f64.mlir
func.func @main(%x: tensor<512x256xf64>, %w: tensor<256x512xf64>) -> tensor<512x512xf64> {
  %0 = sinter.matmul %x, %w : (tensor<512x256xf64>, tensor<256x512xf64>) -> tensor<512x512xf64>
  return %0 : tensor<512x512xf64>
}
//--- symbolic.mlir
#x = affine_map<()[s0] -> (s0, 512)>
#y = affine_map<()[s0] -> (s0, 768)>
func.func @main(%a: tensor<?x512xf32, #x>, %b: tensor<512x768xf32>) -> tensor<?x768xf32, #y> {
  %0 = sinter.matmul %a, %b : (tensor<?x512xf32, #x>, tensor<512x768xf32>) -> tensor<?x768xf32, #y>
  return %0 : tensor<?x768xf32, #y>
}
