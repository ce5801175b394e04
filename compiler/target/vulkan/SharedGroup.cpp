/// SharedGroup: arrays of a workgroup, and barriers around their use.
#include "compiler/target/vulkan/SharedGroup.h"

#include "compiler/target/vulkan/Workgroup.h"
#include "compiler/target/vulkan/WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

using namespace mlir;

namespace sinter::compiler {

// The attribute of the array through which a function's threads exchange.
static constexpr const char *exchangeAttr = "sinter.exchange";

static func::FuncOp functionAt(OpBuilder &builder) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  return function ? function : parent->getParentOfType<func::FuncOp>();
}

// The function's one array of words of 32 bits.
static Value exchangeArray(OpBuilder &builder, Location loc,
                           func::FuncOp function, int64_t words) {
  for (auto array : function.getBody().front().getOps<memref::AllocaOp>())
    if (array->hasAttr(exchangeAttr))
      return array;
  Value array =
      workgroupMemory(builder, loc, function, {words}, builder.getI32Type());
  array.getDefiningOp()->setAttr(exchangeAttr, builder.getUnitAttr());
  return array;
}

static void waitForAll(OpBuilder &builder, Location loc,
                       spirv::MemorySemantics memory) {
  spirv::ControlBarrierOp::create(
      builder, loc, spirv::Scope::Workgroup, spirv::Scope::Workgroup,
      spirv::MemorySemantics::AcquireRelease | memory);
}

static int64_t threadsOf(func::FuncOp function) {
  return function->getAttrOfType<IntegerAttr>(threadsAttr).getInt();
}

static Value toIndex(OpBuilder &builder, Location loc, Value number) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      number);
}

static Value threadOf(OpBuilder &builder, Location loc) {
  return gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
}

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

// Every thread puts its word in place `own`; behind `read` all have read what
// they wanted.
static Value exchangeWords(OpBuilder &builder, Location loc, Value array,
                           Value own, Value word,
                           llvm::function_ref<Value()> read) {
  constexpr auto memory = spirv::MemorySemantics::WorkgroupMemory;
  memref::StoreOp::create(builder, loc, word, array, ValueRange(own));
  waitForAll(builder, loc, memory);
  Value value = read();
  waitForAll(builder, loc, memory);
  return value;
}

Value SharedGroup::number(OpBuilder &builder, Location loc) const {
  Value lane = gpu::LaneIdOp::create(builder, loc, IntegerAttr());
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), lane);
}

Value SharedGroup::from(OpBuilder &builder, Location loc, Value value,
                        Value thread) const {
  Value array = exchangeArray(builder, loc, functionAt(builder), threads);
  Value own = toIndex(builder, loc, number(builder, loc));
  return exchangeWords(builder, loc, array, own, value, [&]() -> Value {
    return memref::LoadOp::create(builder, loc, array,
                                  ValueRange(toIndex(builder, loc, thread)));
  });
}

Value SharedGroup::any(OpBuilder &builder, Location loc, Value flag) const {
  Value array = exchangeArray(builder, loc, functionAt(builder), threads);
  Value own = toIndex(builder, loc, number(builder, loc));
  Type i32 = builder.getI32Type();
  Value word = arith::ExtUIOp::create(builder, loc, i32, flag);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value all = exchangeWords(builder, loc, array, own, word, [&]() -> Value {
    auto loop = scf::ForOp::create(
        builder, loc, constantIndex(builder, loc, 0),
        constantIndex(builder, loc, threads), constantIndex(builder, loc, 1),
        ValueRange(zero),
        [&](OpBuilder &inside, Location loc, Value place, ValueRange carried) {
          Value other =
              memref::LoadOp::create(inside, loc, array, ValueRange(place));
          scf::YieldOp::create(
              inside, loc,
              ValueRange(arith::OrIOp::create(inside, loc, carried[0], other)));
        });
    return loop.getResult(0);
  });
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, all,
                               zero);
}

void SharedGroup::wait(OpBuilder &builder, Location loc) const {
  waitForAll(builder, loc,
             spirv::MemorySemantics::UniformMemory |
                 spirv::MemorySemantics::WorkgroupMemory);
}

Value SharedGroup::exchange(OpBuilder &builder, Location loc, Value value,
                            int64_t distance) {
  func::FuncOp function = functionAt(builder);
  Value array = exchangeArray(builder, loc, function, threadsOf(function));
  Value own = threadOf(builder, loc);
  Type i32 = builder.getI32Type();
  Value word = arith::BitcastOp::create(builder, loc, i32, value);
  word = exchangeWords(builder, loc, array, own, word, [&]() -> Value {
    Value other = arith::XOrIOp::create(builder, loc, own,
                                        constantIndex(builder, loc, distance));
    return memref::LoadOp::create(builder, loc, array, ValueRange(other));
  });
  return arith::BitcastOp::create(builder, loc, value.getType(), word);
}

bool hasBarriers(func::FuncOp function) {
  return function
      .walk([](spirv::ControlBarrierOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void numberGroups(func::FuncOp function, unsigned threads) {
  int64_t all = threadsOf(function);
  function.walk([&](Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value number;
    if (isa<gpu::NumSubgroupsOp>(op))
      number = constantIndex(builder, loc, all / threads);
    if (isa<gpu::SubgroupIdOp>(op))
      number = arith::DivUIOp::create(builder, loc, threadOf(builder, loc),
                                      constantIndex(builder, loc, threads));
    if (isa<gpu::LaneIdOp>(op))
      number = arith::RemUIOp::create(builder, loc, threadOf(builder, loc),
                                      constantIndex(builder, loc, threads));
    if (!number)
      return;
    op->getResult(0).replaceAllUsesWith(number);
    op->erase();
  });
}

} // namespace sinter::compiler
