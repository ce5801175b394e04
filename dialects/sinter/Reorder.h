/// The same op on tensors whose axes stand in another order: what layout
/// assignment asks of ops, so that it names none.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace sinter::ir {

/// The axes of a tensor in the order in which they are stored, outermost first.
using AxisOrder = llvm::SmallVector<int64_t, 6>;

/// How an op's tensors are stored.
struct TensorOrders {
  llvm::SmallVector<AxisOrder, 2> operands;
  AxisOrder result;
};

/// A tensor of an op: the number of an operand, or this.
inline constexpr int resultNumber = -1;

/// What the op does to the elements of its first operand.
enum class Movement : uint8_t {
  none,    ///< as many stay where they are, about
  gathers, ///< the result has few of them
  repeats, ///< the result has many more
  turns,   ///< the axes change; a fitting order of the result needs no work
};

struct ReorderRule {
  Movement movement;
  /// Orders that fit together, of which tensor number `which` has `order`; none
  /// where the op has no such form.
  std::optional<TensorOrders> (*find)(mlir::Operation *op, int which,
                                      llvm::ArrayRef<int64_t> order);
  /// The result, stored in its order, of operands that are stored in theirs.
  mlir::Value (*build)(mlir::OpBuilder &builder, mlir::Operation *op,
                       mlir::ValueRange operands, const TensorOrders &orders);
};

/// What a tensor of an op over windows is: what they lie over, what has a place
/// for each of them, or neither.
enum class ImageRole : uint8_t { image, positions, weight };

/// 0, 1, 2, ...
AxisOrder recordedOrder(size_t rank);
bool isRecorded(llvm::ArrayRef<int64_t> order);
/// `order` undone: the place of each axis.
AxisOrder placesOf(llvm::ArrayRef<int64_t> order);
/// Batch, space, channels for axes that are batch, channels, space.
AxisOrder channelsLast(size_t rank);
/// The type of a tensor that is stored in this order.
mlir::RankedTensorType storedType(mlir::RankedTensorType type,
                                  llvm::ArrayRef<int64_t> order,
                                  unsigned numSymbols);

/// The rules that records name.
namespace reorder {
extern const ReorderRule sameEverywhere; ///< all alike; attributes name axes
extern const ReorderRule sameAsFirst;    ///< others as they are recorded
extern const ReorderRule reduction, broadcast, reshape, transpose, slice, pad,
    windows, full, image;
} // namespace reorder

} // namespace sinter::ir
