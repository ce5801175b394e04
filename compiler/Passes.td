// The passes of the compiler, in the order in which Pipeline.cpp runs them.
#ifndef SINTER_COMPILER_PASSES_TD
#define SINTER_COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- import ------------------------------------------------------------===//

def SetTarget : Pass<"set-target", "::mlir::ModuleOp"> {
  let summary = "State what the module is compiled for.";
  let description = [{
    Everything that later passes ask about the machine, they read there. A name
    that is no target's is an error that tells the choices.

    ```mlir
    module {}
    // becomes, with name=cuda:sm_90
    module attributes {program.target =
        #program.target<name = "cuda:sm_90", threads = true, blocks = true,
                        machine = {multiprocessors = 132, ...}>} {}
    ```
  }];
  let options = [
    Option<"name", "name", "std::string", "\"cpu\"",
           "The target, as `--target` takes it">,
  ];
  let dependentDialects = ["::sinter::program::ProgramDialect"];
}

def NumberNodes : Pass<"number-nodes", "::mlir::ModuleOp"> {
  let summary = "Locate the values of parsed text by their post-order numbers.";
  let description = [{
    An argument has the number that its attribute `sinter.node` states, or its
    position; ops take the numbers that are left, in order. A module made from a
    graph is numbered already.
  }];
}

def SplitComplex : Pass<"split-complex", "::mlir::ModuleOp"> {
  let summary = "Make tensors of floats of complex ones.";
  let description = [{
    An argument or result of the program is pairs of floats, as memory holds them,
    along a last axis; `sinter.complex` says so of it. Ops that take complex
    numbers are linear in them. What moves or adds pairs goes on with pairs; else
    an op becomes two, one for the real and one for the imaginary parts.
    `complex`, `real` and `imag` go.

    ```mlir
    %1 = sinter.neg %0 : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %2 = sinter.imag %1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    // becomes, of %0 : tensor<4x2xf32>
    %1 = sinter.neg %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %2 = sinter.slice %1 {starts = array<i64: 0, 1>, ...}
    %3 = sinter.reshape %2 : (tensor<4x1xf32>) -> tensor<4xf32>
    ```
  }];
}

def ExpandComposites : Pass<"expand-composites", "::mlir::ModuleOp"> {
  let summary = "Write composites in primitive ops.";
  let description = [{
    Each composite (softmax, layer_norm, ...) becomes its Decomposition. The new
    ops keep the composite's node, so everything downstream reports the op that
    the user wrote.

    ```mlir
    %1 = sinter.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %1 = sinter.full ... ; %2 = sinter.maximum %0, %1
    ```
  }];
  let options = [
    Option<"keepImages", "keep-images", "bool", "false",
           "Leave ops over images, whose layout is chosen later">,
  ];
}

def SettleBroadcasts : Pass<"settle-broadcasts", "::mlir::ModuleOp"> {
  let summary = "Say of each axis of a broadcast whether it is repeated.";
  let description = [{
    Kernels repeat an axis whose size is the number 1, and take the operand's own
    where both sizes are one expression. Where only a guard makes sizes equal, or
    1, a reshape of the operand says which.

    ```mlir
    // guards: (s1 + 1, s2), (s3 floordiv 4, 1)
    %1 = sinter.broadcast %0 : tensor<(s1, s3 floordiv 4)> -> (s2 - 1, 8)
    // becomes
    %1 = sinter.reshape %0 {(s2 - 1, 1)} ; %2 = sinter.broadcast %1
    ```
  }];
}

//===-- simplify ----------------------------------------------------------===//

def DropPaddingTaps : Pass<"drop-padding-taps", "::mlir::ModuleOp"> {
  let summary = "Leave out taps of convolutions that read padding alone.";
  let description = [{
    In every numerics mode but `exact`, where a factor of such a tap may be an
    infinity. Windows whose elements stand further apart than an image is large
    read it by few of their taps. Along each axis of known extents the first and
    last taps that no window has on the image go, and what of the image no window
    reads any more. The gradients are convolutions of the same windows: what no
    tap reaches of an image, and the gradient of a tap that is left out, is 0.

    ```mlir
    %1 = sinter.conv %0, %w {dilations = array<i64: 4>, high = array<i64: 4>,
        low = array<i64: 4>, sizes = array<i64: 3>, ...}
        : (tensor<1x8x4xf32>, tensor<8x8x3xf32>) -> tensor<1x8x4xf32>
    // becomes
    %2 = sinter.slice %w {limits = affine_map<() -> (8, 8, 2)>,
        starts = array<i64: 0, 0, 1>, ...}
    %1 = sinter.conv %0, %2 {dilations = array<i64: 4>, high = array<i64: 0>,
        low = array<i64: 0>, sizes = array<i64: 1>, ...}
    ```
  }];
}

def UnmergeRows : Pass<"unmerge-rows", "::mlir::ModuleOp"> {
  let summary = "Split axes of images that were joined to be reduced.";
  let description = [{
    Of programs with convolutions or pooling. A reduction along an axis that a
    reshape joined of channels and space, as that of a group of channels is, and
    what is pointwise around it, get the axes apart: so they fit images that are
    stored in another order. Elements are reduced in the same order as before.

    ```mlir
    %1 = sinter.reshape %0 : (tensor<4x320x64x64xf32>) -> tensor<4x32x40960xf32>
    %2 = sinter.sum %1 {axes = array<i64: 2>, keepdims = true}
    // becomes
    %1 = sinter.reshape %0 : ... -> tensor<4x32x10x64x64xf32>
    %3 = sinter.sum %1 {axes = array<i64: 2, 3, 4>, keepdims = true}
    %2 = sinter.reshape %3 : (tensor<4x32x1x1x1xf32>) -> tensor<4x32x1xf32>
    ```
  }];
}

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Choose where images have their channels.";
  let description = [{
    Convolutions and pooling are faster where the channels of an image are last.
    Ops around them whose tensors may be stored so are a region; it is cut where
    the fewest bytes have to be turned, which may be nowhere in it. Transposes
    in a region vanish where they fit. A decision of the rule `layout` tells of
    each region. In `exact` nothing changes: sums would be in another order.

    ```mlir
    %1 = sinter.conv %0, %w {layout = "channels_first", ...}
    %2 = sinter.exp %1
    // becomes
    %0l = sinter.transpose %0 {permutation = array<i64: 0, 2, 3, 1>}
    %1l = sinter.conv %0l, %w {layout = "channels_last", ...}
    %2l = sinter.exp %1l
    %2 = sinter.transpose %2l {permutation = array<i64: 0, 3, 1, 2>}
    ```
  }];
  let options = [
    Option<"exact", "exact", "bool", "false", "Change nothing, say so">,
  ];
}

def ContractMultiplyAdd : Pass<"contract-multiply-add", "::mlir::ModuleOp"> {
  let summary = "Mark sums whose product need not be rounded by itself.";
  let description = [{
    In every numerics mode but `exact`. A kernel that holds both ops, on a
    target that can, then multiplies and adds with one rounding. Only where
    nothing else reads the product, so that no value exists twice, rounded and
    not. Decided here, where static and symbolic programs still look alike.

    ```mlir
    %1 = sinter.mul %a, %b
    %2 = sinter.add %1, %c
    // becomes
    %1 = sinter.mul %a, %b
    %2 = sinter.add %1, %c {sinter.contract = 0 : i64}
    ```
  }];
}

def MarkSharedDivisors : Pass<"mark-shared-divisors", "::mlir::ModuleOp"> {
  let summary = "Mark divisions whose divisor a row or a column shares.";
  let description = [{
    In every numerics mode but `exact`. The divisor comes from a reduction of
    elements of the quotient's shape, as in a softmax: a kernel takes its
    reciprocal once and multiplies. With `numbers`, for the mode `fast`, so it
    does where the divisor is one number. Not where integers are made of the
    quotients, element by element, which the last place may decide. Decided
    here, where static and symbolic programs still look alike.

    ```mlir
    %3 = sinter.div %0, %2
    // becomes
    %3 = sinter.div %0, %2 {sinter.shared_divisor}
    ```
  }];
  let options = [
    Option<"numbers", "numbers", "bool", "false",
           "Mark divisions by one number">,
  ];
}

def SimplifyOps : Pass<"simplify-ops", "::mlir::ModuleOp"> {
  let summary = "Fold constants, compose views, drop neutral arithmetic.";
  let description = [{
    One walk in order. Only rewrites that keep every bit, but that sums over
    batches, and of what is transposed, take another order unless `exact`: no
    division turned into multiplication, no dropped cast. LLVM cannot do this:
    below this level the tensors are gone.

    ```mlir
    %1 = sinter.reshape %0 {shape = affine_map<() -> (8)>}
    %2 = sinter.reshape %1 {shape = affine_map<() -> (2, 4)>}
    // becomes
    %2 = sinter.reshape %0 {shape = affine_map<() -> (2, 4)>}
    ```
  }];
  let options = [
    Option<"exact", "exact", "bool", "false",
           "Keep the order of sums, and the bits of NaNs of inputs, too">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def NarrowPositions : Pass<"narrow-positions", "::mlir::ModuleOp"> {
  let summary = "Keep positions in the smallest type that holds them.";
  let description = [{
    The place of a largest or smallest element is a number below the extent of
    its axis. Where that is known and only arithmetic reads the place, as in the
    gradient of max pooling, a kernel stores an eighth of the bytes, and its
    readers widen what they read. Fused, both casts are nothing. A target that
    has no bytes gets words.

    ```mlir
    %1 = sinter.argmax %0 {axis = 1 : i64, ...} : (tensor<8x9xf32>) -> tensor<8xi64>
    // becomes
    %1 = sinter.argmax %0 {axis = 1 : i64, ...} : (tensor<8x9xf32>) -> tensor<8xi64>
    %2 = sinter.cast %1 {dtype = ui8} : (tensor<8xi64>) -> tensor<8xui8>
    %3 = sinter.cast %2 {dtype = i64} : (tensor<8xui8>) -> tensor<8xi64>
    ```
  }];
  let dependentDialects = ["::sinter::program::ProgramDialect"];
}

def ProductsOfBytes : Pass<"products-of-bytes", "::mlir::ModuleOp"> {
  let summary = "Multiply bytes where factors are numbers that bytes stand for.";
  let description = [{
    In every numerics mode but `exact`, on a target that multiplies bytes. Both
    factors of a product are (codes - zero) * scale of 8-bit codes, maybe behind
    views, as models are written whose tensors are quantized. The product is one
    of the codes, whose sums are exact; zeros are taken off the sums (a number
    that the left codes have by the product itself, except where a unit for
    matrices takes it), and scales are factors
    of the result. Both may differ from row to row and from column
    to column. Products of integers that zeros were taken off change alike.

    ```mlir
    %1 = sinter.cast %codes {dtype = i32} : (tensor<64x256xui8>) -> tensor<64x256xi32>
    %2 = sinter.sub %1, %zero
    %3 = sinter.cast %2 {dtype = f32} : (tensor<64x256xi32>) -> tensor<64x256xf32>
    %4 = sinter.mul %3, %scale
    %5 = sinter.matmul %4, %w : (tensor<64x256xf32>, tensor<256x32xf32>) -> tensor<64x32xf32>
    // becomes, where %w is such a factor, too
    %5 = sinter.matmul %1, %wcodes : (tensor<64x256xi32>, tensor<256x32xi32>) -> tensor<64x32xi32>
    %6 = sinter.sub %5, %zeros
    %7 = sinter.cast %6 {dtype = f32} : (tensor<64x32xi32>) -> tensor<64x32xf32>
    %8 = sinter.mul %7, %scales
    ```
  }];
  let dependentDialects = ["::sinter::program::ProgramDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def MergeDuplicates : Pass<"merge-duplicates", "::mlir::ModuleOp"> {
  let summary = "Make equal ops one that keeps the nodes of all.";
  let description = [{
    Common subexpressions. Random ops stay apart, and so do dynamic scalars,
    which are arguments.
  }];
}

def RemoveDeadOps : Pass<"remove-dead-ops", "::mlir::ModuleOp"> {
  let summary = "Erase ops that no result depends on.";
}

def OrderValues : Pass<"order-values", "::mlir::ModuleOp"> {
  let summary = "Turn `after` into an order of ops that fusion keeps.";
  let description = [{
    Users of `after` read its value. They carry the numbers of the ops that they
    come after, which fusion sees as edges without data. Until then `after` kept
    what is computed again from being merged with what it repeats.

    ```mlir
    %2 = sinter.after %0, %1
    %3 = sinter.exp %2
    // becomes
    %1 = ... {sinter.order = 0 : i64}
    %3 = sinter.exp %0 {sinter.after = array<i64: 0>}
    ```
  }];
}

def RaiseAttention : Pass<"raise-attention", "::mlir::ModuleOp"> {
  let summary = "Make attention of a softmax between two products.";
  let description = [{
    Finds softmax(query key^T) value in primitive ops, whoever wrote it: the
    scale may stand on the query, the key or the scores, as a product or a
    quotient; a mask may be added or selected. With it the gradient, as the
    rules of the ops make it. Raised when nothing else needs scores or
    probabilities in memory; a decision says so or why not. In `exact` never:
    the kernel sums in another order.

    ```mlir
    %6 = sinter.div %4, %5
    %7 = sinter.matmul %6, %v
    // becomes
    %7 = sinter.attention %q, %k, %mask, %v {scale = 0.125 : f64, span = "all"}
    ```
  }];
  let options = [
    Option<"exact", "exact", "bool", "false", "Raise nothing, say so">,
  ];
}

def UnmergeBatches : Pass<"unmerge-batches", "::mlir::ModuleOp"> {
  let summary = "Split batch axes that were joined of others that repeat.";
  let description = [{
    Of products and attention, whose leading axes are batches: where one of an
    operand was made of an axis that repeats elements and one that does not, as
    heads that share keys, the op gets both as axes. The operand is a plain view
    of what is stored then, and elements are computed once. Where the last batch
    axis repeats keys and values for one query each, these queries become the
    rows of one matrix.

    ```mlir
    %1 = sinter.broadcast %k : (tensor<1x8x1x64x128xbf16>) -> tensor<1x8x4x64x128xbf16>
    %2 = sinter.reshape %1 : ... -> tensor<1x32x64x128xbf16>
    %3 = sinter.attention %q, %2, ... -> tensor<1x32x64x128xbf16>
    // becomes
    %4 = sinter.reshape %q : ... -> tensor<1x8x4x64x128xbf16>
    %5 = sinter.attention %4, %1, ... -> tensor<1x8x4x64x128xbf16>
    %3 = sinter.reshape %5 : ... -> tensor<1x32x64x128xbf16>
    ```
  }];
  let options = [
    Option<"exact", "exact", "bool", "false",
           "Keep the bits of NaNs that an input may hold, too">,
  ];
}

def ProveIndices : Pass<"prove-indices", "::mlir::ModuleOp"> {
  let summary = "Mark gathers and scatters whose positions are always in range.";
  let description = [{
    What integers may be follows from where they come from: a count along an
    axis, a position that a search or a sort gives, constants, arithmetic and
    views of such, and sizes, of which guards say something. What is in range
    so is not checked when the program runs.

    ```mlir
    %1 = sinter.argmax %0 {axis = 1 : i64, keepdims = true}
    %2 = sinter.gather %0, %1 {axis = 1 : i64}
    // becomes
    %2 = sinter.gather %0, %1 {axis = 1 : i64, sinter.checked}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def CheckEarly : Pass<"check-early", "::mlir::ModuleOp"> {
  let summary = "Check positions as soon as they are there.";
  let description = [{
    A program may overwrite what it was given only when all positions are known
    to be in range. So positions that gathers and scatters use behind something
    long are checked by a kernel of their own, which waits for the positions
    only: once for all that use them. Where no result could be a parameter's
    next value, nothing but a host that reads the error waits; that of a GPU
    does.

    ```mlir
    %1 = sinter.gather %0, %labels {axis = 1 : i64}
    // becomes
    %all = sinter.iota {axis = 0 : i64, ...}
    %in = sinter.gather %all, %labels {axis = 0 : i64, sinter.checks}
    %1 = sinter.gather %0, %in {axis = 1 : i64, sinter.checked}
    ```
  }];
  let dependentDialects = ["::sinter::program::ProgramDialect"];
}

//===-- fuse --------------------------------------------------------------===//

def FormLoops : Pass<"form-loops", "::mlir::ModuleOp"> {
  let summary = "Gather the body of each loop in a `program.for`.";
  let description = [{
    Up to here a loop is flat: its body is what depends on its index. What does
    not is outside of the loop from now on. A value of a body that is used
    elsewhere, or a loop in a body, is an error.

    ```mlir
    %i = sinter.scan_index {length = affine_map<() -> (32)>, reverse = false}
    %c = sinter.scan_carry %i, %h0
    %n = sinter.exp %c
    %e = sinter.scan_end %i, %c, %n {carries = 1 : i64, condition = 0 : i64}
    %h = sinter.scan_last %e, %c
    // becomes
    %h = program.for carries(%h0) slices() count affine_map<() -> (32)> ... {
    ^bb0(%c: tensor<4xf32>):
      %n = sinter.exp %c
      program.next %n
    }
    ```
  }];
  let dependentDialects = ["::sinter::program::ProgramDialect"];
}

def RecomputeValues : Pass<"recompute-values", "::mlir::ModuleOp"> {
  let summary = "Compute values again where keeping them takes too much memory.";
  let description = [{
    Where the launches that fusion would make need more than the limit, values
    that are kept from forward to backward are cloned for their later readers:
    no contractions, nothing that can report an index. Each leaves a decision.

    ```mlir
    %1 = sinter.exp %0 ; ... ; use %1 ; ... ; much later %1
    // becomes
    %1 = sinter.exp %0 ; ... ; use %1 ; ... ; %9 = sinter.exp %0 ; %9
    ```
  }];
  let options = [
    Option<"memoryLimit", "memory-limit", "int64_t", "0",
           "Bytes of inputs, outputs and temporaries">,
    Option<"onePerOp", "one-per-op", "bool", "false",
           "Every op will be a kernel of its own">,
  ];
  let dependentDialects = ["::sinter::program::ProgramDialect"];
}

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group ops into kernels and replace them by launches.";
  let description = [{
    Merges along the edges that save most memory traffic first, as far as one
    kernel can hold both sides; every considered merge leaves a decision. Small
    pointwise kernels of constant shapes that nothing waits for become one.

    ```mlir
    %1 = sinter.matmul %x, %w
    %2 = sinter.add %1, %b
    // becomes
    %2 = program.launch @contraction_...(%x, %w, %b) dims affine_map<() -> ()>
    ```
  }];
  let options = [
    Option<"onePerOp", "one-per-op", "bool", "false",
           "Make every op a kernel of its own">,
    Option<"maxOps", "max-ops", "unsigned", "96", "Ops of a kernel at most">,
    Option<"maxBuffers", "max-buffers", "unsigned", "32",
           "Inputs and outputs of a kernel at most">,
    Option<"maxCopies", "max-copies", "unsigned", "3",
           "Elements written out for each op and input at most, on the "
           "average">,
    Option<"maxParallelOps", "max-parallel-ops", "unsigned", "1024",
           "Ops of independent kernels that are one launch, at most">,
    Option<"maxWork", "max-work", "unsigned long", "4000000",
           "Ops that are looked at for merges before the rest stays apart">,
  ];
  let dependentDialects = ["::sinter::program::ProgramDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def ShareKernels : Pass<"share-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels that begin elsewhere in a tensor one kernel.";
  let description = [{
    Where at least four kernels differ only in where their slices and pads
    begin, one serves all of them, and launches say where: a loop that was
    unrolled has as many kernels as its body.

    ```mlir
    %0 = program.launch @map_1(%x) dims affine_map<() -> ()>
    %1 = program.launch @map_2(%x) dims affine_map<() -> ()>
    // becomes
    %0 = program.launch @map_3(%x) dims affine_map<() -> (0)>
    %1 = program.launch @map_3(%x) dims affine_map<() -> (1)>
    ```
  }];
}

// Of passes that ask what kernels do.
def Numerics : Option<"numerics", "numerics", "std::string", "\"default\"",
                      "The mode, as `--numerics` takes it">;

def ChooseSchedules : Pass<"choose-schedules", "::mlir::ModuleOp"> {
  let summary = "Say of each kernel how its work is shared out.";
  let description = [{
    Of the ways that a kernel has, the schedule names the one that is best on the
    target, and of a product's tiles; of several, where a launch first knows the
    sizes that decide it, with a condition each. It keeps what fusion knows of
    inputs. Emitters obey schedules.

    ```mlir
    program.kernel @reduce_1(%a: tensor<64x65536xf32>) attributes
        {kind = "reduce", num_symbols = 0 : i64} {...}
    // becomes, on a GPU
    program.kernel @reduce_1(%a: tensor<64x65536xf32>) attributes
        {kind = "reduce", num_symbols = 0 : i64, schedule =
         #program.schedule<skeleton = rows, owner = grid>} {...}
    ```
  }];
  let options = [Numerics];
}

//===-- plan --------------------------------------------------------------===//

def OrderLaunches : Pass<"order-launches", "::mlir::ModuleOp"> {
  let summary = "Run what an index error can come from first.";
  let description = [{
    Launches that may overwrite state then come after the last launch that can
    set the error word, and after the other readers of that state. Those that
    only make results come as early as that allows: what they read need not be
    kept any longer.
  }];
}

def PlanWorkspaces : Pass<"plan-workspaces", "::mlir::ModuleOp"> {
  let summary = "Say what buffers kernels need beside their own.";
  let description = [{
    They follow from schedules: sums of parts, copies of operands.

    ```mlir
    program.kernel @reduce_1(%a: tensor<4x1048576xf32>) attributes
        {kind = "reduce", num_symbols = 0 : i64, schedule =
         #program.schedule<skeleton = rows, owner = grid, split = 8192>} {...}
    // has, from here on
    workspaces = affine_map<() -> (2048)>, prepared = array<i64: -1>
    ```
  }];
  let options = [Numerics];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value a buffer, every launch a step.";
  let description = [{
    ```mlir
    program.buffer @t0 "temp" 0 bytes affine_map<()[s0] -> (s0 * 4)> live 0 to 1
    ```
  }];
}

//===-- lower -------------------------------------------------------------===//

// The passes from here on are run for each kernel by itself, in the order that
// its target says (`Target::buildLowering`). In a program they go over the
// modules that `emit-loops` has made of kernels.

def EmitLoops : Pass<"emit-loops", "::mlir::ModuleOp"> {
  let summary = "Write each kernel as functions of loops over memory.";
  let description = [{
    A kernel becomes a module of its name, with a function for each launch that
    it takes: scf, arith, vector and memref, a vector holds what lanes have.
    What later passes ask is said there: the module has the program's
    `program.target`, `sinter.alike` in the mode `exact`, `sinter.approximates`
    in `fast`, and `sinter.sizes` where indices may be too small; a function has
    `sinter.blocks` and `sinter.warps` (`sinter.threads` on Vulkan) where all
    threads of a block work on a tile together, as those of tensor cores do, and
    `sinter.lines`, the text that its PTX ends with, where it reads by tensor
    maps. A user's kernel brings its code, which `sinter.given` of a function
    without a body holds: no pass changes it. Launches stay as they are.

    ```mlir
    program.kernel @map_1(%a: tensor<64xf32>) attributes {...} {
      %0 = sinter.neg %a : (tensor<64xf32>) -> tensor<64xf32>
      program.yield %0 : tensor<64xf32>
    }
    // becomes
    module @map_1 attributes {program.target = #program.target<name = "cpu", ...>} {
      func.func @map_1(%arg0: !llvm.ptr, ...) {
        ...
        scf.for %chunk = %first to %last step %c1 {
          %1 = vector.load %in[%i] : memref<?xf32>, vector<8xf32>
          %2 = arith.negf %1 : vector<8xf32>
          vector.store %2, %out[%i] : memref<?xf32>, vector<8xf32>
        }
      }
    }
    ```
  }];
  let options = [Numerics];
}

def ExpandMath : Pass<"expand-math", "::mlir::ModuleOp"> {
  let summary = "Write functions as arithmetic that the machine has.";
  let description = [{
    exp, log, tanh, erf, rsqrt, sin and cos, maxima that spread NaN, conversions
    of 16-bit floats, and quotients and roots where the machine does not round
    them, so that no library is called. sin and cos of large numbers remain,
    marked `sinter.far`.

    ```mlir
    %1 = math.rsqrt %0 : vector<8xf32>
    // becomes
    %2 = math.sqrt %0 : vector<8xf32>
    %1 = arith.divf %one, %2 : vector<8xf32>
    ```
  }];
}

def ClusterLoads : Pass<"cluster-loads", "::mlir::ModuleOp"> {
  let summary = "Read at the same time what threads would wait for in turn.";
  let description = [{
    Where lanes are threads. Loads of what a kernel only reads move to the first
    of their block, as many at a time as registers hold. In a function of
    blocks, whose threads each have vectors of their own, a vector that is read
    under one condition is read behind a branch, and accesses get the alignment
    that their indices show.

    ```mlir
    %1 = vector.load %a[%i] : memref<?xf32>, vector<64xf32>
    %2 = arith.negf %1 : vector<64xf32>
    %3 = vector.load %b[%i] : memref<?xf32>, vector<64xf32>
    // becomes
    %1 = vector.load %a[%i] : memref<?xf32>, vector<64xf32>
    %3 = vector.load %b[%i] : memref<?xf32>, vector<64xf32>
    %2 = arith.negf %1 : vector<64xf32>
    ```
  }];
}

def DistributeLanes : Pass<"distribute-lanes", "::mlir::ModuleOp"> {
  let summary = "Make threads of lanes.";
  let description = [{
    Where lanes are threads; elsewhere nothing changes. A vector of 64 lanes is
    two neighbours in each of 32 threads, a scalar is the same in all of them,
    and lanes that change places are exchanged. What stands in a kernel's frame
    (`memref.alloca`) moves to memory that the threads of a block share, and the
    function says how many they are (`sinter.warps`, `sinter.threads`). A frame
    that is larger than that memory is an error.

    ```mlir
    %1 = vector.load %a[%i] : memref<?xf32>, vector<64xf32>
    // becomes, in each thread of a warp
    %2 = arith.muli %thread, %c2 : index
    %3 = arith.addi %i, %2 : index
    %1 = vector.load %a[%3] : memref<?xf32>, vector<2xf32>
    ```
  }];
}

def NarrowMath : Pass<"narrow-math", "::mlir::ModuleOp"> {
  let summary = "Use what PTX does on pairs of 16-bit floats, and its own NaN.";
  let description = [{
    Of CUDA's targets; elsewhere nothing changes. Extrema of widened values that
    are narrowed again are those of the narrow ones, two numbers are narrowed to
    f16 at once, and a NaN that the machine has made, which is the largest
    integer, is made the canonical one by a minimum. No bit changes.

    ```mlir
    %2 = arith.extf %0 : vector<2xf16> to vector<2xf32>
    %3 = arith.extf %1 : vector<2xf16> to vector<2xf32>
    %4 = arith.maximumf %2, %3 : vector<2xf32>
    %5 = arith.truncf %4 : vector<2xf32> to vector<2xf16>
    // becomes
    %5 = arith.maximumf %0, %1 : vector<2xf16>
    ```
  }];
}

def SplitVectors : Pass<"split-vectors", "::mlir::ModuleOp"> {
  let summary = "Make scalars of a thread's vectors.";
  let description = [{
    Of Vulkan's targets; elsewhere nothing changes. SPIR-V has no vectors of more
    than four elements, and drivers take them apart anyway. Loads and stores of
    neighbours stay (`sinter.whole`), as far as the device moves them at once.

    ```mlir
    %2 = arith.negf %1 : vector<2xf32>
    // becomes
    %3 = vector.extract %1[0] {sinter.whole} : f32 from vector<2xf32>
    %4 = vector.extract %1[1] {sinter.whole} : f32 from vector<2xf32>
    %5 = arith.negf %3 : f32
    %6 = arith.negf %4 : f32
    ```
  }];
}

def CallFarTrig : Pass<"call-far-trig", "::mlir::ModuleOp"> {
  let summary = "Call functions for sin and cos of large numbers.";
  let description = [{
    What `expand-math` has left is rare and long: each place calls a private
    function of its module, one for each function and type.

    ```mlir
    %1 = math.sin %0 {sinter.far} : f32
    // becomes
    %1 = func.call @far_sin_f32(%0) : (f32) -> f32
    ```
  }];
}

def FitTypes : Pass<"fit-types", "::mlir::ModuleOp"> {
  let summary = "Keep to the types that a device has.";
  let description = [{
    Of Vulkan's targets; elsewhere nothing changes. A type that the device's
    profile lacks is an error that names it. Of integers of 64 bits, where it has
    none, a vector of two words is made, the lower one first.

    ```mlir
    %1 = memref.load %a[%i] : memref<?xi64>
    // becomes
    %1 = memref.load %a[%i] : memref<?xvector<2xi32>>
    ```
  }];
}

def LowerAbi : Pass<"lower-abi", "::mlir::ModuleOp"> {
  let summary = "Bring kernels to the form that the target's translation takes.";
  let description = [{
    The last pass: functions of the LLVM dialect for CPUs and CUDA, whose
    kernels have their attributes, and a `spirv.module` with entry points, what
    it needs of a device, and the address of the argument block as a push
    constant for Vulkan.

    ```mlir
    func.func @map_1(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64) {
      ...
      %1 = arith.negf %0 : vector<8xf32>
    }
    // becomes
    llvm.func @map_1(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64) {
      ...
      %1 = llvm.fneg %0 : vector<8xf32>
    }
    ```
  }];
}

#endif // SINTER_COMPILER_PASSES_TD
