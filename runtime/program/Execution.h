/// Execution: one run of one program.
#pragma once

#include "runtime/program/LoadedProgram.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Vectors that keep their memory from run to run of one thread.
struct Scratch {
  std::vector<int64_t> symbols;
  std::vector<uint64_t> scalars;      ///< of all inputs, then the error word
  std::vector<void *> addresses;      ///< per plan buffer
  std::vector<void *> arguments;      ///< per BoundPlan::bufferList
  std::vector<uint32_t> grantedInput; ///< per output, or noInput
  std::vector<char> inputTaken;       ///< per input: granted to an output
  std::vector<const Buffer *> bound;  ///< the inputs' buffers, sorted
};
inline constexpr uint32_t noInput = ~0u;

/// One run of one program.
class Execution {
public:
  /// `places` is empty, or of each output where it goes.
  Execution(const LoadedProgram &loaded, std::span<const Binding> inputs,
            std::span<const Place> places, Scratch &scratch)
      : loaded(loaded), program(loaded.program()), inputs(inputs),
        places(places), scratch(scratch) {}

  Status bind();
  Status reserve();
  Status execute();
  /// What the run will give, once memory is reserved.
  std::vector<Output> listOutputs() const;
  RunCounters counters() const;
  /// The op that the kernels' error names, or whose launch failed while each
  /// was waited for; only after such an error.
  std::optional<uint32_t> failedNode() const;
  /// What the run reserves, the largest first.
  std::vector<MemoryNeed> largestNeeds() const;
  void countDonations() const;

private:
  Status checkInput(size_t index);
  Status checkPlaces() const;
  Status checkDims(size_t output) const;
  Status checkPlace(size_t output) const;
  /// Whether the caller says where an output goes.
  bool isPlaced(size_t output) const {
    return !places.empty() && places[output].buffer;
  }
  void grantDonations();
  bool mayGrant(const AliasData &alias) const;
  Status allocate();
  std::string describeNeeds() const;
  /// Of a plan buffer that is a temporary.
  void *temporaryAt(size_t buffer) const;
  void resolveAddresses();
  void listArguments();
  Status placeWords();
  std::vector<MemoryRange> grantedRanges() const;
  /// All steps, in order.
  Status walk(WorkSink &sink);
  /// As graphs: those of an earlier run with this run's buffers, or new ones.
  /// False where this run has none, and nothing is queued.
  Result<bool> replay();
  Status update(bool &fits);
  Status record(bool &fits);
  Status runStep(WorkSink &sink, uint32_t number);
  /// One step, timed if asked for, and what it reports.
  Status runChecked(WorkSink &sink, uint32_t number);
  Status runLoop(WorkSink &sink, const LoopData &loop);
  Status runConditional(WorkSink &sink, const LoopData &loop);
  /// The steps from one to another, of loops as often as those say.
  Status runSteps(WorkSink &sink, uint32_t first, uint32_t last);
  /// Whether the flag, that the step before made, lets another one begin.
  Result<bool> readFlag(WorkSink &sink, const LoopData &loop);
  void moveCarries(const LoopData &loop, int64_t step);
  void moveSlices(const LoopData &loop, int64_t step);
  /// Whether what the phase would make of its input is there already.
  bool isPrepared(uint32_t number, const BoundPhase &phase, void **buffers);
  bool findPrepared(uint32_t number, const BoundPhase &phase, void **buffers);
  void keepPrepared();
  Status timeStep(WorkSink &sink, uint32_t number);
  /// Reads the error word, waiting for the steps before.
  Status readError();
  /// What the error word says.
  Status checkError() const;
  const StepData *failedStep() const;

  const LoadedProgram &loaded;
  const ProgramData &program;
  std::span<const Binding> inputs;
  std::span<const Place> places;
  Scratch &scratch;
  std::shared_ptr<const BoundPlan> plan;
  std::vector<BufferRef> outputs;
  std::vector<BufferRef> arena; ///< as the plan's blocks
  /// The scalars where the device can read them, if it needs that.
  BufferRef words;
  /// Of graphs of this run's work, if it may have some.
  RecordedRuns::Lease lease;
  /// Of `prepare` phases: memory in use, and what to do with it at the end.
  struct Prepared {
    PreparedBuffers::Slot slot;
    PreparedSource source;
    BufferRef memory;
    bool isNew = false;
  };
  std::vector<Prepared> prepared;
  uint64_t phasesSkipped = 0;
  uint64_t error = noError; ///< as last read
  std::optional<uint32_t> faultyStep;
  WorkCount total; ///< what runs
  uint64_t donated = 0;
  uint64_t recordings = 0, replays = 0, waitNanoseconds = 0;
  int64_t loopStep = -1; ///< of the innermost loop that runs; -1 outside
};

} // namespace sinter::runtime
