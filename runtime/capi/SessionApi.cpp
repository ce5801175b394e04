/// Sessions: open, run, ask, close.
#include "runtime/capi/SessionObject.h"

#include "runtime/program/ProgramData.h"
#include "runtime/support/Exhausted.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

static Result<RunRequest> requestOf(uint32_t entry, const sinter_tensor *inputs,
                                    size_t numInputs,
                                    const sinter_tensor *places,
                                    size_t numPlaces,
                                    const sinter_run_options *given) {
  SINTER_TRY_ASSIGN(sinter_run_options options,
                    readOptions(given, "sinter_run_options"));
  if (options.use_stream != 0 && options.use_stream != 1)
    return invalid(
        fmt::format("use_stream is {}, not 0 or 1", options.use_stream));
  RunRequest request;
  request.entry = entry;
  SINTER_TRY_ASSIGN(request.inputs, StructArray<const sinter_tensor>::make(
                                        inputs, numInputs, "inputs"));
  // Null with a number: none.
  SINTER_TRY_ASSIGN(request.places,
                    StructArray<const sinter_tensor>::make(
                        places, places ? numPlaces : 0, "places"));
  request.usesStream = options.use_stream == 1;
  request.stream = options.stream;
  return request;
}

namespace {

/// Structs and what they point to, but their data.
struct KeptTensors {
  StructArray<const sinter_tensor> array() const {
    return StructArray<const sinter_tensor>::of(tensors);
  }
  std::vector<sinter_tensor> tensors;
  std::vector<std::vector<int64_t>> words;
};

} // namespace

static Result<std::shared_ptr<const KeptTensors>>
keep(const StructArray<const sinter_tensor> &given) {
  auto kept = std::make_shared<KeptTensors>();
  // What is wrong with others is said when they are bound.
  auto copy = [&](const int64_t *from, int32_t count) {
    if (!from || count <= 0 || count > int32_t(maxRank))
      return from;
    kept->words.emplace_back(from, from + count);
    return static_cast<const int64_t *>(kept->words.back().data());
  };
  for (size_t i = 0; i < given.size(); ++i) {
    SINTER_TRY_ASSIGN(sinter_tensor tensor,
                      readStruct(given[i], "a sinter_tensor"));
    tensor.struct_size = sizeof(tensor);
    tensor.dims = copy(tensor.dims, tensor.ndim);
    tensor.strides = copy(tensor.strides, tensor.ndim);
    kept->tensors.push_back(tensor);
  }
  return std::shared_ptr<const KeptTensors>(std::move(kept));
}

extern "C" {

sinter_status sinter_session_open(sinter_model *model,
                                  sinter_session **session) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<ModelObject>(model));
    if (!session)
      return invalid("session is null");
    *session = toHandle(std::make_shared<SessionObject>(std::move(object)));
    return {};
  });
}

sinter_status sinter_session_close(sinter_session *session) {
  return guarded([&]() -> Status {
    if (!session)
      return {};
    SINTER_TRY_ASSIGN(auto object, closeHandle<SessionObject>(session));
    object->close();
    return {};
  });
}

sinter_status sinter_session_run(sinter_session *session, uint32_t entry,
                                 const sinter_tensor *inputs, size_t numInputs,
                                 const sinter_tensor *places, size_t numPlaces,
                                 const sinter_run_options *options) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY_ASSIGN(
        RunRequest request,
        requestOf(entry, inputs, numInputs, places, numPlaces, options));
    return object->run(request);
  });
}

sinter_status sinter_session_run_async(
    sinter_session *session, uint32_t entry, const sinter_tensor *inputs,
    size_t numInputs, const sinter_tensor *places, size_t numPlaces,
    const sinter_run_options *options, sinter_run_callback callback, void *user,
    sinter_event **event) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY_ASSIGN(
        RunRequest request,
        requestOf(entry, inputs, numInputs, places, numPlaces, options));
    if (request.usesStream)
      return invalid("a run in the background takes no stream");
    SINTER_TRY(object->model().checkEntry(entry));
    SINTER_TRY_ASSIGN(auto inputsKept, keep(request.inputs));
    SINTER_TRY_ASSIGN(auto placesKept, keep(request.places));
    request.inputs = inputsKept->array();
    request.places = placesKept->array();
    auto ended = std::make_shared<EventObject>();
    auto run = [object, request, inputsKept,
                placesKept](const CancelFlag &flag) {
      return object->run(request, flag);
    };
    if (event)
      *event = toHandle(ended); // the callback may look at it
    Status begun = orExhausted(
        [&] { return object->begin(run, callback, user, ended, object); });
    if (!begun && event) {
      static_cast<void>(closeHandle<EventObject>(*event));
      *event = nullptr;
    }
    return begun;
  });
}

sinter_status sinter_session_cancel(sinter_session *session) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    object->cancel();
    return {};
  });
}

sinter_status sinter_session_memory(sinter_session *session, uint32_t entry,
                                    const sinter_tensor *inputs,
                                    size_t numInputs, sinter_tensor *outputs,
                                    size_t numOutputs,
                                    sinter_memory_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY(checkStruct(info, "sinter_memory_info"));
    SINTER_TRY_ASSIGN(RunRequest request,
                      requestOf(entry, inputs, numInputs, nullptr, 0, nullptr));
    SINTER_TRY_ASSIGN(auto filled,
                      StructArray<sinter_tensor>::make(
                          outputs, outputs ? numOutputs : 0, "outputs"));
    return object->memory(request, filled, info);
  });
}

sinter_status sinter_session_output(sinter_session *session, uint32_t entry,
                                    uint32_t number, sinter_tensor *tensor) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY(checkStruct(tensor, "sinter_tensor"));
    return object->output(entry, number, tensor);
  });
}

sinter_status sinter_session_output_dlpack(sinter_session *session,
                                           uint32_t entry, uint32_t number,
                                           struct DLManagedTensor **managed) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    if (!managed)
      return invalid("managed is null");
    SINTER_TRY_ASSIGN(*managed, object->outputDLPack(entry, number));
    return {};
  });
}

} // extern "C"
