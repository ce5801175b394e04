/// Fibers: the lines of a tensor along an axis.
#include "compiler/lower/fiber/Fibers.h"

using namespace mlir;

namespace sinter::compiler {

Fibers::Fibers(Shape given, unsigned axis, MLIRContext *context)
    : shape(std::move(given)), axis(axis), context(context) {
  unsigned rank = shape.size();
  alongLast = axis + 1 < rank;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != axis)
      others.push_back(shape[dim]);
  last = alongLast ? others.back() : getAffineConstantExpr(1, context);
  rows = product(others, 0, others.size() - alongLast, context);
}

AffineExpr Fibers::chunks(unsigned width) const {
  return rows * last.ceilDiv(getAffineConstantExpr(width, context));
}

void Fibers::visit(
    Emission &emission, Value chunk, unsigned width,
    llvm::function_ref<void(ArrayRef<Coord>, const Lanes &)> emit) const {
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

unsigned Fibers::width(const Target &target) const {
  if (!alongLast)
    return 1;
  int64_t size = constantOf(last);
  return size == 1 ? 1 : target.lanes();
}

unsigned Fibers::wideWidth(const Target &target, unsigned most) const {
  unsigned one = width(target);
  int64_t size = constantOf(last);
  for (unsigned vectors = most; one > 1 && vectors > 1; vectors /= 2)
    if (size > 0 && size % (one * vectors) == 0)
      return one * vectors;
  return one;
}

SmallVector<Coord> Fibers::coordinatesOf(Emission &emission,
                                         Value fiber) const {
  Index flat;
  flat.tail = emission.uniform(fiber);
  flat.tailRank = others.size();
  SmallVector<Coord> all = others.empty() ? SmallVector<Coord>()
                                          : emission.coordinates(flat, others);
  all.insert(all.begin() + axis, Coord());
  return all;
}

Index Fibers::at(Emission &emission, ArrayRef<Coord> coordinates,
                 Coord position) const {
  SmallVector<Coord> all(coordinates);
  all[axis] = position;
  return emission.fromCoordinates(all);
}

double fiberMicroseconds(AffineExpr extent, unsigned width) {
  int64_t length = constantOf(extent);
  return 0.002 * width * double(length < 0 ? 1024 : length);
}

} // namespace sinter::compiler
