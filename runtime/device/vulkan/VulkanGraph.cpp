/// Records graphs, and gives their nodes new arguments. Kernels, those that
/// copy among them, read theirs from memory that the host fills for each
/// replay, so the commands stay as they are. Where a device has no kernel for a
/// copy, other addresses of that are recorded anew.
#include "runtime/device/vulkan/VulkanGraph.h"

#include "runtime/device/vulkan/VulkanLaunch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

/// A node as it is recorded.
struct Recorded {
  VulkanLaunch launch; ///< its words are in the graph's
  size_t firstWord = 0, wordCount = 0;
  CopyArgs copy; ///< without a launch's pipeline
  std::vector<uint32_t> after;
};

class VulkanGraph final : public WorkGraph {
public:
  VulkanGraph(const VulkanGpu &gpu, std::string device, VulkanQueue &queue,
              const VulkanMemory &memory, VulkanCopies &copies)
      : gpu(gpu), device(std::move(device)), queue(queue), memory(memory),
        copies(copies) {}
  ~VulkanGraph() override;

  Status build(std::span<const GraphNode> work, const WatchedWord &watched);
  Status setLaunch(uint32_t node, const LaunchArgs &args) override;
  Status setCopy(uint32_t node, const CopyArgs &args) override;
  Status launch() override;
  Result<uint64_t> waitForWord() override;

private:
  /// Commands of all nodes: those that the watched word follows, and the rest.
  /// The device may be at one while the host fills the arguments of another.
  struct Take {
    CommandBuffer first = nullptr, rest = nullptr; ///< no rest: all are first
    uint64_t value = 0; ///< of the queue, once the device is through
    bool isRecorded = false;
  };

  Status add(const GraphNode &work);
  void addWords(Recorded &node);
  /// Gives a node the words of `packed`, if it is the same launch.
  bool setWords(const Recorded &node);
  Status record(Take &take);
  Status recordPart(CommandBuffer &commands, const Take &take, size_t begin,
                    size_t end);
  Result<Take *> nextTake();
  Status recordNodes(CommandBuffer commands, const Take &take, size_t begin,
                     size_t end);
  Status recordNode(CommandBuffer commands, const Take &take,
                    const Recorded &node);
  Status recordWord(CommandBuffer commands);
  Status check(std::string_view what, Code code) const {
    if (code >= success)
      return {};
    return errorOf(fmt::format("{}: {}", device, what), code);
  }

  const VulkanGpu &gpu;
  const std::string device;
  VulkanQueue &queue;
  const VulkanMemory &memory;
  VulkanCopies &copies;
  std::vector<Recorded> nodes;
  std::vector<uint64_t> words; ///< of all launches
  VulkanBlock arguments;       ///< where they read them, a part for each take
  VulkanBlock wordSeen;        ///< of the host; none without a watched word
  const void *watchedAddress = nullptr;
  size_t watchedEnd = 0; ///< nodes that come before the word is read
  CommandPool pool = nullptr;
  std::array<Take, 3> takes;
  size_t current = 0;
  uint64_t wordValue = 0;
  VulkanLaunch packed; ///< keeps its memory
};

VulkanGraph::~VulkanGraph() {
  (void)queue.finish();
  if (pool)
    gpu.loader.destroyPool(gpu.device, pool, nullptr);
  VulkanBlock blocks[] = {arguments, wordSeen};
  for (VulkanBlock &block : blocks)
    freeBlock(gpu, block);
}

void VulkanGraph::addWords(Recorded &node) {
  node.firstWord = words.size();
  node.wordCount = node.launch.words.size();
  words.insert(words.end(), node.launch.words.begin(), node.launch.words.end());
}

Status VulkanGraph::add(const GraphNode &work) {
  Recorded node;
  node.after = work.after;
  if (work.copy.bytes > 0) {
    SINTER_TRY(copies.pack(work.copy, node.launch));
    if (!node.launch.pipeline)
      node.copy = work.copy;
  } else {
    SINTER_TRY(packLaunch(gpu, device, work.launch, node.launch));
    if (node.launch.columns == 0)
      return makeError(ErrorKind::internal,
                       fmt::format("{}: launch {} of a graph has no chunks",
                                   device, work.launch.block->launch));
  }
  addWords(node);
  nodes.push_back(std::move(node));
  return {};
}

Status VulkanGraph::build(std::span<const GraphNode> work,
                          const WatchedWord &watched) {
  for (const GraphNode &each : work)
    SINTER_TRY(add(each));
  watchedAddress = watched.address;
  for (uint32_t each : watched.after)
    watchedEnd = std::max<size_t>(watchedEnd, each + 1);
  if (!watched.address)
    watchedEnd = nodes.size();
  uint64_t bytes = std::max<size_t>(1, words.size()) * sizeof(uint64_t);
  SINTER_TRY(
      check("memory of a graph", makeBlock(gpu, bytes * takes.size(),
                                           VulkanPlace::arguments, arguments)));
  if (watched.address)
    SINTER_TRY(
        check("memory of a graph", makeBlock(gpu, sizeof(uint64_t),
                                             VulkanPlace::readback, wordSeen)));
  CommandPoolCreateInfo poolInfo;
  constexpr Flags resetsOne = 2;
  poolInfo.flags = resetsOne;
  poolInfo.family = gpu.about.family;
  SINTER_TRY(
      check("vkCreateCommandPool",
            gpu.loader.createPool(gpu.device, &poolInfo, nullptr, &pool)));
  // All now: how many are at work together, and so when the last of them is
  // needed, depends on the device's speed.
  for (Take &take : takes)
    SINTER_TRY(record(take));
  return {};
}

Status VulkanGraph::recordNode(CommandBuffer commands, const Take &take,
                               const Recorded &node) {
  if (!node.launch.pipeline) {
    if (node.copy.to == node.copy.from)
      return {};
    VulkanMemory::Place to = memory.placeOf(node.copy.to);
    VulkanMemory::Place from = memory.placeOf(node.copy.from);
    if (!to.buffer || !from.buffer)
      return makeError(ErrorKind::internal,
                       fmt::format("{}: a copy of memory that is not the "
                                   "device's",
                                   device));
    BufferCopy region{from.offset, to.offset, node.copy.bytes};
    gpu.loader.copyBuffer(commands, from.buffer, to.buffer, 1, &region);
    return {};
  }
  constexpr uint32_t computePoint = 1;
  size_t word = size_t(&take - takes.data()) * words.size() + node.firstWord;
  uint64_t address = arguments.address + word * sizeof(uint64_t);
  gpu.loader.bindPipeline(commands, computePoint, node.launch.pipeline);
  gpu.loader.push(commands, queue.layout(), computeStage, 0, sizeof(address),
                  &address);
  gpu.loader.dispatch(commands, node.launch.columns, node.launch.rows,
                      node.launch.layers);
  return {};
}

// A node waits where one of those that it follows came after the last barrier;
// a barrier is for all before it.
Status VulkanGraph::recordNodes(CommandBuffer commands, const Take &take,
                                size_t begin, size_t end) {
  // Behind what earlier commands did, copies of other memory among them.
  addBarrier(gpu, commands, VulkanOrder::work);
  bool copies = std::ranges::any_of(
      std::span(nodes).subspan(begin, end - begin),
      [](const Recorded &node) { return !node.launch.pipeline; });
  auto order = copies ? VulkanOrder::work : VulkanOrder::kernels;
  size_t unordered = begin;
  for (size_t number = begin; number < end; ++number) {
    const Recorded &node = nodes[number];
    bool waits = std::ranges::any_of(
        node.after, [&](uint32_t each) { return each >= unordered; });
    if (waits) {
      addBarrier(gpu, commands, order);
      unordered = number;
    }
    SINTER_TRY(recordNode(commands, take, node));
  }
  return {};
}

Status VulkanGraph::recordWord(CommandBuffer commands) {
  if (!watchedAddress)
    return {};
  VulkanMemory::Place from = memory.placeOf(watchedAddress);
  addBarrier(gpu, commands, VulkanOrder::work);
  BufferCopy region{from.offset, 0, sizeof(uint64_t)};
  gpu.loader.copyBuffer(commands, from.buffer, wordSeen.buffer, 1, &region);
  addBarrier(gpu, commands, VulkanOrder::host);
  return {};
}

Status VulkanGraph::recordPart(CommandBuffer &commands, const Take &take,
                               size_t begin, size_t end) {
  CommandBufferAllocateInfo info;
  info.pool = pool;
  if (!commands)
    SINTER_TRY(
        check("vkAllocateCommandBuffers",
              gpu.loader.allocateCommands(gpu.device, &info, &commands)));
  CommandBufferBeginInfo how;
  SINTER_TRY(check("vkBeginCommandBuffer", gpu.loader.begin(commands, &how)));
  SINTER_TRY(recordNodes(commands, take, begin, end));
  if (&commands == &take.first)
    SINTER_TRY(recordWord(commands));
  return check("vkEndCommandBuffer", gpu.loader.end(commands));
}

Status VulkanGraph::record(Take &take) {
  SINTER_TRY(recordPart(take.first, take, 0, watchedEnd));
  if (watchedEnd < nodes.size())
    SINTER_TRY(recordPart(take.rest, take, watchedEnd, nodes.size()));
  take.isRecorded = true;
  return {};
}

bool VulkanGraph::setWords(const Recorded &node) {
  if (packed.words.size() != node.wordCount ||
      packed.columns != node.launch.columns ||
      packed.rows != node.launch.rows || packed.layers != node.launch.layers ||
      packed.pipeline != node.launch.pipeline)
    return false;
  std::ranges::copy(packed.words, words.begin() + ptrdiff_t(node.firstWord));
  return true;
}

Status VulkanGraph::setLaunch(uint32_t number, const LaunchArgs &args) {
  SINTER_TRY(packLaunch(gpu, device, args, packed));
  if (!setWords(nodes[number]))
    return makeError(ErrorKind::internal,
                     fmt::format("{}: launch {} of a graph is another", device,
                                 args.block->launch));
  return {};
}

Status VulkanGraph::setCopy(uint32_t number, const CopyArgs &args) {
  Recorded &node = nodes[number];
  SINTER_TRY(copies.pack(args, packed));
  if (packed.pipeline && setWords(node))
    return {};
  // Addresses that are multiples of something else.
  for (Take &take : takes)
    take.isRecorded = false;
  node.copy = args;
  node.launch.pipeline = nullptr;
  if (packed.pipeline && node.wordCount == packed.words.size()) {
    node.launch = packed;
    setWords(node);
  }
  return {};
}

// The one that the device is through with, if it is the last.
Result<VulkanGraph::Take *> VulkanGraph::nextTake() {
  if (!queue.reached(takes[current].value))
    current = (current + 1) % takes.size();
  Take &take = takes[current];
  SINTER_TRY(queue.wait(take.value));
  if (!take.isRecorded)
    SINTER_TRY(record(take));
  return &take;
}

Status VulkanGraph::launch() {
  SINTER_TRY_ASSIGN(Take * take, nextTake());
  size_t bytes = words.size() * sizeof(uint64_t);
  if (bytes > 0)
    std::memcpy(arguments.mapped + size_t(take - takes.data()) * bytes,
                words.data(), bytes);
  SINTER_TRY_ASSIGN(wordValue, queue.replay(take->first, take->rest));
  take->value = wordValue + (take->rest ? 1 : 0);
  return {};
}

Result<uint64_t> VulkanGraph::waitForWord() {
  SINTER_TRY(queue.wait(wordValue));
  uint64_t word = 0;
  std::memcpy(&word, wordSeen.mapped, sizeof(word));
  return word;
}

} // namespace

Result<std::unique_ptr<WorkGraph>> sinter::runtime::makeVulkanGraph(
    const VulkanGpu &gpu, std::string device, VulkanQueue &queue,
    const VulkanMemory &memory, VulkanCopies &copies,
    std::span<const GraphNode> nodes, const WatchedWord &word) {
  auto graph = std::make_unique<VulkanGraph>(gpu, std::move(device), queue,
                                             memory, copies);
  SINTER_TRY(graph->build(nodes, word));
  return std::unique_ptr<WorkGraph>(std::move(graph));
}
