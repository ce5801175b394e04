/// TileUnit: the processor's tile registers (AMX) as a matrix unit.
///
/// The registers are named by number in the intrinsics, so that no allocation
/// of registers has to follow them through loops: Intel's Software Developer's
/// Manual, volume 1, chapter 18.
#include "compiler/target/cpu/TileUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class TileUnit final : public MatrixUnit {
public:
  TileUnit(bool bf16, bool int8) : hasBF16(bf16), hasInt8(int8) {
    registers = 8;
    rows = words = 16;
  }

  bool multiplies(Type left, Type right) const override {
    auto isByte = [](Type type) {
      return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
    };
    return (hasBF16 && left.isBF16() && right.isBF16()) ||
           (hasInt8 && isByte(left) && isByte(right));
  }

  void begin(OpBuilder &builder, Location loc, Value scratch) const override {
    // Palette 1; bytes of a row of each register, then their rows.
    SmallVector<int8_t> configuration(64, 0);
    configuration[0] = 1;
    for (unsigned number = 0; number < registers; ++number) {
      configuration[16 + 2 * number] = int8_t(words * 4);
      configuration[48 + number] = int8_t(rows);
    }
    auto type = VectorType::get({64}, builder.getI8Type());
    Value bytes = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, ArrayRef<int8_t>(configuration)));
    Value start = arith::ConstantIndexOp::create(builder, loc, 0);
    vector::StoreOp::create(builder, loc, bytes, scratch, start);
    call(builder, loc, "ldtilecfg", {addressOf(builder, loc, scratch, start)});
  }

  void end(OpBuilder &builder, Location loc) const override {
    call(builder, loc, "tilerelease", {});
  }

  void zero(OpBuilder &builder, Location loc, unsigned number) const override {
    call(builder, loc, "tilezero", {immediate(builder, loc, number)});
  }

  void load(OpBuilder &builder, Location loc, Role, unsigned number,
            Value buffer, Value place, int64_t stride) const override {
    move(builder, loc, "tileloadd64", number, buffer, place, stride);
  }

  void store(OpBuilder &builder, Location loc, unsigned number, Value buffer,
             Value place, int64_t stride) const override {
    move(builder, loc, "tilestored64", number, buffer, place, stride);
  }

  void multiply(OpBuilder &builder, Location loc, unsigned sum, unsigned left,
                unsigned right, Type leftPart, Type rightPart) const override {
    auto letter = [](Type part) {
      return part.isUnsignedInteger() ? 'u' : 's';
    };
    std::string name = "tdpbf16ps";
    if (!leftPart.isBF16())
      name = std::string("tdpb") + letter(leftPart) + letter(rightPart) + "d";
    call(builder, loc, name,
         {immediate(builder, loc, sum), immediate(builder, loc, left),
          immediate(builder, loc, right)});
  }

private:
  static void call(OpBuilder &builder, Location loc, StringRef name,
                   ValueRange operands) {
    LLVM::CallIntrinsicOp::create(
        builder, loc, builder.getStringAttr("llvm.x86." + name), operands);
  }

  static Value immediate(OpBuilder &builder, Location loc, unsigned number) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI8Type(),
                                    int64_t(number));
  }

  static Value addressOf(OpBuilder &builder, Location loc, Value buffer,
                         Value place) {
    auto i64 = builder.getI64Type();
    auto type = cast<MemRefType>(buffer.getType());
    Value base =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    Value size = arith::ConstantIndexOp::create(
        builder, loc, type.getElementTypeBitWidth() / 8);
    Value offset = arith::MulIOp::create(builder, loc, place, size);
    Value address = arith::AddIOp::create(builder, loc, base, offset);
    address = arith::IndexCastOp::create(builder, loc, i64, address);
    return LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        address);
  }

  static void move(OpBuilder &builder, Location loc, StringRef name,
                   unsigned number, Value buffer, Value place, int64_t stride) {
    Value bytes = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                           stride * 4);
    call(builder, loc, name,
         {immediate(builder, loc, number),
          addressOf(builder, loc, buffer, place), bytes});
  }

  bool hasBF16, hasInt8;
};

} // namespace

std::unique_ptr<const MatrixUnit> makeTileUnit(const CpuFeatures &features) {
  if (!features.has("amx-tile"))
    return nullptr;
  return std::make_unique<TileUnit>(features.has("amx-bf16"),
                                    features.has("amx-int8"));
}

} // namespace sinter::compiler
