/// Driver: the functions of NVIDIA's driver, opened at run time. Nothing of the
/// CUDA toolkit is needed to build or to run.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sinter::runtime::cuda {

// The driver's own types, as its ABI has them (CUDA Driver API reference).
using Code = int; ///< CUresult; 0 is success
using Ordinal = int;
using Address = uint64_t; ///< CUdeviceptr
using Context = struct ContextTag *;
using Stream = struct StreamTag *;
using DriverEvent = struct EventTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;
using Node = struct GraphNodeTag *;

/// A kernel's node in a graph (CUDA_KERNEL_NODE_PARAMS_v2).
struct KernelNode {
  Function function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  void **parameters = nullptr;
  void **extra = nullptr;
  void *kernel = nullptr; ///< instead of the function
  Context context = nullptr;
};
static_assert(sizeof(KernelNode) == 72);

/// A copy's node (CUDA_MEMCPY3D_v2).
struct CopyNode {
  struct End {
    size_t x = 0, y = 0, z = 0, lod = 0;
    int memory = 0; ///< CUmemorytype
    void *host = nullptr;
    Address device = 0;
    void *array = nullptr;
    void *reserved = nullptr;
    size_t pitch = 0, height = 0;
  };
  End from, to;
  size_t width = 0, height = 1, depth = 1;
};
static_assert(sizeof(CopyNode) == 200);
inline constexpr int hostMemory = 1, deviceMemory = 2;

/// How a node of a graph follows another one (CUgraphEdgeData).
struct Edge {
  unsigned char fromPort = 0, toPort = 0, type = 0;
  unsigned char reserved[5] = {};
};
static_assert(sizeof(Edge) == 8);
/// A kernel may start while the one before runs, and waits for its end by
/// itself (CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
/// CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC).
inline constexpr Edge startsEarly{.fromPort = 1, .type = 1};

/// Results that are looked at (CUresult).
inline constexpr Code success = 0;
inline constexpr Code outOfMemory = 2;
inline constexpr Code notReady = 600;

/// Device attributes (CUdevice_attribute).
inline constexpr int multiprocessorCount = 16;
inline constexpr int threadsOfMultiprocessor = 39;
inline constexpr int computeCapabilityMajor = 75;
inline constexpr int computeCapabilityMinor = 76;
inline constexpr int sharedBytesOfMultiprocessor = 81;
inline constexpr int registersOfMultiprocessor = 82;
inline constexpr int sharedBytesOfBlock = 97; ///< of those that ask for them
/// Options of loading a module (CUjit_option).
inline constexpr int errorLogBuffer = 5;
inline constexpr int errorLogBytes = 6;
/// Attributes of a kernel (CUfunction_attribute).
inline constexpr int declaredSharedBytes = 1;
inline constexpr int maxDynamicSharedBytes = 8;
/// Of a tensor map (CUtensorMapDataType, CUtensorMapInterleave,
/// CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill).
inline constexpr int tensorOfF16 = 6, tensorOfBf16 = 9;
inline constexpr int tensorNotInterleaved = 0;
inline constexpr int tensorSwizzled128 = 3;
inline constexpr int tensorPromoted256 = 3;
inline constexpr int tensorZeros = 0;
/// Flags of a stream that does not wait for the legacy one, and of an event
/// (CUstream_flags, CUevent_flags).
inline constexpr unsigned nonBlocking = 1;
inline constexpr unsigned disableTiming = 2;

/// Every entry point that is used: SINTER_CUDA(field, exported name,
/// arguments).
#define SINTER_CUDA_FUNCTIONS                                                  \
  SINTER_CUDA(init, "cuInit", (unsigned flags))                                \
  SINTER_CUDA(errorName, "cuGetErrorName", (Code, const char **))              \
  SINTER_CUDA(errorString, "cuGetErrorString", (Code, const char **))          \
  SINTER_CUDA(deviceCount, "cuDeviceGetCount", (int *))                        \
  SINTER_CUDA(deviceName, "cuDeviceGetName", (char *, int, Ordinal))           \
  SINTER_CUDA(deviceAttribute, "cuDeviceGetAttribute", (int *, int, Ordinal))  \
  SINTER_CUDA(retainContext, "cuDevicePrimaryCtxRetain", (Context *, Ordinal)) \
  SINTER_CUDA(setContext, "cuCtxSetCurrent", (Context))                        \
  SINTER_CUDA(getContext, "cuCtxGetCurrent", (Context *))                      \
  SINTER_CUDA(memoryInfo, "cuMemGetInfo_v2", (size_t *, size_t *))             \
  SINTER_CUDA(allocate, "cuMemAlloc_v2", (Address *, size_t))                  \
  SINTER_CUDA(free, "cuMemFree_v2", (Address))                                 \
  SINTER_CUDA(copyIn, "cuMemcpyHtoDAsync_v2",                                  \
              (Address, const void *, size_t, Stream))                         \
  SINTER_CUDA(copyOut, "cuMemcpyDtoHAsync_v2",                                 \
              (void *, Address, size_t, Stream))                               \
  SINTER_CUDA(copy, "cuMemcpyDtoDAsync_v2",                                    \
              (Address, Address, size_t, Stream))                              \
  SINTER_CUDA(copyPeer, "cuMemcpyPeerAsync",                                   \
              (Address, Context, Address, Context, size_t, Stream))            \
  SINTER_CUDA(canReachPeer, "cuDeviceCanAccessPeer",                           \
              (int *, Ordinal, Ordinal))                                       \
  SINTER_CUDA(reachPeer, "cuCtxEnablePeerAccess", (Context, unsigned))         \
  SINTER_CUDA(allocateHost, "cuMemHostAlloc", (void **, size_t, unsigned))     \
  SINTER_CUDA(freeHost, "cuMemFreeHost", (void *))                             \
  SINTER_CUDA(createStream, "cuStreamCreate", (Stream *, unsigned))            \
  SINTER_CUDA(queryStream, "cuStreamQuery", (Stream))                          \
  SINTER_CUDA(synchronize, "cuStreamSynchronize", (Stream))                    \
  SINTER_CUDA(waitInStream, "cuStreamWaitEvent",                               \
              (Stream, DriverEvent, unsigned))                                 \
  SINTER_CUDA(createEvent, "cuEventCreate", (DriverEvent *, unsigned))         \
  SINTER_CUDA(recordEvent, "cuEventRecord", (DriverEvent, Stream))             \
  SINTER_CUDA(queryEvent, "cuEventQuery", (DriverEvent))                       \
  SINTER_CUDA(waitEvent, "cuEventSynchronize", (DriverEvent))                  \
  SINTER_CUDA(destroyEvent, "cuEventDestroy_v2", (DriverEvent))                \
  SINTER_CUDA(loadModule, "cuModuleLoadDataEx",                                \
              (Module *, const void *, unsigned, int *, void **))              \
  SINTER_CUDA(unloadModule, "cuModuleUnload", (Module))                        \
  SINTER_CUDA(findFunction, "cuModuleGetFunction",                             \
              (Function *, Module, const char *))                              \
  SINTER_CUDA(setFunctionAttribute, "cuFuncSetAttribute",                      \
              (Function, int, int))                                            \
  SINTER_CUDA(functionAttribute, "cuFuncGetAttribute", (int *, int, Function)) \
  SINTER_CUDA(residentBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",   \
              (int *, Function, int, size_t))                                  \
  SINTER_CUDA(encodeTensorMap, "cuTensorMapEncodeTiled",                       \
              (void *, int, uint32_t, void *, const uint64_t *,                \
               const uint64_t *, const uint32_t *, const uint32_t *, int, int, \
               int, int))                                                      \
  SINTER_CUDA(encodeImageMap, "cuTensorMapEncodeIm2col",                       \
              (void *, int, uint32_t, void *, const uint64_t *,                \
               const uint64_t *, const int *, const int *, uint32_t, uint32_t, \
               const uint32_t *, int, int, int, int))                          \
  SINTER_CUDA(launch, "cuLaunchKernel",                                        \
              (Function, unsigned, unsigned, unsigned, unsigned, unsigned,     \
               unsigned, unsigned, Stream, void **, void **))                  \
  SINTER_CUDA(createGraph, "cuGraphCreate", (Graph *, unsigned))               \
  SINTER_CUDA(destroyGraph, "cuGraphDestroy", (Graph))                         \
  SINTER_CUDA(addKernelNode, "cuGraphAddKernelNode_v2",                        \
              (Node *, Graph, const Node *, size_t, const KernelNode *))       \
  SINTER_CUDA(                                                                 \
      addCopyNode, "cuGraphAddMemcpyNode",                                     \
      (Node *, Graph, const Node *, size_t, const CopyNode *, Context))        \
  SINTER_CUDA(instantiateGraph, "cuGraphInstantiateWithFlags",                 \
              (GraphExec *, Graph, unsigned long long))                        \
  SINTER_CUDA(setKernelNode, "cuGraphExecKernelNodeSetParams_v2",              \
              (GraphExec, Node, const KernelNode *))                           \
  SINTER_CUDA(setCopyNode, "cuGraphExecMemcpyNodeSetParams",                   \
              (GraphExec, Node, const CopyNode *, Context))                    \
  SINTER_CUDA(launchGraph, "cuGraphLaunch", (GraphExec, Stream))               \
  SINTER_CUDA(destroyGraphExec, "cuGraphExecDestroy", (GraphExec))

/// Those that older drivers do not have; null there.
#define SINTER_CUDA_NEWER_FUNCTIONS                                            \
  SINTER_CUDA(                                                                 \
      addEdges, "cuGraphAddDependencies_v2",                                   \
      (Graph, const Node *, const Node *, const Edge *, size_t)) /* 12.3 */

/// The driver's functions.
struct Driver {
#define SINTER_CUDA(field, name, arguments) Code(*field) arguments = nullptr;
  SINTER_CUDA_FUNCTIONS
  SINTER_CUDA_NEWER_FUNCTIONS
#undef SINTER_CUDA

  /// The driver of this machine, opened and started once. An error of kind
  /// `device` says what is missing; it stays.
  static Result<const Driver *> open();

  /// `what: NAME (explanation)`, of kind `out_of_memory` where that is it.
  ErrorInfo error(std::string_view what, Code code) const;
  Status check(std::string_view what, Code code) const {
    if (code == success)
      return {};
    return error(what, code);
  }
};

} // namespace sinter::runtime::cuda
