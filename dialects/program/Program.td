// The program dialect: the host side of a compiled model, kernels and launches.
#ifndef SINTER_DIALECTS_PROGRAM_PROGRAM_TD
#define SINTER_DIALECTS_PROGRAM_PROGRAM_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Program_Dialect : Dialect {
  let name = "program";
  let cppNamespace = "::sinter::program";
  let summary = "What the runtime does: kernels, launches, buffers, copies.";
  let description = [{
    A kernel is one device function over dense row-major buffers; its body is
    a graph of primitive `sinter` ops. `func.func @main` launches kernels; plan
    gives every value a buffer with a size expression and a live interval. The
    module's attribute `program.target` says what it is compiled for.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Name of the attribute of a module that holds its TargetAttr.
    static constexpr ::llvm::StringLiteral targetName = "program.target";
  }];
}

def Program_TargetAttr : AttrDef<Program_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "What a module is compiled for, as passes over tensors see it.";
  let description = [{
    The target's name, and of what it says of itself (`Target.h`) what passes ask
    before there is code. A module without it is one for a plain CPU.

    ```mlir
    module attributes {program.target =
        #program.target<name = "cuda:sm_90", threads = true, blocks = true,
                        machine = {multiprocessors = 132, ...}>} {}
    ```
  }];
  let parameters = (ins
    StringRefParameter<"as `--target` names it">:$name,
    // Lanes of a kernel are threads, of which a device runs many.
    DefaultValuedParameter<"bool", "false">:$threads,
    // Blocks of threads work on rows together.
    DefaultValuedParameter<"bool", "false">:$blocks,
    // Buffers have single bytes.
    DefaultValuedParameter<"bool", "true">:$bytes,
    // Products of bytes are faster than those of floats.
    DefaultValuedParameter<"bool", "false">:$byteProducts,
    // Products are taken by a unit for matrices.
    DefaultValuedParameter<"bool", "false">:$matrixUnit,
    // Numbers of the target's usual machine by which kernels are chosen, as
    // `MachineModel.h` names them; a core's where there are none.
    OptionalParameter<"::mlir::DictionaryAttr">:$machine);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of a machine's numbers: products of two are 64 bits.
    static constexpr int64_t mostOfMachine = int64_t{1} << 30;
  }];
}

class Program_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::sinter::program";
  let genSpecializedAttr = 0;
}

def Program_Skeleton : Program_Enum<"Skeleton", "a schedule's skeleton, a kernel's loops", [
  // Outputs row by row, and reductions along them.
  I32EnumAttrCase<"rows", 0>,
  // A transposed tensor, square by square.
  I32EnumAttrCase<"turn", 1>,
  // Reductions whose operand's last axis stays: results side by side; those of
  // few elements; those of windows that share sums.
  I32EnumAttrCase<"columns", 2>,
  I32EnumAttrCase<"windows", 3>,
  I32EnumAttrCase<"window_sums", 4>,
  // Of a root that has loops of its own.
  I32EnumAttrCase<"contraction", 5>,
  I32EnumAttrCase<"attention", 6>,
  I32EnumAttrCase<"scatter", 7>,
  I32EnumAttrCase<"prefix", 8>,
  I32EnumAttrCase<"sort", 9>,
  I32EnumAttrCase<"opaque", 10>]>;

def Program_Owner : Program_Enum<"Owner", "a schedule's owner, who makes a result", [
  // One of a vector's lanes, one of a warp's threads.
  I32EnumAttrCase<"lane", 0>,
  // All of them together: a warp, a subgroup, a core.
  I32EnumAttrCase<"warp", 1>,
  // Warps that share memory.
  I32EnumAttrCase<"block", 2>,
  // Tasks of their own, whose parts one more phase merges.
  I32EnumAttrCase<"grid", 3>]>;

def Program_Staging : Program_Enum<"Staging", "a schedule's staging, where a row waits", [
  // It is read again, from caches as a rule.
  I32EnumAttrCase<"memory", 0>,
  I32EnumAttrCase<"registers", 1>]>;

def Program_VariantAttr : AttrDef<Program_Dialect, "Variant"> {
  let mnemonic = "variant";
  let summary = "What a product's kernel does for some of the sizes it is for.";
  let description = [{
    `when` is 1 for these, over the kernel's symbols, and 0 for others.

    ```mlir
    #program.variant<when = affine_map<()[s0] -> (s0 floordiv 64)>, tile = "fma 64x64 ...">
    ```
  }];
  let parameters = (ins
    "::mlir::AffineMapAttr":$when,
    StringRefParameter<"", "\"\"">:$tile);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Program_ScheduleAttr : AttrDef<Program_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a kernel's work is shared out.";
  let description = [{
    Choices, which emitters obey or refuse; nothing that follows from the body.
    The pass `choose-schedules` writes them. A kernel without a schedule takes
    the one that the pass would choose.

    ```mlir
    #program.schedule<skeleton = rows, owner = block, staging = registers>
    #program.schedule<skeleton = rows, owner = grid, split = 8192>
    #program.schedule<skeleton = contraction, tile = "fma 64x64 ...">
    ```
  }];
  let parameters = (ins
    EnumParameter<Program_Skeleton>:$skeleton,
    // Of other skeletons than these of reductions, the tile says it.
    DefaultValuedParameter<"Owner", "Owner::warp">:$owner,
    DefaultValuedParameter<"Staging", "Staging::memory">:$staging,
    // Elements of a reduced axis that are a task's, or of k, counted as the tile
    // counts it, that are summed by themselves. The latter is the order of sums.
    // 0 where they follow from sizes that a launch knows first.
    DefaultValuedParameter<"int64_t", "0">:$split,
    // The name of a product's tile; none where the first is taken, or where
    // variants say it.
    StringRefParameter<"", "\"\"">:$tile,
    // Of a product whose sizes a launch knows first: each is one's.
    OptionalParameter<"::mlir::ArrayAttr">:$variants,
    // Numbers of the inputs whose contents stay the same from run to run, as
    // far as a program can tell.
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$kept_inputs);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Of a product that chooses nothing but what it may keep.
    static ScheduleAttr keeping(::mlir::DenseI64ArrayAttr inputs);
    /// With that one for all sizes.
    ScheduleAttr withTile(::llvm::StringRef tile) const;
    ScheduleAttr withSplit(int64_t split) const;
    ScheduleAttr withVariants(::llvm::ArrayRef<VariantAttr> variants) const;
    ::llvm::SmallVector<VariantAttr> getEachVariant() const;
  }];
}

class Program_Op<string mnemonic, list<Trait> traits = []>
    : Op<Program_Dialect, mnemonic, traits>;

def Program_KernelOp : Program_Op<"kernel", [
    IsolatedFromAbove, Symbol, SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "One device function: a body of tensor ops and its schedule.";
  let description = [{
    Block arguments are dense input buffers, yielded values dense output
    buffers. The symbols of the types are the kernel's own, numbered by first
    appearance; a launch gives their values. `workspaces`, set by plan, are the
    bytes of each buffer that its phases need beside these, and `prepared` the
    input that alone decides what is in it, or -1.

    ```mlir
    program.kernel @map_00ff00ff00ff00ff(%a: tensor<8xf32>) attributes
        {kind = "map", num_symbols = 0 : i64} {
      %0 = sinter.exp %a : tensor<8xf32>
      program.yield %0 : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind,
                       I64Attr:$num_symbols,
                       OptionalAttr<Program_ScheduleAttr>:$schedule,
                       OptionalAttr<AffineMapAttr>:$workspaces,
                       OptionalAttr<DenseI64ArrayAttr>:$prepared);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::Block::BlockArgListType getInputs() {
      return getBlock().getArguments();
    }
    /// The yielded values: what the kernel's output buffers hold.
    ::mlir::OperandRange getOutputs();
  }];
}

def Program_YieldOp : Program_Op<"yield", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel's body with the values it stores.";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Program_LaunchOp : Program_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel once.";
  let description = [{
    `dims` gives each of the kernel's symbols in terms of the program's. The
    kernel is a `program.kernel`, or the module that it was emitted as.
    `buffers`, set by plan, names the buffers in the kernel's order: inputs,
    then outputs and workspaces. `error_node` is the post-order number of the op
    whose index error the launch may report.

    ```mlir
    %0 = program.launch @map_00ff00ff00ff00ff(%x)
      dims affine_map<()[s0] -> (s0)> : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyRankedTensor>:$inputs, AffineMapAttr:$dims,
                       OptionalAttr<I64Attr>:$step,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$buffers,
                       OptionalAttr<I64Attr>:$error_node);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `dims` $dims attr-dict `:`
    functional-type($inputs, $outputs)
  }];
}

def Program_ForOp : Program_Op<"for", [
    SingleBlock, AttrSizedOperandSegments]> {
  let summary = "Runs its body once a step.";
  let description = [{
    The block's arguments are the carries, then a slice of each of `xs` along
    its first axis. `program.next` gives the next carries, then what is stacked.
    The results are the carries after the last step and the stacks. With
    `reverse` the last slice comes first. The body reads values from outside as
    they are. Tensor ops until fuse, launches and copies from then on. With a
    `condition` of k > 0 a step begins only while carry k - 1, a boolean scalar,
    is true, with k < 0 only while carry -k - 1 is false; nothing is stacked.

    `step`, `steps` and the buffers are set by plan: per carry that of the
    argument, of `inits`, of the next value, of the result and a spare one; per
    slice and per stack its own and that of the whole.

    ```mlir
    %h = program.for carries(%h0) slices(%xs) count affine_map<() -> (32)>
        : (tensor<4xf32>, tensor<32x4xf32>) -> tensor<4xf32> {
    ^bb0(%c: tensor<4xf32>, %x: tensor<4xf32>):
      %n = program.launch @map_00ff00ff00ff00ff(%c, %x) ...
      program.next %n : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inits,
                       Variadic<AnyRankedTensor>:$xs, AffineMapAttr:$count,
                       UnitAttr:$reverse, OptionalAttr<I64Attr>:$condition,
                       OptionalAttr<I64Attr>:$step,
                       OptionalAttr<I64Attr>:$steps,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$carry_buffers,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$slice_buffers);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `carries` `(` $inits `)` `slices` `(` $xs `)` `count` $count attr-dict `:` functional-type(operands, results)
    $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    unsigned getNumCarries() { return getInits().size(); }
    /// Whether no more than one step can begin.
    bool isSingle();
    /// The next carries, then what is stacked.
    ::mlir::OperandRange getYielded() {
      return getBlock().getTerminator()->getOperands();
    }
  }];
}

def Program_NextOp : Program_Op<"next", [
    Pure, Terminator, HasParent<"ForOp">]> {
  let summary = "Ends a step: what it passes on, and what it keeps.";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Program_BufferOp : Program_Op<"buffer", [
    Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A buffer of the plan: its size and the steps it lives in.";
  let description = [{
    `kind` is input, output or temp; `index` the number of the input or output.
    A `moving` one has another address in each step of the loop at step `index`.
    The buffer is first written by step `first` and last read by step `last`.

    ```mlir
    program.buffer @t0 "temp" 0 bytes affine_map<()[s0] -> (s0 * 4)> live 0 to 1
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, I64Attr:$index,
                       AffineMapAttr:$bytes, I64Attr:$first, I64Attr:$last);
  let assemblyFormat = [{
    $sym_name $kind $index `bytes` $bytes `live` $first `to` $last attr-dict
  }];
}

def Program_CopyOp : Program_Op<"copy"> {
  let summary = "Copies one buffer of the plan into another.";
  let description = [{
    ```mlir
    program.copy @in0 to @out0 {step = 0 : i64}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$from, FlatSymbolRefAttr:$to,
                       I64Attr:$step);
  let assemblyFormat = "$from `to` $to attr-dict";
}

#endif // SINTER_DIALECTS_PROGRAM_PROGRAM_TD
