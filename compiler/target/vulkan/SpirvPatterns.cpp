/// SpirvPatterns: accesses to buffers, a workgroup's memory and tables.
#include "compiler/target/vulkan/SpirvPatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

static unsigned bytesOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return unsigned(vector.getNumElements()) * bytesOf(vector.getElementType());
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

// Arrays with a layout have a struct around them. Its decoration is part of the
// type: without, it would be the type of other structs of such members.
spirv::PointerType bufferPointer(Type element) {
  MLIRContext *context = element.getContext();
  Type array = spirv::RuntimeArrayType::get(element, bytesOf(element));
  SmallVector<spirv::StructType::StructDecorationInfo> decorations{
      {spirv::Decoration::Block, UnitAttr::get(context)}};
  Type block = spirv::StructType::get({array}, {0}, {}, decorations);
  return spirv::PointerType::get(block,
                                 spirv::StorageClass::PhysicalStorageBuffer);
}

void addMemoryTypes(SPIRVTypeConverter &converter) {
  converter.addConversion([&converter](MemRefType type) -> Type {
    Type element = converter.convertType(type.getElementType());
    if (!element || type.getRank() > 2)
      return {};
    if (!type.hasStaticShape())
      return type.getRank() == 1 ? bufferPointer(element) : Type();
    // The second dimension is that of vectors.
    if (type.getRank() == 2)
      element = VectorType::get({type.getDimSize(1)}, element);
    auto space =
        dyn_cast_or_null<spirv::StorageClassAttr>(type.getMemorySpace());
    if (!space)
      return {};
    Type array = spirv::ArrayType::get(element, unsigned(type.getDimSize(0)));
    return spirv::PointerType::get(array, space.getValue());
  });
}

namespace {

bool isPhysical(Value pointer) {
  return cast<spirv::PointerType>(pointer.getType()).getStorageClass() ==
         spirv::StorageClass::PhysicalStorageBuffer;
}

// Of an index that was counted in 32 bits, that: a workgroup's memory is small.
Value narrowed(Value index) {
  auto wide = index.getDefiningOp<spirv::UConvertOp>();
  return wide ? wide.getOperand() : index;
}

// A pointer to `type` at an element of a memref's pointer: at a whole vector,
// or at one of its elements.
Value pointerTo(OpBuilder &builder, Location loc, Value memory,
                ValueRange indices, Type type) {
  SmallVector<Value> path;
  if (isPhysical(memory))
    path.push_back(
        spirv::ConstantOp::getZero(builder.getI32Type(), loc, builder));
  if (isa<VectorType>(type) && indices.size() > 1)
    indices = indices.drop_back();
  for (Value index : indices)
    path.push_back(isPhysical(memory) ? index : narrowed(index));
  Value pointer = spirv::AccessChainOp::create(builder, loc, memory, path);
  auto found = cast<spirv::PointerType>(pointer.getType());
  if (found.getPointeeType() == type)
    return pointer;
  return spirv::BitcastOp::create(
      builder, loc, spirv::PointerType::get(type, found.getStorageClass()),
      pointer);
}

// Physical pointers say what their address is a multiple of.
struct Access {
  spirv::MemoryAccessAttr kind;
  IntegerAttr alignment;

  Access(OpBuilder &builder, Value memory, uint64_t bytes) {
    if (!isPhysical(memory))
      return;
    kind = spirv::MemoryAccessAttr::get(builder.getContext(),
                                        spirv::MemoryAccess::Aligned);
    alignment = builder.getI32IntegerAttr(int32_t(bytes));
  }
};

template <typename Op> struct LowerLoad : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value memory = adaptor.getOperands()[0];
    Type type =
        this->getTypeConverter()->convertType(op->getResult(0).getType());
    if (!type)
      return failure();
    Value pointer = pointerTo(rewriter, loc, memory,
                              adaptor.getOperands().drop_front(), type);
    Access access(rewriter, memory, alignmentOf(op, type));
    rewriter.replaceOpWithNewOp<spirv::LoadOp>(op, pointer, access.kind,
                                               access.alignment);
    return success();
  }

private:
  static uint64_t alignmentOf(memref::LoadOp, Type type) {
    return bytesOf(type);
  }
  static uint64_t alignmentOf(vector::LoadOp op, Type) {
    return *op.getAlignment();
  }
};

template <typename Op> struct LowerStore : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value value = adaptor.getOperands()[0], memory = adaptor.getOperands()[1];
    Value pointer =
        pointerTo(rewriter, loc, memory, adaptor.getOperands().drop_front(2),
                  value.getType());
    Access access(rewriter, memory, alignmentOf(op, value.getType()));
    rewriter.replaceOpWithNewOp<spirv::StoreOp>(op, pointer, value, access.kind,
                                                access.alignment);
    return success();
  }

private:
  static uint64_t alignmentOf(memref::StoreOp, Type type) {
    return bytesOf(type);
  }
  static uint64_t alignmentOf(vector::StoreOp op, Type) {
    return *op.getAlignment();
  }
};

struct LowerMinimum : OpConversionPattern<memref::AtomicRMWOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getKind() != arith::AtomicRMWKind::minu)
      return failure();
    Value value = adaptor.getValue();
    Value pointer = pointerTo(rewriter, op.getLoc(), adaptor.getMemref(),
                              adaptor.getIndices(), value.getType());
    rewriter.replaceOpWithNewOp<spirv::AtomicUMinOp>(
        op, value.getType(), pointer, spirv::Scope::Device,
        spirv::MemorySemantics::None, value);
    return success();
  }
};

// What is memory at an address: at a word, or at what two words of memory have,
// which then is loaded as a pointer.
struct LowerView : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getNumOperands() != 1 || op.getNumResults() != 1 ||
        !isa<MemRefType>(op.getResult(0).getType()))
      return failure();
    Type type = getTypeConverter()->convertType(op.getResult(0).getType());
    Value from = adaptor.getInputs().front();
    if (from.getType() == type) {
      rewriter.replaceOp(op, from);
      return success();
    }
    if (!isa<VectorType>(from.getType())) {
      rewriter.replaceOpWithNewOp<spirv::ConvertUToPtrOp>(op, type, from);
      return success();
    }
    auto words = from.getDefiningOp<spirv::LoadOp>();
    if (!words || !type)
      return failure();
    Value place = spirv::BitcastOp::create(
        rewriter, op.getLoc(),
        spirv::PointerType::get(type,
                                spirv::StorageClass::PhysicalStorageBuffer),
        words.getPtr());
    rewriter.replaceOpWithNewOp<spirv::LoadOp>(
        op, place, words.getMemoryAccessAttr(), words.getAlignmentAttr());
    return success();
  }
};

// A pointer to a group of a workgroup's memory, for what loads matrices.
struct LowerPointer : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = op.getNumResults() == 1
                    ? dyn_cast<spirv::PointerType>(op.getResult(0).getType())
                    : spirv::PointerType();
    if (!type || op.getNumOperands() != 2)
      return failure();
    rewriter.replaceOp(
        op, pointerTo(rewriter, op.getLoc(), adaptor.getInputs()[0],
                      adaptor.getInputs()[1], type.getPointeeType()));
    return success();
  }
};

// A name that the module has not.
std::string freshName(Operation *op, StringRef base) {
  Operation *module = op->getParentOfType<spirv::ModuleOp>();
  std::string name;
  for (unsigned number = 0;
       name.empty() || SymbolTable::lookupSymbolIn(module, name); ++number)
    name = base.str() + std::to_string(number);
  return name;
}

struct LowerArray : OpConversionPattern<memref::AllocaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::AllocaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    if (!type)
      return failure();
    auto module = op->getParentOfType<spirv::ModuleOp>();
    spirv::GlobalVariableOp variable;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      variable = spirv::GlobalVariableOp::create(
          rewriter, op.getLoc(), type, freshName(op, "shared"), nullptr);
    }
    rewriter.replaceOpWithNewOp<spirv::AddressOfOp>(op, variable);
    return success();
  }
};

// A table is an array of the thread's own, which drivers know to be constant.
struct LowerTable : OpConversionPattern<memref::GetGlobalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::GetGlobalOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto global =
        op->getParentOfType<ModuleOp>().lookupSymbol<memref::GlobalOp>(
            op.getNameAttr());
    auto type = dyn_cast_or_null<spirv::PointerType>(
        getTypeConverter()->convertType(op.getType()));
    if (!global || !type || !global.getInitialValue())
      return failure();
    Value numbers = spirv::ConstantOp::create(
        rewriter, op.getLoc(), type.getPointeeType(),
        cast<DenseElementsAttr>(*global.getInitialValue()));
    rewriter.replaceOpWithNewOp<spirv::VariableOp>(
        op, type, spirv::StorageClass::Function, numbers);
    return success();
  }
};

// The sign is that of the number below: NVIDIA's driver takes a subnormal one
// for 0 in comparisons, though not when it rounds it down to -1.
struct LowerTruncation : OpConversionPattern<math::TruncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(math::TruncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value x = adaptor.getOperand();
    Value low = spirv::GLFloorOp::create(rewriter, op.getLoc(), x);
    Value high = spirv::GLCeilOp::create(rewriter, op.getLoc(), x);
    Value zero = spirv::ConstantOp::getZero(x.getType(), op.getLoc(), rewriter);
    Value isBelow =
        spirv::FOrdLessThanOp::create(rewriter, op.getLoc(), low, zero);
    rewriter.replaceOpWithNewOp<spirv::SelectOp>(op, isBelow, high, low);
    return success();
  }
};

struct LowerPower : OpConversionPattern<math::Exp2Op> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::GLExp2Op>(op, adaptor.getOperand());
    return success();
  }
};

// Whether one of the two is NaN, or none.
struct LowerOrdered : OpConversionPattern<arith::CmpFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::CmpFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool isOrdered = op.getPredicate() == arith::CmpFPredicate::ORD;
    if (!isOrdered && op.getPredicate() != arith::CmpFPredicate::UNO)
      return failure();
    Location loc = op.getLoc();
    Value isNan = spirv::IsNanOp::create(rewriter, loc, adaptor.getLhs());
    if (adaptor.getLhs() != adaptor.getRhs())
      isNan = spirv::LogicalOrOp::create(
          rewriter, loc, isNan,
          spirv::IsNanOp::create(rewriter, loc, adaptor.getRhs()));
    if (isOrdered)
      isNan = spirv::LogicalNotOp::create(rewriter, loc, isNan);
    rewriter.replaceOp(op, isNan);
    return success();
  }
};

// Of flags, by what they are: the signed one is that of 0 and -1.
template <typename Op, typename Logical>
struct LowerFlags : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isInteger(1))
      return failure();
    rewriter.replaceOpWithNewOp<Logical>(op, adaptor.getLhs(),
                                         adaptor.getRhs());
    return success();
  }
};

// Of numbers of 64 bits by a comparison: NVIDIA's driver (580) takes them
// wrongly from GLSL.std.450's functions.
template <typename Op, arith::CmpIPredicate isFirst>
struct LowerExtremum : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!adaptor.getLhs().getType().isInteger(64))
      return failure();
    Value chooses = arith::CmpIOp::create(rewriter, op.getLoc(), isFirst,
                                          adaptor.getLhs(), adaptor.getRhs());
    rewriter.replaceOpWithNewOp<spirv::SelectOp>(op, chooses, adaptor.getLhs(),
                                                 adaptor.getRhs());
    return success();
  }
};

// Of numbers that are no NaN.
template <typename Op, typename Instruction>
struct LowerOfNumbers : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::nnan))
      return failure();
    rewriter.replaceOpWithNewOp<Instruction>(op, adaptor.getLhs(),
                                             adaptor.getRhs());
    return success();
  }
};

// A flag as 0 or 1.
struct LowerFlagIndex : OpConversionPattern<arith::IndexCastUIOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::IndexCastUIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isInteger(1))
      return failure();
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<spirv::SelectOp>(
        op, adaptor.getIn(), spirv::ConstantOp::getOne(type, loc, rewriter),
        spirv::ConstantOp::getZero(type, loc, rewriter));
    return success();
  }
};

struct LowerExtract : OpConversionPattern<vector::ExtractOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::CompositeExtractOp>(
        op, adaptor.getSource(), int32_t(op.getStaticPosition()[0]));
    return success();
  }
};

struct LowerInsert : OpConversionPattern<vector::InsertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::InsertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::CompositeInsertOp>(
        op, adaptor.getValueToStore(), adaptor.getDest(),
        int32_t(op.getStaticPosition()[0]));
    return success();
  }
};

struct LowerMade : OpConversionPattern<vector::FromElementsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::FromElementsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<spirv::CompositeConstructOp>(
        op, type, adaptor.getElements());
    return success();
  }
};

struct LowerBroadcast : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!type || isa<VectorType>(adaptor.getSource().getType()))
      return failure();
    SmallVector<Value> elements(type.getNumElements(), adaptor.getSource());
    rewriter.replaceOpWithNewOp<spirv::CompositeConstructOp>(op, type,
                                                             elements);
    return success();
  }
};

} // namespace

void addMemoryPatterns(const SPIRVTypeConverter &converter,
                       RewritePatternSet &patterns) {
  patterns.add<LowerLoad<memref::LoadOp>, LowerLoad<vector::LoadOp>,
               LowerStore<memref::StoreOp>, LowerStore<vector::StoreOp>,
               LowerMinimum, LowerView, LowerPointer, LowerArray, LowerTable,
               LowerTruncation, LowerPower, LowerExtract, LowerInsert,
               LowerMade, LowerBroadcast>(converter, patterns.getContext());
  patterns.add<LowerFlags<arith::MinUIOp, spirv::LogicalAndOp>,
               LowerFlags<arith::MaxUIOp, spirv::LogicalOrOp>,
               LowerFlags<arith::MinSIOp, spirv::LogicalOrOp>,
               LowerFlags<arith::MaxSIOp, spirv::LogicalAndOp>>(
      converter, patterns.getContext(), PatternBenefit(2));
  patterns.add<LowerOfNumbers<arith::MaximumFOp, spirv::GLFMaxOp>,
               LowerOfNumbers<arith::MinimumFOp, spirv::GLFMinOp>>(
      converter, patterns.getContext(), PatternBenefit(2));
  using arith::CmpIPredicate;
  patterns.add<LowerExtremum<arith::MinUIOp, CmpIPredicate::ult>,
               LowerExtremum<arith::MaxUIOp, CmpIPredicate::ugt>,
               LowerExtremum<arith::MinSIOp, CmpIPredicate::slt>,
               LowerExtremum<arith::MaxSIOp, CmpIPredicate::sgt>>(
      converter, patterns.getContext(), PatternBenefit(2));
  patterns.add<LowerOrdered, LowerFlagIndex>(converter, patterns.getContext(),
                                             PatternBenefit(2));
}

} // namespace sinter::compiler
