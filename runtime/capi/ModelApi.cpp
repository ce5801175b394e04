/// Models: open, signature, close.
#include "runtime/capi/ModelObject.h"
#include "runtime/capi/Structs.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

static Result<ModelOptions> optionsOf(const sinter_model_options *given) {
  SINTER_TRY_ASSIGN(sinter_model_options options,
                    readOptions(given, "sinter_model_options"));
  if (options.check != SINTER_CHECK_WHEN_USED &&
      options.check != SINTER_CHECK_NOW)
    return invalid(fmt::format("there is no check {}", options.check));
  if (options.in_place != 0 && options.in_place != 1)
    return invalid(fmt::format("in_place is {}, not 0 or 1", options.in_place));
  if (options.never_compile != 0 && options.never_compile != 1)
    return invalid(
        fmt::format("never_compile is {}, not 0 or 1", options.never_compile));
  if (options.threads < 0)
    return invalid(fmt::format("threads is {}", options.threads));
  if (options.trust < SINTER_TRUST_CODE || options.trust > SINTER_TRUST_SIGNED)
    return invalid(fmt::format("there is no trust {}", options.trust));
  if (options.trust == SINTER_TRUST_GRAPH && options.never_compile == 1)
    return invalid("a model whose graph alone is trusted has to be compiled, "
                   "never_compile is 1");
  ModelOptions result;
  SINTER_TRY_ASSIGN(result.device, deviceNamed(options.device));
  result.check = options.check == SINTER_CHECK_NOW ? ModelCheck::everything
                                                   : ModelCheck::untilUse;
  result.inPlace = options.in_place == 1;
  result.mayCompile = options.never_compile == 0;
  result.threads = unsigned(options.threads);
  if (options.trust == SINTER_TRUST_GRAPH)
    result.trust = ModelTrust::graph;
  if (options.trust == SINTER_TRUST_SIGNED)
    result.trust = ModelTrust::signature;
  if (options.trusted_keys)
    result.trustedKeys = options.trusted_keys;
  return result;
}

static void give(std::shared_ptr<Model> opened, sinter_model **model) {
  *model = toHandle(std::make_shared<ModelObject>(std::move(opened)));
}

/// Fills in a port of an entry, which `ports` has.
static Status fillPort(std::span<const PortTexts> ports, const char *what,
                       uint32_t number, sinter_port_info *info) {
  if (number >= ports.size())
    return invalid(fmt::format("there is no {} {}, the entry point has {}",
                               what, number, ports.size()));
  const PortTexts &port = ports[number];
  sinter_port_info filled{};
  filled.name = port.name.c_str();
  filled.description = port.description.c_str();
  filled.dtype = sinter_dtype(port.port->dtype);
  filled.ndim = int32_t(port.dims.size());
  filled.dims = port.dims.data();
  filled.dim_names = port.dimNames.data();
  filled.is_scalar = port.port->kind == graph::InputKind::scalar;
  fillStruct(info, filled);
  return {};
}

static Result<const EntryTexts *> textsOf(sinter_model *model, uint32_t entry,
                                          sinter_port_info *info) {
  SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
  SINTER_TRY(checkStruct(info, "sinter_port_info"));
  SINTER_TRY(object->checkEntry(entry));
  return object->texts(entry);
}

static void fillStored(const StoredTensor &tensor, const std::string &name,
                       const char *description, sinter_stored_info *info) {
  sinter_stored_info filled{};
  filled.name = name.c_str();
  filled.description = description;
  filled.dtype = sinter_dtype(tensor.dtype);
  filled.ndim = int32_t(tensor.dims.size());
  filled.dims = tensor.dims.data();
  fillStruct(info, filled);
}

extern "C" {

sinter_status sinter_model_open(const char *path,
                                const sinter_model_options *options,
                                sinter_model **model) {
  return guarded([&]() -> Status {
    if (!path || !model)
      return invalid(path ? "model is null" : "path is null");
    SINTER_TRY_ASSIGN(ModelOptions read, optionsOf(options));
    SINTER_TRY_ASSIGN(auto opened, Model::open(path, read));
    give(std::move(opened), model);
    return {};
  });
}

sinter_status sinter_model_open_memory(const void *data, size_t bytes,
                                       const sinter_model_options *options,
                                       sinter_model **model) {
  return guarded([&]() -> Status {
    if ((!data && bytes > 0) || !model)
      return invalid(model ? "data is null" : "model is null");
    SINTER_TRY_ASSIGN(ModelOptions read, optionsOf(options));
    SINTER_TRY_ASSIGN(
        auto opened,
        Model::openMemory({static_cast<const std::byte *>(data), bytes}, read));
    give(std::move(opened), model);
    return {};
  });
}

sinter_status sinter_model_close(sinter_model *model) {
  return guarded([&]() -> Status {
    if (!model)
      return {};
    SINTER_TRY_ASSIGN(auto object, closeHandle<ModelObject>(model));
    return {};
  });
}

sinter_status sinter_model_get_info(sinter_model *model,
                                    sinter_model_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    SINTER_TRY(checkStruct(info, "sinter_model_info"));
    const ModelInfo &contents = object->model().info();
    sinter_model_info filled{};
    filled.device = object->deviceName().c_str();
    filled.num_entries = uint32_t(contents.numPublic());
    filled.num_weights = uint32_t(contents.numWeights());
    filled.num_states = uint32_t(contents.states.size());
    filled.num_metadata = uint32_t(contents.metadata.size());
    fillStruct(info, filled);
    return {};
  });
}

sinter_status sinter_model_entry(sinter_model *model, uint32_t entry,
                                 sinter_entry_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    SINTER_TRY(checkStruct(info, "sinter_entry_info"));
    SINTER_TRY(object->checkEntry(entry));
    const EntryPoint &point = object->model().info().entries[entry];
    const EntryPorts &ports = object->model().ports(entry);
    sinter_entry_info filled{};
    filled.name = point.name.c_str();
    filled.description = point.description.c_str();
    filled.num_inputs = uint32_t(ports.given.size());
    filled.num_outputs = uint32_t(ports.returned.size());
    fillStruct(info, filled);
    return {};
  });
}

sinter_status sinter_model_find_entry(sinter_model *model, const char *name,
                                      uint32_t *entry) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    if (!name || !entry)
      return invalid(name ? "entry is null" : "name is null");
    SINTER_TRY_ASSIGN(*entry, object->model().findEntry(name));
    return {};
  });
}

sinter_status sinter_model_input(sinter_model *model, uint32_t entry,
                                 uint32_t number, sinter_port_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(const EntryTexts *texts, textsOf(model, entry, info));
    return fillPort(texts->inputs, "input", number, info);
  });
}

sinter_status sinter_model_output(sinter_model *model, uint32_t entry,
                                  uint32_t number, sinter_port_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(const EntryTexts *texts, textsOf(model, entry, info));
    return fillPort(texts->outputs, "output", number, info);
  });
}

sinter_status sinter_model_weight(sinter_model *model, uint32_t number,
                                  sinter_stored_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    SINTER_TRY(checkStruct(info, "sinter_stored_info"));
    SINTER_TRY(object->checkWeight(number));
    const StoredTensor &tensor = object->model().info().tensors[number];
    fillStored(tensor, tensor.name, "", info);
    return {};
  });
}

sinter_status sinter_model_state(sinter_model *model, uint32_t number,
                                 sinter_stored_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    SINTER_TRY(checkStruct(info, "sinter_stored_info"));
    SINTER_TRY(object->checkState(number));
    const ModelInfo &contents = object->model().info();
    const StateInfo &state = contents.states[number];
    fillStored(contents.tensors[state.initial], state.name,
               state.description.c_str(), info);
    return {};
  });
}

sinter_status sinter_model_metadata(sinter_model *model, uint32_t number,
                                    const char **key, const char **value) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    if (!key || !value)
      return invalid(key ? "value is null" : "key is null");
    const auto &metadata = object->model().info().metadata;
    if (number >= metadata.size())
      return invalid(fmt::format("there is no metadata {}, the model has {}",
                                 number, metadata.size()));
    *key = metadata[number].first.c_str();
    *value = metadata[number].second.c_str();
    return {};
  });
}

} // extern "C"
