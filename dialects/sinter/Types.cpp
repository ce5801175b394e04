/// Dtypes, dims and attributes between graphs and MLIR.
#include "dialects/sinter/Types.h"

#include "dialects/sinter/Dialect.h"
#include "runtime/graph/AttrWords.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace mlir;

namespace sinter::ir {

using llvm::SmallVector; // not the runtime's

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::f64:
    return Float64Type::get(context);
  case DType::f32:
    return Float32Type::get(context);
  case DType::f16:
    return Float16Type::get(context);
  case DType::bf16:
    return BFloat16Type::get(context);
  case DType::i8:
  case DType::i16:
  case DType::i32:
  case DType::i64:
    return IntegerType::get(context, bitWidth(dtype));
  case DType::i4:
  case DType::i2:
    return IntegerType::get(context, valueBits(dtype), IntegerType::Signed);
  case DType::u8:
  case DType::u16:
  case DType::u32:
  case DType::u64:
  case DType::u4:
  case DType::u2:
    return IntegerType::get(context, valueBits(dtype), IntegerType::Unsigned);
  case DType::boolean:
    return IntegerType::get(context, 1);
  case DType::f8e4m3fn:
    return Float8E4M3FNType::get(context);
  case DType::f8e5m2:
    return Float8E5M2Type::get(context);
  case DType::f8e8m0fnu:
    return Float8E8M0FNUType::get(context);
  case DType::f8e4m3fnuz:
    return Float8E4M3FNUZType::get(context);
  case DType::f8e5m2fnuz:
    return Float8E5M2FNUZType::get(context);
  case DType::f4e2m1:
    return Float4E2M1FNType::get(context);
  case DType::c64:
    return ComplexType::get(Float32Type::get(context));
  case DType::c128:
    return ComplexType::get(Float64Type::get(context));
  }
  return {};
}

Type scalarType(Type element) {
  if (element.isInteger(1) || !element.isIntOrFloat())
    return element;
  unsigned width = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element) && width > 8)
    return element;
  return IntegerType::get(element.getContext(), std::max(width, 8U));
}

std::optional<DType> dtypeOf(Type element) {
  for (unsigned code = 0; code < numDTypes; ++code)
    if (elementType(element.getContext(), DType(code)) == element)
      return DType(code);
  return std::nullopt;
}

SmallVector<AffineExpr> dimsOf(RankedTensorType type) {
  if (auto map = dyn_cast_or_null<AffineMapAttr>(type.getEncoding()))
    return llvm::to_vector(map.getValue().getResults());
  SmallVector<AffineExpr> dims;
  for (int64_t size : type.getShape())
    dims.push_back(getAffineConstantExpr(size, type.getContext()));
  return dims;
}

RankedTensorType tensorType(Type element, ArrayRef<AffineExpr> dims,
                            unsigned numSymbols) {
  SmallVector<int64_t> shape;
  bool symbolic = false;
  for (AffineExpr dim : dims) {
    auto constant = dyn_cast<AffineConstantExpr>(dim);
    shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
    symbolic |= !constant;
  }
  if (!symbolic)
    return RankedTensorType::get(shape, element);
  AffineMap map = AffineMap::get(0, numSymbols, dims, element.getContext());
  return RankedTensorType::get(shape, element, AffineMapAttr::get(map));
}

unsigned numSymbolsOf(Type tensorType) {
  auto encoding = cast<RankedTensorType>(tensorType).getEncoding();
  auto map = dyn_cast_or_null<AffineMapAttr>(encoding);
  return map ? map.getValue().getNumSymbols() : 0;
}

bool isOne(AffineExpr dim) {
  auto constant = dyn_cast<AffineConstantExpr>(dim);
  return constant && constant.getValue() == 1;
}

unsigned numSymbolsOf(Operation *op) {
  unsigned count = 0;
  auto look = [&](Attribute attribute) {
    if (auto map = dyn_cast_or_null<AffineMapAttr>(attribute))
      count = std::max(count, map.getValue().getNumSymbols());
  };
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes())))
    if (isa<RankedTensorType>(type))
      count = std::max(count, numSymbolsOf(type));
  for (NamedAttribute attribute : op->getAttrs())
    look(attribute.getValue());
  return count;
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Divisible by every number up to 10, and its square by more.
static constexpr int64_t sampleExtent = 5040;

Dim dimOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Dim(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    Expr interned{ExprOp::symbol, 0, 0, int64_t(symbol.getPosition())};
    return Dim(sampleExtent, dim_exprs::intern(interned));
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Dim lhs = dimOf(binary.getLHS());
  Dim rhs = dimOf(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return ceilDiv(lhs, rhs);
  case AffineExprKind::Mod:
    return mod(lhs, rhs);
  default:
    llvm_unreachable("dims are expressions over symbols");
  }
}

AffineExpr affineOf(MLIRContext *context, const Expr &expr,
                    llvm::function_ref<AffineExpr(uint32_t)> operand) {
  switch (expr.op) {
  case ExprOp::constant:
    return getAffineConstantExpr(expr.value, context);
  case ExprOp::symbol:
    return getAffineSymbolExpr(expr.value, context);
  case ExprOp::add:
    return operand(expr.lhs) + operand(expr.rhs);
  case ExprOp::mul:
    return operand(expr.lhs) * operand(expr.rhs);
  case ExprOp::floorDiv:
    return operand(expr.lhs).floorDiv(operand(expr.rhs));
  case ExprOp::ceilDiv:
    return operand(expr.lhs).ceilDiv(operand(expr.rhs));
  case ExprOp::mod:
    return operand(expr.lhs) % operand(expr.rhs);
  }
  llvm_unreachable("every expression is handled");
}

static AffineExpr affineOf(MLIRContext *context, uint32_t id) {
  // A copy: interning more may not happen here, but entries are only promised
  // to stay, not where.
  Expr expr = dim_exprs::get(id);
  return affineOf(context, expr,
                  [&](uint32_t operand) { return affineOf(context, operand); });
}

AffineExpr affineOf(MLIRContext *context, Dim dim) {
  if (dim.isConstant())
    return getAffineConstantExpr(dim.value, context);
  return affineOf(context, dim.expr);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Writes one attribute; false when it is not of the kind.
static bool encode(const graph::AttrSpec &spec, Attribute attribute,
                   graph::AttrWriter &writer) {
  using graph::AttrKind;
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  auto real = dyn_cast_or_null<FloatAttr>(attribute);
  auto map = dyn_cast_or_null<AffineMapAttr>(attribute);
  switch (spec.kind) {
  case AttrKind::boolean: {
    auto value = dyn_cast_or_null<BoolAttr>(attribute);
    return value && (writer.boolean(value.getValue()), true);
  }
  case AttrKind::integer:
    return integer && (writer.integer(integer.getInt()), true);
  case AttrKind::real:
    return real && (writer.real(real.getValueAsDouble()), true);
  case AttrKind::number:
    if (real)
      writer.number(Number(real.getValueAsDouble()));
    else if (integer)
      writer.number(Number(integer.getInt()));
    return real || integer;
  case AttrKind::dtype: {
    auto type = dyn_cast_or_null<TypeAttr>(attribute);
    std::optional<DType> dtype = type ? dtypeOf(type.getValue()) : std::nullopt;
    return dtype && (writer.dtype(*dtype), true);
  }
  case AttrKind::choice: {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    SmallVector<StringRef> names;
    StringRef(spec.choices).split(names, ',');
    auto it = text ? llvm::find(names, text.getValue()) : names.end();
    return it != names.end() && (writer.choice(it - names.begin()), true);
  }
  case AttrKind::ints: {
    auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
    if (list)
      writer.ints({list.asArrayRef().data(), size_t(list.size())});
    return bool(list);
  }
  case AttrKind::dim:
    return map && map.getValue().getNumResults() == 1 &&
           (writer.dim(dimOf(map.getValue().getResult(0))), true);
  case AttrKind::dims:
    if (map)
      writer.dims(llvm::map_to_vector<6>(map.getValue().getResults(), dimOf));
    return bool(map);
  case AttrKind::text: {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    if (!text || text.getValue().contains('\0'))
      return false;
    writer.text(text.getValue());
    return true;
  }
  }
  llvm_unreachable("every kind is written");
}

FailureOr<SmallVector<uint64_t>> encodeAttrs(Operation *op) {
  graph::AttrWriter writer;
  graph::OpId code = cast<SinterOpInterface>(op).getOpId();
  for (const graph::AttrSpec &spec : graph::info(code).attrs)
    if (!encode(spec, op->getAttr(StringRef(spec.name)), writer))
      return op->emitOpError() << "attribute '" << StringRef(spec.name)
                               << "' is missing or of a wrong kind";
  return llvm::to_vector_of<uint64_t>(writer.view());
}

static Attribute decode(Builder &builder, const graph::AttrSpec &spec,
                        graph::AttrReader &reader, unsigned numSymbols) {
  using graph::AttrKind;
  MLIRContext *context = builder.getContext();
  auto mapOf = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, numSymbols, exprs, context));
  };
  switch (spec.kind) {
  case AttrKind::boolean:
    return builder.getBoolAttr(reader.boolean());
  case AttrKind::integer:
    return builder.getI64IntegerAttr(reader.integer());
  case AttrKind::real:
    return builder.getF64FloatAttr(reader.real());
  case AttrKind::number: {
    Number number = reader.number();
    if (number.isReal)
      return builder.getF64FloatAttr(number.real);
    return builder.getI64IntegerAttr(number.integer);
  }
  case AttrKind::dtype:
    return TypeAttr::get(elementType(context, reader.dtype()));
  case AttrKind::choice: {
    SmallVector<StringRef> names;
    StringRef(spec.choices).split(names, ',');
    return builder.getStringAttr(names[reader.choice<unsigned>()]);
  }
  case AttrKind::ints: {
    std::span<const int64_t> values = reader.ints();
    return builder.getDenseI64ArrayAttr({values.data(), values.size()});
  }
  case AttrKind::dim:
    return mapOf(affineOf(context, reader.dim()));
  case AttrKind::dims: {
    SmallVector<AffineExpr> exprs;
    for (Dim dim : reader.dims())
      exprs.push_back(affineOf(context, dim));
    return mapOf(exprs);
  }
  case AttrKind::text:
    return builder.getStringAttr(StringRef(reader.text()));
  }
  llvm_unreachable("every kind is read");
}

SmallVector<NamedAttribute> decodeAttrs(MLIRContext *context, graph::OpId op,
                                        std::span<const uint64_t> words,
                                        unsigned numSymbols) {
  Builder builder(context);
  graph::AttrReader reader(words);
  SmallVector<NamedAttribute> attributes;
  for (const graph::AttrSpec &spec : graph::info(op).attrs)
    attributes.push_back(builder.getNamedAttr(
        StringRef(spec.name), decode(builder, spec, reader, numSymbols)));
  return attributes;
}

} // namespace sinter::ir
