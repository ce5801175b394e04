/// Greedy shrinking: the large steps first, then smaller ones, to a fixed
/// point.
#include "tools/sinter/Shrink.h"
#include "tools/sinter/EditGraph.h"

#include <algorithm>

namespace sinter::cli {

using reference::Repro;

namespace {

class Shrinker {
public:
  Shrinker(const Repro &repro, const StillFails &stillFails,
           unsigned mostTrials)
      : best(repro), stillFails(stillFails), mostTrials(mostTrials) {}

  Shrunk run();

private:
  /// Takes the candidate when it fails.
  bool accept(const BoundGraph &candidate);
  bool accept(const std::optional<BoundGraph> &candidate) {
    return candidate && accept(*candidate);
  }
  BoundGraph bound() const { return {best.graph, best.inputs}; }
  bool dropOutputs();
  bool moveOutputs();
  bool cutValues();
  bool cutChunks(size_t length);
  void makeStatic();
  bool shrinkDims();
  bool shrinkExtent(int64_t extent);

  Repro best;
  const StillFails &stillFails;
  unsigned mostTrials;
  unsigned trials = 0;
};

} // namespace

bool Shrinker::accept(const BoundGraph &candidate) {
  if (trials == mostTrials || !bindsSymbols(candidate))
    return false;
  ++trials;
  Repro repro = best;
  repro.graph = candidate.graph;
  repro.inputs = candidate.inputs;
  if (!stillFails(repro))
    return false;
  best = std::move(repro);
  return true;
}

// One output alone, or, where it takes several, all but one.
bool Shrinker::dropOutputs() {
  std::vector<uint32_t> outputs = best.graph.outputs;
  if (outputs.size() < 2)
    return false;
  for (uint32_t output : outputs)
    if (accept(withOutputs(bound(), {output})))
      return true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<uint32_t> others = outputs;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (accept(withOutputs(bound(), others)))
      return true;
  }
  return false;
}

// Outputs become what they are computed from.
bool Shrinker::moveOutputs() {
  for (size_t i = 0; i < best.graph.outputs.size(); ++i)
    for (uint32_t operand : best.graph.values[best.graph.outputs[i]].operands) {
      if (best.graph.values[operand].op == graph::leafOp)
        continue;
      std::vector<uint32_t> outputs = best.graph.outputs;
      outputs[i] = operand;
      if (accept(withOutputs(bound(), outputs)))
        return true;
    }
  return false;
}

// Runs of values that become inputs.
bool Shrinker::cutChunks(size_t length) {
  bool changed = false;
  for (size_t start = 0;;) {
    std::vector<uint32_t> numbers = computedValues(best.graph);
    std::erase_if(numbers, [&](uint32_t number) {
      return std::ranges::count(best.graph.outputs, number) > 0;
    });
    if (start >= numbers.size())
      return changed;
    auto values = allValues(bound());
    if (!values)
      return changed;
    size_t end = std::min(numbers.size(), start + length);
    std::set<uint32_t> cut(numbers.begin() + static_cast<ptrdiff_t>(start),
                           numbers.begin() + static_cast<ptrdiff_t>(end));
    if (accept(withCuts(bound(), cut, *values)))
      changed = true; // what followed has taken the place
    else
      start = end;
  }
}

bool Shrinker::cutValues() {
  bool changed = false;
  for (size_t length = computedValues(best.graph).size(); length > 0;
       length /= 2)
    changed |= cutChunks(length);
  return changed;
}

void Shrinker::makeStatic() {
  if (best.graph.numSymbols > 0)
    accept(withConstantDims(bound()));
}

// To 1, or to half again and again, then, when it is small, by one.
bool Shrinker::shrinkExtent(int64_t extent) {
  constexpr int64_t small = 16;
  bool changed = false;
  while (extent > 1) {
    int64_t next = 0;
    for (int64_t each : {int64_t(1), extent / 2, extent - 1}) {
      bool isStep = each == extent - 1 && extent > small;
      if (isStep || !accept(withExtent(bound(), extent, each)))
        continue;
      next = each;
      break;
    }
    if (next == 0)
      return changed;
    changed = true;
    extent = next;
  }
  return changed;
}

bool Shrinker::shrinkDims() {
  if (best.graph.numSymbols > 0)
    return false;
  bool changed = false;
  for (int64_t extent : extentsOf(best.graph))
    changed |= shrinkExtent(extent);
  return changed;
}

Shrunk Shrinker::run() {
  makeStatic();
  bool changed = true;
  while (changed && trials < mostTrials) {
    changed = false;
    while (dropOutputs() || moveOutputs())
      changed = true;
    changed |= cutValues();
    changed |= shrinkDims();
  }
  return {std::move(best), trials};
}

Shrunk shrink(const Repro &repro, const StillFails &stillFails,
              unsigned mostTrials) {
  return Shrinker(repro, stillFails, mostTrials).run();
}

} // namespace sinter::cli
