/// The driver's functions over host memory.
#include "tests/unit/cuda/FakeDriver.h"

#include "runtime/device/KernelAbi.h"
#include "runtime/device/cuda/WordReporter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

using namespace sinter::runtime;
using namespace sinter::runtime::cuda;
using sinter::test::devices;
using sinter::test::FakeDriver;

extern "C" {
void scale(const KernelBlock *, char *, int64_t, int64_t);
void add(const KernelBlock *, char *, int64_t, int64_t);
void gather(const KernelBlock *, char *, int64_t, int64_t);
void sum_partials(const KernelBlock *, char *, int64_t, int64_t);
void sum_total(const KernelBlock *, char *, int64_t, int64_t);
}

namespace {

constexpr Code unknown = 999, illegalAddress = 700, invalidHandle = 400;

struct FakeKernel {
  const char *name;
  KernelFunction function; ///< null: faults
  uint32_t dims, buffers;
};
/// A user's kernel, whose parameters are addresses: out[i][j] = x[i] - y[j],
/// a block for each i and a thread for each j.
constexpr FakeKernel differences = {"differences", nullptr, 0, 3};
constexpr FakeKernel kernels[] = {
    {"scale", scale, 1, 3},
    {"add", add, 1, 3},
    {"gather", gather, 2, 3},
    {"sum_partials", sum_partials, 1, 3},
    {"sum_total", sum_total, 1, 3},
    {"fault", nullptr, 1, 3},
    {WordReporter::kernelName, nullptr, 0, 0},
};
constexpr const FakeKernel &reportWord = kernels[std::size(kernels) - 1];

struct FakeNode {
  std::string_view name;
  std::function<void()> work;
  std::vector<FakeNode *> after;
};
/// Nodes belong to graph and executable alike.
struct FakeGraph {
  std::vector<std::shared_ptr<FakeNode>> nodes;
};

/// What was queued on a device. The first of a device is its context, too.
struct FakeStream {
  std::deque<std::function<void()>> work;
  uint64_t ran = 0; ///< pieces of work
  uint64_t added = 0;

  void push(std::function<void()> piece);
  void runOne();
  Code runUntil(uint64_t count);
  Code runAll() { return runUntil(added); }
};

/// How much work of a stream there was before it.
struct FakeEvent {
  FakeStream *stream = nullptr;
  uint64_t added = 0;
};

struct State : FakeDriver {
  std::recursive_mutex mutex;
  FakeStream streams[devices];
  bool isMade[devices] = {};
  std::deque<FakeStream> more; ///< those that a device made after its first
  std::map<const char *, size_t> pinned;
  Code sticky = success;

  bool isPinned(const void *address) const {
    const auto *at = static_cast<const char *>(address);
    auto next = pinned.upper_bound(at);
    return next != pinned.begin() &&
           at < std::prev(next)->first + std::prev(next)->second;
  }
  void runAll() {
    for (FakeStream &stream : streams)
      stream.runAll();
    for (FakeStream &stream : more)
      stream.runAll();
  }
};

State &state() {
  static auto *all = new State();
  return *all;
}

void FakeStream::push(std::function<void()> piece) {
  work.push_back(std::move(piece));
  ++added;
  ++state().queued;
}

void FakeStream::runOne() {
  auto piece = std::move(work.front());
  work.pop_front();
  ++ran;
  --state().queued;
  if (state().sticky == success)
    piece();
}

Code FakeStream::runUntil(uint64_t count) {
  while (ran < count && !work.empty())
    runOne();
  return state().sticky;
}

FakeStream &of(Stream stream) {
  return *reinterpret_cast<FakeStream *>(stream);
}
FakeEvent &of(DriverEvent event) {
  return *reinterpret_cast<FakeEvent *>(event);
}

thread_local Context current = nullptr;

/// Locks, and says whether the call of that name may go on.
#define ENTER(name)                                                            \
  State &all = state();                                                        \
  std::lock_guard lock(all.mutex);                                             \
  if (all.sticky != success)                                                   \
    return all.sticky;                                                         \
  if (std::strcmp(all.failing, name) == 0)                                     \
  return unknown

void *pointerOf(Address address) { return reinterpret_cast<void *>(address); }

std::function<void()> differencesOf(unsigned blocks, unsigned threads,
                                    void **parameters) {
  auto bufferOf = [&](int number) {
    return static_cast<float *>(
        pointerOf(*static_cast<const Address *>(parameters[number])));
  };
  return [=, x = bufferOf(0), y = bufferOf(1), out = bufferOf(2)] {
    for (unsigned i = 0; i < blocks; ++i)
      for (unsigned j = 0; j < threads; ++j)
        out[i * threads + j] = x[i] - y[j];
  };
}

/// The kernel on a copy of its parameters, as the driver keeps one.
std::function<void()> workOf(Function function, unsigned blocks,
                             unsigned threads, void **parameters) {
  const auto *kernel = reinterpret_cast<const FakeKernel *>(function);
  if (kernel == &differences)
    return differencesOf(blocks, threads, parameters);
  const auto *given = static_cast<const uint64_t *>(parameters[0]);
  if (kernel == &reportWord)
    return [from = given[0], to = given[1]] {
      std::memcpy(pointerOf(to), pointerOf(from), sizeof(uint64_t));
    };
  std::vector<uint64_t> words(given,
                              given + 3 + kernel->dims + kernel->buffers);
  return [kernel, words]() mutable {
    if (!kernel->function) {
      state().sticky = illegalAddress;
      return;
    }
    KernelBlock block{
        kernelAbiVersion, uint32_t(words[1]),
        reinterpret_cast<ErrorWord *>(words[0]),
        reinterpret_cast<const int64_t *>(words.data() + 3),
        reinterpret_cast<void *const *>(words.data() + 3 + kernel->dims)};
    kernel->function(&block, nullptr, 0, int64_t(words[2]));
  };
}

std::function<void()> workOf(const KernelNode &node) {
  return workOf(node.function, node.grid[0], node.block[0], node.parameters);
}

std::function<void()> workOf(const CopyNode &copy) {
  auto end = [](const CopyNode::End &at) {
    return at.memory == hostMemory ? at.host : pointerOf(at.device);
  };
  return [to = end(copy.to), from = end(copy.from), bytes = copy.width] {
    std::memmove(to, from, bytes);
  };
}

void addEdge(FakeNode *from, FakeNode *to, bool isEarly) {
  to->after.push_back(from);
  state().edges.push_back({from->name, to->name, isEarly});
}

Code addNode(Node *node, Graph graph, const Node *after, size_t count,
             std::string_view name, std::function<void()> work) {
  auto made = std::make_shared<FakeNode>();
  made->name = name;
  made->work = std::move(work);
  for (size_t i = 0; i < count; ++i)
    addEdge(reinterpret_cast<FakeNode *>(after[i]), made.get(), false);
  *node = reinterpret_cast<Node>(made.get());
  reinterpret_cast<FakeGraph *>(graph)->nodes.push_back(std::move(made));
  return success;
}

/// A node that may run next, any of them.
size_t choose(std::span<FakeNode *const> left, std::mt19937_64 &random) {
  std::vector<size_t> ready;
  for (size_t i = 0; i < left.size(); ++i)
    if (std::ranges::none_of(left[i]->after, [&](FakeNode *each) {
          return std::ranges::find(left, each) != left.end();
        }))
      ready.push_back(i);
  return ready[random() % ready.size()];
}

} // namespace

extern "C" {

FakeDriver *fakeDriver() { return &state(); }
void runFakeCopies() {
  std::lock_guard lock(state().mutex);
  for (FakeStream &stream : state().more)
    stream.runAll();
}
void healFakeDriver() {
  state().sticky = success;
  state().queued = 0;
  auto clear = [](FakeStream &stream) {
    stream.work.clear();
    stream.ran = stream.added;
  };
  std::ranges::for_each(state().streams, clear);
  std::ranges::for_each(state().more, clear);
}

Code cuInit(unsigned) { return success; }
Code cuGetErrorName(Code code, const char **name) {
  *name = code == illegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                 : "CUDA_ERROR_UNKNOWN";
  return success;
}
Code cuGetErrorString(Code, const char **text) {
  *text = "as the test wants it";
  return success;
}
Code cuDeviceGetCount(int *count) { return *count = devices, success; }
Code cuDeviceGetName(char *name, int bytes, Ordinal) {
  std::strncpy(name, "fake", size_t(bytes));
  return success;
}
Code cuDeviceGetAttribute(int *value, int attribute, Ordinal) {
  *value = attribute == computeCapabilityMajor        ? 9
           : attribute == computeCapabilityMinor      ? 0
           : attribute == threadsOfMultiprocessor     ? 2048
           : attribute == registersOfMultiprocessor   ? 64 << 10
           : attribute == sharedBytesOfMultiprocessor ? 228 << 10
           : attribute == sharedBytesOfBlock          ? 227 << 10
                                                      : 132;
  return success;
}
Code cuDevicePrimaryCtxRetain(Context *context, Ordinal device) {
  *context = reinterpret_cast<Context>(&state().streams[device]);
  return success;
}
Code cuCtxSetCurrent(Context context) { return current = context, success; }
Code cuCtxGetCurrent(Context *context) { return *context = current, success; }
Code cuDeviceCanAccessPeer(int *can, Ordinal, Ordinal) {
  return *can = 1, success;
}
Code cuCtxEnablePeerAccess(Context peer, unsigned) {
  ENTER("cuCtxEnablePeerAccess");
  ++all.reached;
  return peer == current ? invalidHandle : success;
}
Code cuMemGetInfo_v2(size_t *available, size_t *total) {
  *available = *total = size_t(1) << 30;
  return success;
}
Code cuMemAlloc_v2(Address *address, size_t bytes) {
  ENTER("cuMemAlloc");
  if (bytes > size_t(1) << 30)
    return outOfMemory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(256, bytes));
  return success;
}
Code cuMemFree_v2(Address address) {
  ENTER("cuMemFree");
  all.runAll();
  std::free(pointerOf(address));
  return success;
}
Code cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  *memory = std::malloc(bytes);
  all.pinned[static_cast<char *>(*memory)] = bytes;
  all.livePinned = all.pinned.size();
  return success;
}
Code cuMemFreeHost(void *memory) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  all.pinned.erase(static_cast<char *>(memory));
  all.livePinned = all.pinned.size();
  std::free(memory);
  return all.sticky;
}
Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                          Stream stream) {
  ENTER("cuMemcpyHtoDAsync");
  ++all.copiesIn;
  if (all.isPinned(from)) {
    of(stream).push([=] { std::memcpy(pointerOf(to), from, bytes); });
    return success;
  }
  const auto *begin = static_cast<const char *>(from);
  std::vector<char> kept(begin, begin + bytes);
  of(stream).push([=] { std::memcpy(pointerOf(to), kept.data(), bytes); });
  return success;
}
Code cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream stream) {
  ENTER("cuMemcpyDtoHAsync");
  ++all.copiesOut;
  of(stream).push([=] { std::memcpy(to, pointerOf(from), bytes); });
  return success;
}
Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes,
                          Stream stream) {
  ENTER("cuMemcpyDtoDAsync");
  of(stream).push([=] { std::memmove(pointerOf(to), pointerOf(from), bytes); });
  return success;
}
Code cuMemcpyPeerAsync(Address to, Context, Address from, Context, size_t bytes,
                       Stream stream) {
  ENTER("cuMemcpyPeerAsync");
  of(stream).push([=] { std::memcpy(pointerOf(to), pointerOf(from), bytes); });
  return success;
}

Code cuStreamCreate(Stream *stream, unsigned) {
  ENTER("cuStreamCreate");
  auto *first = reinterpret_cast<FakeStream *>(current);
  bool &isMade = all.isMade[first - all.streams];
  *stream = reinterpret_cast<Stream>(isMade ? &all.more.emplace_back() : first);
  isMade = true;
  return success;
}
Code cuStreamQuery(Stream stream) {
  ENTER("cuStreamQuery");
  if (!of(stream).work.empty())
    of(stream).runOne();
  return of(stream).work.empty() || all.sticky != success ? all.sticky
                                                          : notReady;
}
Code cuStreamSynchronize(Stream stream) {
  ENTER("cuStreamSynchronize");
  ++all.waits;
  return of(stream).runAll();
}
Code cuStreamWaitEvent(Stream stream, DriverEvent event, unsigned) {
  ENTER("cuStreamWaitEvent");
  of(stream).push(
      [waited = of(event)] { waited.stream->runUntil(waited.added); });
  return success;
}
Code cuEventCreate(DriverEvent *event, unsigned) {
  *event = reinterpret_cast<DriverEvent>(new FakeEvent());
  return success;
}
Code cuEventRecord(DriverEvent event, Stream stream) {
  ENTER("cuEventRecord");
  of(event) = {&of(stream), of(stream).added};
  return success;
}
Code cuEventQuery(DriverEvent event) {
  ENTER("cuEventQuery");
  return of(event).stream->ran >= of(event).added ? success : notReady;
}
Code cuEventSynchronize(DriverEvent event) {
  ENTER("cuEventSynchronize");
  return of(event).stream->runUntil(of(event).added);
}
Code cuEventDestroy_v2(DriverEvent event) {
  delete &of(event);
  return success;
}

Code cuModuleLoadDataEx(Module *module, const void *data, unsigned, int *,
                        void **) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  if (std::strcmp(all.failing, "cuModuleLoadDataEx") == 0)
    return unknown;
  constexpr char elf[] = {'\x7f', 'E', 'L', 'F'};
  if (std::memcmp(data, elf, sizeof(elf)) == 0) {
    if (all.refusesCubins)
      return unknown;
    ++all.cubins;
  }
  *module = reinterpret_cast<Module>(current);
  return success;
}
Code cuModuleUnload(Module module) {
  ENTER("cuModuleUnload");
  return reinterpret_cast<FakeStream *>(module)->work.empty() ? success
                                                              : unknown;
}
Code cuModuleGetFunction(Function *function, Module, const char *name) {
  if (std::strcmp(differences.name, name) == 0) {
    *function =
        reinterpret_cast<Function>(const_cast<FakeKernel *>(&differences));
    return success;
  }
  for (const FakeKernel &kernel : kernels)
    if (std::strcmp(kernel.name, name) == 0) {
      *function = reinterpret_cast<Function>(const_cast<FakeKernel *>(&kernel));
      return success;
    }
  return unknown;
}
Code cuFuncSetAttribute(Function, int, int) { return success; }
Code cuFuncGetAttribute(int *value, int, Function function) {
  ENTER("cuFuncGetAttribute");
  const auto *kernel = reinterpret_cast<const FakeKernel *>(function);
  *value = std::strcmp(all.wide, kernel->name) == 0 ? 200 << 10 : 0;
  return success;
}
Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int,
                                                 size_t) {
  ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return *blocks = 1, success;
}
Code cuTensorMapEncodeTiled(void *, int, uint32_t, void *, const uint64_t *,
                            const uint64_t *, const uint32_t *,
                            const uint32_t *, int, int, int, int) {
  return success;
}
Code cuTensorMapEncodeIm2col(void *, int, uint32_t, void *, const uint64_t *,
                             const uint64_t *, const int *, const int *,
                             uint32_t, uint32_t, const uint32_t *, int, int,
                             int, int) {
  return success;
}
Code cuLaunchKernel(Function function, unsigned blocks, unsigned, unsigned,
                    unsigned threads, unsigned, unsigned, unsigned,
                    Stream stream, void **parameters, void **) {
  ENTER("cuLaunchKernel");
  ++all.launches;
  of(stream).push(workOf(function, blocks, threads, parameters));
  return success;
}

Code cuGraphCreate(Graph *graph, unsigned) {
  ENTER("cuGraphCreate");
  all.edges.clear();
  *graph = reinterpret_cast<Graph>(new FakeGraph());
  return success;
}
Code cuGraphDestroy(Graph graph) {
  delete reinterpret_cast<FakeGraph *>(graph);
  return success;
}
Code cuGraphAddKernelNode_v2(Node *node, Graph graph, const Node *after,
                             size_t count, const KernelNode *kernel) {
  ENTER("cuGraphAddKernelNode");
  return addNode(node, graph, after, count,
                 reinterpret_cast<const FakeKernel *>(kernel->function)->name,
                 workOf(*kernel));
}
Code cuGraphAddDependencies_v2(Graph, const Node *from, const Node *to,
                               const Edge *edges, size_t count) {
  ENTER("cuGraphAddDependencies");
  for (size_t i = 0; i < count; ++i)
    addEdge(reinterpret_cast<FakeNode *>(from[i]),
            reinterpret_cast<FakeNode *>(to[i]),
            edges[i].type == startsEarly.type);
  return success;
}
Code cuGraphAddMemcpyNode(Node *node, Graph graph, const Node *after,
                          size_t count, const CopyNode *copy, Context) {
  ENTER("cuGraphAddMemcpyNode");
  return addNode(node, graph, after, count, "copy", workOf(*copy));
}
Code cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph,
                                 unsigned long long) {
  ENTER("cuGraphInstantiate");
  ++all.graphs;
  ++all.liveGraphs;
  *exec = reinterpret_cast<GraphExec>(
      new FakeGraph(*reinterpret_cast<FakeGraph *>(graph)));
  return success;
}
Code cuGraphExecDestroy(GraphExec exec) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  --all.liveGraphs; // also after a fault
  delete reinterpret_cast<FakeGraph *>(exec);
  return all.sticky;
}
Code cuGraphExecKernelNodeSetParams_v2(GraphExec, Node node,
                                       const KernelNode *kernel) {
  ENTER("cuGraphExecKernelNodeSetParams");
  ++all.nodesSet;
  reinterpret_cast<FakeNode *>(node)->work = workOf(*kernel);
  return success;
}
Code cuGraphExecMemcpyNodeSetParams(GraphExec, Node node, const CopyNode *copy,
                                    Context) {
  ENTER("cuGraphExecMemcpyNodeSetParams");
  ++all.nodesSet;
  reinterpret_cast<FakeNode *>(node)->work = workOf(*copy);
  return success;
}
Code cuGraphLaunch(GraphExec exec, Stream stream) {
  ENTER("cuGraphLaunch");
  if (!exec)
    return invalidHandle;
  ++all.graphLaunches;
  std::vector<FakeNode *> left;
  for (const auto &node : reinterpret_cast<FakeGraph *>(exec)->nodes)
    left.push_back(node.get());
  std::mt19937_64 random(all.order++);
  while (!left.empty()) {
    size_t next = choose(left, random);
    of(stream).push(left[next]->work);
    left.erase(left.begin() + ptrdiff_t(next));
  }
  return success;
}

} // extern "C"
