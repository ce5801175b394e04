/// Loads that wait for memory at the same time.
#include "compiler/target/simt/ReadEarly.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Bytes that a group of threads waits for at a time: of 32 threads, 32
// registers each.
constexpr int64_t mostBytes = 32 * 32 * 4;

class Reader {
public:
  explicit Reader(func::FuncOp function) : function(function) {
    function.walk([&](Operation *op) {
      if (!isLoad(op) && !isa<memref::LoadOp, memref::PrefetchOp>(op))
        if (Value buffer = bufferOf(op))
          written.insert(buffer);
    });
  }

  void run() {
    function.walk([&](Block *block) { reorder(*block); });
  }

private:
  static bool isLoad(Operation *op) {
    return isa<vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(op);
  }

  // The operand that is a buffer, if one is.
  static Value bufferOf(Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        return operand;
    return {};
  }

  bool isEarly(Operation *op) const {
    if (!isLoad(op))
      return false;
    Value buffer = bufferOf(op);
    return buffer.getDefiningOp<UnrealizedConversionCastOp>() &&
           !written.contains(buffer);
  }

  // The ops after `first` that `op` needs, in order; nothing if one of them
  // may not move.
  bool collect(Operation *op, Operation *first,
               llvm::SetVector<Operation *> &needed) const {
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker || maker->getBlock() != first->getBlock() ||
          maker->isBeforeInBlock(first) || needed.contains(maker))
        continue;
      bool moves = isEarly(maker) ||
                   (maker->getNumRegions() == 0 && isMemoryEffectFree(maker));
      if (!moves || !collect(maker, first, needed))
        return false;
    }
    needed.insert(op);
    return true;
  }

  void reorder(Block &block) const {
    Operation *next = nullptr; // where the next load of the group goes
    int64_t bytes = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.getNumRegions() != 0)
        next = nullptr;
      if (!isEarly(&op))
        continue;
      auto type = cast<VectorType>(op.getResult(0).getType());
      int64_t own = type.getNumElements() *
                    std::max<int64_t>(32, type.getElementTypeBitWidth()) / 8;
      llvm::SetVector<Operation *> needed;
      if (!next || bytes + own > mostBytes || !collect(&op, next, needed)) {
        next = op.getNextNode();
        bytes = own;
        continue;
      }
      bytes += own;
      for (Operation *each : needed)
        if (each != next)
          each->moveBefore(next);
        else
          next = next->getNextNode();
    }
  }

  func::FuncOp function;
  llvm::DenseSet<Value> written;
};

} // namespace

void readEarly(func::FuncOp function) { Reader(function).run(); }

} // namespace sinter::compiler
