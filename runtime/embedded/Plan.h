/// The tables of an embedded model, as `sinter embed` writes them into an
/// object and the executor reads them where they are: little-endian, offsets
/// from the beginning of the plan. They are part of the program, and trusted as
/// it is.
#pragma once

#include <cstdint>

namespace sinter::embedded {

inline constexpr uint32_t planVersion = 1;
/// Of everything in a session's memory, and of weights.
inline constexpr uint64_t alignment = 64;
/// What an image of kernels begins at a multiple of, as it was linked.
inline constexpr uint64_t codeAlignment = 4096;

/// Entries of a table, one behind the other.
template <typename T> struct List {
  uint32_t offset = 0;
  uint32_t count = 0;
};
/// Where a text is that ends with a zero.
using Text = uint32_t;

/// Where a buffer of a program is in a run.
enum class Place : uint32_t {
  given,    ///< input `number` of the caller's
  weight,   ///< `offset` of the weights
  memory,   ///< `offset` of the session's memory
  stored,   ///< the value now of what is kept, `number`
  next,     ///< where its next value goes
  returned, ///< output `number`
  moving,   ///< a loop says where
};
struct Buffer {
  Place place = Place::memory;
  uint32_t number = 0;
  uint64_t offset = 0;
};

struct Phase {
  uint64_t code = 0; ///< offset of its function
  int64_t chunks = 0;
  float chunkMicroseconds = 0;
  /// Prepares what stays: 0, or one more than the flag that says it has.
  uint32_t ready = 0;
  uint32_t oncePerLoop = 0;
  uint32_t reserved = 0;
};

enum class StepKind : uint32_t { launch, copy, loop };
struct Step {
  StepKind kind = StepKind::launch;
  uint32_t firstPhase = 0;
  uint32_t numPhases = 0;
  uint32_t firstArgument = 0; ///< of a copy: from, to
  uint32_t firstDim = 0;
  uint32_t loop = 0;
  uint32_t reportsError = 0; ///< it may find an index that is out of range
  Text kernel = 0;
  Text site = 0; ///< the line of what it computes, or empty
  uint32_t reserved = 0;
  uint64_t copyBytes = 0;
};

/// As program.fbs has them; buffers by number.
struct Carry {
  uint32_t carry, init, next, result, spare;
  uint32_t reserved;
  uint64_t bytes;
};
struct Slice {
  uint32_t slice, whole;
  uint64_t bytes;
};
struct Moving {
  uint32_t argument, buffer;
};
struct Loop {
  int64_t count = 0;
  uint32_t steps = 0; ///< of the body, behind its own
  uint32_t reverse = 0;
  int32_t condition = 0;
  uint32_t reserved = 0;
  List<Carry> carries;
  List<Slice> slices;
  List<Moving> moving;
};

/// A scalar of a run, in a word of the session's memory.
enum class WordKind : uint32_t { given, constant, keyLow, keyHigh, counter };
struct Word {
  WordKind kind = WordKind::given;
  uint32_t number = 0; ///< of a given one: of the caller's inputs
  uint64_t bits = 0;   ///< of a constant; of a counter, what was drawn before
  uint32_t bytes = 0;  ///< of a given one
  uint32_t reserved = 0;
};

/// An input or output of the caller's.
struct Port {
  Text name = 0;
  uint32_t reserved = 0;
  uint64_t bytes = 0;
  uint64_t at = 0; ///< of an output: its place in the session's memory
};

struct Entry {
  Text name = 0;
  uint32_t reserved = 0;
  uint64_t drawn = 0; ///< blocks of random numbers
  List<Port> inputs;
  List<Port> outputs;
  List<Word> words;
  List<Buffer> buffers;
  List<uint32_t> arguments; ///< buffers of all steps
  List<int64_t> dims;
  List<Step> steps;
  List<Phase> phases;
  List<Loop> loops;
  List<uint32_t> replaced; ///< what is kept and has its next value elsewhere
};

/// What a session keeps between runs: state, and weights that runs replace.
struct Stored {
  Text name = 0;
  uint32_t isZero = 0; ///< at first
  uint64_t bytes = 0;
  uint64_t initial = 0; ///< of the weights
  /// Its value is in the first, then in the second, and so on. The same where
  /// every run replaces it in its place.
  uint64_t at[2] = {0, 0};
};

/// A part of a session's memory that is zero and stays so.
struct Zeros {
  uint64_t at = 0;
  uint64_t bytes = 0;
};

/// The first of the plan. Places are in the session's memory.
struct Plan {
  char magic[8] = {'s', 'i', 'n', 't', 'e', 'r', 'E', '\n'};
  uint32_t version = planVersion;
  uint32_t kernelAbi = 0;
  uint64_t memoryBytes = 0;
  Text features = 0;
  uint32_t numReady = 0;
  List<Entry> entries;
  List<Stored> stored;
  List<Zeros> zeros;
  uint64_t current = 0;   ///< a byte for each stored: which of its two places
  uint64_t ready = 0;     ///< a byte for each flag
  uint64_t words = 0;     ///< those of an entry, then the error word
  uint64_t addresses = 0; ///< a pointer for each buffer of an entry
  uint64_t arguments = 0; ///< and for each argument
  uint64_t places = 0;    ///< and for each output
};

/// The first bytes of a session's memory that are not the tables' to place.
inline constexpr uint64_t sessionBytes = 640;

} // namespace sinter::embedded
