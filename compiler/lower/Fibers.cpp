/// The skeletons of scatter_add and cumsum: every fiber along the op's axis
/// has one owner, which goes along it in order.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/CanonicalNan.h"
#include "compiler/lower/Combiner.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/Inline.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Fibers of a shape along an axis: all other dims, the lanes along the last of
// them when that is the tensor's last dim too.
class Fibers {
public:
  Fibers(Shape given, unsigned axis, MLIRContext *context)
      : shape(std::move(given)), axis(axis), context(context) {
    unsigned rank = shape.size();
    alongLast = axis + 1 < rank;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (dim != axis)
        others.push_back(shape[dim]);
    last = alongLast ? others.back() : getAffineConstantExpr(1, context);
    rows = product(others, 0, others.size() - alongLast, context);
  }

  // Chunks are rows of fibers, split in blocks of `width` along the last dim.
  AffineExpr chunks(unsigned width) const {
    return rows * last.ceilDiv(getAffineConstantExpr(width, context));
  }

  // Calls `emit` with the coordinates (axis empty) and lanes of the chunk.
  void visit(Emission &emission, Value chunk, unsigned width,
             llvm::function_ref<void(ArrayRef<Coord>, const Lanes &)> emit) {
    AffineExpr blocks = last.ceilDiv(getAffineConstantExpr(width, context));
    Value count = emission.extent(blocks);
    Value row = emission.floorDiv(chunk, count);
    Index flat;
    Shape leading(others.begin(), others.end() - alongLast);
    flat.tail = emission.uniform(row);
    flat.tailRank = leading.size();
    SmallVector<Coord> all = leading.empty()
                                 ? SmallVector<Coord>()
                                 : emission.coordinates(flat, leading);
    Lanes lanes;
    if (alongLast) {
      Value begin =
          emission.mul(emission.mod(chunk, count), emission.constant(width));
      lanes.count = width;
      Value left = emission.sub(emission.extent(last), begin);
      int64_t size = constantOf(last);
      if (width > 1 && !(size >= 0 && size % width == 0))
        lanes.mask = emission.tailMask(left, width);
      all.push_back(width > 1 ? emission.along(begin, width)
                              : emission.uniform(begin));
    }
    all.insert(all.begin() + axis, Coord());
    emit(all, lanes);
  }

  unsigned width(const Target &target) const {
    if (!alongLast)
      return 1;
    int64_t size = constantOf(last);
    return size == 1 ? 1 : target.lanes();
  }

  Shape shape;
  unsigned axis;
  MLIRContext *context;
  Shape others;
  AffineExpr last, rows;
  bool alongLast = false;
};

Index withAxis(Emission &emission, ArrayRef<Coord> coordinates, unsigned axis,
               Coord position) {
  SmallVector<Coord> all(coordinates);
  all[axis] = position;
  return emission.fromCoordinates(all);
}

// Adds two elements of a tensor's type as the op `add` does.
Value addElements(Emission &emission, Value a, Value b, Type element) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  if (!isa<FloatType>(element))
    return arith::AddIOp::create(builder, loc, a, b);
  if (element.getIntOrFloatBitWidth() >= 32)
    return arith::AddFOp::create(builder, loc, a, b);
  Type type = a.getType(), wide = builder.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    wide = vector.clone(wide);
  Value left = arith::ExtFOp::create(builder, loc, wide, a);
  Value right = arith::ExtFOp::create(builder, loc, wide, b);
  Value sum = arith::AddFOp::create(builder, loc, left, right);
  return arith::TruncFOp::create(builder, loc, type, sum);
}

double fiberMicroseconds(AffineExpr extent, unsigned width) {
  int64_t length = constantOf(extent);
  return 0.002 * width * double(length < 0 ? 1024 : length);
}

} // namespace

void emitScatter(KernelWriter &writer, Value scattered) {
  auto op = cast<ir::ScatterAddOp>(scattered.getDefiningOp());
  unsigned axis = op.getAxis();
  MLIRContext *context = op.getContext();
  Fibers fibers(shapeOf(scattered), axis, context);
  unsigned width = fibers.width(writer.target);
  AffineExpr extent = shapeOf(scattered)[axis];
  AffineExpr updates = shapeOf(op.getIndices())[axis];
  Type element = elementOf(scattered);
  auto emitFiber = [&](Emission &emission, ArrayRef<Coord> coordinates,
                       const Lanes &lanes) {
    Value buffer = emission.entry.buffers[writer.outputBuffer(0)];
    Value zero = emission.constant(0);
    emission.loop(zero, emission.extent(extent), 1, [&](Value i) {
      Index index = withAxis(emission, coordinates, axis, emission.uniform(i));
      storeElements(emission, buffer, scattered, index, lanes,
                    canonicalNan(emission, scattered,
                                 emission.at(op.getX(), index, lanes)));
    });
    emission.loop(zero, emission.extent(updates), 1, [&](Value i) {
      Index from = withAxis(emission, coordinates, axis, emission.uniform(i));
      Coord position =
          readPositions(emission, op.getIndices(), from, lanes, extent);
      Index to = withAxis(emission, coordinates, axis, position);
      auto apply = [&] {
        Value update = emission.vectorAt(op.getUpdates(), from, lanes);
        Value before = loadElements(emission, buffer, scattered, to, lanes);
        Value after = addElements(emission, before, update, element);
        storeElements(emission, buffer, scattered, to, lanes,
                      canonicalNan(emission, scattered, Element{after}));
      };
      if (Value hasAny = isNotEmpty(emission, extent))
        emission.when(hasAny, apply);
      else
        apply();
    });
  };
  writer.addPhase(fibers.chunks(width), fiberMicroseconds(updates, width),
                  [&](Emission &emission, Value chunk) {
                    fibers.visit(
                        emission, chunk, width,
                        [&](ArrayRef<Coord> coordinates, const Lanes &lanes) {
                          emitFiber(emission, coordinates, lanes);
                        });
                  });
}

void emitPrefix(KernelWriter &writer, Value prefix) {
  auto op = cast<ir::CumsumOp>(prefix.getDefiningOp());
  unsigned axis = op.getAxis();
  Fibers fibers(shapeOf(prefix), axis, op.getContext());
  unsigned width = fibers.width(writer.target);
  AffineExpr extent = shapeOf(prefix)[axis];
  auto combiner = makeCombiner(prefix);
  auto emitFiber = [&](Emission &emission, ArrayRef<Coord> coordinates,
                       const Lanes &lanes) {
    Value buffer = emission.entry.buffers[writer.outputBuffer(0)];
    Value end = emission.extent(extent);
    emission.loop(
        emission.constant(0), end, 1, combiner->init(emission, lanes.count),
        [&](Value i, ValueRange carried) {
          Value number = i;
          if (op.getReverse())
            number = emission.sub(emission.sub(end, emission.constant(1)), i);
          Index index =
              withAxis(emission, coordinates, axis, emission.uniform(number));
          Value element = emission.vectorAt(op.getX(), index, lanes);
          Emission::Values state =
              combiner->merge(emission, Emission::Values(carried),
                              combiner->lift(emission, element, {}));
          Element sum{combiner->finish(emission, state)};
          storeElements(emission, buffer, prefix, index, lanes,
                        canonicalNan(emission, prefix, sum));
          return state;
        });
  };
  writer.addPhase(fibers.chunks(width), fiberMicroseconds(extent, width),
                  [&](Emission &emission, Value chunk) {
                    fibers.visit(
                        emission, chunk, width,
                        [&](ArrayRef<Coord> coordinates, const Lanes &lanes) {
                          emitFiber(emission, coordinates, lanes);
                        });
                  });
}

} // namespace sinter::compiler
