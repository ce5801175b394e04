/// Records graphs, and gives their nodes new arguments. Launches read theirs
/// from memory that each replay fills first; only another copy is recorded
/// anew.
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
  CopyArgs copy;
  std::vector<uint32_t> after;
};

class VulkanGraph final : public WorkGraph {
public:
  VulkanGraph(const VulkanGpu &gpu, std::string device, VulkanQueue &queue,
              const VulkanMemory &memory)
      : gpu(gpu), device(std::move(device)), queue(queue), memory(memory) {}
  ~VulkanGraph() override;

  Status build(std::span<const GraphNode> work, const WatchedWord &watched);
  Status setLaunch(uint32_t node, const LaunchArgs &args) override;
  Status setCopy(uint32_t node, const CopyArgs &args) override;
  Status launch() override;
  Result<uint64_t> waitForWord() override;

private:
  /// Commands of all nodes: those that the watched word follows, and the rest.
  struct Take {
    CommandBuffer first = nullptr, rest = nullptr;
    uint64_t value = 0; ///< of the queue, once the device is through
  };

  Status add(const GraphNode &work);
  Status record();
  Status recordNodes(CommandBuffer commands, size_t begin, size_t end);
  Status recordNode(CommandBuffer commands, const Recorded &node);
  Status recordWord(CommandBuffer commands);
  void order(CommandBuffer commands) const;
  Status check(std::string_view what, Code code) const {
    if (code >= success)
      return {};
    return errorOf(fmt::format("{}: {}", device, what), code);
  }

  const VulkanGpu &gpu;
  const std::string device;
  VulkanQueue &queue;
  const VulkanMemory &memory;
  std::vector<Recorded> nodes;
  std::vector<uint64_t> words; ///< of all launches
  VulkanBlock arguments;       ///< where they read them
  VulkanBlock wordSeen;        ///< of the host; none without a watched word
  const void *watchedAddress = nullptr;
  size_t watchedEnd = 0; ///< nodes that come before the word is read
  CommandPool pool = nullptr;
  std::array<Take, 3> takes;
  size_t current = 0;
  bool isStale = true; ///< has to be recorded
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

Status VulkanGraph::add(const GraphNode &work) {
  Recorded node;
  node.after = work.after;
  node.copy = work.copy;
  if (work.copy.bytes == 0) {
    SINTER_TRY(packLaunch(gpu, device, work.launch, node.launch));
    if (node.launch.columns == 0)
      return makeError(ErrorKind::internal,
                       fmt::format("{}: launch {} of a graph has no chunks",
                                   device, work.launch.block->launch));
    node.firstWord = words.size();
    node.wordCount = node.launch.words.size();
    words.insert(words.end(), node.launch.words.begin(),
                 node.launch.words.end());
  }
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
  SINTER_TRY(check("memory of a graph",
                   makeBlock(gpu, bytes, VulkanPlace::device, arguments)));
  if (watched.address)
    SINTER_TRY(
        check("memory of a graph", makeBlock(gpu, sizeof(uint64_t),
                                             VulkanPlace::readback, wordSeen)));
  CommandPoolCreateInfo poolInfo;
  constexpr Flags resetsOne = 2;
  poolInfo.flags = resetsOne;
  poolInfo.family = gpu.about.family;
  return check("vkCreateCommandPool",
               gpu.loader.createPool(gpu.device, &poolInfo, nullptr, &pool));
}

void VulkanGraph::order(CommandBuffer commands) const {
  MemoryBarrier barrier;
  DependencyInfo info;
  info.memoryCount = 1;
  info.memory = &barrier;
  gpu.loader.barrier(commands, &info);
}

Status VulkanGraph::recordNode(CommandBuffer commands, const Recorded &node) {
  if (node.copy.bytes > 0) {
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
  uint64_t address = arguments.address + node.firstWord * sizeof(uint64_t);
  gpu.loader.bindPipeline(commands, computePoint, node.launch.pipeline);
  gpu.loader.push(commands, queue.layout(), computeStage, 0, sizeof(address),
                  &address);
  gpu.loader.dispatch(commands, node.launch.columns, node.launch.rows, 1);
  return {};
}

// A node waits where one of those that it follows came after the last barrier;
// a barrier is for all before it.
Status VulkanGraph::recordNodes(CommandBuffer commands, size_t begin,
                                size_t end) {
  order(commands);
  size_t unordered = begin;
  for (size_t number = begin; number < end; ++number) {
    const Recorded &node = nodes[number];
    bool waits = std::ranges::any_of(
        node.after, [&](uint32_t each) { return each >= unordered; });
    if (waits) {
      order(commands);
      unordered = number;
    }
    SINTER_TRY(recordNode(commands, node));
  }
  return {};
}

Status VulkanGraph::recordWord(CommandBuffer commands) {
  if (!watchedAddress)
    return {};
  VulkanMemory::Place from = memory.placeOf(watchedAddress);
  order(commands);
  BufferCopy region{from.offset, 0, sizeof(uint64_t)};
  gpu.loader.copyBuffer(commands, from.buffer, wordSeen.buffer, 1, &region);
  MemoryBarrier barrier;
  barrier.toStage = hostStage;
  barrier.toAccess = hostRead;
  DependencyInfo info;
  info.memoryCount = 1;
  info.memory = &barrier;
  gpu.loader.barrier(commands, &info);
  return {};
}

Status VulkanGraph::record() {
  current = (current + 1) % takes.size();
  Take &take = takes[current];
  SINTER_TRY(queue.wait(take.value));
  std::pair<CommandBuffer *, std::pair<size_t, size_t>> parts[] = {
      {&take.first, {0, watchedEnd}}, {&take.rest, {watchedEnd, nodes.size()}}};
  for (auto &[commands, range] : parts) {
    CommandBufferAllocateInfo info;
    info.pool = pool;
    if (!*commands)
      SINTER_TRY(
          check("vkAllocateCommandBuffers",
                gpu.loader.allocateCommands(gpu.device, &info, commands)));
    CommandBufferBeginInfo begin;
    begin.flags = submittedAtOnce;
    SINTER_TRY(
        check("vkBeginCommandBuffer", gpu.loader.begin(*commands, &begin)));
    SINTER_TRY(recordNodes(*commands, range.first, range.second));
    if (commands == &take.first)
      SINTER_TRY(recordWord(*commands));
    SINTER_TRY(check("vkEndCommandBuffer", gpu.loader.end(*commands)));
  }
  isStale = false;
  return {};
}

Status VulkanGraph::setLaunch(uint32_t number, const LaunchArgs &args) {
  const Recorded &node = nodes[number];
  SINTER_TRY(packLaunch(gpu, device, args, packed));
  if (packed.words.size() != node.wordCount ||
      packed.columns != node.launch.columns ||
      packed.rows != node.launch.rows ||
      packed.pipeline != node.launch.pipeline)
    return makeError(ErrorKind::internal,
                     fmt::format("{}: launch {} of a graph is another", device,
                                 args.block->launch));
  std::ranges::copy(packed.words, words.begin() + ptrdiff_t(node.firstWord));
  return {};
}

Status VulkanGraph::setCopy(uint32_t number, const CopyArgs &args) {
  CopyArgs &copy = nodes[number].copy;
  isStale |=
      copy.to != args.to || copy.from != args.from || copy.bytes != args.bytes;
  copy = args;
  return {};
}

Status VulkanGraph::launch() {
  if (isStale)
    SINTER_TRY(record());
  Take &take = takes[current];
  SINTER_TRY_ASSIGN(wordValue, queue.replay({words}, {arguments.buffer, 0},
                                            take.first, take.rest));
  take.value = wordValue + 1;
  return {};
}

Result<uint64_t> VulkanGraph::waitForWord() {
  SINTER_TRY(queue.wait(wordValue));
  uint64_t word = 0;
  std::memcpy(&word, wordSeen.mapped, sizeof(word));
  return word;
}

} // namespace

Result<std::unique_ptr<WorkGraph>>
sinter::runtime::makeVulkanGraph(const VulkanGpu &gpu, std::string device,
                                 VulkanQueue &queue, const VulkanMemory &memory,
                                 std::span<const GraphNode> nodes,
                                 const WatchedWord &word) {
  auto graph =
      std::make_unique<VulkanGraph>(gpu, std::move(device), queue, memory);
  SINTER_TRY(graph->build(nodes, word));
  return std::unique_ptr<WorkGraph>(std::move(graph));
}
