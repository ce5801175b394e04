/// Workgroup: memory of the Workgroup class, control barriers, shuffles.
#include "compiler/target/vulkan/Workgroup.h"

#include "compiler/target/simt/Numbers.h"
#include "compiler/target/vulkan/SharedGroup.h"
#include "compiler/target/vulkan/WorkgroupMemory.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

Value memoryAt(OpBuilder &builder, Location loc, Value address, Type element) {
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return UnrealizedConversionCastOp::create(builder, loc, type, address)
      .getResult(0);
}

Value argumentWord(OpBuilder &builder, Location loc, Operation *function,
                   int64_t number) {
  Value block = cast<func::FuncOp>(function).getArgument(0);
  if (!isa<MemRefType>(block.getType()))
    block = memoryAt(builder, loc, block, builder.getI64Type());
  return memref::LoadOp::create(
      builder, loc, block,
      ValueRange(arith::ConstantIndexOp::create(builder, loc, number)));
}

Value workgroupNumber(OpBuilder &builder, Location loc) {
  return arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(
          builder, loc, gpu::BlockIdOp::create(builder, loc, gpu::Dimension::y),
          gpu::GridDimOp::create(builder, loc, gpu::Dimension::x)),
      gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
}

// Of the function, whatever is entered below.
Value workgroupMemory(OpBuilder &builder, Location loc, Operation *function,
                      ArrayRef<int64_t> shape, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function->getRegion(0).front());
  auto space = spirv::StorageClassAttr::get(builder.getContext(),
                                            spirv::StorageClass::Workgroup);
  return memref::AllocaOp::create(
      builder, loc, MemRefType::get(shape, element, AffineMap(), space));
}

void enterWorkgroup(OpBuilder &builder, Location loc, const KernelEntry &entry,
                    int64_t threads, int64_t subgroup) {
  entry.function->setAttr(threadsAttr, builder.getI64IntegerAttr(threads));
  using runtime::VulkanArguments;
  Value chunks = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(),
      argumentWord(builder, loc, entry.function,
                   offsetof(VulkanArguments, chunks) / 8));
  Value first = arith::MulIOp::create(
      builder, loc, workgroupNumber(builder, loc),
      arith::ConstantIndexOp::create(builder, loc, threads / subgroup));
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       first, chunks);
  auto branch = scf::IfOp::create(builder, loc, exists, /*withElse=*/false);
  builder.setInsertionPoint(branch.thenYield());
}

namespace {

class Workgroup final : public BlockThreads {
public:
  explicit Workgroup(const VulkanProfile &profile) : profile(profile) {}

  int64_t warpThreads() const override { return profile.subgroup; }
  int64_t mostThreads() const override { return profile.mostThreads; }
  // Where threads exchange in memory, one for each is left.
  int64_t mostNumbers() const override {
    return profile.sharedBytes / 4 -
           (profile.knowsSubgroup ? 0 : mostThreads());
  }

  Block begin(OpBuilder &builder, Location loc, const KernelEntry &entry,
              int64_t threads, int64_t numbers, int64_t) const override {
    Block block;
    block.memory = workgroupMemory(builder, loc, entry.function, {numbers},
                                   builder.getF32Type());
    enterWorkgroup(builder, loc, entry, threads, profile.subgroup);
    block.number = number(builder, loc);
    block.thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    return block;
  }

  void wait(OpBuilder &builder, Location loc) const override {
    spirv::ControlBarrierOp::create(
        builder, loc, spirv::Scope::Workgroup, spirv::Scope::Workgroup,
        spirv::MemorySemantics::AcquireRelease |
            spirv::MemorySemantics::WorkgroupMemory);
  }

  // There is no instruction that only asks.
  void fetch(OpBuilder &, Location, Value, Value) const override {}

  Value exchange(OpBuilder &builder, Location loc, Value number,
                 int64_t distance) const override {
    if (!profile.knowsSubgroup)
      return SharedGroup::exchange(builder, loc, number, distance);
    Value mask = Numbers(builder, loc).number(int32_t(distance));
    return spirv::GroupNonUniformShuffleXorOp::create(
        builder, loc, spirv::Scope::Subgroup, number, mask);
  }

  Panels beginPanels(OpBuilder &builder, Location loc, const KernelEntry &entry,
                     int64_t threads, int64_t numbers, int64_t) const override {
    constexpr int64_t group = groupOfPlaces;
    Panels panels;
    panels.memory =
        workgroupMemory(builder, loc, entry.function, {numbers / group, group},
                        builder.getF32Type());
    enterWorkgroup(builder, loc, entry, threads, profile.subgroup);
    Numbers math(builder, loc);
    panels.thread =
        math.toI32(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
    panels.start = math.number(0);
    return panels;
  }

  Value number(OpBuilder &builder, Location loc) const override {
    return workgroupNumber(builder, loc);
  }

  Value placeAt(OpBuilder &builder, Location loc, Value place,
                Value numbers) const override {
    return Numbers(builder, loc).add(place, numbers);
  }

  Value placeAt(OpBuilder &builder, Location loc, Value place,
                int64_t numbers) const override {
    return Numbers(builder, loc).add(place, int32_t(numbers));
  }

  Value load(OpBuilder &builder, Location loc, const Panels &panels,
             Value place, int64_t numbers, unsigned count) const override {
    auto [group, inGroup] = split(builder, loc, place, numbers);
    if (count == 1)
      return memref::LoadOp::create(builder, loc, panels.memory,
                                    ValueRange{group, inGroup});
    return vector::LoadOp::create(
        builder, loc, VectorType::get({count}, builder.getF32Type()),
        panels.memory, ValueRange{group, zero(builder, loc)});
  }

  void store(OpBuilder &builder, Location loc, const Panels &panels,
             Value value, Value place, int64_t numbers) const override {
    auto [group, inGroup] = split(builder, loc, place, numbers);
    auto type = dyn_cast<VectorType>(value.getType());
    if (type && type.getNumElements() == groupOfPlaces) {
      vector::StoreOp::create(builder, loc, value, panels.memory,
                              ValueRange{group, zero(builder, loc)});
      return;
    }
    int64_t count = type ? type.getNumElements() : 1;
    for (int64_t next = 0; next < count; ++next) {
      Value one =
          type
              ? vector::ExtractOp::create(builder, loc, value, next).getResult()
              : value;
      Value at = arith::AddIOp::create(
          builder, loc, inGroup,
          arith::ConstantIndexOp::create(builder, loc, next));
      memref::StoreOp::create(builder, loc, one, panels.memory,
                              ValueRange{group, at});
    }
  }

private:
  static Value zero(OpBuilder &builder, Location loc) {
    return arith::ConstantIndexOp::create(builder, loc, 0);
  }

  // Where a number is (index): its group, and its place in it. Whole groups are
  // added to the group alone, so that it is found once for many of them.
  static std::pair<Value, Value> split(OpBuilder &builder, Location loc,
                                       Value place, int64_t numbers) {
    Numbers math(builder, loc);
    int64_t inside = numbers % groupOfPlaces;
    if (inside != 0)
      place = math.add(place, int32_t(inside));
    auto [group, inGroup] = math.split(place, groupOfPlaces);
    group = math.add(group, int32_t((numbers - inside) / groupOfPlaces));
    return {math.toIndex(group), math.toIndex(inGroup)};
  }

  const VulkanProfile profile;
};

} // namespace

std::unique_ptr<const BlockThreads>
makeWorkgroup(const VulkanProfile &profile) {
  return std::make_unique<Workgroup>(profile);
}

} // namespace sinter::compiler
