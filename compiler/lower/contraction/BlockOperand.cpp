/// BlockOperand: views that a unit takes, and copies for those it does not.
#include "compiler/lower/contraction/BlockOperand.h"

#include "compiler/lower/contraction/BlockMatrix.h"
#include "compiler/lower/element/ElementSource.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

// Lines of a copy begin at multiples of so many elements, of 16 bytes.
static constexpr int64_t alignedElements = 8;
// Of a line in a chunk, and of all its lines, about.
static constexpr int64_t lineElements = 1024, chunkElements = 2048;

// What lies behind views: what is computed, and what windows stand on.
static SmallVector<Value> leavesOf(Value tensor) {
  SmallVector<Value> leaves;
  while (auto described = tensor.getDefiningOp<ir::SinterOpInterface>()) {
    Operation *op = described.getOperation();
    if (described.getPatternKind() != graph::PatternKind::view ||
        op->getNumOperands() != 1) {
      leaves.push_back(tensor);
      break;
    }
    tensor = op->getOperand(0);
    if (auto map = ir::viewMapOf(op); map && map->takesWindows())
      leaves.push_back(tensor);
  }
  return llvm::to_vector(llvm::reverse(leaves));
}

static AffineExpr aligned(AffineExpr elements) {
  return elements.ceilDiv(alignedElements) * alignedElements;
}

static AffineExpr elementsOf(Value tensor) {
  Shape shape = shapeOf(tensor);
  return product(shape, 0, shape.size(), tensor.getContext());
}

// Elements with lines of that pitch.
static AffineExpr sizeOf(Value tensor, AffineExpr pitch) {
  Shape shape = shapeOf(tensor);
  return product(shape, 0, shape.size() - 1, tensor.getContext()) * pitch;
}

bool BlockOperand::find(Value leaf, AffineExpr pitch) {
  if (auto view = stridedView(operand, leaf, pitch)) {
    if (auto found = matrixOf(*view, shapeOf(operand))) {
      matrix = *found;
      bool alongLast = constantOf(view->strides.back()) == 1;
      matrix.alongDepth = alongLast == (depth + 1 == view->strides.size());
      countPlaces();
      if (leaf)
        addPieces(sizeOf(leaf, pitch));
      if (takes())
        return true;
    }
  }
  return !channels && findWindows(leaf, pitch);
}

bool BlockOperand::findWindows(Value leaf, AffineExpr pitch) {
  auto found = windowsOf(operand, depth, leaf, pitch);
  if (!found)
    return false;
  matrix = *found;
  if (pieces > 1 && leaf) {
    // One position, and each piece a place under it.
    BlockUnit::WindowAxis axis;
    axis.size = int64_t(pieces);
    axis.high = 1 - axis.size;
    matrix.windows.push_back(axis);
    addPieces(sizeOf(leaf, pitch));
    // Before images.
    std::swap(matrix.extents.end()[-1], matrix.extents.end()[-2]);
    std::swap(matrix.strides.end()[-1], matrix.strides.end()[-2]);
  }
  return takes();
}

void BlockOperand::countPlaces() {
  if (!channels)
    return;
  unsigned axis = matrix.alongDepth ? 0 : 1;
  AffineExpr all = matrix.extents[axis], stride = matrix.strides[axis];
  matrix.channels = channels;
  matrix.extents[axis] = getAffineConstantExpr(channels, operand.getContext());
  matrix.extents.insert(matrix.extents.begin() + 2, all.floorDiv(channels));
  matrix.strides.insert(matrix.strides.begin() + 2, stride * channels);
}

int64_t BlockOperand::paddedChannels() const {
  if (matrix.windows.empty() || !matrix.alongDepth)
    return 0;
  int64_t own = constantOf(matrix.extents.front());
  return unit.depthOfPlace(own) == own ? 0 : own;
}

void BlockOperand::addPieces(AffineExpr size) {
  if (pieces == 1)
    return;
  matrix.pieces = pieces;
  matrix.extents.push_back(
      getAffineConstantExpr(int64_t(pieces), operand.getContext()));
  matrix.strides.push_back(size);
}

bool BlockOperand::findInPlace(int64_t places) {
  channels = places;
  copy.reset();
  return pieces == 1 && find({}, {});
}

bool BlockOperand::findCopy(int64_t places) {
  channels = places;
  for (Value leaf : leavesOf(operand)) {
    Shape shape = shapeOf(leaf);
    if (leaf == operand || shape.empty() ||
        constantOf(elementsOf(leaf)) > constantOf(elementsOf(operand)))
      continue;
    for (AffineExpr pitch : {shape.back(), aligned(shape.back())})
      if (find(leaf, pitch)) {
        auto dims = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
        copy = Copy{leaf, dims, pitch};
        return true;
      }
  }
  // Along k, unless what is read has longer runs along the other axis.
  unsigned other = 2 * unsigned(shapeOf(operand).size()) - 3 - depth;
  bool alongDepth =
      neighboursAlong(operand, depth) >= neighboursAlong(operand, other);
  return findWholeCopy(alongDepth) || findWholeCopy(!alongDepth);
}

bool BlockOperand::findWholeCopy(bool alongDepth) {
  MLIRContext *context = operand.getContext();
  Shape shape = shapeOf(operand);
  unsigned rank = shape.size(), other = 2 * rank - 3 - depth;
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  unsigned inner = alongDepth ? depth : other;
  dims[rank - 2] = inner == depth ? other : depth;
  dims[rank - 1] = inner;
  copy = Copy{operand, dims, aligned(shape[inner])};
  StridedView view{0, getAffineConstantExpr(0, context), {}};
  view.strides.resize(rank);
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (unsigned dim : llvm::reverse(copy->order)) {
    view.strides[dim] = stride;
    stride = dim == inner ? copy->pitch : stride * shape[dim];
  }
  auto found = matrixOf(view, shape);
  if (!found)
    return false;
  matrix = *found;
  matrix.alongDepth = alongDepth;
  countPlaces();
  addPieces(size());
  return takes();
}

// A symbol that both have counts for nothing.
double BlockOperand::readsOfCopy() const {
  auto elements = [](Value tensor) {
    return double(elementsOf(tensor).getLargestKnownDivisor());
  };
  double most = copy ? elements(copy->tensor) : 0;
  return most > 0 ? std::max(1.0, elements(operand) / most) : 1;
}

AffineExpr BlockOperand::lines() const {
  AffineExpr count = getAffineConstantExpr(1, operand.getContext());
  for (unsigned dim : ArrayRef(copy->order).drop_back())
    count = count * shapeOf(copy->tensor)[dim];
  return count;
}

void BlockOperand::addWorkspace(KernelWriter &writer) {
  if (!copy)
    return;
  Type element = elementOf(copy->tensor);
  if (pieces > 1)
    element = BFloat16Type::get(operand.getContext());
  workspace = writer.addWorkspace(size() * int64_t(pieces), element);
  matrix.buffer = workspace;
}

void BlockOperand::addCopyPhase(KernelWriter &writer, bool mayKeep) const {
  if (!copy)
    return;
  std::optional<Preparation> preparation;
  auto input = onlyInput(copy->tensor);
  if (mayKeep && input)
    preparation = Preparation{*input, workspace};
  AffineExpr extent = shapeOf(copy->tensor)[copy->order.back()];
  writer.addPhase(
      lines().ceilDiv(linesOfChunk()) * extent.ceilDiv(lineElements), 1,
      [&](Emission &emission, Value chunk) { emitChunk(emission, chunk); },
      preparation);
}

int64_t BlockOperand::linesOfChunk() const {
  int64_t extent = constantOf(shapeOf(copy->tensor)[copy->order.back()]);
  return std::max<int64_t>(1, extent > 0 ? chunkElements / extent : 1);
}

// Some lines, or part of one: where lanes are along a line is found out once
// for all of them.
void BlockOperand::emitChunk(Emission &emission, Value chunk) const {
  AffineExpr extent = shapeOf(copy->tensor)[copy->order.back()];
  auto range = [&](Value number, int64_t size, Value most) {
    Value first = emission.mul(number, emission.constant(size));
    Value end = emission.add(first, emission.constant(size));
    return std::pair(first, emission.min(end, most));
  };
  Value parts = emission.extent(extent.ceilDiv(lineElements));
  auto [line, endLine] = range(emission.floorDiv(chunk, parts), linesOfChunk(),
                               emission.extent(lines()));
  auto [first, end] =
      range(emission.mod(chunk, parts), lineElements, emission.extent(extent));
  unsigned count = emission.target.lanes();
  auto copyAt = [&, line = line, endLine = endLine](Value at, Value mask) {
    emission.loop(line, endLine, 1, [&](Value line) {
      copyElements(emission, line, at, Lanes{count, mask, false});
    });
  };
  Value whole = emission.mul(
      emission.floorDiv(emission.sub(end, first), emission.constant(count)),
      emission.constant(count));
  Value middle = emission.add(first, whole);
  emission.loop(first, middle, count, [&](Value at) { copyAt(at, {}); });
  if (extent.getLargestKnownDivisor() % count != 0)
    emission.loop(middle, end, count, [&, end = end](Value at) {
      copyAt(at, emission.tailMask(emission.sub(end, at), count));
    });
}

void BlockOperand::copyElements(Emission &emission, Value line, Value at,
                                const Lanes &lanes) const {
  Shape shape = shapeOf(copy->tensor), outer;
  for (unsigned dim : ArrayRef(copy->order).drop_back())
    outer.push_back(shape[dim]);
  SmallVector<Coord> coordinates(shape.size());
  coordinates[copy->order.back()] = emission.along(at, lanes.count);
  if (!outer.empty()) {
    Index flat;
    flat.tail = emission.uniform(line);
    flat.tailRank = outer.size();
    for (auto [dim, coordinate] :
         llvm::zip(copy->order, emission.coordinates(flat, outer)))
      coordinates[dim] = coordinate;
  }
  Index index = emission.fromCoordinates(coordinates);
  Value value = emission.vectorAt(copy->tensor, index, lanes);
  Value to = emission.entry.buffers[workspace];
  Value start = emission.mul(line, emission.extent(copy->pitch));
  Value place = emission.add(start, at);
  for (Value piece : piecesOf(emission, value)) {
    if (lanes.mask)
      vector::MaskedStoreOp::create(emission.builder, emission.loc, to, place,
                                    lanes.mask, piece);
    else
      vector::StoreOp::create(emission.builder, emission.loc, piece, to, place);
    if (pieces > 1)
      place = emission.add(place, emission.extent(size()));
  }
}

// As they are in memory: each is what those before it leave, rounded. Of f32
// three bf16 leave nothing, unless they are below its range.
SmallVector<Value> BlockOperand::piecesOf(Emission &emission,
                                          Value value) const {
  if (pieces == 1)
    return {toMemory(emission, value, elementOf(copy->tensor))};
  OpBuilder &builder = emission.builder;
  auto wide = cast<VectorType>(value.getType());
  Type element = BFloat16Type::get(operand.getContext());
  SmallVector<Value> all;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    Value rounded = arith::TruncFOp::create(builder, emission.loc,
                                            wide.clone(element), value);
    all.push_back(toMemory(emission, rounded, element));
    if (piece + 1 == pieces)
      break;
    value = arith::SubFOp::create(
        builder, emission.loc, value,
        arith::ExtFOp::create(builder, emission.loc, wide, rounded));
  }
  return all;
}

} // namespace sinter::compiler
