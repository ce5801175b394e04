/// Elements at positions.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <algorithm>

namespace sinter::onnx {

/// Positions that count from the end, from the beginning.
static Tensor fromBeginning(const Tensor &indices, Dim extent) {
  Tensor wide = indices.to(DType::i64);
  return where(wide < 0, plusSize(wide, extent), wide);
}

/// Whether an index operand is known and, if so, has no negative element.
static Tensor positions(Call &call, size_t input, Dim extent) {
  KnownRef known = call.value(input).known();
  bool isPlain = known && std::ranges::all_of(known->integers, [](Dim dim) {
                   return dim.value >= 0;
                 });
  Tensor indices = call.tensor(input).to(DType::i64);
  return isPlain ? indices : fromBeginning(indices, extent);
}

static void gatherRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank());
  Tensor indices = positions(call, 1, x.dim(axis));
  Tensor rows = index_select(x, reshape(indices, {-1}), axis);
  Dims whole = x.shape(), dims(whole.begin(), whole.begin() + axis);
  Dims middle = indices.shape();
  dims.insert(dims.end(), middle.begin(), middle.end());
  dims.insert(dims.end(), whole.begin() + axis + 1, whole.end());
  call.give(indices.rank() == 1 ? rows : reshape(rows, dims));
}

static void gatherElementsRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank());
  call.give(gather(x, positions(call, 1, x.dim(axis)), axis));
}

//===- Positions of several axes ------------------------------------------===//

/// Positions [.., k] in the first k of `dims` as numbers of a flat order.
static Tensor flatPositions(Call &call, const Tensor &indices,
                            const Dims &dims) {
  int64_t last = indices.rank() - 1;
  Tensor flat;
  for (size_t i = 0; i < dims.size(); ++i) {
    Tensor at = select(indices, last, int64_t(i));
    at = where(at < 0, plusSize(at, dims[i]), at);
    flat = i == 0 ? at : timesSize(flat, dims[i]) + at;
  }
  if (!flat.defined())
    call.unsupported("positions of no axes");
  return flat;
}

static void gatherNdRule(Call &call) {
  Tensor x = call.tensor(0), indices = call.tensor(1).to(DType::i64);
  int64_t batch = call.integer("batch_dims");
  Dims dims = x.shape(), at = indices.shape();
  if (at.empty() || batch < 0 || batch >= indices.rank() ||
      batch + fixed(at.back()) > x.rank())
    call.invalid("the indices do not fit the tensor");
  auto depth = fixed(at.back());
  Dims inner(dims.begin() + batch, dims.begin() + batch + depth);
  Tensor flat = flatPositions(call, indices, inner);
  Dim batches = 1, places = 1, count = 1;
  for (int64_t i = 0; i < batch; ++i)
    batches = batches * dims[size_t(i)];
  for (Dim dim : inner)
    places = places * dim;
  for (size_t i = size_t(batch); i + 1 < at.size(); ++i)
    count = count * at[i];
  Tensor rows = reshape(flat, {batches, count});
  if (batch > 0)
    rows = rows + timesSize(iota({batches, count}, 0, {DType::i64, x.device()}),
                            places);
  Dims shape{batches * places}, result(at.begin(), at.end() - 1);
  for (int64_t i = batch + depth; i < x.rank(); ++i) {
    shape.push_back(dims[size_t(i)]);
    result.push_back(dims[size_t(i)]);
  }
  Tensor taken = index_select(reshape(x, shape), reshape(rows, {-1}), 0);
  call.give(reshape(taken, result));
}

namespace {
/// How updates meet what stands at their places.
enum class Meeting : uint8_t { assign, add, mul, max, min };
} // namespace

static Meeting meetingOf(Call &call, std::string_view name) {
  if (name == "none")
    return Meeting::assign;
  if (name == "add")
    return Meeting::add;
  if (name == "mul")
    return Meeting::mul;
  if (name == "max")
    return Meeting::max;
  if (name == "min")
    return Meeting::min;
  call.invalid("reduction '" + std::string(name) + "'");
}

static Tensor scattered(const Tensor &x, const Tensor &indices,
                        const Tensor &updates, int64_t axis, Meeting meeting) {
  switch (meeting) {
  case Meeting::assign:
    return scatter(x, indices, updates, axis);
  case Meeting::add:
    return scatter_add(x, indices, updates, axis);
  case Meeting::mul:
    return scatter_prod(x, indices, updates, axis);
  case Meeting::max:
    return scatter_amax(x, indices, updates, axis);
  case Meeting::min:
    return scatter_amin(x, indices, updates, axis);
  }
  return x;
}

/// Bools are scattered as bytes.
static Tensor scatteredAny(const Tensor &x, const Tensor &indices,
                           const Tensor &updates, int64_t axis,
                           Meeting meeting) {
  if (x.dtype() != DType::boolean)
    return scattered(x, indices, updates, axis, meeting);
  return scattered(x.to(DType::u8), indices, updates.to(DType::u8), axis,
                   meeting)
      .to(DType::boolean);
}

static void scatterElementsRule(Call &call) {
  Tensor x = call.tensor(0), updates = call.tensor(2);
  if (updates.dtype() != x.dtype())
    call.invalid("the updates have another dtype");
  int64_t axis = call.axis("axis", x.rank());
  Meeting meeting = call.opset() >= 16 ? meetingOf(call, call.text("reduction"))
                                       : Meeting::assign;
  call.give(
      scatteredAny(x, positions(call, 1, x.dim(axis)), updates, axis, meeting));
}

static void scatterNdRule(Call &call) {
  Tensor x = call.tensor(0), indices = call.tensor(1).to(DType::i64);
  Tensor updates = call.tensor(2);
  if (updates.dtype() != x.dtype())
    call.invalid("the updates have another dtype");
  Dims dims = x.shape(), at = indices.shape();
  if (at.empty() || fixed(at.back()) > x.rank())
    call.invalid("the indices do not fit the tensor");
  int64_t depth = fixed(at.back());
  Dim places = 1, width = 1, count = 1;
  Dims inner(dims.begin(), dims.begin() + depth);
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < depth ? places : width) =
        (i < depth ? places : width) * dims[size_t(i)];
  for (size_t i = 0; i + 1 < at.size(); ++i)
    count = count * at[i];
  Meeting meeting = call.opset() >= 16 ? meetingOf(call, call.text("reduction"))
                                       : Meeting::assign;
  Tensor flat = reshape(flatPositions(call, indices, inner), {count, Dim(1)});
  Tensor rows = broadcast(flat, {count, width});
  Tensor result = scatteredAny(reshape(x, {places, width}), rows,
                               reshape(updates, {count, width}), 0, meeting);
  call.give(reshape(result, x.shape()));
}

/// Updates along an axis from a place of its own for each batch, which goes
/// round in mode `circular`.
static void tensorScatterRule(Call &call) {
  Tensor cache = call.tensor(0), update = call.tensor(1);
  int64_t axis = call.axis("axis", cache.rank());
  std::string mode = call.text("mode");
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    call.invalid("mode '" + mode + "' along axis " + std::to_string(axis));
  Tensor places = iota(update.shape(), axis, {DType::i64, cache.device()});
  if (call.has(2))
    places = places + alongAxis(call.tensor(2).to(DType::i64), 0, cache.rank());
  if (mode == "circular")
    places = remainder(places, fixed(cache.dim(axis)));
  call.give(scatteredAny(cache, places, update, axis, Meeting::assign));
}

/// The first elements of each row of the batch in reverse order, as many as its
/// length says.
static void reverseSequenceRule(Call &call) {
  Tensor x = call.tensor(0), lengths = call.tensor(1).to(DType::i64);
  int64_t time = call.axis("time_axis", x.rank());
  int64_t batch = call.axis("batch_axis", x.rank());
  if (time == batch)
    call.invalid("the axes are one");
  Tensor place = iota(x.shape(), time, {DType::i64, x.device()});
  Tensor length = alongAxis(lengths, batch, x.rank());
  call.give(gather(x, where(place < length, length - 1 - place, place), time));
}

//===- Searching and sorting ----------------------------------------------===//

static void topkRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank());
  int64_t k = call.opset() < 10 ? call.integer("k") : call.integer(1, "k");
  bool isLargest = call.opset() < 11 || call.flag("largest");
  Sorted found = topk(x, k, axis, isLargest);
  call.give(0, found.values);
  call.give(1, found.indices);
}

/// Depth, then what stands elsewhere and at the index; negative indices count
/// from the end, others that are out of range give no 1.
static void oneHotRule(Call &call) {
  Tensor indices = call.tensor(0), values = call.tensor(2);
  auto depth = int64_t(call.real(1, "depth"));
  int64_t rank = indices.rank() + 1, axis = call.axis("axis", rank);
  Tensor wide = indices.to(DType::i64);
  wide = unsqueeze(where(wide < 0, wide + depth, wide), axis);
  Dims shape = wide.shape();
  shape[size_t(axis)] = Dim(depth);
  Tensor isThere =
      broadcast(wide, shape) == iota(shape, axis, {DType::i64, wide.device()});
  call.give(where(isThere, select(values, 0, 1), select(values, 0, 0)));
}

static constexpr Operator rows[] = {
    {"Gather", 1, 0, "axis:int=0", gatherRule},
    {"GatherElements", 11, 0, "axis:int=0", gatherElementsRule},
    {"GatherND", 11, 0, "batch_dims:int=0", gatherNdRule},
    {"Scatter", 9, 0, "axis:int=0 reduction:string=none", scatterElementsRule},
    {"ScatterElements", 11, 15, "axis:int=0", scatterElementsRule},
    {"ScatterElements", 16, 0, "axis:int=0 reduction:string=none",
     scatterElementsRule},
    {"ScatterND", 11, 15, "", scatterNdRule},
    {"ScatterND", 16, 0, "reduction:string=none", scatterNdRule},
    {"TensorScatter", 24, 0, "axis:int=-2 mode:string=linear",
     tensorScatterRule},
    {"ReverseSequence", 10, 0, "batch_axis:int=1 time_axis:int=0",
     reverseSequenceRule},
    {"TopK", 1, 9, "axis:int=-1 k:int!", topkRule},
    {"TopK", 10, 10, "axis:int=-1", topkRule},
    {"TopK", 11, 0, "axis:int=-1 largest:int=1 sorted:int=1", topkRule},
    {"OneHot", 9, 0, "axis:int=-1", oneHotRule},
};

std::span<const Operator> indexRows() { return rows; }

} // namespace sinter::onnx
