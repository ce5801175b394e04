/// ModelInfo: what a whole model file is beside its programs: entry points,
/// named tensors, state.
#pragma once

#include "runtime/program/FileFormat.h"
#include "sinter/runtime/DType.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::runtime {

struct ModelFile;

/// A named tensor of a model file: a parameter, or the first value of a state.
struct StoredTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  /// Where its bytes are in the file's weights section, unless `zeros` or
  /// `externalFile` says where else.
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// All bytes are zero, and no file has them.
  bool zeros = false;
  /// A safetensors file beside the model file, and the tensor's name there;
  /// empty: it is inside.
  std::string externalFile = {};
  std::string externalName = {};
  bool operator==(const StoredTensor &) const = default;
};

/// A safetensors file that the model file names.
struct ExternalFile {
  std::string name; ///< without a folder
  uint64_t bytes = 0;
  Digest digest = {}; ///< as of a section with its bytes
  bool operator==(const ExternalFile &) const = default;
};

/// Who provides an input of an entry point.
enum class SlotKind : uint8_t {
  given,    ///< the caller, with each run
  weight,   ///< the file: tensors[number]; shared by all sessions
  state,    ///< the session: states[number]; kept between runs
  constant, ///< the file: a scalar's bits
  random,   ///< the session: a generator's key or counter
  passed,   ///< an entry's part that runs before
};
std::string_view toString(SlotKind kind);

struct EntryInput {
  std::string name;
  std::string description = {};
  SlotKind kind = SlotKind::given;
  /// Of the weight or state; of random: 0 key low, 1 key high, 2 counter; of
  /// passed: which of the outputs of the entry's parts, in order.
  uint32_t number = 0;
  uint64_t scalarBits = 0; ///< of a constant
  /// Of a counter: the expr of the entry that says how many blocks the run
  /// draws before it; -1 for every other input. See randomDraws.
  int32_t randomExpr = -1;
  /// Of a passed one: the passed value, one i64, that says how many rows of
  /// axis 0 are taken; -1: all.
  int32_t count = -1;
  bool operator==(const EntryInput &) const = default;
};

struct EntryOutput {
  std::string name;
  std::string description = {};
  /// The state that this becomes, or the weight (`isWeight`); it is not given
  /// to the caller then. -1: it is.
  int32_t updates = -1;
  bool isWeight = false;
  bool operator==(const EntryOutput &) const = default;
};

/// A size that the caller chooses, or values tell: that of an axis of a given
/// or passed input.
struct DynamicDim {
  std::string name;
  uint32_t input = 0;
  uint32_t axis = 0;
  bool operator==(const DynamicDim &) const = default;
};

/// A function of the model, of which the file has one program per target.
struct EntryPoint {
  std::string name; ///< `main` where there is one
  std::string description = {};
  std::vector<EntryInput> inputs; ///< one per input of its programs, in order
  std::vector<EntryOutput> outputs;
  std::vector<uint32_t> programs; ///< sections, ascending
  std::vector<DynamicDim> dims;
  std::vector<Expr> exprs; ///< their symbols are `dims`
  int32_t randomExpr = -1; ///< blocks that a run draws in all; -1: none
  /// Entries that run before this one, in order, where values decide sizes.
  std::vector<uint32_t> parts;
  bool operator==(const EntryPoint &) const = default;

  /// The given input of that name, or -1.
  int64_t findInput(std::string_view input) const;
};

struct StateInfo {
  std::string name;
  std::string description = {};
  uint32_t initial = 0; ///< into tensors
  bool operator==(const StateInfo &) const = default;
};

struct ModelInfo {
  std::vector<EntryPoint> entries; ///< parts of others last
  /// Weights first, then the first value of each state, in order.
  std::vector<StoredTensor> tensors;
  std::vector<StateInfo> states;
  std::vector<ExternalFile> externals;
  std::vector<std::pair<std::string, std::string>> metadata; ///< by key
  bool operator==(const ModelInfo &) const = default;

  size_t numWeights() const { return tensors.size() - states.size(); }
  /// Entries that callers see: parts of others come after them.
  size_t numPublic() const;
  /// The number of the entry of that name that callers see, or -1.
  int64_t findEntry(std::string_view entry) const;
};

/// Blocks of random numbers, as `Generator::take` counts them.
struct RandomDraws {
  uint64_t total = 0;            ///< that the run draws
  std::vector<uint64_t> offsets; ///< per input: of a counter, else 0
};
/// Of a run whose inputs have these dims, one list per input. An error of kind
/// `invalid_argument` where that is no number.
Result<RandomDraws> randomDraws(const EntryPoint &entry,
                                std::span<const std::vector<int64_t>> dims);

/// Of a checked file: verifies the model section and that it fits every program
/// and the weights section. A file without one (a JIT's, a compiled text) has
/// one entry `main` of all programs, whose inputs are all given. An error of
/// kind `io` says what is wrong.
Result<ModelInfo> readModelInfo(const ModelFile &model);
/// The same of a file whose weights section, of that size, is not there.
Result<ModelInfo> readModelInfo(const ModelFile &model, uint64_t weightBytes);

} // namespace sinter::runtime
