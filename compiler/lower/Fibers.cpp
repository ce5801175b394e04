/// The skeletons of scatter_add and cumsum: every fiber along the op's axis
/// has one owner, which goes along it in order.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/CanonicalNan.h"
#include "compiler/lower/Combiner.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/Inline.h"
#include "compiler/lower/MaskedViews.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

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

  // As `width`, several vectors where they come out even: more of a line of
  // memory is used at once.
  unsigned wideWidth(const Target &target) const {
    unsigned one = width(target);
    int64_t size = constantOf(last);
    for (unsigned vectors = 8; one > 1 && vectors > 1; vectors /= 2)
      if (size > 0 && size % (one * vectors) == 0)
        return one * vectors;
    return one;
  }

  // The coordinates of fiber number `fiber` (axis empty), where the axis is the
  // last dim.
  SmallVector<Coord> coordinatesOf(Emission &emission, Value fiber) const {
    Index flat;
    flat.tail = emission.uniform(fiber);
    flat.tailRank = others.size();
    SmallVector<Coord> all = others.empty()
                                 ? SmallVector<Coord>()
                                 : emission.coordinates(flat, others);
    all.insert(all.begin() + axis, Coord());
    return all;
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

double fiberMicroseconds(AffineExpr extent, unsigned width) {
  int64_t length = constantOf(extent);
  return 0.002 * width * double(length < 0 ? 1024 : length);
}

} // namespace

namespace {

// The skeleton of a scatter. Where lanes are threads and fibers are few, each
// has several owners, of some of its places each: all look at every position.
class ScatterSkeleton {
public:
  ScatterSkeleton(KernelWriter &writer, Value scattered)
      : writer(writer), scattered(scattered),
        op(cast<ir::ScatterOpInterface>(scattered.getDefiningOp())),
        axis(op.getAxis()), fibers(shapeOf(scattered), axis, op->getContext()),
        extent(shapeOf(scattered)[axis]),
        updates(shapeOf(op.getIndices())[axis]),
        combiner(makeCombiner(scattered)) {}

  void run() {
    unsigned width = fibers.width(writer.target);
    AffineExpr chunks = fibers.chunks(width);
    choosePlaces(constantOf(chunks));
    AffineExpr parts = getAffineConstantExpr(1, op->getContext());
    if (places > 0)
      parts = extent.ceilDiv(places);
    writer.addPhase(chunks * parts, fiberMicroseconds(updates, width),
                    [&](Emission &emission, Value chunk) {
                      Value count = emission.extent(parts);
                      part = emission.mod(chunk, count);
                      fibers.visit(
                          emission, emission.floorDiv(chunk, count), width,
                          [&](ArrayRef<Coord> coordinates, const Lanes &lanes) {
                            emitFiber(emission, coordinates, lanes);
                          });
                    });
  }

private:
  // Of an owner; 0 where it has all of them.
  void choosePlaces(int64_t chunks) {
    constexpr int64_t enoughOwners = 2048;
    int64_t length = constantOf(extent);
    if (!writer.target.lanesAreThreads() || chunks <= 0 || length <= 0 ||
        chunks >= enoughOwners)
      return;
    places = llvm::divideCeil(length, llvm::divideCeil(enoughOwners, chunks));
  }

  void emitFiber(Emission &emission, ArrayRef<Coord> coordinates,
                 const Lanes &lanes) {
    begin = emission.constant(0);
    end = emission.extent(extent);
    if (places > 0) {
      begin = emission.mul(part, emission.constant(places));
      end = emission.min(emission.add(begin, emission.constant(places)), end);
    }
    emission.loop(begin, end, 1, [&](Value i) {
      Index index = withAxis(emission, coordinates, axis, emission.uniform(i));
      storeElements(emission, buffer(emission), scattered, index, lanes,
                    canonicalNan(emission, scattered,
                                 emission.at(op.getX(), index, lanes)));
    });
    // Of an owner of some places most positions are none: several are looked
    // at before the first is used.
    int64_t together = places > 0 ? 32 : 1;
    Value count = emission.extent(updates), step = emission.constant(together);
    Value whole = emission.mul(emission.floorDiv(count, step), step);
    emission.loop(emission.constant(0), whole, together, [&](Value i) {
      addUpdates(emission, coordinates, lanes, i, together);
    });
    int64_t known = constantOf(updates);
    if (together > 1 && (known < 0 || known % together != 0))
      emission.loop(whole, count, 1, [&](Value i) {
        addUpdates(emission, coordinates, lanes, i, 1);
      });
  }

  void addUpdates(Emission &emission, ArrayRef<Coord> coordinates,
                  const Lanes &lanes, Value first, int64_t count) {
    SmallVector<std::pair<Index, Coord>> found;
    for (int64_t next = 0; next < count; ++next) {
      Value i = emission.add(first, emission.constant(next));
      Index from = withAxis(emission, coordinates, axis, emission.uniform(i));
      found.push_back({from, readPositions(emission, op, op.getIndices(), from,
                                           lanes, extent)});
    }
    for (const auto &[from, position] : found)
      addUpdate(emission, coordinates, lanes, from, position);
  }

  void addUpdate(Emission &emission, ArrayRef<Coord> coordinates, Lanes lanes,
                 const Index &from, const Coord &position) {
    Index to = withAxis(emission, coordinates, axis, position);
    Value condition = isNotEmpty(emission, extent);
    if (places > 0) {
      Value own = isOwn(emission, position);
      if (position.isUniform())
        condition = own;
      else
        lanes = narrow(emission, lanes, own);
    }
    auto apply = [&] {
      Value update = emission.vectorAt(op.getUpdates(), from, lanes);
      Value before =
          loadElements(emission, buffer(emission), scattered, to, lanes);
      Emission::Values state =
          combiner->merge(emission, combiner->lift(emission, before, {}),
                          combiner->lift(emission, update, {}));
      Value after = combiner->finish(emission, state);
      storeElements(emission, buffer(emission), scattered, to, lanes,
                    canonicalNan(emission, scattered, Element{after}));
    };
    if (condition)
      emission.when(condition, apply);
    else
      apply();
  }

  // Of each lane, or of all.
  Value isOwn(Emission &emission, const Coord &position) {
    Coord moved = emission.sub(position, emission.uniform(begin));
    Value at = emission.perLane(moved);
    Value size = emission.sub(end, begin);
    if (auto vector = dyn_cast<VectorType>(at.getType()))
      size = emission.spread(Element{size}, unsigned(vector.getNumElements()));
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ult, at, size);
  }

  Value buffer(Emission &emission) {
    return emission.entry.buffers[writer.outputBuffer(0)];
  }

  KernelWriter &writer;
  Value scattered;
  ir::ScatterOpInterface op;
  unsigned axis;
  Fibers fibers;
  AffineExpr extent, updates;
  std::unique_ptr<Combiner> combiner;
  int64_t places = 0;
  Value part;       ///< number of the owner
  Value begin, end; ///< its places
};

} // namespace

void emitScatter(KernelWriter &writer, Value scattered) {
  ScatterSkeleton(writer, scattered).run();
}

namespace {

// The skeleton of a prefix op.
class PrefixSkeleton {
public:
  PrefixSkeleton(KernelWriter &writer, Value prefix)
      : writer(writer), prefix(prefix),
        op(cast<ir::PrefixOpInterface>(prefix.getDefiningOp())),
        axis(op.getAxis()), fibers(shapeOf(prefix), axis, op->getContext()),
        extent(shapeOf(prefix)[axis]), combiner(makeCombiner(prefix)) {}

  void run() {
    if (!fibers.alongLast)
      return runRows();
    unsigned width = fibers.wideWidth(writer.target);
    writer.addPhase(fibers.chunks(width), fiberMicroseconds(extent, width),
                    [&](Emission &emission, Value chunk) {
                      fibers.visit(
                          emission, chunk, width,
                          [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                            emitFibers(emission, {SmallVector<Coord>(fiber)},
                                       lanes);
                          });
                    });
  }

private:
  using Fiber = SmallVector<Coord>;

  // Fibers that are worked on in turns: each waits for its last sum. With more
  // of them, lines that are a power of two apart push each other out of the
  // first-level cache.
  static constexpr int64_t inTurns = 2;

  void runRows() {
    AffineExpr turns = getAffineConstantExpr(inTurns, op->getContext());
    writer.addPhase(
        fibers.rows.ceilDiv(turns), fiberMicroseconds(extent, inTurns),
        [&](Emission &emission, Value chunk) {
          Value count = emission.constant(inTurns);
          Value first = emission.mul(chunk, count);
          Value rows = emission.extent(fibers.rows);
          Value end = emission.min(emission.add(first, count), rows);
          int64_t known = constantOf(fibers.rows);
          if (known >= 0 && known % inTurns == 0)
            return emitTurns(emission, first);
          Value isWhole = arith::CmpIOp::create(
              emission.builder, emission.loc, arith::CmpIPredicate::eq,
              emission.sub(end, first), count);
          emission.when(isWhole, [&] { emitTurns(emission, first); });
          Value begin = arith::SelectOp::create(emission.builder, emission.loc,
                                                isWhole, end, first);
          emission.loop(begin, end, 1, [&](Value fiber) {
            emitFibers(emission, {fibers.coordinatesOf(emission, fiber)},
                       Lanes{});
          });
        });
  }

  void emitTurns(Emission &emission, Value first) {
    SmallVector<Fiber> all;
    for (int64_t i = 0; i < inTurns; ++i)
      all.push_back(fibers.coordinatesOf(
          emission, emission.add(first, emission.constant(i))));
    emitFibers(emission, all, Lanes{});
  }

  // Goes along the fibers side by side.
  void emitFibers(Emission &emission, ArrayRef<Fiber> all, const Lanes &lanes) {
    Value end = emission.extent(extent);
    Emission::Values inits;
    for (size_t i = 0; i < all.size(); ++i)
      inits.append(combiner->init(emission, lanes.count));
    unsigned kept = combiner->types().size();
    emission.loop(
        emission.constant(0), end, 1, inits, [&](Value i, ValueRange carried) {
          Value number = i;
          if (op.getReverse())
            number = emission.sub(emission.sub(end, emission.constant(1)), i);
          Emission::Values after;
          SmallVector<std::pair<Index, Value>> sums;
          for (auto [fiberNumber, fiber] : llvm::enumerate(all)) {
            Index index =
                withAxis(emission, fiber, axis, emission.uniform(number));
            Value element = emission.vectorAt(op.getX(), index, lanes);
            Emission::Values state = combiner->merge(
                emission,
                Emission::Values(carried.slice(fiberNumber * kept, kept)),
                combiner->lift(emission, element, {}));
            sums.push_back({index, combiner->finish(emission, state)});
            after.append(state);
          }
          for (const auto &[index, sum] : sums)
            storeElements(emission,
                          emission.entry.buffers[writer.outputBuffer(0)],
                          prefix, index, lanes,
                          canonicalNan(emission, prefix, Element{sum}));
          return after;
        });
  }

  KernelWriter &writer;
  Value prefix;
  ir::PrefixOpInterface op;
  unsigned axis;
  Fibers fibers;
  AffineExpr extent;
  std::unique_ptr<Combiner> combiner;
};

} // namespace

void emitPrefix(KernelWriter &writer, Value prefix) {
  PrefixSkeleton(writer, prefix).run();
}

} // namespace sinter::compiler
