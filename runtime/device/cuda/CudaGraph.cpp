/// Builds graphs of launches and copies, and gives their nodes new arguments.
#include "runtime/device/cuda/CudaGraph.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace {

/// What stands in the host's word until the device has written it: no error
/// word is this.
constexpr uint64_t notWritten = UINT64_MAX - 1;

Address addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

class CudaGraph final : public WorkGraph {
public:
  CudaGraph(const LaunchTarget &target, Context context, Stream stream)
      : target(target), driver(target.driver), context(context),
        stream(stream) {}
  ~CudaGraph() override;

  Status build(std::span<const GraphNode> work, const WatchedWord &watched,
               WordReporter &reporter);
  Status setLaunch(uint32_t node, const LaunchArgs &args) override;
  Status setCopy(uint32_t node, const CopyArgs &args) override;
  Status launch() override;
  Result<uint64_t> waitForWord() override;

private:
  Status add(const GraphNode &work);
  Status addWatched(const WatchedWord &watched, WordReporter &reporter);
  Status pack(const LaunchArgs &args);
  std::vector<Node> handlesOf(std::span<const uint32_t> after) const;
  Status addKernel(std::span<const uint32_t> after, Node &node);
  bool mayOverlap(uint32_t before) const;
  Status enter() const {
    return check("cuCtxSetCurrent", driver.setContext(context));
  }
  Status check(std::string_view what, Code code) const {
    if (code == success)
      return {};
    return driver.error(fmt::format("{}: {}", target.device, what), code);
  }

  const LaunchTarget target;
  const Driver &driver;
  const Context context;
  const Stream stream;
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  struct Begun {
    bool waits = false; ///< a kernel that does so by itself
    uint32_t residentBytes = 0;
  };
  std::vector<Node> nodes;
  std::vector<Begun> begun; ///< of each node
  CudaLaunch packed;        ///< keeps its memory
  KernelNode kernelNode;    ///< of the launch packed last
  /// Of the host, that the device writes; null without a watched word.
  std::atomic<uint64_t> *word = nullptr;
};

CudaGraph::~CudaGraph() {
  driver.setContext(context);
  // Queued launches of it still run, and write the word.
  driver.synchronize(stream);
  if (exec)
    driver.destroyGraphExec(exec);
  if (graph)
    driver.destroyGraph(graph);
  if (word)
    driver.freeHost(word);
}

std::vector<Node> CudaGraph::handlesOf(std::span<const uint32_t> after) const {
  std::vector<Node> handles;
  for (uint32_t each : after)
    handles.push_back(nodes[each]);
  return handles;
}

Status CudaGraph::pack(const LaunchArgs &args) {
  SINTER_TRY(packLaunch(target, args, packed));
  if (packed.isEmpty())
    return makeError(ErrorKind::internal,
                     fmt::format("{}: launch {} of a graph has no chunks",
                                 target.device, args.block->launch));
  kernelNode.function = packed.function;
  std::ranges::copy(packed.grid, kernelNode.grid);
  std::ranges::copy(packed.block, kernelNode.block);
  kernelNode.sharedBytes = packed.sharedBytes;
  kernelNode.parameters = packed.parameters.data();
  return {};
}

static CopyNode nodeOf(const CopyArgs &args) {
  CopyNode node;
  node.from.memory = node.to.memory = deviceMemory;
  node.from.device = addressOf(args.from);
  node.to.device = addressOf(args.to);
  node.width = args.bytes;
  return node;
}

/// What shared memory leaves of a multiprocessor's memory as a cache: 28 KB,
/// and what blocks do not take (CUDA Programming Guide, compute capabilities
/// 8.0 to 12.0).
static int64_t cacheBytes(const LaunchTarget &target, uint32_t residentBytes) {
  constexpr int64_t least = 28 << 10;
  return least +
         std::max<int64_t>(0, target.sharedBytes - int64_t(residentBytes));
}

// A multiprocessor keeps its split of shared memory and cache while it has
// blocks, so what starts behind a kernel with much shared memory has the cache
// that this one leaves, until its own blocks end. To warps that read whole
// lines once it is all the same.
bool CudaGraph::mayOverlap(uint32_t before) const {
  if (!packed.waits || !begun[before].waits || !driver.addEdges)
    return false;
  return !packed.gathers ||
         2 * cacheBytes(target, begun[before].residentBytes) >=
             cacheBytes(target, packed.residentBytes);
}

// A kernel that waits by itself starts while kernels before it that do so too
// still run, where it may: that hides what a launch takes.
Status CudaGraph::addKernel(std::span<const uint32_t> after, Node &node) {
  std::vector<Node> ended, running;
  for (uint32_t each : after) {
    (mayOverlap(each) ? running : ended).push_back(nodes[each]);
  }
  SINTER_TRY(check("cuGraphAddKernelNode",
                   driver.addKernelNode(&node, graph, ended.data(),
                                        ended.size(), &kernelNode)));
  if (running.empty())
    return {};
  std::vector<Node> behind(running.size(), node);
  std::vector<Edge> edges(running.size(), startsEarly);
  return check("cuGraphAddDependencies",
               driver.addEdges(graph, running.data(), behind.data(),
                               edges.data(), edges.size()));
}

Status CudaGraph::add(const GraphNode &work) {
  Node node = nullptr;
  if (work.copy.bytes > 0) {
    std::vector<Node> after = handlesOf(work.after);
    CopyNode copy = nodeOf(work.copy);
    SINTER_TRY(check("cuGraphAddMemcpyNode",
                     driver.addCopyNode(&node, graph, after.data(),
                                        after.size(), &copy, context)));
  } else {
    SINTER_TRY(pack(work.launch));
    SINTER_TRY(addKernel(work.after, node));
  }
  nodes.push_back(node);
  begun.push_back(work.copy.bytes == 0
                      ? Begun{packed.waits, packed.residentBytes}
                      : Begun{});
  return {};
}

Status CudaGraph::addWatched(const WatchedWord &watched,
                             WordReporter &reporter) {
  if (!watched.address)
    return {};
  void *memory = nullptr;
  SINTER_TRY(check("cuMemHostAlloc",
                   driver.allocateHost(&memory, sizeof(uint64_t), 0)));
  word = new (memory) std::atomic<uint64_t>(notWritten);
  WordReporter::Words words{addressOf(watched.address), addressOf(memory)};
  void *arguments[] = {&words};
  KernelNode report;
  SINTER_TRY_ASSIGN(report.function, reporter.kernel());
  report.parameters = arguments;
  std::vector<Node> after = handlesOf(watched.after);
  Node node = nullptr;
  return check(
      "cuGraphAddKernelNode",
      driver.addKernelNode(&node, graph, after.data(), after.size(), &report));
}

Status CudaGraph::build(std::span<const GraphNode> work,
                        const WatchedWord &watched, WordReporter &reporter) {
  SINTER_TRY(enter());
  SINTER_TRY(check("cuGraphCreate", driver.createGraph(&graph, 0)));
  for (const GraphNode &each : work)
    SINTER_TRY(add(each));
  SINTER_TRY(addWatched(watched, reporter));
  return check("cuGraphInstantiate", driver.instantiateGraph(&exec, graph, 0));
}

Status CudaGraph::setLaunch(uint32_t node, const LaunchArgs &args) {
  SINTER_TRY(enter());
  SINTER_TRY(pack(args));
  Code code = driver.setKernelNode(exec, nodes[node], &kernelNode);
  if (code == success)
    return {};
  return check(fmt::format("launch {} of a graph", args.block->launch), code);
}

Status CudaGraph::setCopy(uint32_t node, const CopyArgs &args) {
  SINTER_TRY(enter());
  CopyNode copy = nodeOf(args);
  return check("copy of a graph",
               driver.setCopyNode(exec, nodes[node], &copy, context));
}

Status CudaGraph::launch() {
  SINTER_TRY(enter());
  if (word)
    word->store(notWritten, std::memory_order_relaxed);
  return check("cuGraphLaunch", driver.launchGraph(exec, stream));
}

Result<uint64_t> CudaGraph::waitForWord() {
  // Looking at the word takes a microsecond after it was written; an event or
  // the stream would wait for nodes that do not matter.
  constexpr unsigned looksPerQuery = 1024;
  SINTER_TRY(enter());
  while (true) {
    for (unsigned i = 0; i < looksPerQuery; ++i) {
      uint64_t found = word->load(std::memory_order_acquire);
      if (found != notWritten)
        return found;
    }
    // After a fault nobody writes it.
    Code code = driver.queryStream(stream);
    if (code == notReady) {
      std::this_thread::yield();
      continue;
    }
    SINTER_TRY(check("a graph", code));
    uint64_t found = word->load(std::memory_order_acquire);
    if (found != notWritten)
      return found;
    return makeError(ErrorKind::internal,
                     target.device + ": a graph ended without its word");
  }
}

} // namespace

Result<std::unique_ptr<WorkGraph>>
sinter::runtime::makeCudaGraph(const LaunchTarget &target, Context context,
                               Stream stream, WordReporter &reporter,
                               std::span<const GraphNode> nodes,
                               const WatchedWord &word) {
  auto graph = std::make_unique<CudaGraph>(target, context, stream);
  SINTER_TRY(graph->build(nodes, word, reporter));
  return std::unique_ptr<WorkGraph>(std::move(graph));
}
