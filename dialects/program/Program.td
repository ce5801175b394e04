// The program dialect: the host side of a compiled model, kernels and launches.
#ifndef SINTER_DIALECTS_PROGRAM_PROGRAM_TD
#define SINTER_DIALECTS_PROGRAM_PROGRAM_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
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
    gives every value a buffer with a size expression and a live interval.
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
    appearance; a launch gives their values.

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
                       OptionalAttr<DictionaryAttr>:$schedule);
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
    `dims` gives each of the kernel's symbols in terms of the program's.
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

def Program_BufferOp : Program_Op<"buffer", [
    Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A buffer of the plan: its size and the steps it lives in.";
  let description = [{
    `kind` is input, output or temp; `index` the number of the input or output.
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
