/// Model: a model file on one device, shared by the sessions that run it.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/CompileEntry.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Program.h"
#include "runtime/program/WeightStore.h"
#include "runtime/support/Fork.h"
#include "runtime/trust/TrustHook.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// How a model file is opened.
struct ModelOptions {
  Device *device = nullptr; ///< null: the default one, as SINTER_DEVICE says
  /// `untilUse`: large weights and constants are checked when they are first
  /// read; `everything`: now.
  ModelCheck check = ModelCheck::untilUse;
  /// Of bytes in memory: the model uses them where they are, and the caller
  /// keeps them as long as it lives. Bytes that begin at no multiple of 64 are
  /// copied all the same.
  bool inPlace = false;
  /// Whether an entry that has no program for the device is compiled from the
  /// file's portable graph, where there is a compiler (CompileEntry.h).
  bool mayCompile = true;
  /// The most threads of a CPU that a run takes (ThreadLimit); 0: no limit.
  unsigned threads = 0;
  /// None: what SINTER_TRUST says. `graph` needs a compiler here, and
  /// `mayCompile`.
  std::optional<ModelTrust> trust = std::nullopt;
  std::string trustedKeys = {}; ///< as checkTrust has them
};

/// Who gives an entry point's inputs, and which of its outputs are given back.
/// Numbers of inputs and outputs, in order.
struct EntryPorts {
  std::vector<uint32_t> given; ///< by the caller
  std::vector<uint32_t> weights, states, random, passed;
  std::vector<uint32_t> returned; ///< outputs that are the caller's
  bool updatesWeights = false;
};

/// An open model file. Every function is thread-safe and may be called by many
/// sessions at once. What is read of it is read once: a program when its entry
/// is first asked for, a weight when it is.
class Model {
public:
  /// Maps the file. An error of kind `io` says what is wrong with it; whether a
  /// program fits the device is found out when an entry is asked for.
  static Result<std::shared_ptr<Model>> open(const std::string &path,
                                             const ModelOptions &options = {});
  /// The same of a file's bytes in memory. Weights in files beside it cannot be
  /// found then.
  static Result<std::shared_ptr<Model>>
  openMemory(std::span<const std::byte> file, const ModelOptions &options = {});

  Device &device() const { return *target; }
  unsigned threads() const { return maxThreads; }
  const ModelInfo &info() const { return contents; }
  const EntryPorts &ports(uint32_t entry) const { return entries[entry].ports; }

  /// The entry of that name; an error of kind `invalid_argument` lists all.
  Result<uint32_t> findEntry(std::string_view name) const;
  /// The entry's program for the device. `unsupported` where none fits and none
  /// can be made.
  Result<std::shared_ptr<const Program>> program(uint32_t entry);
  /// The tensor of that number (ModelInfo::tensors) on the device, for all
  /// sessions: who has it only reads it. Mapped where the device reads the
  /// host's memory, else copied there once.
  Result<BufferRef> tensor(uint32_t number);

private:
  struct Entry {
    EntryPorts ports;
    std::shared_ptr<const Program> program;
    std::atomic<bool> isLoaded{false};
  };

  Model(std::shared_ptr<const FileBytes> file, std::string path, Device &device)
      : file(std::move(file)), path(std::move(path)), target(&device) {}
  static Result<std::shared_ptr<Model>> make(FileBytes file, std::string path,
                                             const ModelOptions &options);
  Status read(const ModelOptions &options);
  void listPorts();
  /// An error where a program has not the ports of the entry.
  Status checkPorts(uint32_t entry, const Program &program) const;
  Result<BufferRef> place(std::span<const std::byte> bytes) const;

  const std::shared_ptr<const FileBytes> file;
  const std::string path;
  Device *const target;
  bool mayCompile = true;
  unsigned maxThreads = 0;
  bool graphAlone = false; ///< of the file's programs none is trusted
  ModelFile sections;
  ModelInfo contents;
  std::vector<Entry> entries; ///< as contents.entries
  ForkMutex publishing;       ///< of programs
  std::optional<WeightStore> store;
  ForkMutex placing;              ///< of what follows
  std::vector<BufferRef> tensors; ///< as contents.tensors, when asked for
};

} // namespace sinter::runtime
