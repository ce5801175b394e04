/// Interfaces of the `sinter` dialect: what passes may ask of an op, so that
/// no pass names one.
#ifndef SINTER_INTERFACES_TD
#define SINTER_INTERFACES_TD

include "mlir/IR/OpBase.td"

def SinterOpInterface : OpInterface<"SinterOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    Every op of the dialect: its code, which leads to its row of the op table
    (name, arity, attribute schema), and how it takes part in fusion.
  }];
  let methods = [
    StaticInterfaceMethod<"The op's code in graphs.",
                          "::sinter::graph::OpId", "getOpId">,
    StaticInterfaceMethod<"How the op takes part in fusion.",
                          "::sinter::graph::PatternKind", "getPatternKind">,
    StaticInterfaceMethod<[{
      How the op computes on tensors whose axes stand in another order; null
      where it cannot.
    }], "const ::sinter::ir::ReorderRule *", "getReorderRule">,
    InterfaceMethod<"The only result's type.", "::mlir::RankedTensorType",
                    "getTensorType", (ins), [{
      return ::llvm::cast<::mlir::RankedTensorType>(
          $_op->getResult(0).getType());
    }]>,
  ];
  // Calls the shape rule that recording calls.
  let verify = [{ return ::sinter::ir::verifyShapeRule($_op); }];
}

def PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    An op whose result element depends on the operands' elements at the same
    index only.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the op on elements. `operands` are scalars or equally shaped
      vectors in signless types (bool is i1); so is the result. `elementType`
      is the result's. The ops are of `arith` and `math`; f16 and bf16 are
      computed in f32 and rounded once.
    }], "::mlir::Value", "emitScalar",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "::mlir::ValueRange":$operands, "::mlir::Type":$elementType)>,
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    An op whose elements are those of its operands, as an index decides.
  }];
  let methods = [
    InterfaceMethod<[{
      Says which elements these are. The map has the result's shape already
      (`viewMapOf` of dialects/sinter/ViewMap.h).
    }], "void", "describe", (ins "::sinter::ir::ViewMap &":$map)>,
  ];
}

def FoldOpInterface : OpInterface<"FoldOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    An op that makes one element of several: a reduction, a prefix, a scatter.
  }];
  let methods = [
    StaticInterfaceMethod<"How two elements become one.", "::sinter::ir::Fold",
                          "getFold">,
  ];
}

def PrefixOpInterface : OpInterface<"PrefixOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    Folds the elements up to each position along an axis.
  }];
  let methods = [
    InterfaceMethod<"The elements.", "::mlir::Value", "getX">,
    InterfaceMethod<"Along which axis.", "uint64_t", "getAxis">,
    InterfaceMethod<"Whether it begins at the end.", "bool", "getReverse">,
  ];
}

def ScatterOpInterface : OpInterface<"ScatterOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    Folds updates into the elements at given positions along an axis, in
    ascending order of the updates' positions.
  }];
  let methods = [
    InterfaceMethod<"The elements.", "::mlir::Value", "getX">,
    InterfaceMethod<"Where updates go.", "::mlir::Value", "getIndices">,
    InterfaceMethod<"What is folded in.", "::mlir::Value", "getUpdates">,
    InterfaceMethod<"Along which axis.", "uint64_t", "getAxis">,
  ];
}

def ContractionOpInterface : OpInterface<"ContractionOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    Products of elements of two operands, summed over a loop. Convolutions are
    products of windows, and groups are batches. The result is [batch..., m, n];
    operands have an axis for each of their loops, in any order. What decodes an
    operand is the ops that compute it: fusion puts them into its kernel.
  }];
  let methods = [
    InterfaceMethod<"What has rows.",
                    "::mlir::TypedValue<::mlir::RankedTensorType>", "getLhs">,
    InterfaceMethod<"What has columns.",
                    "::mlir::TypedValue<::mlir::RankedTensorType>", "getRhs">,
    InterfaceMethod<"The sums, in its element type.",
                    "::mlir::TypedValue<::mlir::RankedTensorType>",
                    "getResult">,
    InterfaceMethod<"Which elements take part at each point of the loops.",
                    "::sinter::ir::ContractionMaps", "getIndexingMaps">,
    InterfaceMethod<"The scalar type that products are summed in.",
                    "::mlir::Type", "getSumType">,
    InterfaceMethod<"How many loops are over batches.",
                    "unsigned", "getNumBatchLoops", (ins), [{}], [{
      return $_op.getIndexingMaps().result.getNumResults() - 2;
    }]>,
    InterfaceMethod<"The left operand's axis of m or k.",
                    "unsigned", "getLhsAxis",
                    (ins "::sinter::ir::ContractionLoop":$loop), [{}], [{
      return ::sinter::ir::axisOf($_op.getIndexingMaps().lhs, loop);
    }]>,
    InterfaceMethod<"The right operand's axis of k or n.",
                    "unsigned", "getRhsAxis",
                    (ins "::sinter::ir::ContractionLoop":$loop), [{}], [{
      return ::sinter::ir::axisOf($_op.getIndexingMaps().rhs, loop);
    }]>,
    InterfaceMethod<[{
      How elements of the left operand are decoded from those that are stored,
      if they are.
    }], "::std::optional<::sinter::ir::OperandDecoding>", "getLhsDecoding",
        (ins), [{}], [{
      return ::sinter::ir::decodingBehind($_op.getLhs(),
                                          $_op.getIndexingMaps().lhs);
    }]>,
    InterfaceMethod<"Those of the right operand.",
                    "::std::optional<::sinter::ir::OperandDecoding>",
                    "getRhsDecoding", (ins), [{}], [{
      return ::sinter::ir::decodingBehind($_op.getRhs(),
                                          $_op.getIndexingMaps().rhs);
    }]>,
  ];
  let verify = [{ return ::sinter::ir::verifyContraction($_op); }];
}

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    A part of attention: a function of scores that exist inside its kernel only.
    Parts that agree on all of this are one kernel.
  }];
  let methods = [
    InterfaceMethod<"[..., t, d].", "::mlir::Value", "getQuery">,
    InterfaceMethod<"[..., s, d].", "::mlir::Value", "getKey">,
    InterfaceMethod<"Added to the scores: [..., t, s] or rank 0.",
                    "::mlir::Value", "getMask">,
    InterfaceMethod<"`all` or `causal`.", "::llvm::StringRef", "getSpan">,
    InterfaceMethod<"What products are multiplied by.", "::llvm::APFloat",
                    "getScale">,
    StaticInterfaceMethod<"0 if the result has a row per query, 1 if per key.",
                          "unsigned", "getWalkedOperand">,
  ];
}

def OpaqueOpInterface : OpInterface<"OpaqueOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    A kernel of the user's: code that the compiler passes on. It takes the
    addresses of the operands, as they lie in memory, and then the result's.
  }];
  let methods = [
    InterfaceMethod<"CUDA C++, or empty.", "::llvm::StringRef", "getSource">,
    InterfaceMethod<"GLSL, or empty.", "::llvm::StringRef", "getGlsl">,
    InterfaceMethod<"An assembly of SPIR-V, or empty.", "::llvm::StringRef",
                    "getSpirv">,
    InterfaceMethod<"What of it is called.", "::llvm::StringRef",
                    "getFunction">,
    InterfaceMethod<"The operands' dims, one operand's after the other.",
                    "::llvm::ArrayRef<int64_t>", "getExtents">,
    InterfaceMethod<"Blocks: x, y, z.", "::llvm::ArrayRef<int64_t>", "getGrid">,
    InterfaceMethod<"Threads of a block: x, y, z.",
                    "::llvm::ArrayRef<int64_t>", "getBlock">,
    InterfaceMethod<"Shared memory that a launch asks for.", "uint64_t",
                    "getSharedBytes">,
  ];
}

def ImageOpInterface : OpInterface<"ImageOpInterface"> {
  let cppNamespace = "::sinter::ir";
  let description = [{
    An op over windows of an image whose channels stand before the space or
    after it, as its attribute `layout` says.
  }];
  let methods = [
    StaticInterfaceMethod<"What the operands are, and last the result.",
                          "::llvm::ArrayRef<::sinter::ir::ImageRole>",
                          "getImageRoles">,
    StaticInterfaceMethod<"Whether the windows' elements are factors of sums.",
                          "bool", "isProduct">,
    InterfaceMethod<"", "bool", "isChannelsLast", (ins), [{
      return $_op.getLayout() == "channels_last";
    }]>,
    InterfaceMethod<"Elements of a window in one channel.", "int64_t",
                    "getWindowElements", (ins), [{
      int64_t count = 1;
      for (int64_t size : $_op.getSizes())
        count *= size;
      return count;
    }]>,
    InterfaceMethod<"Places of the image for each window.", "int64_t",
                    "getWindowStep", (ins), [{
      int64_t count = 1;
      for (int64_t stride : $_op.getStrides())
        count *= stride;
      return count;
    }]>,
  ];
}

#endif // SINTER_INTERFACES_TD
