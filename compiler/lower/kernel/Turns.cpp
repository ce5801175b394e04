/// The turn skeleton: what is stored is made of a transposed tensor, and what
/// lies side by side in the result lies far apart in that. Squares are read
/// along the one, turned in registers, or in memory that threads share, and
/// written along the other.
#include "compiler/analysis/ElementCost.h"
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/kernel/TurnSquares.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Through memory that threads share: lane l of result i is what stands at
// `placeOf(l)` and i times `step` elements behind. Vectors stand one element
// further than they are long: a column's elements lie in different banks of it.
static SmallVector<Value>
exchangeInMemory(Emission &emission, ArrayRef<Value> vectors, size_t results,
                 int64_t step, llvm::function_ref<int64_t(int64_t)> placeOf) {
  static const char squareKey = 0;
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  auto type = cast<VectorType>(vectors.front().getType());
  int64_t lanes = type.getNumElements(), stride = lanes + 1;
  Value memory = emission.frameBuffer(
      &squareKey, MemRefType::get({int64_t(vectors.size()) * stride},
                                  type.getElementType()));
  for (auto [i, vector] : llvm::enumerate(vectors))
    vector::StoreOp::create(builder, loc, vector, memory,
                            emission.constant(int64_t(i) * stride));
  SmallVector<int32_t> places;
  for (int64_t lane = 0; lane < lanes; ++lane)
    places.push_back(int32_t(placeOf(lane)));
  Value order = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(emission.vectorType(builder.getI32Type(), lanes),
                             ArrayRef<int32_t>(places)));
  Value all =
      emission.integer(emission.vectorType(builder.getI1Type(), lanes), 1);
  Value none =
      arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  SmallVector<Value> exchanged;
  for (size_t i = 0; i < results; ++i)
    exchanged.push_back(vector::GatherOp::create(
        builder, loc, type, memory, emission.constant(int64_t(i) * step), order,
        all, none));
  return exchanged;
}

static SmallVector<Value> turnInMemory(Emission &emission,
                                       ArrayRef<Value> rows) {
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  int64_t count = int64_t(rows.size());
  return exchangeInMemory(emission, rows, rows.size(), 1, [&](int64_t lane) {
    return lane % count * (lanes + 1) + lane / count * count;
  });
}

SmallVector<Value> turnSquares(Emission &emission, SmallVector<Value> rows) {
  if (!emission.target.traits().shuffle)
    return turnInMemory(emission, rows);
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  int64_t count = rows.size();
  auto shuffle = [&](Value a, Value b, llvm::function_ref<int64_t(int64_t)> f) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(f(lane));
    return vector::ShuffleOp::create(emission.builder, emission.loc, a, b,
                                     order);
  };
  // Swaps blocks off the diagonal, of 1, 2, 4, ... lanes.
  for (int64_t size = 1; size < count; size *= 2)
    for (int64_t row = 0; row < count; ++row) {
      if (row & size)
        continue;
      Value a = rows[row], b = rows[row + size];
      rows[row] = shuffle(a, b, [&](int64_t lane) {
        return lane & size ? lanes + lane - size : lane;
      });
      rows[row + size] = shuffle(a, b, [&](int64_t lane) {
        return lane & size ? lanes + lane : lane + size;
      });
    }
  return rows;
}

namespace {

// Elements of a chunk, about; lines and elements of each that stay in the
// first-level cache between two squares. Threads have a square a chunk, of
// small ones several, as soon as there are so many chunks.
constexpr int64_t chunkElements = 16384;
constexpr int64_t blockedLines = 256, blockedElements = 64;
constexpr int64_t chunkElementsOfThreads = 4096;
constexpr int64_t chunksOfThreads = 2048;
// Lines, or elements of one, that are so few that all of them are neighbours of
// the next ones' in the other tensor.
constexpr int64_t fewOfThreads = 16;

class TurnSkeleton {
public:
  TurnSkeleton(KernelWriter &writer, Value turned, ir::Permuted permuted)
      : writer(writer), turned(turned), operand(permuted.operand),
        order(std::move(permuted.permutation)), from(shapeOf(operand)),
        to(shapeOf(turned)), rank(unsigned(from.size())),
        traits(writer.target.traits()) {}

  bool applies();
  void run();

private:
  /// Where lines begin, and what they are read along.
  struct Place {
    Value outer, line, along;
  };

  AffineExpr extent(const Shape &shape, unsigned first, unsigned last) {
    return product(shape, first, last, operand.getContext());
  }
  AffineExpr outerCount() {
    AffineExpr count = getAffineConstantExpr(1, operand.getContext());
    for (unsigned dim : outerDims)
      count = count * from[dim];
    return count;
  }
  void emitChunk(Emission &emission, Value chunk);
  void emitBlock(Emission &emission, Value outer, Value lineBlock,
                 Value alongBlock);
  void emitSquare(Emission &emission, const Place &place);
  /// Of few lines, or long ones of few elements: all of them, and so many
  /// elements, or lines, as there are lanes.
  void emitStrip(Emission &emission, const Place &place);
  bool isStrip() const { return hasFewLines || hasShortLines; }
  void findStrips();
  void placeOuter(Emission &emission, Value outer, SmallVector<Coord> &read,
                  SmallVector<Coord> &written);
  /// Stores the outputs where `element` is that of the transposed tensor.
  void storeOutputs(Emission &emission, const Index &index, const Lanes &lanes,
                    Element element);
  Index indexOf(Emission &emission, const Shape &shape,
                MutableArrayRef<Coord> coordinates, unsigned first,
                unsigned count, Value other, unsigned tailRank, Value at,
                bool mayJoin);
  /// Starts of squares in [begin, end) of `size`: the last one reaches back.
  void eachStart(Emission &emission, Value begin, Value end, int64_t size,
                 llvm::function_ref<void(Value)> emit);

  KernelWriter &writer;
  Value turned, operand;
  SmallVector<int64_t> order; ///< of the operand's axes
  Shape from, to;
  unsigned rank;
  /// Trailing dims that are neighbours on both sides: of the result, which
  /// count lines, and of the operand, which are along one.
  unsigned lineRank = 1, alongRank = 1;
  SmallVector<unsigned> places; ///< of the operand's dims in the result
  /// Other dims of the operand, in the result's order.
  SmallVector<unsigned> outerDims;
  int64_t lines = 0, length = 0;
  bool hasFewLines = false, hasShortLines = false;
  unsigned lanes = 1;
  int64_t lineBlock = 1, alongBlock = 1, outerBlock = 1;
  const LaneTraits &traits;
};

} // namespace

// The tensor that is transposed is read along its last dim.
bool TurnSkeleton::applies() {
  if (rank < 2 || order[rank - 1] + 1 == int64_t(rank) ||
      !runsAlong(operand, rank - 1))
    return false;
  while (lineRank < rank &&
         order[rank - lineRank - 1] + 1 == order[rank - lineRank])
    ++lineRank;
  places.resize(rank);
  for (unsigned dim = 0; dim < rank; ++dim)
    places[order[dim]] = dim;
  while (alongRank < rank &&
         places[rank - alongRank - 1] + 1 == places[rank - alongRank] &&
         keepsTail(operand, alongRank + 1))
    ++alongRank;
  for (int64_t dim : ArrayRef(order).drop_back(lineRank))
    if (dim < int64_t(rank - alongRank))
      outerDims.push_back(unsigned(dim));
  lines = constantOf(extent(to, rank - lineRank, rank));
  length = constantOf(extent(from, rank - alongRank, rank));
  if (lines < 2 || length < 2)
    return false;
  lanes = std::min<int64_t>(
      writer.target.lanes(),
      int64_t(llvm::PowerOf2Ceil(uint64_t(std::min(lines, length)))));
  if (traits.apart)
    findStrips();
  // In small squares most threads would have no element.
  if (traits.apart && !isStrip() && int64_t(lanes) < fewOfThreads)
    return false;
  lineBlock = std::min(lines, traits.manyTasks ? int64_t(lanes) : blockedLines);
  alongBlock =
      std::min(length, traits.manyTasks ? int64_t(lanes) : blockedElements);
  int64_t most = traits.manyTasks ? chunkElementsOfThreads : chunkElements;
  if (lines * length <= most)
    outerBlock = std::max<int64_t>(1, most / (lines * length));
  int64_t outer = constantOf(outerCount());
  if (traits.manyTasks && outer >= 0)
    outerBlock = std::clamp<int64_t>(outer / chunksOfThreads, 1, outerBlock);
  return true;
}

// Threads would read or write few elements side by side; but all lines together
// are neighbours in one of the tensors.
void TurnSkeleton::findStrips() {
  int64_t all = writer.target.lanes();
  auto areFew = [&](int64_t some, int64_t others) {
    return some <= fewOfThreads && llvm::isPowerOf2_64(uint64_t(some)) &&
           others >= all;
  };
  unsigned together = lineRank + alongRank;
  unsigned firstLine = unsigned(order[rank - lineRank]);
  hasFewLines =
      areFew(lines, length) && places[rank - alongRank] + together == rank;
  hasShortLines = areFew(length, lines) && firstLine + together == rank &&
                  keepsTail(operand, together);
  if (isStrip())
    lanes = unsigned(all);
}

void TurnSkeleton::run() {
  AffineExpr outer = outerCount();
  if (outerBlock > 1)
    lineBlock = lines, alongBlock = length;
  int64_t blocks = int64_t(llvm::divideCeil(lines, lineBlock) *
                           llvm::divideCeil(length, alongBlock));
  double elements = double(outerBlock * lineBlock * alongBlock);
  writer.addPhase(
      outer.ceilDiv(outerBlock) * blocks,
      elements * elementNanoseconds(writer.kernel.getBlock(), writer.target) /
          1000,
      [&](Emission &emission, Value chunk) { emitChunk(emission, chunk); });
}

void TurnSkeleton::emitChunk(Emission &emission, Value chunk) {
  if (outerBlock > 1) {
    Value size = emission.constant(outerBlock);
    Value begin = emission.mul(chunk, size);
    Value end =
        emission.min(emission.add(begin, size), emission.extent(outerCount()));
    Value zero = emission.constant(0);
    emission.loop(begin, end, 1, [&](Value number) {
      emitBlock(emission, number, zero, zero);
    });
    return;
  }
  Value lineBlocks = emission.constant(llvm::divideCeil(lines, lineBlock));
  Value alongBlocks = emission.constant(llvm::divideCeil(length, alongBlock));
  Value rest = emission.floorDiv(chunk, alongBlocks);
  emitBlock(emission, emission.floorDiv(rest, lineBlocks),
            emission.mod(rest, lineBlocks), emission.mod(chunk, alongBlocks));
}

void TurnSkeleton::eachStart(Emission &emission, Value begin, Value end,
                             int64_t size,
                             llvm::function_ref<void(Value)> emit) {
  int64_t count = lanes, last = std::max<int64_t>(0, size - count);
  emission.loop(begin, end, count, [&](Value at) {
    emit(size % count == 0 ? at : emission.min(at, emission.constant(last)));
  });
}

// Along lines outside: what is written then comes in streams.
void TurnSkeleton::emitBlock(Emission &emission, Value outer, Value lineNumber,
                             Value alongNumber) {
  auto rangeOf = [&](Value number, int64_t block, int64_t size) {
    Value begin = emission.mul(number, emission.constant(block));
    Value end = emission.add(begin, emission.constant(block));
    return std::pair(begin, size % block == 0
                                ? end
                                : emission.min(end, emission.constant(size)));
  };
  auto [line, lineEnd] = rangeOf(lineNumber, lineBlock, lines);
  auto [along, alongEnd] = rangeOf(alongNumber, alongBlock, length);
  eachStart(emission, along, alongEnd, length, [&](Value column) {
    eachStart(emission, line, lineEnd, lines, [&](Value row) {
      Place place{outer, row, column};
      isStrip() ? emitStrip(emission, place) : emitSquare(emission, place);
    });
  });
}

// The coordinates of dims [first, first + count) of `shape` that `flat` counts.
static SmallVector<Coord> spread(Emission &emission, const Shape &shape,
                                 unsigned first, unsigned count, Value flat) {
  if (count == 1)
    return {emission.uniform(flat)};
  Index index;
  index.tail = emission.uniform(flat);
  index.tailRank = count;
  return emission.coordinates(
      index, Shape(shape.begin() + first, shape.begin() + first + count));
}

// Where lanes along `at` begin in a tensor whose last `tailRank` dims they are
// counted by, at `other` of the `count` dims from `first` on. What stands right
// before the tail is counted with it.
Index TurnSkeleton::indexOf(Emission &emission, const Shape &shape,
                            MutableArrayRef<Coord> coordinates, unsigned first,
                            unsigned count, Value other, unsigned tailRank,
                            Value at, bool mayJoin) {
  Index index;
  if (mayJoin && first + count + tailRank == rank) {
    Value size = emission.extent(extent(shape, rank - tailRank, rank));
    at = emission.add(emission.mul(other, size), at);
    tailRank += count;
  } else {
    llvm::copy(spread(emission, shape, first, count, other),
               coordinates.begin() + first);
  }
  index.lead.assign(coordinates.begin(), coordinates.end() - tailRank);
  index.tail = emission.along(at, lanes);
  index.tailRank = tailRank;
  return index;
}

// Elements as numbers of their width: only bits are moved.
static Value bitsOf(Emission &emission, Value vector) {
  OpBuilder &builder = emission.builder;
  auto type = cast<VectorType>(vector.getType());
  unsigned width = type.getElementTypeBitWidth();
  Type bits = type.clone(builder.getIntegerType(std::max(8u, width)));
  if (width == 1)
    return arith::ExtUIOp::create(builder, emission.loc, bits, vector);
  return bits == type
             ? vector
             : arith::BitcastOp::create(builder, emission.loc, bits, vector);
}

static Value fromBits(Emission &emission, Value bits, Type type) {
  OpBuilder &builder = emission.builder;
  if (cast<VectorType>(type).getElementTypeBitWidth() == 1)
    return arith::TruncIOp::create(builder, emission.loc, type, bits);
  return bits.getType() == type
             ? bits
             : arith::BitcastOp::create(builder, emission.loc, type, bits);
}

void TurnSkeleton::placeOuter(Emission &emission, Value outer,
                              SmallVector<Coord> &read,
                              SmallVector<Coord> &written) {
  read.resize(rank);
  written.resize(rank);
  if (outerDims.empty())
    return;
  Shape shape =
      llvm::map_to_vector(outerDims, [&](unsigned dim) { return from[dim]; });
  SmallVector<Coord> coordinates =
      spread(emission, shape, 0, unsigned(shape.size()), outer);
  for (auto [dim, coord] : llvm::zip(outerDims, coordinates))
    read[dim] = written[places[dim]] = coord;
}

// On one side vectors lie along the long dims, on the other one they follow
// each other, all few elements of a place together.
void TurnSkeleton::emitStrip(Emission &emission, const Place &place) {
  SmallVector<Coord> read, written;
  placeOuter(emission, place.outer, read, written);
  int64_t count = hasFewLines ? lines : length;
  Value start = hasFewLines ? place.along : place.line;
  unsigned firstLine = unsigned(order[rank - lineRank]);
  unsigned firstAlong = places[rank - alongRank];
  auto joined = [&](ArrayRef<Coord> coordinates, int64_t number) {
    Value first = emission.mul(start, emission.constant(count));
    Index index;
    index.tailRank = lineRank + alongRank;
    index.lead.assign(coordinates.begin(), coordinates.end() - index.tailRank);
    index.tail = emission.along(
        emission.add(first, emission.constant(number * lanes)), lanes);
    return index;
  };
  auto indexRead = [&](int64_t number) {
    return hasFewLines ? indexOf(emission, from, read, firstLine, lineRank,
                                 emission.constant(number), alongRank, start,
                                 /*mayJoin=*/false)
                       : joined(read, number);
  };
  auto indexWritten = [&](int64_t number) {
    return hasFewLines ? joined(written, number)
                       : indexOf(emission, to, written, firstAlong, alongRank,
                                 emission.constant(number), lineRank, start,
                                 /*mayJoin=*/false);
  };
  const Lanes whole{lanes, {}, false};
  SmallVector<Value> vectors;
  Type type;
  for (int64_t number = 0; number < count; ++number) {
    Value vector = emission.vectorAt(operand, indexRead(number), whole);
    type = vector.getType();
    vectors.push_back(bitsOf(emission, vector));
  }
  int64_t stride = lanes + 1;
  vectors =
      exchangeInMemory(emission, vectors, size_t(count),
                       hasFewLines ? lanes / count : 1, [&](int64_t lane) {
                         int64_t at = lane * count;
                         return hasFewLines
                                    ? lane % count * stride + lane / count
                                    : at / lanes * stride + at % lanes;
                       });
  for (int64_t number = 0; number < count; ++number)
    storeOutputs(emission, indexWritten(number), whole,
                 Element{fromBits(emission, vectors[size_t(number)], type)});
}

void TurnSkeleton::emitSquare(Emission &emission, const Place &place) {
  SmallVector<Coord> read, written;
  placeOuter(emission, place.outer, read, written);
  auto masked = [&](int64_t size) {
    Lanes result{lanes, {}, false};
    if (size < int64_t(lanes))
      result.mask = emission.tailMask(emission.constant(size), lanes);
    return result;
  };
  unsigned firstLine = unsigned(order[rank - lineRank]);
  bool mayJoin = keepsTail(operand, lineRank + alongRank);
  SmallVector<Value> rows;
  Type type;
  for (unsigned i = 0; i < lanes; ++i) {
    if (int64_t(i) >= lines) {
      rows.push_back(rows.back());
      continue;
    }
    Value line = emission.add(place.line, emission.constant(i));
    Index index = indexOf(emission, from, read, firstLine, lineRank, line,
                          alongRank, place.along, mayJoin);
    Value row = emission.vectorAt(operand, index, masked(length));
    type = row.getType();
    rows.push_back(bitsOf(emission, row));
  }
  rows = turnSquares(emission, std::move(rows));
  unsigned firstAlong = places[rank - alongRank];
  for (unsigned i = 0; i < std::min<int64_t>(lanes, length); ++i) {
    Value along = emission.add(place.along, emission.constant(i));
    Index index = indexOf(emission, to, written, firstAlong, alongRank, along,
                          lineRank, place.line, /*mayJoin=*/true);
    storeOutputs(emission, index, masked(lines),
                 Element{fromBits(emission, rows[i], type)});
  }
}

void TurnSkeleton::storeOutputs(Emission &emission, const Index &index,
                                const Lanes &lanes, Element element) {
  emission.provide(turned, index, lanes, element);
  SmallVector<Element> elements;
  for (Value output : writer.kernel.getOutputs())
    elements.push_back(emission.at(output, index, lanes));
  for (auto [number, stored] : llvm::enumerate(elements))
    storeElements(emission, emission.buffers[writer.outputBuffer(number)],
                  writer.kernel.getOutputs()[number], index, lanes, stored);
}

// Whether the kernel only moves and maps elements, and stores what has the
// shape of `turned`. A core stores nothing else: other lines that
// it reads beside a square come from too many places at once.
static bool isTurn(const Target &target, program::KernelOp kernel,
                   Value turned) {
  OperandRange outputs = kernel.getOutputs();
  bool isAlone = outputs.size() == 1 && outputs[0] == turned;
  if (!target.traits().manyTasks && !isAlone)
    return false;
  auto maps = [](Operation &op) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (!described)
      return true;
    switch (described.getPatternKind()) {
    case graph::PatternKind::pointwise:
    case graph::PatternKind::view:
    case graph::PatternKind::source:
    case graph::PatternKind::random:
      return true;
    default:
      return false;
    }
  };
  Shape shape = shapeOf(turned);
  return llvm::all_of(kernel.getBlock(), maps) &&
         llvm::all_of(outputs,
                      [&](Value output) { return shapeOf(output) == shape; });
}

// Runs `use` with the first that applies.
static bool withTurn(KernelWriter &writer,
                     llvm::function_ref<void(TurnSkeleton &)> use) {
  for (Operation &op : writer.kernel.getBlock()) {
    auto map = ir::viewMapOf(&op);
    auto permutation = map ? map->permutation() : std::nullopt;
    if (!permutation || !isTurn(writer.target, writer.kernel, op.getResult(0)))
      continue;
    TurnSkeleton skeleton(writer, op.getResult(0),
                          {map->part().operand, std::move(*permutation)});
    if (!skeleton.applies())
      continue;
    use(skeleton);
    return true;
  }
  return false;
}

Fit fitOfTurn(KernelWriter &writer) {
  return withTurn(writer, [](TurnSkeleton &) {}) ? Fit::best : Fit::none;
}

void emitTurn(KernelWriter &writer) {
  withTurn(writer, [](TurnSkeleton &skeleton) { skeleton.run(); });
}

} // namespace sinter::compiler
