/// Session: one user of a model, with state of its own between runs.
#pragma once

#include "runtime/model/Model.h"
#include "runtime/program/PassedValues.h"
#include "runtime/program/Program.h"
#include "runtime/support/RandomKey.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sinter::runtime {

/// Memory that a run of an entry takes, without running it.
struct SessionMemory {
  uint64_t inputs = 0;      ///< that the caller gives
  uint64_t outputs = 0;     ///< that the caller gets
  uint64_t temporaries = 0; ///< while it runs, and state that it replaces
  uint64_t kept = 0;        ///< weights and state, between runs, too
  /// Of those that are returned; the largest where values decide them.
  std::vector<std::vector<int64_t>> outputDims;
};

/// Where a session's random numbers go on.
struct RandomPosition {
  RandomKey key;
  uint64_t counter = 0; ///< blocks that were drawn
  bool operator==(const RandomPosition &) const = default;
};

/// Not thread-safe; a model may have many at once, of which each is used by one
/// thread at a time. Keeps the model alive.
///
/// State begins as the file has it and becomes what runs make of it. Weights
/// are the model's until a run or the caller gives the session others.
class Session {
public:
  explicit Session(std::shared_ptr<Model> model);

  Model &model() const { return *owner; }

  /// Makes an entry ready to be bound and run: loads its program and weights,
  /// if no session did so far. Once is enough.
  Status prepare(uint32_t entry);
  /// Of a prepared entry: its program, and the binding of a given input, by its
  /// place among the given ones, to fill in before `run`. Nothing is donated.
  const Program &program(uint32_t entry) const {
    return *entries[entry].program;
  }
  Binding &input(uint32_t entry, size_t given) {
    return entries[entry].bindings[owner->ports(entry).given[given]];
  }
  /// Whether what was bound to a given input shares memory with `buffer`.
  bool isGiven(const Buffer &buffer, uint32_t entry) const;
  /// Gives up the buffers of the given inputs.
  void unbind(uint32_t entry);

  /// Runs a prepared entry on what was bound. `places`, empty or one per
  /// returned output, says where outputs go (Program.h). Afterwards `results`
  /// has what the entry returns; an error leaves results and state as they
  /// were. A run that overwrites state is not cancelled once it has begun.
  Status run(uint32_t entry, std::span<const Place> places = {});
  /// Of the last run of the entry that did not fail; empty before.
  std::span<const Output> results(uint32_t entry) const {
    return entries[entry].results;
  }

  /// What a run with the bound dims takes; bindings need no buffers.
  Result<SessionMemory> memory(uint32_t entry);

  /// The value of a state or weight now (ModelInfo::states, tensors). Shared:
  /// who has it only reads it. A weight's number is below numWeights().
  Result<Output> state(uint32_t number) { return valueOf(states[number]); }
  Result<Output> weight(uint32_t number) { return valueOf(weights[number]); }
  /// Gives it a value of the session's own, with the file's dtype and dims:
  /// programs of a file take no others.
  void setState(uint32_t number, Output value);
  void setWeight(uint32_t number, Output value);
  /// State and random numbers begin anew; weights stay.
  void reset();

  const RandomPosition &random() const { return position; }
  void setRandom(const RandomPosition &value) { position = value; }

private:
  /// A value that runs read, and may replace.
  struct Kept {
    uint32_t tensor = 0; ///< of the model: its first value
    Output value;        ///< empty: not read yet
    bool isOwn = false;  ///< not the model's
  };
  struct Entry {
    std::shared_ptr<const Program> program; ///< null until it is prepared
    std::vector<Binding> bindings;          ///< of all of its inputs
    std::vector<Output> results;
    std::vector<Place> places; ///< of all of its outputs
    /// The version of the session's weights that is bound; 0: none.
    uint64_t boundWeights = 0;
  };

  Status load(Kept &kept);
  Result<Output> valueOf(Kept &kept);
  Status bindKept(uint32_t number, bool &donates);
  Status bindOne(Kept &kept, uint32_t number, uint32_t input);
  Status bindRandom(uint32_t number, uint64_t &drawn);
  void release(uint32_t number);
  Status prepareParts(uint32_t number);
  void passGiven(uint32_t number, uint32_t part);
  Status runPart(uint32_t number, PassedValues &passed);
  Status runParts(uint32_t number);
  void dropPassed(uint32_t number);
  Status memoryOfParts(uint32_t number, SessionMemory &memory,
                       uint64_t &temporaries);
  void listPlaces(const EntryPorts &ports, Entry &entry,
                  std::span<const Place> places) const;
  void take(const EntryPoint &point, Entry &entry, std::vector<Output> outputs);

  const std::shared_ptr<Model> owner;
  std::vector<Entry> entries;
  std::vector<Kept> states;
  std::vector<Kept> weights;
  uint64_t weightsVersion = 1;
  /// Some entry updates weights: they are bound for each run, so that nobody
  /// else has what it may overwrite.
  bool weightsMove = false;
  RandomPosition position{.key = RandomKey::ofSeed(0)};
};

} // namespace sinter::runtime
