/// ProgramData: a program section as plain, verified structures.
#pragma once

#include "runtime/program/Program.h"
#include "sinter/runtime/Dim.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace sinter::runtime {

enum class BufferKind : uint8_t { input, output, temp, constant, moving };

/// A buffer of the memory plan.
struct PlanBuffer {
  BufferKind kind = BufferKind::temp;
  uint32_t index = 0; ///< input, output or constant number, or a loop's step
  uint32_t bytes = 0; ///< expr; of a temp or moving buffer
  uint32_t first = 0; ///< steps, of a temp
  uint32_t last = 0;
};

struct PhaseData {
  std::string symbol;
  uint32_t chunks = 0; ///< expr of the kernel
  float chunkMicroseconds = 0;
  KernelHandle function = nullptr;
  /// Of a `prepare` phase: the input that it reads, and the position of the
  /// workspace that it fills among the launch's buffers.
  int32_t prepares = -1;
  uint32_t workspace = 0;
};

struct KernelData {
  std::string name;
  std::string kind;
  uint32_t numSymbols = 0;
  uint32_t numInputs = 0;
  uint32_t numOutputs = 0;
  std::vector<Expr> exprs;
  std::vector<PhaseData> phases;
  /// Exprs: bytes of each of a launch's buffers that the code may touch.
  std::vector<uint32_t> bufferBytes;
  std::vector<graph::Guard> guards; ///< over exprs: what its code relies on
  std::string text;
  std::string tile; ///< that was chosen for it, or empty
};

/// The steps after a loop's own, run once a step of the loop. Plan buffers, as
/// program.fbs says.
struct LoopData {
  struct Carry {
    uint32_t carry, init, next, result, spare;
  };
  struct Slice {
    uint32_t slice, whole;
  };
  uint32_t step = 0; ///< its own
  /// The innermost loop around it, a number of ProgramData::loops; else itself.
  uint32_t parent = 0;
  uint32_t count = 0; ///< expr
  uint32_t steps = 0; ///< of the body
  bool reverse = false;
  int32_t condition = 0; ///< as in program.fbs
  std::vector<Carry> carries;
  std::vector<Slice> slices;

  /// Whether the run finds out how many steps there are.
  bool isConditional() const { return condition != 0; }
  /// Of a conditional one: what decides.
  const Carry &flag() const { return carries[std::abs(condition) - 1]; }
  uint32_t first() const { return step + 1; }
  uint32_t last() const { return step + steps; }
  bool holds(uint32_t number) const {
    return number >= first() && number <= last();
  }
};

/// A launch, a copy from buffers[0] to buffers[1], or a loop.
struct StepData {
  static constexpr uint32_t noLoop = std::numeric_limits<uint32_t>::max();
  bool isCopy = false;
  uint32_t loop = noLoop; ///< into ProgramData::loops
  bool isLoop() const { return loop != noLoop; }
  bool isLaunch() const { return !isCopy && !isLoop(); }
  uint32_t kernel = 0;
  std::vector<uint32_t> buffers; ///< into ProgramData::buffers
  std::vector<uint32_t> dims;    ///< expr per kernel symbol
  uint32_t bytesRead = 0;        ///< exprs; of a copy both are its bytes
  uint32_t bytesWritten = 0;
  uint32_t flops = 0; ///< expr; of a launch
  std::vector<uint32_t> nodes;
  int32_t errorNode = -1; ///< may report an index error of this op
};

/// A pair that the executor may grant: `output` written into `input`'s memory.
struct AliasData {
  uint32_t input = 0;
  uint32_t output = 0;
};

struct ConstantData {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

inline constexpr uint32_t neverStep = std::numeric_limits<uint32_t>::max();

/// Everything the executor needs. All indices are in range.
struct ProgramData {
  std::string target;
  std::string variant;
  std::string machine; ///< the target in full; empty in older files
  uint8_t numerics = 0;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  uint32_t numSymbols = 0;
  std::vector<Expr> exprs;
  std::vector<graph::Guard> guards;
  std::vector<KernelData> kernels;
  std::vector<PlanBuffer> buffers;
  std::vector<StepData> steps;
  std::vector<LoopData> loops;    ///< in the order of their steps
  std::vector<AliasData> aliases; ///< only pairs that are safe to grant
  std::vector<Decision> decisions;
  std::vector<ConstantData> constants;
  uint32_t numNodes = 0;
  std::string compiler;
};

/// What the loader rejects as too large to be a program.
inline constexpr uint32_t maxRank = 32;
inline constexpr uint32_t maxSymbols = 4096;
inline constexpr uint32_t maxListLength = 1u << 20;

/// Its launches in order, as reports show them.
std::vector<LaunchInfo> launchesOf(const ProgramData &program);

/// Loops in loops in loops.
inline constexpr size_t mostNestedLoops = 16;

/// The innermost loop whose body a step is in; null for the others.
const LoopData *loopAround(const ProgramData &program, uint32_t step);

/// Buffers that a step of the loop's body may write, of inner loops, too;
/// ascending.
std::vector<uint32_t> writtenInBody(const ProgramData &program,
                                    const LoopData &loop);

/// The value of one expr; `values` holds those of its operands.
int64_t evaluateOne(const Expr &expr, std::span<const int64_t> symbols,
                    std::span<const int64_t> values);

/// Values of all exprs for these symbols, in order. Division by zero and
/// overflow give INT64_MIN, as does every expr over such a value.
void evaluateAll(std::span<const Expr> exprs, std::span<const int64_t> symbols,
                 std::vector<int64_t> &values);

/// `s0*s1`: an expression with symbols by name, shortened where it is long.
std::string exprText(std::span<const Expr> exprs, uint32_t index);
/// `f32[s0,64]`: a port's type with symbols by name.
std::string portType(const Port &port, std::span<const Expr> exprs);
/// `input 'x'`, printable, or `input 3` when it has no name.
std::string portName(const char *what, const Port &port, size_t number);

} // namespace sinter::runtime
