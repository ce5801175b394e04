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

// Bytes that a group of threads waits for at a time: of 32 threads, 64
// registers each.
constexpr int64_t mostBytes = 32 * 64 * 4;

class Reader {
public:
  explicit Reader(func::FuncOp function) : function(function) {
    function.walk([&](Operation *op) {
      if (!isLoad(op) && !isa<memref::PrefetchOp>(op))
        if (Value buffer = bufferOf(op))
          written.insert(buffer);
    });
  }

  void run() {
    function.walk([&](Block *block) { reorder(*block); });
  }

private:
  static bool isLoad(Operation *op) {
    return isa<memref::LoadOp, vector::LoadOp, vector::MaskedLoadOp,
               vector::GatherOp>(op);
  }

  // A scalar is in a register of each thread.
  static int64_t bytesOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    int64_t count = vector ? vector.getNumElements() : 32;
    Type element = vector ? vector.getElementType() : type;
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    return count * std::max<int64_t>(32, bits) / 8;
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
      int64_t own = bytesOf(op.getResult(0).getType());
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
