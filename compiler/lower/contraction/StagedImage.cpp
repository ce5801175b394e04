/// Lines of an image, copied once for all the windows over them.
#include "compiler/lower/contraction/StagedImage.h"

#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

//===- What the rows are --------------------------------------------------===//

// The dims of what `value` transposes, outermost first; `value` becomes that.
static SmallVector<unsigned> orderBehind(Value &value) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, shapeOf(value).size()));
  while (auto permuted = ir::permutedOperand(value)) {
    for (unsigned &dim : order)
      dim = unsigned(permuted->permutation[dim]);
    value = permuted->operand;
  }
  return order;
}

// Rows are the leading dims up to the axis, and k the windows' dims down to the
// run, then what lies inside of the axis.
static bool isInImageOrder(ArrayRef<unsigned> order, unsigned rank,
                           unsigned axis, unsigned numWindows) {
  SmallVector<unsigned> expected;
  auto append = [&](unsigned from, unsigned to) {
    for (unsigned dim = from; dim < to; ++dim)
      expected.push_back(dim);
  };
  append(0, axis + 1);
  append(rank, rank + numWindows);
  append(axis + 1, rank);
  return order == ArrayRef<unsigned>(expected);
}

std::optional<ImageWindows> findImageWindows(Value operand) {
  Value inner = ir::reshapedOperand(operand);
  if (!inner || shapeOf(operand).size() != 2)
    return std::nullopt;
  SmallVector<unsigned> order = orderBehind(inner);
  auto map = ir::viewMapOf(inner);
  if (!map || !map->takesWindows() || map->windows().size() > 2)
    return std::nullopt;
  auto windows = map->windows();
  unsigned numWindows = windows.size();
  const ir::ViewWindow &line = windows.front(), &run = windows.back();
  ImageWindows result;
  result.image = map->part().operand;
  result.axis = run.axis;
  result.hasLines = numWindows == 2;
  Shape image = shapeOf(result.image), shape = shapeOf(inner);
  MLIRContext *context = operand.getContext();
  unsigned rank = image.size(), axis = result.axis;
  bool isPlain = rank - axis <= 2 && run.dilation == 1 &&
                 (!result.hasLines || line.axis + 1 == axis) &&
                 isInImageOrder(order, rank, axis, numWindows) &&
                 product(shape, 0, axis + 1, context) == shapeOf(operand)[0];
  if (!isPlain)
    return std::nullopt;
  result.inner = constantOf(product(image, axis + 1, rank, context));
  result.positions = constantOf(shape[axis]);
  int64_t places = constantOf(image[axis]);
  if (result.hasLines) {
    result.lines = constantOf(shape[axis - 1]);
    result.lineStride = line.stride;
    result.lineDilation = line.dilation;
    result.lineTaps = line.size;
  }
  bool isKnown = result.inner > 0 && result.positions > 0 && places > 0 &&
                 result.lines > 0 &&
                 (!result.hasLines || constantOf(image[axis - 1]) > 0);
  if (!isKnown)
    return std::nullopt;
  result.width = places * result.inner;
  result.step = run.stride * result.inner;
  result.run = run.size * result.inner;
  return result;
}

//===- The copy -----------------------------------------------------------===//

// Places before, in and after the interior, as far as there can be some.
SmallVector<ImageStager::Span, 3>
ImageStager::split(Value begin, Value end, int64_t size,
                   const Interior &interior) const {
  if (interior.isAll())
    return {Span{begin, end, 0, size - 1, true}};
  auto within = [&](int64_t place) {
    return emission.max(begin, emission.min(emission.constant(place), end));
  };
  int64_t low = std::clamp<int64_t>(interior.low, 0, size);
  int64_t high = std::clamp<int64_t>(interior.high, low, size);
  Value middle = within(low), rest = within(high);
  SmallVector<Span, 3> spans;
  if (low > 0)
    spans.push_back({begin, middle, 0, low - 1, false});
  if (low < high)
    spans.push_back({middle, rest, low, high - 1, true});
  if (high < size)
    spans.push_back({rest, end, high, size - 1, false});
  return spans;
}

void ImageStager::copy(Value first, Value count, Value to) const {
  Shape image = shapeOf(windows.image);
  unsigned numLead = windows.axis - (windows.hasLines ? 1 : 0);
  Value lines = emission.constant(windows.lines);
  SmallVector<Coord> lead;
  if (numLead > 0) {
    Index flat;
    flat.tail = emission.uniform(emission.floorDiv(first, lines));
    flat.tailRank = numLead;
    lead = emission.coordinates(flat,
                                Shape(image.begin(), image.begin() + numLead));
  }
  if (!windows.hasLines)
    return copyLine(lead, {}, true, to, emission.constant(0));
  Value begin = emission.mul(emission.mod(first, lines),
                             emission.constant(windows.lineStride));
  Value number = emission.add(
      emission.mul(emission.sub(count, emission.constant(1)),
                   emission.constant(windows.lineStride)),
      emission.constant((windows.lineTaps - 1) * windows.lineDilation + 1));
  Value width = emission.constant(windows.width);
  for (const Span &span :
       split(begin, emission.add(begin, number), constantOf(image[numLead]),
             interiorOf(windows.image, numLead)))
    emission.loop(span.begin, span.end, 1, [&](Value line) {
      emission.assumeRange(line, span.low, span.high);
      SmallVector<Coord> outer(lead);
      outer.push_back(emission.uniform(line));
      copyLine(outer, line, span.isKnown, to,
               emission.mul(emission.sub(line, begin), width));
    });
  emission.forgetRanges();
}

void ImageStager::copyLine(ArrayRef<Coord> lead, Value line, bool isInside,
                           Value to, Value place) const {
  int64_t places = windows.width / windows.inner;
  Interior across = Interior::everything();
  if (isInside)
    across = interiorOf(windows.image, windows.axis);
  for (const Span &span :
       split(emission.constant(0), emission.constant(places), places, across))
    copyPlaces(lead, span, to, place);
}

void ImageStager::copyPlaces(ArrayRef<Coord> lead, const Span &span, Value to,
                             Value place) const {
  bool isLast = windows.axis + 1 == shapeOf(windows.image).size();
  Value inner = emission.constant(windows.inner);
  if (!isLast) {
    emission.loop(span.begin, span.end, 1, [&](Value at) {
      emission.assumeRange(at, span.low, span.high);
      SmallVector<Coord> outer(lead);
      outer.push_back(emission.uniform(at));
      copyPlace(outer, at, to, emission.add(place, emission.mul(at, inner)));
    });
    return;
  }
  int64_t whole = (span.high + 1 - span.low) / lanes * lanes;
  Value middle = emission.add(span.begin, emission.constant(whole));
  if (whole > 0)
    emission.loop(span.begin, middle, lanes, [&](Value at) {
      emission.assumeRange(at, span.low, span.high + 1 - int64_t(lanes));
      copyVector(lead, at, {}, to, emission.add(place, at));
    });
  emission.loop(middle, span.end, lanes, [&](Value at) {
    Value mask = emission.tailMask(emission.sub(span.end, at), lanes);
    copyVector(lead, at, mask, to, emission.add(place, at));
  });
}

// All the elements of one place.
void ImageStager::copyPlace(ArrayRef<Coord> lead, Value at, Value to,
                            Value place) const {
  constexpr int64_t mostUnrolled = 8;
  int64_t step = lanes, vectors = llvm::divideCeil(windows.inner, step);
  int64_t whole = vectors > mostUnrolled ? windows.inner / step * step : 0;
  if (whole > 0)
    emission.loop(emission.constant(0), emission.constant(whole), lanes,
                  [&](Value from) {
                    copyVector(lead, from, {}, to, emission.add(place, from));
                  });
  for (int64_t from = whole; from < windows.inner; from += step) {
    Value mask, start = emission.constant(from);
    if (windows.inner - from < step)
      mask = emission.tailMask(emission.constant(windows.inner - from), lanes);
    copyVector(lead, start, mask, to, emission.add(place, start));
  }
}

void ImageStager::copyVector(ArrayRef<Coord> lead, Value at, Value mask,
                             Value to, Value place) const {
  SmallVector<Coord> coordinates(lead);
  coordinates.push_back(emission.along(at, lanes));
  Value value =
      emission.vectorAt(windows.image, emission.fromCoordinates(coordinates),
                        Lanes{lanes, mask, false});
  value = toAccumulator(emission, value, element);
  vector::StoreOp::create(emission.builder, emission.loc, value, to, place);
}

} // namespace sinter::compiler
