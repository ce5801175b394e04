/// From vectors to threads: each op by what it does to lanes.
#include "compiler/target/simt/DistributeLanes.h"

#include "compiler/target/simt/LaneMemory.h"
#include "compiler/target/simt/LanePermute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class Distributor {
public:
  Distributor(func::FuncOp function, const ThreadGroup &group,
              llvm::function_ref<bool(Value)> isOnlyWritten)
      : function(function), builder(function.getContext()),
        threads(builder, group), memory(threads, isOnlyWritten) {}

  LogicalResult run() {
    builder.setInsertionPointToStart(&function.getBody().front());
    threads.begin(function.getLoc());
    // The types that operands have before their makers are rewritten.
    SmallVector<Planned> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        ops.push_back({op, llvm::to_vector(op->getOperandTypes())});
    });
    for (const Planned &planned : ops)
      if (failed(rewrite(planned)))
        return failure();
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    return success();
  }

private:
  struct Planned {
    Operation *op;
    SmallVector<Type> operandTypes;
  };

  static bool isVector(Type type) { return isa<VectorType>(type); }
  static bool isInSpace(Type type) {
    auto memory = dyn_cast<MemRefType>(type);
    return memory && memory.getMemorySpace();
  }

  // Operands are asked for by number: their makers were rewritten, and an op's
  // own names for them insist on vectors.
  LogicalResult rewrite(const Planned &planned) {
    Operation *op = planned.op;
    builder.setInsertionPoint(op);
    bool hasVectors = llvm::any_of(planned.operandTypes, isVector) ||
                      llvm::any_of(op->getResultTypes(), isVector);
    if (isa<memref::PrefetchOp>(op))
      return drop(op);
    if (llvm::any_of(planned.operandTypes, isInSpace))
      return success();
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return memory.storeOnce(store), success();
    if (!hasVectors)
      return success();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](arith::ConstantOp constant) { return rewrite(constant); })
        .Case([&](scf::ForOp loop) {
          for (auto [argument, result] :
               llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
            argument.setType(threads.own(argument.getType()));
            result.setType(threads.own(result.getType()));
          }
          return success();
        })
        .Case([&](scf::WhileOp loop) {
          for (Region &region : loop->getRegions())
            for (BlockArgument argument : region.getArguments())
              argument.setType(threads.own(argument.getType()));
          for (Value result : loop.getResults())
            result.setType(threads.own(result.getType()));
          return success();
        })
        .Case([&](vector::BroadcastOp spread) {
          return rewrite(spread, planned.operandTypes[0]);
        })
        .Case([&](vector::ExtractOp extract) {
          return rewrite(extract, cast<VectorType>(planned.operandTypes[0]));
        })
        .Case([&](vector::ReductionOp reduction) {
          return rewrite(reduction, cast<VectorType>(planned.operandTypes[0]));
        })
        .Case([&](vector::CreateMaskOp mask) { return rewrite(mask); })
        .Case([&](vector::FromElementsOp made) { return rewrite(made); })
        .Case([&](vector::BitCastOp cast) {
          return rewrite(cast, mlir::cast<VectorType>(planned.operandTypes[0]));
        })
        .Case<vector::ShuffleOp, vector::ExtractStridedSliceOp,
              vector::InsertStridedSliceOp>([&](auto permutation) {
          return permute(permutation, planned.operandTypes);
        })
        .Case<vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(
            [&](auto load) {
              return replace(
                  load, memory.load(load, cast<VectorType>(
                                              load->getResult(0).getType())));
            })
        .Case<vector::StoreOp, vector::MaskedStoreOp, vector::ScatterOp>(
            [&](auto store) {
              memory.store(store, storedType(planned));
              store->erase();
              return success();
            })
        .Default([&](Operation *other) { return elementwise(other); });
  }

  static VectorType storedType(const Planned &planned) {
    if (isa<vector::StoreOp>(planned.op))
      return cast<VectorType>(planned.operandTypes.front());
    return cast<VectorType>(planned.operandTypes.back());
  }

  LogicalResult drop(Operation *op) {
    dead.push_back(op);
    return success();
  }

  LogicalResult replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    return drop(op);
  }

  // Ops that work lane by lane take scalars as well.
  LogicalResult elementwise(Operation *op) {
    // Divisions are not pure: they may be undefined, but touch nothing.
    bool isKnown = isMemoryEffectFree(op) ||
                   isa<scf::IfOp, scf::YieldOp, scf::ConditionOp>(op);
    if (!isKnown || isa<vector::VectorDialect>(op->getDialect()))
      return op->emitOpError("cannot be run by threads");
    for (Value result : op->getResults())
      result.setType(threads.own(result.getType()));
    return success();
  }

  LogicalResult rewrite(arith::ConstantOp op) {
    auto type = cast<VectorType>(op.getType());
    auto dense = cast<DenseElementsAttr>(op.getValue());
    Location loc = op.getLoc();
    if (dense.isSplat()) {
      Value one = arith::ConstantOp::create(
          builder, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
      return replace(op, threads.spread(one, type));
    }
    auto attributes = llvm::to_vector(dense.getValues<Attribute>());
    return replace(op, threads.table(loc, type, attributes));
  }

  LogicalResult rewrite(vector::BroadcastOp op, Type from) {
    if (isVector(from))
      return op.emitOpError("cannot be run by threads: a vector is repeated");
    return replace(
        op, threads.spread(op->getOperand(0), cast<VectorType>(op.getType())));
  }

  LogicalResult rewrite(vector::ExtractOp op, VectorType from) {
    OpFoldResult position = op.getMixedPosition().front();
    auto slots = threads.slots(op->getOperand(0), from);
    Value place =
        isa<Attribute>(position)
            ? threads.number(
                  op.getLoc(),
                  cast<IntegerAttr>(cast<Attribute>(position)).getInt())
            : Value(arith::IndexCastOp::create(builder, op.getLoc(),
                                               builder.getI32Type(),
                                               cast<Value>(position)));
    return replace(op, threads.extract(op.getLoc(), slots, place, from));
  }

  LogicalResult rewrite(vector::CreateMaskOp op) {
    auto type = cast<VectorType>(op.getType());
    Location loc = op.getLoc();
    SmallVector<Value> slots;
    auto isIn = [&](Value lane) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                   threads.toIndex(loc, lane),
                                   op.getOperand(0));
    };
    SmallVector<Value> lanes = threads.lanes(loc, type);
    // A thread has all of its lanes, or none.
    if (isMultiple(op.getOperand(0), int64_t(lanes.size())))
      return replace(op, threads.spread(isIn(lanes.front()), type));
    for (Value lane : lanes)
      slots.push_back(isIn(lane));
    return replace(op, threads.join(slots, type));
  }

  LogicalResult rewrite(vector::FromElementsOp op) {
    auto type = cast<VectorType>(op.getType());
    if (threads.perThread(type) != type.getNumElements())
      return op.emitOpError("cannot be run by threads: each has some lanes");
    SmallVector<Value> slots(op->getOperands());
    return replace(op, threads.join(slots, type));
  }

  LogicalResult rewrite(vector::BitCastOp op, VectorType from) {
    auto to = cast<VectorType>(op.getType());
    Type ownFrom = threads.own(from), ownTo = threads.own(to);
    bool isWhole = from.getNumElements() >= threads.size() &&
                   to.getNumElements() >= threads.size();
    if (!isWhole && from.getNumElements() != to.getNumElements())
      return op.emitOpError("cannot be run by threads: lanes change threads");
    Location loc = op.getLoc();
    Value value = op->getOperand(0);
    auto vectorOf = [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector ? vector : VectorType::get({1}, type);
    };
    if (!isVector(ownFrom))
      value =
          vector::BroadcastOp::create(builder, loc, vectorOf(ownFrom), value);
    value = vector::BitCastOp::create(builder, loc, vectorOf(ownTo), value);
    if (!isVector(ownTo))
      value = vector::ExtractOp::create(builder, loc, value, 0);
    return replace(op, value);
  }

  LogicalResult rewrite(vector::ReductionOp op, VectorType from) {
    if (op.getAcc())
      return op.emitOpError("cannot be run by threads: it has a start");
    Location loc = op.getLoc();
    SmallVector<Value> slots = threads.slots(op->getOperand(0), from);
    auto merge = [&](Value a, Value b) {
      return vector::makeArithReduction(builder, loc, op.getKind(), a, b);
    };
    Value value = slots.front();
    for (Value slot : llvm::drop_begin(slots))
      value = merge(value, slot);
    if (value.getType().isInteger(1) &&
        op.getKind() == vector::CombiningKind::OR)
      return replace(op, threads.any(loc, value));
    int64_t width = std::min<int64_t>(from.getNumElements(), threads.size());
    for (int64_t distance = width / 2; distance > 0; distance /= 2) {
      Value other = arith::XOrIOp::create(builder, loc, threads.thread(),
                                          threads.number(loc, distance));
      value = merge(value, threads.from(loc, value, other));
    }
    return replace(op, value);
  }

  // Lanes of the result, and where they come from.
  LogicalResult permute(vector::ShuffleOp op, ArrayRef<Type> types) {
    auto a = cast<VectorType>(types[0]), b = cast<VectorType>(types[1]);
    int64_t split = a.getNumElements();
    ArrayRef<int64_t> order = op.getMask();
    auto from = [&](int64_t lane) {
      int64_t at = std::max<int64_t>(0, order[lane]);
      return at < split ? LaneSource{0, at} : LaneSource{1, at - split};
    };
    return replace(
        op, permuteLanes(threads, op.getLoc(),
                         {{op->getOperand(0), a}, {op->getOperand(1), b}},
                         cast<VectorType>(op.getType()), from));
  }

  static int64_t first(ArrayAttr attribute) {
    return cast<IntegerAttr>(attribute[0]).getInt();
  }

  LogicalResult permute(vector::ExtractStridedSliceOp op,
                        ArrayRef<Type> types) {
    int64_t offset = first(op.getOffsets());
    auto from = [&](int64_t lane) { return LaneSource{0, lane + offset}; };
    return replace(
        op, permuteLanes(threads, op.getLoc(),
                         {{op->getOperand(0), cast<VectorType>(types[0])}},
                         cast<VectorType>(op.getType()), from));
  }

  LogicalResult permute(vector::InsertStridedSliceOp op, ArrayRef<Type> types) {
    int64_t offset = first(op.getOffsets());
    auto piece = cast<VectorType>(types[0]), whole = cast<VectorType>(types[1]);
    auto from = [&](int64_t lane) {
      int64_t at = lane - offset;
      bool isNew = at >= 0 && at < piece.getNumElements();
      return isNew ? LaneSource{0, at} : LaneSource{1, lane};
    };
    return replace(op, permuteLanes(threads, op.getLoc(),
                                    {{op->getOperand(0), piece},
                                     {op->getOperand(1), whole}},
                                    whole, from));
  }

  func::FuncOp function;
  OpBuilder builder;
  LaneThreads threads;
  LaneMemory memory;
  SmallVector<Operation *> dead;
};

} // namespace

llvm::DenseSet<Value> writtenOnly(func::FuncOp function) {
  llvm::DenseSet<Value> buffers, read;
  function.walk([&](UnrealizedConversionCastOp view) {
    buffers.insert(view.getResult(0));
  });
  function.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      read.insert(load.getMemRef());
    if (isa<vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(op))
      read.insert(op->getOperand(0));
  });
  for (Value buffer : read)
    buffers.erase(buffer);
  return buffers;
}

LogicalResult distributeLanes(func::FuncOp function, const ThreadGroup &group,
                              llvm::function_ref<bool(Value)> isOnlyWritten) {
  return Distributor(function, group, isOnlyWritten).run();
}

LogicalResult checkFrameless(func::FuncOp function) {
  WalkResult walked = function.walk([](memref::AllocaOp op) {
    return op.getType().getMemorySpace() ? WalkResult::advance()
                                         : WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return function.emitError("threads of a block's unit have no frame");
  return success();
}

} // namespace sinter::compiler
