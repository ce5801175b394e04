/// Lanes that change their places: an exchange for each element of a thread
/// that any thread wants.
#include "compiler/target/simt/LanePermute.h"

#include "compiler/target/simt/LaneTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

using namespace mlir;

namespace sinter::compiler {
namespace {

// Where a thread finds its element: a thread's slot of a vector.
struct Place {
  unsigned vector = 0;
  int64_t slot = 0;
  int64_t thread = 0;
};

class Permutation {
public:
  Permutation(LaneThreads &threads, Location loc, ArrayRef<LaneValue> vectors)
      : threads(threads), loc(loc), vectors(vectors) {
    for (const LaneValue &each : vectors)
      slots.push_back(threads.slots(each.value, each.type));
  }

  Place placeOf(const LaneSource &source, int64_t reader) const {
    VectorType type = vectors[source.vector].type;
    int64_t lanes = type.getNumElements(), count = threads.perThread(type);
    if (lanes >= threads.size())
      return {source.vector, source.lane % count, source.lane / count};
    // Every lanes-th thread has it: the reader itself, if it can be.
    int64_t own = reader / lanes * lanes + source.lane;
    return {source.vector, 0, own};
  }

  // The element that each thread finds at its place.
  Value gather(ArrayRef<Place> places) {
    std::map<std::pair<unsigned, int64_t>, SmallVector<int64_t>> readers;
    for (auto [reader, place] : llvm::enumerate(places))
      readers[{place.vector, place.slot}].push_back(int64_t(reader));
    Value result;
    for (const auto &[key, list] : readers) {
      Value value = exchange(slots[key.first][key.second], places, list);
      if (!result) {
        result = value;
        continue;
      }
      SmallVector<bool> wants(places.size(), false);
      for (int64_t reader : list)
        wants[reader] = true;
      Value flag = tableFlag(threads.builder, loc, threads.thread(), wants);
      result =
          arith::SelectOp::create(threads.builder, loc, flag, value, result);
    }
    return result;
  }

private:
  Value exchange(Value value, ArrayRef<Place> places,
                 ArrayRef<int64_t> readers) {
    bool stays = llvm::all_of(readers, [&](int64_t reader) {
      return places[reader].thread == reader;
    });
    if (stays)
      return value;
    // Threads that do not want it may get anything: on along the line, so that
    // the table is one more often.
    SmallVector<int64_t> table(places.size(), 0);
    int64_t first = readers.front(), step = 0;
    if (readers.size() > 1) {
      int64_t run = readers[1] - first;
      int64_t rise = places[readers[1]].thread - places[first].thread;
      step = rise % run == 0 ? rise / run : 0;
    }
    int64_t size = threads.size();
    for (int64_t reader = 0; reader < size; ++reader) {
      int64_t guess = places[first].thread + (reader - first) * step;
      table[reader] = (guess % size + size) % size;
    }
    bool isLine = llvm::all_of(readers, [&](int64_t reader) {
      return table[reader] == places[reader].thread;
    });
    if (!isLine)
      for (int64_t reader = 0; reader < size; ++reader)
        table[reader] = places[reader].thread;
    return threads.from(
        loc, value, tableValue(threads.builder, loc, threads.thread(), table));
  }

  LaneThreads &threads;
  Location loc;
  ArrayRef<LaneValue> vectors;
  SmallVector<LaneThreads::Slots> slots;
};

} // namespace

Value permuteLanes(LaneThreads &threads, Location loc,
                   ArrayRef<LaneValue> vectors, VectorType result,
                   llvm::function_ref<LaneSource(int64_t)> from) {
  Permutation permutation(threads, loc, vectors);
  int64_t lanes = result.getNumElements(), count = threads.perThread(result);
  LaneThreads::Slots slots;
  for (int64_t slot = 0; slot < count; ++slot) {
    SmallVector<Place> places;
    for (int64_t reader = 0; reader < threads.size(); ++reader) {
      int64_t lane =
          lanes < threads.size() ? reader % lanes : reader * count + slot;
      places.push_back(permutation.placeOf(from(lane), reader));
    }
    slots.push_back(permutation.gather(places));
  }
  return threads.join(slots, result);
}

} // namespace sinter::compiler
