/// WarpUnit: a warp's tensor cores as a matrix unit.
///
/// A register is a variable of each of the 32 threads for each of its eight
/// words, which LLVM makes values of. Thread 4 g + t has, in the instruction's
/// order of rows and columns (PTX ISA, mma.m16n8k16), rows g and g + 8 of the
/// left operand and columns g and g + 8 of the right one. Which words of k meet
/// in a step is free as long as both operands agree: a thread takes the four
/// neighbours from 4 t on, so that its words of a row or column are a single
/// load.
#include "compiler/target/cuda/WarpUnit.h"

#include "compiler/target/cuda/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

constexpr unsigned half = 8; ///< rows, or columns, of half a tile
constexpr unsigned wordsOfThread = 4;
constexpr const char *variableAttr = "sinter.variable";

/// Emits for one place: the thread's part of a tile.
class Part {
public:
  Part(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {
    Value lane = Warp().number(builder, loc);
    group = arith::ShRUIOp::create(builder, loc, lane, number(2));
    member = arith::AndIOp::create(builder, loc, lane, number(3));
  }

  Value number(int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }

  // Word `word` of register `number`.
  Value variable(unsigned number, unsigned word, Type type) {
    Operation *op = builder.getInsertionBlock()->getParentOp();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      function = op->getParentOfType<func::FuncOp>();
    Block &entry = function.getBody().front();
    int64_t name = int64_t(number) * 2 * wordsOfThread + word;
    for (auto known : entry.getOps<LLVM::AllocaOp>())
      if (auto attr = known->getAttrOfType<IntegerAttr>(variableAttr))
        if (attr.getInt() == name)
          return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry);
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), 1);
    auto made = LLVM::AllocaOp::create(builder, loc, pointer, type, one);
    made->setAttr(variableAttr, builder.getI64IntegerAttr(name));
    return made;
  }

  Value read(unsigned number, unsigned word, Type type) {
    return LLVM::LoadOp::create(builder, loc, type,
                                variable(number, word, type));
  }
  void write(unsigned number, unsigned word, Value value) {
    LLVM::StoreOp::create(builder, loc, value,
                          variable(number, word, value.getType()));
  }

  // The address of buffer[place]. What a kernel allots is in shared memory,
  // all else in global memory.
  Value addressOf(Value buffer, Value place) {
    constexpr unsigned global = 1, shared = 3;
    auto type = cast<MemRefType>(buffer.getType());
    Value base =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    Value size = arith::ConstantIndexOp::create(
        builder, loc, type.getElementTypeBitWidth() / 8);
    Value address = arith::AddIOp::create(
        builder, loc, base, arith::MulIOp::create(builder, loc, place, size));
    address =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
    MLIRContext *context = builder.getContext();
    Value pointer = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context), address);
    bool isShared = buffer.getDefiningOp<memref::AllocaOp>() != nullptr;
    return LLVM::AddrSpaceCastOp::create(
        builder, loc,
        LLVM::LLVMPointerType::get(context, isShared ? shared : global),
        pointer);
  }

  // The word in that row and column (i32) from `address` on.
  Value wordAt(Value address, Value row, Value column, int64_t stride) {
    Value words = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, row, number(int32_t(stride))),
        column);
    return LLVM::GEPOp::create(builder, loc, address.getType(),
                               builder.getI32Type(), address,
                               ArrayRef<LLVM::GEPArg>{words});
  }

  Value plus(Value value, int32_t more) {
    return arith::AddIOp::create(builder, loc, value, number(more));
  }
  Value times(Value value, int32_t factor) {
    return arith::MulIOp::create(builder, loc, value, number(factor));
  }

  OpBuilder &builder;
  Location loc;
  Value group, member; ///< g and t of the thread
};

class WarpUnit final : public MatrixUnit {
public:
  WarpUnit() {
    // 16 tiles of sums, four of each operand.
    registers = 24;
    rows = words = 16;
    readsColumns = true;
  }

  bool multiplies(Type left, Type right) const override {
    return left.isBF16() && right.isBF16();
  }

  void begin(OpBuilder &, Location, Value) const override {}
  void end(OpBuilder &, Location) const override {}

  void zero(OpBuilder &builder, Location loc, unsigned number) const override {
    Part part(builder, loc);
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    for (unsigned word = 0; word < 2 * wordsOfThread; ++word)
      part.write(number, word, none);
  }

  void load(OpBuilder &builder, Location loc, Role role, unsigned number,
            Value buffer, Value place, int64_t stride) const override {
    Part part(builder, loc);
    Value address = part.addressOf(buffer, place);
    if (role == Role::operand)
      return loadRows(part, number, address, stride);
    Warp().wait(builder, loc);
    eachSum(part, address, stride, [&](unsigned word, Value from) {
      part.write(number, word,
                 LLVM::LoadOp::create(builder, loc, builder.getF32Type(), from,
                                      /*alignment=*/4));
    });
  }

  // Other threads read it, and have read what was there.
  void store(OpBuilder &builder, Location loc, unsigned number, Value buffer,
             Value place, int64_t stride) const override {
    Part part(builder, loc);
    Warp().wait(builder, loc);
    eachSum(part, part.addressOf(buffer, place), stride,
            [&](unsigned word, Value to) {
              Value sum = part.read(number, word, builder.getF32Type());
              LLVM::StoreOp::create(builder, loc, sum, to, /*alignment=*/4);
            });
    Warp().wait(builder, loc);
  }

  void multiply(OpBuilder &builder, Location loc, unsigned sum, unsigned left,
                unsigned right, Type, Type) const override {
    Part part(builder, loc);
    Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 {f32, f32, f32, f32});
    for (unsigned columns = 0; columns < 2; ++columns)
      for (unsigned pair = 0; pair < wordsOfThread; pair += 2) {
        SmallVector<Value> operands;
        for (unsigned word : {0U, 1U})
          for (unsigned below : {0U, 1U})
            operands.push_back(
                part.read(left, below * wordsOfThread + pair + word, i32));
        for (unsigned word : {0U, 1U})
          operands.push_back(
              part.read(right, columns * wordsOfThread + pair + word, i32));
        unsigned first = columns * wordsOfThread;
        for (unsigned word = 0; word < wordsOfThread; ++word)
          operands.push_back(part.read(sum, first + word, f32));
        Value sums =
            LLVM::CallIntrinsicOp::create(
                builder, loc, type,
                builder.getStringAttr("llvm.nvvm.mma.m16n8k16.row.col.bf16"),
                operands)
                .getResult(0);
        for (unsigned word = 0; word < wordsOfThread; ++word)
          part.write(
              sum, first + word,
              LLVM::ExtractValueOp::create(builder, loc, sums, int64_t(word)));
      }
  }

private:
  // Words of rows g and g + 8.
  static void loadRows(Part &part, unsigned number, Value address,
                       int64_t stride) {
    OpBuilder &builder = part.builder;
    SmallVector<Type> words(wordsOfThread, builder.getI32Type());
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), words);
    for (unsigned below : {0U, 1U}) {
      Value from =
          part.wordAt(address, part.plus(part.group, int32_t(below * half)),
                      part.times(part.member, wordsOfThread), stride);
      // A vector's type would be taken for lanes of the warp.
      auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(),
                                               LLVM::AsmDialect::AD_ATT);
      Value loaded =
          LLVM::InlineAsmOp::create(
              builder, part.loc, type, ValueRange(from),
              "ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l",
              /*has_side_effects=*/false, /*is_align_stack=*/false,
              LLVM::TailCallKind::None, dialect, ArrayAttr())
              .getResult(0);
      for (unsigned word = 0; word < wordsOfThread; ++word)
        part.write(number, below * wordsOfThread + word,
                   LLVM::ExtractValueOp::create(builder, part.loc, loaded,
                                                int64_t(word)));
    }
  }

  // Of rows g and g + 8, columns 2 t and 2 t + 1 of each half.
  static void eachSum(Part &part, Value address, int64_t stride,
                      llvm::function_ref<void(unsigned, Value)> emit) {
    for (unsigned beside : {0U, 1U})
      for (unsigned below : {0U, 1U})
        for (unsigned next : {0U, 1U}) {
          Value row = part.plus(part.group, int32_t(below * half));
          Value column = part.plus(part.times(part.member, 2),
                                   int32_t(beside * half + next));
          emit(beside * wordsOfThread + below * 2 + next,
               part.wordAt(address, row, column, stride));
        }
  }
};

} // namespace

std::unique_ptr<const MatrixUnit> makeWarpUnit() {
  return std::make_unique<WarpUnit>();
}

} // namespace sinter::compiler
