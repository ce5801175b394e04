/// SplitVectors: a conversion of one vector to several values.
#include "compiler/target/vulkan/SplitVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Scalars = SmallVector<Value>;

void keepWhole(Operation *op) {
  op->setAttr(wholeAttr, UnitAttr::get(op->getContext()));
}

int64_t countOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

// Any op that works element by element.
struct SplitElementwise : ConversionPattern {
  SplitElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumRegions() != 0 || op->getNumResults() == 0 ||
        isa<vector::VectorDialect>(op->getDialect()))
      return failure();
    int64_t count = countOf(op->getResult(0).getType());
    SmallVector<Scalars> results(op->getNumResults());
    for (int64_t element = 0; element < count; ++element) {
      Scalars own;
      for (auto [given, values] : llvm::zip(op->getOperands(), operands))
        own.push_back(values[isa<VectorType>(given.getType()) ? element : 0]);
      SmallVector<Type> types;
      for (Value result : op->getResults())
        types.push_back(getElementTypeOrSelf(result.getType()));
      OperationState state(op->getLoc(), op->getName(), own, types,
                           op->getAttrDictionary().getValue());
      Operation *scalar = rewriter.create(state);
      for (auto [all, result] : llvm::zip(results, scalar->getResults()))
        all.push_back(result);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct SplitConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto values = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!values)
      return failure();
    Scalars all;
    for (Attribute value : values.getValues<Attribute>()) {
      bool isSame = values.isSplat() && !all.empty();
      all.push_back(isSame ? all.front()
                           : arith::ConstantOp::create(rewriter, op.getLoc(),
                                                       cast<TypedAttr>(value))
                                 .getResult());
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<Scalars>{std::move(all)});
    return success();
  }
};

struct SplitBroadcast : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getSource().size() != 1)
      return failure();
    Scalars all(countOf(op.getType()), adaptor.getSource().front());
    rewriter.replaceOpWithMultiple(op, SmallVector<Scalars>{std::move(all)});
    return success();
  }
};

struct SplitExtract : OpConversionPattern<vector::ExtractOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::ExtractOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getNumIndices() != 1 || op.hasDynamicPosition())
      return failure();
    rewriter.replaceOp(op, adaptor.getSource()[op.getStaticPosition()[0]]);
    return success();
  }
};

struct SplitMade : OpConversionPattern<vector::FromElementsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::FromElementsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Scalars all;
    for (ValueRange element : adaptor.getElements())
      llvm::append_range(all, element);
    rewriter.replaceOpWithMultiple(op, SmallVector<Scalars>{std::move(all)});
    return success();
  }
};

Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

Value shiftBy(OpBuilder &builder, Location loc, Type type, int64_t bits) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, bits));
}

// Words in parts of so many bits, the lowest first.
Scalars taken(OpBuilder &builder, Location loc, ValueRange words, unsigned wide,
              unsigned narrow) {
  if (wide == narrow)
    return Scalars(words);
  Type type = builder.getIntegerType(narrow);
  Scalars all;
  for (Value word : words)
    for (unsigned place = 0; place < wide / narrow; ++place) {
      Value part = word;
      if (place > 0)
        part = arith::ShRUIOp::create(
            builder, loc, part,
            shiftBy(builder, loc, word.getType(), place * narrow));
      all.push_back(arith::TruncIOp::create(builder, loc, type, part));
    }
  return all;
}

// The word that the parts were taken from, all of them in order; or none.
Value takenFrom(ValueRange parts, Type type) {
  unsigned narrow = parts.front().getType().getIntOrFloatBitWidth();
  Value word;
  for (auto [place, part] : llvm::enumerate(parts)) {
    Value bits = part;
    while (auto cast = bits.getDefiningOp<arith::BitcastOp>())
      bits = cast.getIn();
    auto low = bits.getDefiningOp<arith::TruncIOp>();
    if (!low)
      return {};
    Value from = low.getIn();
    if (place > 0) {
      auto shifted = from.getDefiningOp<arith::ShRUIOp>();
      llvm::APInt by;
      if (!shifted || !matchPattern(shifted.getRhs(), m_ConstantInt(&by)) ||
          by != place * narrow)
        return {};
      from = shifted.getLhs();
    }
    if (from.getType() != type || (word && word != from))
      return {};
    word = from;
  }
  return word;
}

Value joinedWord(OpBuilder &builder, Location loc, ValueRange parts,
                 Type type) {
  unsigned narrow = parts.front().getType().getIntOrFloatBitWidth();
  Value word;
  for (auto [place, given] : llvm::enumerate(parts)) {
    Value part = arith::ExtUIOp::create(builder, loc, type, given);
    if (place > 0)
      part = arith::OrIOp::create(
          builder, loc, word,
          arith::ShLIOp::create(builder, loc, part,
                                shiftBy(builder, loc, type, place * narrow)));
    word = part;
  }
  return word;
}

// The opposite of `taken`.
Scalars joined(OpBuilder &builder, Location loc, ValueRange parts,
               unsigned narrow, unsigned wide) {
  Type type = builder.getIntegerType(wide);
  unsigned count = wide / narrow;
  Scalars all;
  for (size_t at = 0; at < parts.size(); at += count) {
    ValueRange own = parts.slice(at, count);
    Value word = takenFrom(own, type);
    if (!word)
      word = joinedWord(builder, loc, own, type);
    all.push_back(word);
  }
  return all;
}

// The same bits as elements of another size: the first in the lowest bits.
struct SplitBitCast : OpConversionPattern<vector::BitCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BitCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type from = op.getSourceVectorType().getElementType();
    Type to = op.getResultVectorType().getElementType();
    unsigned narrow = from.getIntOrFloatBitWidth();
    unsigned wide = to.getIntOrFloatBitWidth();
    Scalars bits;
    for (Value value : adaptor.getSource())
      bits.push_back(
          castTo(rewriter, loc, rewriter.getIntegerType(narrow), value));
    bits = narrow < wide ? joined(rewriter, loc, bits, narrow, wide)
                         : taken(rewriter, loc, bits, narrow, wide);
    for (Value &value : bits)
      value = castTo(rewriter, loc, to, value);
    rewriter.replaceOpWithMultiple(op, SmallVector<Scalars>{std::move(bits)});
    return success();
  }

private:
};

// Whether the memory has groups, of which an access moves one.
bool hasGroups(MemRefType buffer) { return buffer.getRank() > 1; }

// How many neighbours of a vector go in one access; 1 where each goes alone.
int64_t accessed(VectorType vector, MemRefType buffer, bool isAligned,
                 unsigned widest) {
  constexpr int64_t most = 4, mostBytes = 16;
  if (hasGroups(buffer))
    return vector.getNumElements();
  if (!isAligned || buffer.hasStaticShape() ||
      vector.getElementTypeBitWidth() > widest)
    return 1;
  int64_t bytes = vector.getElementTypeBitWidth() / 8, count = most;
  while (count > 1 &&
         (count * bytes > mostBytes || vector.getNumElements() % count != 0))
    count /= 2;
  return count;
}

// A group of four words, which is what 16 bytes of smaller elements are moved
// as: SPIR-V's vectors have up to four elements.
constexpr int64_t groupBytes = 16;
constexpr unsigned wordBits = 32;

bool movesWords(VectorType vector, MemRefType buffer,
                std::optional<uint64_t> alignment) {
  int64_t bits = vector.getElementTypeBitWidth();
  return !buffer.hasStaticShape() && bits >= 8 && bits < wordBits &&
         alignment.value_or(0) >= uint64_t(groupBytes) &&
         vector.getNumElements() * bits % (8 * groupBytes) == 0;
}

// Where a group begins in a buffer of smaller elements.
Value groupAt(OpBuilder &builder, Location loc, Value buffer, Value place) {
  Type group = VectorType::get({groupBytes * 8 / wordBits},
                               builder.getIntegerType(wordBits));
  Type pointer = spirv::PointerType::get(
      group, spirv::StorageClass::PhysicalStorageBuffer);
  return UnrealizedConversionCastOp::create(builder, loc, pointer,
                                            ValueRange{buffer, place})
      .getResult(0);
}

std::pair<spirv::MemoryAccessAttr, IntegerAttr>
alignedGroup(OpBuilder &builder) {
  return {spirv::MemoryAccessAttr::get(builder.getContext(),
                                       spirv::MemoryAccess::Aligned),
          builder.getI32IntegerAttr(groupBytes)};
}

Value placeOf(OpBuilder &builder, Location loc, Value start, int64_t offset) {
  if (offset == 0)
    return start;
  return arith::AddIOp::create(
      builder, loc, start,
      arith::ConstantIndexOp::create(builder, loc, offset));
}

// What is known of the access's address: that of the whole vector, as far as
// it reaches to its parts. Groups of memory are aligned.
IntegerAttr alignmentOf(OpBuilder &builder, std::optional<uint64_t> known,
                        VectorType part) {
  uint64_t bytes =
      uint64_t(part.getNumElements()) * part.getElementTypeBitWidth() / 8;
  return builder.getI64IntegerAttr(
      int64_t(std::min(known.value_or(bytes), bytes)));
}

// The places of an access, whose last one is so many elements on.
SmallVector<Value> placesOf(OpBuilder &builder, Location loc,
                            ValueRange indices, int64_t offset) {
  SmallVector<Value> places(indices);
  places.back() = placeOf(builder, loc, places.back(), offset);
  return places;
}

struct SplitLoad : OpConversionPattern<vector::LoadOp> {
  SplitLoad(const TypeConverter &converter, MLIRContext *context,
            unsigned widest)
      : OpConversionPattern(converter, context, PatternBenefit(2)),
        widest(widest) {}

  LogicalResult
  matchAndRewrite(vector::LoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVectorType();
    Value buffer = op.getBase();
    std::optional<uint64_t> known = op.getAlignment();
    if (movesWords(type, op.getMemRefType(), known)) {
      rewriter.replaceOpWithMultiple(
          op, SmallVector<Scalars>{loadWords(op, rewriter)});
      return success();
    }
    int64_t count =
        accessed(type, op.getMemRefType(), known.has_value(), widest);
    Scalars all;
    for (int64_t at = 0; at < type.getNumElements(); at += count) {
      auto place = placesOf(rewriter, loc, op.getIndices(), at);
      if (count == 1) {
        all.push_back(memref::LoadOp::create(rewriter, loc, buffer, place));
        continue;
      }
      auto partType = VectorType::get({count}, type.getElementType());
      auto part =
          vector::LoadOp::create(rewriter, loc, partType, buffer, place);
      part.setAlignmentAttr(alignmentOf(rewriter, known, partType));
      keepWhole(part);
      for (int64_t element = 0; element < count; ++element) {
        auto one =
            vector::ExtractOp::create(rewriter, loc, part.getResult(), element);
        keepWhole(one);
        all.push_back(one);
      }
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<Scalars>{std::move(all)});
    return success();
  }

private:
  static Scalars loadWords(vector::LoadOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    VectorType type = op.getVectorType();
    Type element = type.getElementType();
    unsigned bits = type.getElementTypeBitWidth();
    auto [access, alignment] = alignedGroup(builder);
    Scalars all;
    for (int64_t at = 0; at < type.getNumElements();
         at += groupBytes * 8 / bits) {
      Value place = placesOf(builder, loc, op.getIndices(), at).back();
      Value group = spirv::LoadOp::create(
          builder, loc, groupAt(builder, loc, op.getBase(), place), access,
          alignment);
      Scalars words;
      for (int32_t word = 0; word < groupBytes * 8 / wordBits; ++word)
        words.push_back(
            spirv::CompositeExtractOp::create(builder, loc, group, word));
      for (Value part : taken(builder, loc, words, wordBits, bits))
        all.push_back(castTo(builder, loc, element, part));
    }
    return all;
  }

  const unsigned widest;
};

struct SplitStore : OpConversionPattern<vector::StoreOp> {
  SplitStore(const TypeConverter &converter, MLIRContext *context,
             unsigned widest)
      : OpConversionPattern(converter, context, PatternBenefit(2)),
        widest(widest) {}

  LogicalResult
  matchAndRewrite(vector::StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVectorType();
    Value buffer = op.getBase();
    ValueRange values = adaptor.getValueToStore();
    std::optional<uint64_t> known = op.getAlignment();
    if (movesWords(type, op.getMemRefType(), known)) {
      storeWords(op, values, rewriter);
      rewriter.eraseOp(op);
      return success();
    }
    int64_t count =
        accessed(type, op.getMemRefType(), known.has_value(), widest);
    for (int64_t at = 0; at < type.getNumElements(); at += count) {
      auto place = placesOf(rewriter, loc, op.getIndices(), at);
      if (count == 1) {
        memref::StoreOp::create(rewriter, loc, values[at], buffer, place);
        continue;
      }
      auto partType = VectorType::get({count}, type.getElementType());
      auto part = vector::FromElementsOp::create(rewriter, loc, partType,
                                                 values.slice(at, count));
      keepWhole(part);
      auto store = vector::StoreOp::create(rewriter, loc, part, buffer, place);
      store.setAlignmentAttr(alignmentOf(rewriter, known, partType));
      keepWhole(store);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void storeWords(vector::StoreOp op, ValueRange values,
                         OpBuilder &builder) {
    Location loc = op.getLoc();
    unsigned bits = op.getVectorType().getElementTypeBitWidth();
    auto [access, alignment] = alignedGroup(builder);
    size_t count = groupBytes * 8 / bits;
    for (size_t at = 0; at < values.size(); at += count) {
      Scalars parts;
      for (Value value : values.slice(at, count))
        parts.push_back(
            castTo(builder, loc, builder.getIntegerType(bits), value));
      Scalars words = joined(builder, loc, parts, bits, wordBits);
      auto type = VectorType::get({int64_t(words.size())},
                                  builder.getIntegerType(wordBits));
      Value group =
          spirv::CompositeConstructOp::create(builder, loc, type, words);
      Value place = placesOf(builder, loc, op.getIndices(), int64_t(at)).back();
      spirv::StoreOp::create(builder, loc,
                             groupAt(builder, loc, op.getBase(), place), group,
                             access, alignment);
    }
  }

  const unsigned widest;
};

} // namespace

LogicalResult splitVectors(func::FuncOp function, unsigned widest) {
  MLIRContext *context = function.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](VectorType type,
         SmallVectorImpl<Type> &all) -> std::optional<LogicalResult> {
        all.append(type.getNumElements(), type.getElementType());
        return success();
      });
  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.addLegalDialect<spirv::SPIRVDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    auto isVector = [](Type type) { return isa<VectorType>(type); };
    return op->hasAttr(wholeAttr) ||
           (llvm::none_of(op->getOperandTypes(), isVector) &&
            llvm::none_of(op->getResultTypes(), isVector));
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target, /*benefit=*/4);
  patterns.add<SplitElementwise>(converter, context);
  patterns.add<SplitConstant, SplitBroadcast, SplitExtract, SplitMade,
               SplitBitCast>(converter, context, PatternBenefit(2));
  patterns.add<SplitLoad, SplitStore>(converter, context, widest);
  return applyPartialConversion(function, target, std::move(patterns));
}

} // namespace sinter::compiler
