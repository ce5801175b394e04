/// Fragments as cooperative matrices.
#include "compiler/target/vulkan/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class MatrixFragments final : public Fragments {
public:
  MatrixFragments(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element) {}

  int64_t count() const override { return 1; }

  Value zero() const override {
    Value number =
        spirv::ConstantOp::getZero(builder.getF32Type(), loc, builder);
    return spirv::CompositeConstructOp::create(builder, loc, sumType(),
                                               ValueRange(number));
  }

  Operand load(const Place &place, bool isLeft) const override {
    using spirv::CooperativeMatrixUseKHR;
    Type type = typeOf(element, isLeft ? CooperativeMatrixUseKHR::MatrixA
                                       : CooperativeMatrixUseKHR::MatrixB);
    Value matrix = spirv::KHRCooperativeMatrixLoadOp::create(
        builder, loc, type, pointerTo(place), layoutOf(place), strideOf(place),
        spirv::MemoryAccessAttr(), IntegerAttr());
    return {place, matrix};
  }

  void add(MutableValues sums, const Operand &left,
           const Operand &right) const override {
    sums.front() = spirv::KHRCooperativeMatrixMulAddOp::create(
        builder, loc, left.matrix, right.matrix, sums.front());
  }

  void store(ValueRange sums, const Place &place) const override {
    spirv::KHRCooperativeMatrixStoreOp::create(
        builder, loc, pointerTo(place), sums.front(), layoutOf(place),
        strideOf(place), spirv::MemoryAccessAttr(), IntegerAttr());
  }

private:
  static Type typeOf(Type element, spirv::CooperativeMatrixUseKHR use) {
    return spirv::CooperativeMatrixType::get(element, size, size,
                                             spirv::Scope::Subgroup, use);
  }
  Type sumType() const {
    return typeOf(builder.getF32Type(),
                  spirv::CooperativeMatrixUseKHR::MatrixAcc);
  }

  static spirv::CooperativeMatrixLayoutKHR layoutOf(const Place &place) {
    using spirv::CooperativeMatrixLayoutKHR;
    return place.lines.areColumns ? CooperativeMatrixLayoutKHR::ColumnMajor
                                  : CooperativeMatrixLayoutKHR::RowMajor;
  }

  // In what the pointer points to.
  Value strideOf(const Place &place) const {
    return spirv::ConstantOp::create(
        builder, loc, builder.getI32Type(),
        builder.getI32IntegerAttr(int32_t(place.lines.stride)));
  }

  // At a group of the memory: a conversion that SPIR-V's patterns know.
  Value pointerTo(const Place &place) const {
    auto memory = cast<MemRefType>(place.lines.memory.getType());
    auto group =
        VectorType::get({memory.getDimSize(1)}, memory.getElementType());
    Value index = Numbers(builder, loc).toIndex(place.group);
    return UnrealizedConversionCastOp::create(
               builder, loc,
               spirv::PointerType::get(group, spirv::StorageClass::Workgroup),
               ValueRange{place.lines.memory, index})
        .getResult(0);
  }

  OpBuilder &builder;
  const Location loc;
  const Type element;
};

} // namespace

std::unique_ptr<const Fragments>
makeMatrixFragments(OpBuilder &builder, Location loc, Type element) {
  return std::make_unique<MatrixFragments>(builder, loc, element);
}

} // namespace sinter::compiler
