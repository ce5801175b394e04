/// Opens model files; loads what is asked for, once.
#include "runtime/model/Model.h"

#include "runtime/files/MappedFile.h"
#include "runtime/memory/Borrowed.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <mutex>
#include <utility>

using namespace sinter;
using namespace sinter::runtime;

/// An error about a file, with its name.
static ErrorInfo named(const std::string &path, ErrorInfo error) {
  if (!path.empty())
    error.message = path + ": " + error.message;
  return error;
}

static Result<Device *> deviceOf(const ModelOptions &options) {
  if (options.device)
    return options.device;
  SINTER_TRY_ASSIGN(DeviceId id, parseDevice(flags().device));
  return getDevice(id);
}

Result<std::shared_ptr<Model>> Model::open(const std::string &path,
                                           const ModelOptions &options) {
  SINTER_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  return make(FileBytes(std::move(mapped)), path, options);
}

Result<std::shared_ptr<Model>>
Model::openMemory(std::span<const std::byte> file,
                  const ModelOptions &options) {
  constexpr uintptr_t alignment = 64; // of what verified flatbuffers hold
  if (options.inPlace &&
      reinterpret_cast<uintptr_t>(file.data()) % alignment == 0)
    return make(FileBytes::view(file), {}, options);
  SINTER_TRY_ASSIGN(FileBytes copy, FileBytes::copyOf(file));
  return make(std::move(copy), {}, options);
}

Result<std::shared_ptr<Model>> Model::make(FileBytes file, std::string path,
                                           const ModelOptions &options) {
  SINTER_TRY_ASSIGN(Device * device, deviceOf(options));
  SINTER_TRY(device->checkProcess());
  std::shared_ptr<Model> model(
      new Model(std::make_shared<const FileBytes>(std::move(file)),
                std::move(path), *device));
  if (Status done = model->read(options); !done)
    return named(model->path, done.takeError());
  return model;
}

Status Model::read(const ModelOptions &options) {
  mayCompile = options.mayCompile;
  maxThreads = options.threads;
  ModelTrust trust = ModelTrust::code;
  if (options.trust) {
    trust = *options.trust;
  } else {
    SINTER_TRY_ASSIGN(trust, defaultTrust());
  }
  graphAlone = trust == ModelTrust::graph;
  if (graphAlone && !mayCompile)
    return makeError(ErrorKind::invalid_argument,
                     "a model whose graph alone is trusted has to be compiled");
  SINTER_TRY_ASSIGN(sections, readModel(file->bytes(), options.check));
  SINTER_TRY_ASSIGN(contents, readModelInfo(sections));
  std::string folder; // of files beside it
  if (!path.empty()) {
    size_t slash = path.rfind('/');
    folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }
  SINTER_TRY(
      checkTrust({sections, contents, folder}, trust, options.trustedKeys));
  store.emplace(sections, contents, folder);
  tensors.resize(contents.tensors.size());
  listPorts();
  // What was signed is what is mapped from here on.
  if (options.check == ModelCheck::everything || trust == ModelTrust::signature)
    for (uint32_t i = 0; i < contents.tensors.size(); ++i)
      SINTER_TRY(store->bytesOf(i));
  return {};
}

static std::vector<uint32_t> *listOf(EntryPorts &ports, SlotKind kind) {
  switch (kind) {
  case SlotKind::given:
    return &ports.given;
  case SlotKind::weight:
    return &ports.weights;
  case SlotKind::state:
    return &ports.states;
  case SlotKind::random:
    return &ports.random;
  case SlotKind::passed:
    return &ports.passed;
  case SlotKind::constant:
    break;
  }
  return nullptr;
}

void Model::listPorts() {
  entries = std::vector<Entry>(contents.entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const EntryPoint &entry = contents.entries[i];
    EntryPorts &ports = entries[i].ports;
    for (uint32_t k = 0; k < entry.inputs.size(); ++k)
      if (std::vector<uint32_t> *list = listOf(ports, entry.inputs[k].kind))
        list->push_back(k);
    for (uint32_t k = 0; k < entry.outputs.size(); ++k) {
      if (entry.outputs[k].updates < 0)
        ports.returned.push_back(k);
      ports.updatesWeights |= entry.outputs[k].isWeight;
    }
  }
}

Result<uint32_t> Model::findEntry(std::string_view name) const {
  std::string all;
  for (uint32_t i = 0; i < contents.numPublic(); ++i) {
    if (contents.entries[i].name == name)
      return i;
    all += (i == 0 ? "" : ", ") + printableName(contents.entries[i].name);
  }
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("there is no entry point '{}', only {}",
                               printableName(name), all));
}

// Loaded without a lock: whoever is second drops what he has.
Result<std::shared_ptr<const Program>> Model::program(uint32_t number) {
  Entry &entry = entries[number];
  if (entry.isLoaded.load(std::memory_order_acquire))
    return entry.program;
  SINTER_TRY_ASSIGN(auto loaded, mayCompile
                                     ? loadOrCompileEntry(file, number, *target,
                                                          path, graphAlone)
                                     : loadEntry(file, number, *target, path));
  SINTER_TRY(checkPorts(number, *loaded));
  std::lock_guard lock(publishing);
  if (!entry.isLoaded.load(std::memory_order_relaxed)) {
    entry.program = std::move(loaded);
    entry.isLoaded.store(true, std::memory_order_release);
  }
  return entry.program;
}

/// On a device that reads the host's memory nothing is copied.
Result<BufferRef> Model::place(std::span<const std::byte> bytes) const {
  if (target->sharesHostMemory())
    return borrowBuffer(*target, const_cast<std::byte *>(bytes.data()),
                        bytes.size());
  SINTER_TRY_ASSIGN(BufferRef buffer, target->allocate(bytes.size()));
  SINTER_TRY(target->copyIn(*buffer, 0, bytes));
  return buffer;
}

Result<BufferRef> Model::tensor(uint32_t number) {
  std::lock_guard lock(placing);
  BufferRef &buffer = tensors[number];
  if (buffer)
    return buffer;
  auto bytes = store->bytesOf(number);
  if (!bytes)
    return named(path, bytes.takeError());
  SINTER_TRY_ASSIGN(buffer, place(*bytes));
  return buffer;
}

Status Model::checkPorts(uint32_t number, const Program &program) const {
  const EntryPoint &entry = contents.entries[number];
  size_t inputs = program.inputs().size(), outputs = program.outputs().size();
  if (inputs == entry.inputs.size() && outputs == entry.outputs.size())
    return {};
  return named(
      path,
      makeError(ErrorKind::io,
                fmt::format("model file: entry point '{}' has "
                            "{} inputs and {} outputs, its "
                            "program {} and {}",
                            printableName(entry.name), entry.inputs.size(),
                            entry.outputs.size(), inputs, outputs)));
}
