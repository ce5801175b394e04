/// Classes that the ops' records are made of.
///
/// A record is the single source of an op. A new elementwise op is three
/// records and a test: docs/adding-an-op.md.
#ifndef SINTER_OP_BASE_TD
#define SINTER_OP_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/sinter/Interfaces.td"

def Sinter_Dialect : Dialect {
  let name = "sinter";
  let summary = "Tensor operations with value semantics";
  let description = [{
    What a recorded graph becomes: one op per tensor op, on ranked tensors whose
    dims are constants or expressions over symbols (the type's encoding). No
    memory, no devices.
  }];
  let cppNamespace = "::sinter::ir";
}

//===----------------------------------------------------------------------===//
// Operand types
//===----------------------------------------------------------------------===//

/// A tensor of one of the dtypes, named as in sinter/runtime/DType.h.
class Sinter_TensorOf<list<string> names, list<Type> types>
    : RankedTensorOf<types> {
  list<string> dtypes = names;
}

defvar floatNames = ["f64", "f32", "f16", "bf16"];
defvar floatTypes = [F64, F32, F16, BF16];
defvar integerNames = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
defvar integerTypes = [I8, I16, I32, I64, UI8, UI16, UI32, UI64];
/// Those that are cast and moved, and nothing else.
defvar storedNames = ["f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f8e4m3fnuz",
                      "f8e5m2fnuz", "f4e2m1", "i4", "u4", "i2", "u2"];
defvar storedTypes = [F8E4M3FN, F8E5M2, F8E8M0FNU, F8E4M3FNUZ, F8E5M2FNUZ,
                      F4E2M1FN, SI<4>, UI<4>, SI<2>, UI<2>];
/// Those that are moved and summed, part by part (compiler/import/SplitComplex).
defvar complexNames = ["c64", "c128"];
defvar complexTypes = [Complex<F32>, Complex<F64>];

def Sinter_Float : Sinter_TensorOf<floatNames, floatTypes>;
def Sinter_Numeric : Sinter_TensorOf<!listconcat(floatNames, integerNames),
                                     !listconcat(floatTypes, integerTypes)>;
def Sinter_Tensor
    : Sinter_TensorOf<!listconcat(floatNames, integerNames, ["boolean"]),
                      !listconcat(floatTypes, integerTypes, [I1])>;
def Sinter_Stored
    : Sinter_TensorOf<!listconcat(floatNames, integerNames, ["boolean"],
                                  storedNames),
                      !listconcat(floatTypes, integerTypes, [I1],
                                  storedTypes)>;
/// For what moves elements: the same for a real and an imaginary part.
def Sinter_Moved
    : Sinter_TensorOf<!listconcat(floatNames, integerNames, ["boolean"],
                                  storedNames, complexNames),
                      !listconcat(floatTypes, integerTypes, [I1],
                                  storedTypes, complexTypes)>;
/// For what is linear in them.
def Sinter_Linear
    : Sinter_TensorOf<!listconcat(floatNames, integerNames, complexNames),
                      !listconcat(floatTypes, integerTypes, complexTypes)>;
def Sinter_LinearOrBool
    : Sinter_TensorOf<!listconcat(floatNames, integerNames, ["boolean"],
                                  complexNames),
                      !listconcat(floatTypes, integerTypes, [I1],
                                  complexTypes)>;
def Sinter_Complex : Sinter_TensorOf<complexNames, complexTypes>;
def Sinter_Part : Sinter_TensorOf<["f64", "f32"], [F64, F32]>;
def Sinter_OnlyInteger : Sinter_TensorOf<integerNames, integerTypes>;
def Sinter_Integral : Sinter_TensorOf<!listconcat(integerNames, ["boolean"]),
                                      !listconcat(integerTypes, [I1])>;
def Sinter_Bool : Sinter_TensorOf<["boolean"], [I1]>;
def Sinter_Index : Sinter_TensorOf<["i64", "i32"], [I64, I32]>;
def Sinter_I64 : Sinter_TensorOf<["i64"], [I64]>;

//===----------------------------------------------------------------------===//
// Attributes: the kinds of sinter/runtime/OpTable.h
//===----------------------------------------------------------------------===//

/// `role` says what a number means: "axis", "axes" (a set) and "permutation"
/// are normalized to be non-negative.
class Sinter_AttrKind<string kindName, string roleName = ""> {
  string kind = kindName;
  string role = roleName;
}

class Sinter_IntegerAttr<string role>
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">,
      Sinter_AttrKind<"integer", role> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}
class Sinter_IntsAttr<string role>
    : DenseArrayAttrBase<"DenseI64ArrayAttr", "int64_t", "i64">,
      Sinter_AttrKind<"ints", role>;

def Sinter_Boolean : Attr<CPred<"::llvm::isa<::mlir::BoolAttr>($_self)">,
                          "boolean">, Sinter_AttrKind<"boolean"> {
  let storageType = "::mlir::BoolAttr";
  let returnType = "bool";
  let valueType = I1;
  let constBuilderCall = "$_builder.getBoolAttr($0)";
}
def Sinter_Integer : Sinter_IntegerAttr<"">;
def Sinter_Axis : Sinter_IntegerAttr<"axis">;
def Sinter_Ints : Sinter_IntsAttr<"">;
def Sinter_Axes : Sinter_IntsAttr<"axes">;
def Sinter_Permutation : Sinter_IntsAttr<"permutation">;
def Sinter_Text : Attr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
                       "text">, Sinter_AttrKind<"text"> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::llvm::StringRef";
  let valueType = NoneType;
  let constBuilderCall = "$_builder.getStringAttr($0)";
}
def Sinter_Real : FloatAttrBase<F64, "64-bit float">, Sinter_AttrKind<"real">;
def Sinter_Number : Attr<Or<[F64Attr.predicate, I64Attr.predicate]>,
                         "number (i64 or f64)">, Sinter_AttrKind<"number"> {
  let storageType = "::mlir::TypedAttr";
  let returnType = "::mlir::TypedAttr";
  let convertFromStorage = "$_self";
}
def Sinter_DType : TypeAttrBase<"::mlir::Type", "element type">,
                   Sinter_AttrKind<"dtype">;
class Sinter_DimsAttr<string kind>
    : Attr<CPred<"::llvm::isa<::mlir::AffineMapAttr>($_self)">,
           "dims as an affine map over symbols">, Sinter_AttrKind<kind> {
  let storageType = "::mlir::AffineMapAttr";
  let returnType = "::mlir::AffineMap";
  let constBuilderCall = "::mlir::AffineMapAttr::get($0)";
}
def Sinter_Dim : Sinter_DimsAttr<"dim">;
def Sinter_Dims : Sinter_DimsAttr<"dims">;

/// One of a few names. `cppName` names the generated enum class.
class Sinter_Choice<string cppName, list<string> names>
    : Attr<And<[StrAttrPred, Or<!foreach(name, names, CPred<
          "::llvm::cast<::mlir::StringAttr>($_self).getValue() == \""
          # name # "\"">)>]>,
          "one of " # !interleave(names, ", ")>, Sinter_AttrKind<"choice"> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::llvm::StringRef";
  let valueType = NoneType;
  let constBuilderCall = "$_builder.getStringAttr($0)";
  string enumName = cppName;
  list<string> choices = names;
}

//===----------------------------------------------------------------------===//
// Domains: what operands the property tests draw
//===----------------------------------------------------------------------===//

class Domain<string kindName, string lowest, string highest, string point> {
  string kind = kindName;
  string low = lowest;
  string high = highest;
  string avoid = point;
}
/// Numbers in [low, high]; not within 0.1 of `avoid` (a kink).
class Reals<string low, string high, string avoid = "">
    : Domain<"reals", low, high, avoid>;
/// Integers in [low, high], whatever the dtype.
class Integers<string low, string high> : Domain<"integers", low, high, "">;
/// Valid positions along the op's axis of the first operand.
def Positions : Domain<"positions", "", "", "">;
/// Distinct numbers, so that an extremum is unique.
def Distinct : Domain<"distinct", "-4", "4", "">;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Every op. `kindName` is an enumerator of graph::PatternKind.
class Sinter_Op<string mnemonic, string kindName, list<Trait> traits = []>
    : Op<Sinter_Dialect, mnemonic,
         !listconcat([Pure, SinterOpInterface], traits)> {
  string patternKind = kindName;
  /// The function of namespace graph::shape (runtime/graph/ShapeRules.h), and
  /// the attributes it takes; without the list, all.
  string shapeRule = "";
  list<string> shapeArguments = ["*"];
  /// The `dims` attribute that is stored as the rule resolved it (no -1).
  string resolves = "";
  /// In how many bits the op computes where a user asks for few (the frontend's
  /// `autocast`; an enumerator of sinter::detail::Precision):
  ///   low   a product: its float operands are rounded
  ///   full  it adds up elements: f16 and bf16 are brought to f32
  ///   any   in its operands'
  string precision = !cond(!eq(kindName, "contraction"): "low",
                           !eq(kindName, "attention"): "low",
                           true: "any");
  /// Whether the op is its operand when the types agree (cast f32 to f32).
  bit elidesIdentity = 0;
  /// Whether this op makes the constants that rules write as literals.
  bit makesConstants = 0;

  /// The rule of namespace ir::reorder (dialects/sinter/Reorder.h) by which the
  /// op computes on tensors whose axes stand in another order.
  string reorder = "";

  /// More declarations of the C++ class.
  string declares = "";

  /// Frontend: how operands are brought to one dtype (docs/semantics.md).
  ///   none   as they are
  ///   match  to their common dtype
  ///   float  to their common dtype, integers and bool to f32
  string promotion = "none";
  /// The operands that `promotion` and `broadcasts` speak of; all by default.
  list<string> promoted = ["*"];
  bit broadcasts = 0;
  /// Whether the frontend's function is written by hand (it does more than
  /// promote and broadcast).
  bit handWritten = 0;
  /// Defaults of attributes in the frontend: "keepdims = false". Axes that
  /// default to {} mean every axis.
  list<string> defaults = [];

  /// One per operand, or one for all.
  list<Domain> domains = [Reals<"-4", "4">];
  /// How a user calls it, on tensors of the operands' names. Shown in the
  /// reference, and run by a test.
  string example = "";

  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    static ::sinter::graph::OpId getOpId();
    static ::sinter::graph::PatternKind getPatternKind() {
      return ::sinter::graph::PatternKind::}] # kindName # [{;
    }
    static const ::sinter::ir::ReorderRule *getReorderRule() {
      return }] # !if(!empty(reorder), "nullptr",
                      "&::sinter::ir::reorder::" # reorder) # [{;
    }
  }] # declares;
  // Apart, so that whoever knows the class need not know every op's code.
  let extraClassDefinition = [{
    ::sinter::graph::OpId $cppClass::getOpId() {
      return ::sinter::graph::OpId::}] # mnemonic # [{;
    }
  }];
}

class Sinter_Pointwise<string mnemonic, list<Trait> traits = []>
    : Sinter_Op<mnemonic, "pointwise",
                !listconcat([DeclareOpInterfaceMethods<PointwiseOpInterface>],
                            traits)> {
  let reorder = "sameEverywhere";
}

/// One operand; the result has its type.
class Sinter_Unary<string mnemonic, Type type = Sinter_Float>
    : Sinter_Pointwise<mnemonic> {
  let arguments = (ins type:$x);
  let results = (outs type:$result);
  let shapeRule = "elementwise";
  let example = mnemonic # "(x)";
}
/// One float operand; the frontend brings integers to f32.
class Sinter_FloatUnary<string mnemonic> : Sinter_Unary<mnemonic> {
  let promotion = "float";
}
/// Two operands of one type, which is the result's.
class Sinter_Binary<string mnemonic, Type type = Sinter_Numeric>
    : Sinter_Pointwise<mnemonic> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let shapeRule = "elementwise";
  let promotion = "match";
  let broadcasts = 1;
  let example = mnemonic # "(lhs, rhs)";
}

/// The same elements in another order or shape.
class Sinter_View<string mnemonic>
    : Sinter_Op<mnemonic, "view",
                [DeclareOpInterfaceMethods<ViewOpInterface>]> {
  let results = (outs Sinter_Moved:$result);
  let shapeRule = mnemonic;
}

/// An op that makes one element of several. `foldName` is an enumerator of
/// ir::Fold.
class Sinter_Fold<string mnemonic, string kindName, string foldName,
                  list<Trait> traits = []>
    : Sinter_Op<mnemonic, kindName, !listconcat([FoldOpInterface], traits)> {
  // The largest of several is exact in their dtype.
  let precision = !cond(!eq(foldName, "maximum"): "any",
                        !eq(foldName, "minimum"): "any",
                        !eq(kindName, "reduction"): "full",
                        !eq(kindName, "prefix"): "full",
                        true: "any");
  let declares = [{
    static ::sinter::ir::Fold getFold() {
      return ::sinter::ir::Fold::}] # foldName # [{;
    }
  }];
}

/// Along axes, which disappear or are kept with size 1.
class Sinter_Reduction<string mnemonic, string foldName>
    : Sinter_Fold<mnemonic, "reduction", foldName> {
  let arguments = (ins Sinter_Tensor:$x, Sinter_Axes:$axes,
                       Sinter_Boolean:$keepdims);
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = "reduce";
  let reorder = "reduction";
  let defaults = ["axes = {}", "keepdims = false"];
  let example = mnemonic # "(x, {1})";
}

/// The position of an element along an axis.
class Sinter_Search<string mnemonic> : Sinter_Fold<mnemonic, "reduction",
                                                   mnemonic> {
  let arguments = (ins Sinter_Tensor:$x, Sinter_Axis:$axis,
                       Sinter_Boolean:$keepdims);
  let results = (outs Sinter_I64:$result);
  let precision = "any";
  let shapeRule = "argmax";
  let reorder = "reduction";
  let defaults = ["keepdims = false"];
  let domains = [Integers<"-3", "3">];
  let example = mnemonic # "(x, 1)";
}

/// The elements up to each position along an axis.
class Sinter_Prefix<string mnemonic, string foldName>
    : Sinter_Fold<mnemonic, "prefix", foldName, [PrefixOpInterface]> {
  let arguments = (ins Sinter_Tensor:$x, Sinter_Axis:$axis,
                       Sinter_Boolean:$reverse);
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = "prefix";
  let shapeArguments = ["axis"];
  let reorder = "sameEverywhere";
  let defaults = ["reverse = false"];
  let example = mnemonic # "(x, 1)";
}

/// Updates at positions along an axis.
class Sinter_Scatter<string mnemonic, string foldName>
    : Sinter_Fold<mnemonic, "scatter", foldName, [ScatterOpInterface]> {
  let arguments = (ins Sinter_Numeric:$x, Sinter_Index:$indices,
                       Sinter_Numeric:$updates, Sinter_Axis:$axis);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "scatter";
  let handWritten = 1;
  let domains = [Reals<"-4", "4">, Positions, Reals<"-4", "4">];
  let example = mnemonic # "(x, indices, updates, 1)";
}

/// From attributes alone.
class Sinter_Source<string mnemonic> : Sinter_Op<mnemonic, "source"> {
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = "source";
  let shapeArguments = ["shape", "dtype"];
  let handWritten = 1;
  let domains = [];
}

/// Numbers that are a function of a 128-bit key and a 64-bit counter.
class Sinter_Random<string mnemonic> : Sinter_Op<mnemonic, "random"> {
  let arguments = (ins Sinter_I64:$key_low, Sinter_I64:$key_high,
                       Sinter_I64:$counter, Sinter_Dims:$shape,
                       Sinter_DType:$dtype);
  let results = (outs Sinter_Float:$result);
  let shapeRule = "random";
  let handWritten = 1;
  let domains = [Integers<"0", "1000000">];
}

/// Recorded as one node and written in other ops by its Decomposition.
class Sinter_Composite<string mnemonic, list<Trait> traits = []>
    : Sinter_Op<mnemonic, "composite", traits> {
  let results = (outs Sinter_Float:$result);
  let promotion = "float";
}

/// A function of one float operand.
class Sinter_MathComposite<string mnemonic> : Sinter_Composite<mnemonic> {
  let arguments = (ins Sinter_Float:$x);
  let shapeRule = "sameAsFirst";
  let example = mnemonic # "(x)";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A function of runtime/graph/Terms.h that dags may call for an attribute.
class Sinter_Term<string function> {
  string cppFunction = function;
}
def shape_of : Sinter_Term<"shapeOf">;         // ($x): x's dims
def dtype_of : Sinter_Term<"dtypeOf">;         // ($x)
def compute_dtype : Sinter_Term<"computeDType">; // ($x): f32 for f16 and bf16
def kept_shape : Sinter_Term<"keptShape">;     // ($x, $axes): axes of size 1
def column_shape : Sinter_Term<"columnShape">; // ($x): x's dims and a 1
def count_of : Sinter_Term<"countOf">;         // ($x, $axes): elements reduced
def size_of : Sinter_Term<"sizeOf">;           // ($x, $axis): a dim
def last_axis : Sinter_Term<"lastAxis">;       // ($x)
def row_axis : Sinter_Term<"rowAxis">;         // ($x): the last but one
def scores_shape : Sinter_Term<"scoresShape">; // ($query, $key): [..., t, s]
def all_axes : Sinter_Term<"allAxes">;         // ($x)
def inverse_of : Sinter_Term<"inverseOf">;     // ($permutation)
def swap_last_two : Sinter_Term<"swapLastTwo">; // ($x): a permutation
def minus_one : Sinter_Term<"minusOne">;       // ($ints)
def plus_one : Sinter_Term<"plusOne">;         // ($ints)
def next : Sinter_Term<"successor">;           // ($integer)
def padded_limits : Sinter_Term<"paddedLimits">; // ($x, $low, $interior)
def squeezed_shape : Sinter_Term<"squeezedShape">; // ($x, $axes)
def unsqueezed_shape : Sinter_Term<"unsqueezedShape">; // ($x, $axis)
def flat_shape : Sinter_Term<"flatShape">;     // ($x): one axis
def window_axes : Sinter_Term<"windowAxes">;   // ($x, $axes): as many after x's
def along_shape : Sinter_Term<"alongShape">;   // ($x, $indices, $axis): 1s, and
                                               // x's rank
def selected_shape : Sinter_Term<"selectedShape">; // ($x, $indices, $axis)
def embedded_shape : Sinter_Term<"embeddedShape">; // ($weight, $indices)
def kept_scale : Sinter_Term<"keptScale">;     // ($p): 1 / (1 - p), finite
def within : Sinter_Term<"within">;            // ($x, $number): x's dtype holds
                                               // it
def not : Sinter_Term<"negate">;               // ($boolean)

/// In place of an operand's dag: the value itself, or no gradient.
def identity;
def none;

/// How gradients are made: one dag per operand, over ops, the op's operands
/// and attributes, `$result`, `$grad` and terms. In the place of a tensor
/// operand a string is a constant with its neighbours' type, and so is a
/// `real` attribute. `(Op:$name ...)` names a value for use further right.
class Gradient<Sinter_Op op, list<dag> rules> {
  Sinter_Op forOp = op;
  list<dag> perOperand = rules;
}
/// A function of runtime/autodiff/rules/Rules.h, and the operands (or
/// "result") whose values it reads.
class GradientFn<Sinter_Op op, string function, list<string> read = []> {
  Sinter_Op forOp = op;
  string cppFunction = function;
  list<string> reads = read;
}
class NotDifferentiable<Sinter_Op op> { Sinter_Op forOp = op; }

/// Ops that are methods of Tensor, too; the first operand is the tensor.
class Methods<list<Sinter_Op> methods> {
  list<Sinter_Op> ops = methods;
}

/// What an op is called elsewhere: PyTorch's function in `torch`, and the method
/// or function of Burn. Empty where there is none.
class Names<Sinter_Op op, string torchName, string burnName> {
  Sinter_Op forOp = op;
  string torch = torchName;
  string burn = burnName;
}

/// A composite in other ops. With `choice`, for that value of the op's choice
/// attribute only; then there is one record per value.
class Decomposition<Sinter_Op op, dag rule, string forChoice = ""> {
  Sinter_Op forOp = op;
  dag body = rule;
  string choice = forChoice;
}

/// As a function of runtime/graph/Composites.h.
class DecompositionFn<Sinter_Op op, string function> {
  Sinter_Op forOp = op;
  string cppFunction = function;
}

/// The function of frontend/ComplexOps.h that an op's function calls instead
/// where an operand is complex, with all that it was given.
class OnComplex<Sinter_Op op, string function> {
  Sinter_Op forOp = op;
  string cppFunction = function;
}

/// Marks an element type for which an op has no body.
def unsupported;
/// A constant of the operands' element type in a scalar body.
def literal;
/// The body of a pointwise op on elements, as dags over `arith` and `math`:
/// for floats, signed integers, unsigned integers (as signed unless given),
/// and bool.
class Scalar<Sinter_Op op, dag onFloat, dag onInteger = (unsupported),
             dag onUnsigned = onInteger, dag onBool = (unsupported)> {
  Sinter_Op forOp = op;
  dag floatBody = onFloat;
  dag integerBody = onInteger;
  dag unsignedBody = onUnsigned;
  dag boolBody = onBool;
}
/// Constants of rules.
defvar infinity = "std::numeric_limits<double>::infinity()";
defvar minusInfinity = "-std::numeric_limits<double>::infinity()";
/// A function of dialects/sinter/ScalarRules.h.
class ScalarFn<Sinter_Op op, string function> {
  Sinter_Op forOp = op;
  string cppFunction = function;
}
/// A structured op: emitted by the skeleton or source of its pattern kind.
class Structured<Sinter_Op op> { Sinter_Op forOp = op; }

#endif // SINTER_OP_BASE_TD
