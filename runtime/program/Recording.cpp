/// Makes graphs of a run's work, keeps them and gives them new addresses.
#include "runtime/program/Recording.h"

#include "runtime/support/WorkTimes.h"

#include <algorithm>
#include <chrono>

using namespace sinter;
using namespace sinter::runtime;

/// What runs at once in a graph.
static constexpr uint32_t numLanes = 4;

//===- Recording ----------------------------------------------------------===//

static MemoryRange rangeOf(const void *address, uint64_t bytes) {
  return {reinterpret_cast<uintptr_t>(address), size_t(bytes)};
}

Status Recorder::launch(const LaunchArgs &args) {
  if (args.chunks <= 0)
    return {};
  const StepData &step = program.steps[args.block->launch];
  uint32_t inputs = program.kernels[step.kernel].numInputs;
  RecordedWork piece;
  piece.launch = args;
  piece.block = *args.block;
  piece.buffers.assign(args.block->buffers,
                       args.block->buffers + args.numBuffers);
  for (uint32_t i = 0; i < args.numBuffers; ++i) {
    uint64_t bytes = bufferBytes(program, plan, step.buffers[i]);
    if (bytes > 0)
      (i < inputs ? piece.touched.reads : piece.touched.writes)
          .push_back(rangeOf(piece.buffers[i], bytes));
  }
  piece.touched.reports = step.errorNode >= 0;
  add(std::move(piece));
  return {};
}

Status Recorder::copy(const CopyArgs &args) {
  if (args.bytes == 0 || args.to == args.from)
    return {};
  RecordedWork piece;
  piece.copy = args;
  piece.touched.reads = {rangeOf(args.from, args.bytes)};
  piece.touched.writes = {rangeOf(args.to, args.bytes)};
  add(std::move(piece));
  return {};
}

void Recorder::add(RecordedWork piece) {
  tooLong |= work.size() == mostWork;
  if (tooLong)
    return;
  for (const MemoryRange &written : piece.touched.writes)
    for (const MemoryRange &given : overwritten)
      piece.touched.overwrites |= written.overlaps(given);
  work.push_back(std::move(piece));
}

/// The graph nodes of one part.
static std::vector<GraphNode> nodesOf(std::span<RecordedWork> work,
                                      std::span<const WorkPlace> places,
                                      uint32_t part) {
  std::vector<GraphNode> nodes;
  for (size_t i = 0; i < work.size(); ++i) {
    if (places[i].part != part)
      continue;
    RecordedWork &piece = work[i];
    piece.part = part;
    piece.node = uint32_t(nodes.size());
    GraphNode node;
    node.copy = piece.copy;
    piece.block.buffers = piece.buffers.data();
    piece.launch.block = &piece.block;
    node.launch = piece.launch;
    for (uint32_t other : places[i].after)
      node.after.push_back(work[other].node);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::unique_ptr<RecordedRun>>
RecordedRun::make(Device &device, std::vector<RecordedWork> work,
                  const void *errorWord) {
  WorkTimer timer(Work::graphs);
  std::vector<WorkItem> items;
  for (RecordedWork &piece : work)
    items.push_back(std::exchange(piece.touched, {}));
  std::vector<WorkPlace> places = orderWork(items, numLanes);
  uint32_t numParts = 0;
  for (const WorkPlace &place : places)
    numParts = std::max(numParts, place.part + 1);
  auto run = std::make_unique<RecordedRun>();
  for (uint32_t part = 0; part < numParts; ++part) {
    std::vector<GraphNode> nodes = nodesOf(work, places, part);
    WatchedWord word;
    for (size_t i = 0; i < work.size(); ++i)
      if (places[i].part == part && items[i].reports)
        word.after.push_back(work[i].node);
    bool reports = !word.after.empty();
    if (reports)
      word.address = errorWord;
    SINTER_TRY_ASSIGN(auto graph, device.makeGraph(nodes, word));
    run->parts.push_back({std::move(graph), reports});
  }
  run->work = std::move(work);
  return run;
}

//===- Repeating ----------------------------------------------------------===//

Status RecordedRun::setLaunch(size_t number, const LaunchArgs &args,
                              bool &fits) {
  RecordedWork &piece = work[number];
  fits = piece.launch.function == args.function &&
         piece.launch.chunks == args.chunks &&
         piece.buffers.size() == args.numBuffers;
  std::span<void *const> buffers(args.block->buffers, args.numBuffers);
  if (!fits || std::ranges::equal(piece.buffers, buffers))
    return {};
  SINTER_TRY(parts[piece.part].graph->setLaunch(piece.node, args));
  piece.buffers.assign(buffers.begin(), buffers.end());
  return {};
}

Status RecordedRun::setCopy(size_t number, const CopyArgs &args, bool &fits) {
  RecordedWork &piece = work[number];
  fits = !piece.launch.function && piece.copy.bytes == args.bytes;
  if (!fits || (piece.copy.to == args.to && piece.copy.from == args.from))
    return {};
  SINTER_TRY(parts[piece.part].graph->setCopy(piece.node, args));
  piece.copy = args;
  return {};
}

Result<uint64_t> RecordedRun::launch(uint64_t &waitNanoseconds) {
  using Clock = std::chrono::steady_clock;
  for (Part &part : parts) {
    SINTER_TRY(part.graph->launch());
    if (!part.reports)
      continue;
    Clock::time_point begin = Clock::now();
    SINTER_TRY_ASSIGN(uint64_t word, part.graph->waitForWord());
    waitNanoseconds += uint64_t((Clock::now() - begin).count());
    if (word != noError)
      return word;
  }
  return noError;
}

Status Updater::launch(const LaunchArgs &args) {
  if (args.chunks <= 0 || !same)
    return {};
  same = next < run.size();
  if (same)
    SINTER_TRY(run.setLaunch(next++, args, same));
  return {};
}

Status Updater::copy(const CopyArgs &args) {
  if (args.bytes == 0 || args.to == args.from || !same)
    return {};
  same = next < run.size();
  if (same)
    SINTER_TRY(run.setCopy(next++, args, same));
  return {};
}

//===- Keeping ------------------------------------------------------------===//

RecordedRuns::Lease
RecordedRuns::take(const std::shared_ptr<const BoundPlan> &plan,
                   std::span<const uint32_t> granted) {
  std::unique_ptr<Entry> dropped; // after the lock: it may wait
  std::lock_guard lock(mutex);
  Entry *oldest = nullptr;
  for (const std::unique_ptr<Entry> &entry : entries) {
    if (entry->plan == plan && std::ranges::equal(entry->granted, granted)) {
      if (entry->isTaken || entry->isRefused)
        return {};
      entry->isTaken = true;
      entry->lastUse = ++uses;
      return {*this, *entry};
    }
    if (!entry->isTaken && (!oldest || entry->lastUse < oldest->lastUse))
      oldest = entry.get();
  }
  if (entries.size() == mostEntries) {
    if (!oldest)
      return {};
    auto place =
        std::ranges::find(entries, oldest, &std::unique_ptr<Entry>::get);
    dropped = std::move(*place);
    entries.erase(place);
  }
  auto entry = std::make_unique<Entry>();
  entry->plan = plan;
  entry->granted.assign(granted.begin(), granted.end());
  entry->lastUse = ++uses;
  entries.push_back(std::move(entry));
  return {};
}

void RecordedRuns::release(Entry &entry) {
  std::lock_guard lock(mutex);
  entry.isTaken = false;
}
