/// The skeleton of scatters: every fiber along the op's axis has one owner,
/// which goes along the positions in order.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/Inline.h"
#include "compiler/lower/element/MaskedViews.h"
#include "compiler/lower/fiber/Fibers.h"
#include "compiler/lower/fiber/SortedScatter.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
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
    if (!writer.target.traits().manyTasks || chunks <= 0 || length <= 0 ||
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
      Index index = fibers.at(emission, coordinates, emission.uniform(i));
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
      Index from = fibers.at(emission, coordinates, emission.uniform(i));
      found.push_back({from, readPositions(emission, op, op.getIndices(), from,
                                           lanes, extent)});
    }
    for (const auto &[from, position] : found)
      addUpdate(emission, coordinates, lanes, from, position);
  }

  void addUpdate(Emission &emission, ArrayRef<Coord> coordinates, Lanes lanes,
                 const Index &from, const Coord &position) {
    Index to = fibers.at(emission, coordinates, position);
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
  if (!emitSortedScatter(writer, scattered))
    ScatterSkeleton(writer, scattered).run();
}

} // namespace sinter::compiler
