/// ModelObject: what a `sinter_model` stands for.
#pragma once

#include "runtime/capi/Handles.h"
#include "runtime/model/Model.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sinter::capi {

/// A port as C callers see it. Does not move once it is made.
struct PortTexts {
  std::string name, description;
  const runtime::Port *port = nullptr;
  std::vector<int64_t> dims;
  std::vector<std::string> dimTexts;
  std::vector<const char *> dimNames;
};

/// What callers are told of an entry point: what they give and get.
struct EntryTexts {
  std::shared_ptr<const runtime::Program> program;
  std::vector<PortTexts> inputs, outputs;
};

/// Thread-safe, as the model.
class ModelObject {
public:
  explicit ModelObject(std::shared_ptr<runtime::Model> model);

  runtime::Model &model() const { return *owner; }
  const std::shared_ptr<runtime::Model> &shared() const { return owner; }
  const std::string &deviceName() const { return device; }
  /// An error where there is no such entry.
  Status checkEntry(uint32_t entry) const;
  Status checkWeight(uint32_t number) const;
  Status checkState(uint32_t number) const;
  /// Of an entry that there is; loads its program.
  Result<const EntryTexts *> texts(uint32_t entry);

private:
  const std::shared_ptr<runtime::Model> owner;
  const std::string device;
  ForkMutex mutex;
  std::vector<std::unique_ptr<const EntryTexts>> entries;
};

template <> struct HandleOf<ModelObject> {
  using Type = sinter_model;
  static constexpr HandleKind kind = HandleKind::model;
};

/// The device of that name; null: what SINTER_DEVICE says.
Result<runtime::Device *> deviceNamed(const char *name);

} // namespace sinter::capi
