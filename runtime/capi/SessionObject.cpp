/// A run: from structs to bindings, and back.
#include "runtime/capi/SessionObject.h"

#include "runtime/capi/ThreadWait.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/program/ProgramData.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

//===- Cancelling ---------------------------------------------------------===//

class SessionObject::Registration {
public:
  Registration(SessionObject &object, CancelFlag &flag)
      : object(object), flag(flag) {
    std::lock_guard lock(object.activeMutex);
    object.active.push_back(&flag);
  }
  ~Registration() {
    std::lock_guard lock(object.activeMutex);
    std::erase(object.active, &flag);
  }
  Registration(const Registration &) = delete;

private:
  SessionObject &object;
  CancelFlag &flag;
};

void SessionObject::cancel() {
  std::lock_guard lock(activeMutex);
  for (CancelFlag *flag : active)
    flag->store(true);
}

//===- One run ------------------------------------------------------------===//

Subject SessionObject::input(uint32_t entry, size_t number) const {
  const Program &program = session.program(entry);
  uint32_t port = owner->model().ports(entry).given[number];
  return {"input", &program.inputs()[port], program.exprs(), number};
}

Subject SessionObject::outputOf(uint32_t entry, size_t number) const {
  const Program &program = session.program(entry);
  uint32_t port = owner->model().ports(entry).returned[number];
  return {"output", &program.outputs()[port], program.exprs(), number};
}

/// Loads what the entry needs, and checks the numbers of tensors.
Status SessionObject::prepare(const RunRequest &request) {
  SINTER_TRY(owner->checkEntry(request.entry));
  SINTER_TRY(session.prepare(request.entry));
  const EntryPorts &ports = owner->model().ports(request.entry);
  if (request.inputs.size() != ports.given.size())
    return invalid(fmt::format("the entry point takes {} inputs, got {}",
                               ports.given.size(), request.inputs.size()));
  return checkCount(request.entry, request.places.size());
}

Status SessionObject::checkCount(uint32_t entry, size_t outputs) const {
  const EntryPorts &ports = owner->model().ports(entry);
  if (outputs == 0 || outputs == ports.returned.size())
    return {};
  return invalid(fmt::format("the entry point gives {} outputs, got structs "
                             "for {}",
                             ports.returned.size(), outputs));
}

Status SessionObject::bindInputs(const RunRequest &request) {
  Device &device = owner->model().device();
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    SINTER_TRY_ASSIGN(
        sinter_tensor tensor,
        readStruct(request.inputs[i], "an input's sinter_tensor"));
    Subject subject = input(request.entry, i);
    SINTER_TRY_ASSIGN(TensorView view, viewOf(tensor, subject));
    SINTER_TRY(
        bindTensor(view, subject, device, session.input(request.entry, i)));
  }
  return {};
}

/// The session's own outputs may go while it runs.
Status SessionObject::checkOwn(const TensorView &view, const Subject &subject,
                               uint32_t entry) const {
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  auto results = session.results(entry);
  for (size_t i = 0; i < results.size(); ++i) {
    auto own = reinterpret_cast<uintptr_t>(results[i].buffer->data());
    if (!entries[entry].isPlaced[i] &&
        begin < own + results[i].buffer->bytes() && own < begin + view.bytes)
      return subject.invalid("its place is an output of the session's own, "
                             "which goes with this run");
  }
  return {};
}

/// Nor are two places in one another, also where both are copied to.
Status SessionObject::checkOthers(const TensorView &view,
                                  const Subject &subject,
                                  uint32_t entry) const {
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  const std::vector<TensorView> &views = entries[entry].views;
  for (size_t i = 0; i < views.size(); ++i) {
    auto other = reinterpret_cast<uintptr_t>(views[i].data);
    if (begin < other + views[i].bytes && other < begin + view.bytes)
      return subject.invalid("its place has a part in that of " +
                             outputOf(entry, i).name());
  }
  return {};
}

Status SessionObject::listPlaces(const RunRequest &request) {
  Entry &entry = entries[request.entry];
  entry.places.assign(request.places.size(), {});
  entry.views.assign(request.places.size(), {});
  for (size_t i = 0; i < entry.places.size(); ++i) {
    SINTER_TRY_ASSIGN(sinter_tensor tensor,
                      readStruct(request.places[i], "a place's sinter_tensor"));
    if (!tensor.data)
      continue;
    Subject subject = outputOf(request.entry, i);
    SINTER_TRY_ASSIGN(TensorView view, viewOf(tensor, subject));
    SINTER_TRY(checkOwn(view, subject, request.entry));
    SINTER_TRY(checkOthers(view, subject, request.entry));
    SINTER_TRY_ASSIGN(entry.places[i],
                      placeOf(view, subject, owner->model().device()));
    // Inputs are read until the end: the result is copied there then.
    BufferRef &place = entry.places[i].buffer;
    if (place && session.isGiven(*place, request.entry))
      place = {};
    entry.views[i] = view;
  }
  return {};
}

Status SessionObject::execute(const RunRequest &request,
                              const CancelFlag &flag) {
  Device &device = owner->model().device();
  ThreadLimit threads(owner->model().threads()); // large copies take some, too
  // Before inputs: some are copied.
  if (request.usesStream)
    SINTER_TRY(device.followStream(request.stream));
  SINTER_TRY(bindInputs(request));
  SINTER_TRY(listPlaces(request));
  {
    CancelFlagScope scope(&flag);
    SINTER_TRY(session.run(request.entry, entries[request.entry].places));
  }
  Entry &entry = entries[request.entry];
  entry.isPlaced.assign(session.results(request.entry).size(), 0);
  for (size_t i = 0; i < entry.places.size(); ++i)
    entry.isPlaced[i] = bool(entry.places[i].buffer);
  return finish(request);
}

/// Waits, or has the caller's stream wait, and hands outputs over.
Status SessionObject::finish(const RunRequest &request) {
  Device &device = owner->model().device();
  SINTER_TRY(copyOutputs(request.entry));
  if (request.usesStream)
    return device.leadStream(request.stream);
  if (device.sharesHostMemory())
    return {};
  SINTER_TRY_ASSIGN(auto event, device.record());
  return event->wait();
}

/// To places that only a copy can go to.
Status SessionObject::copyOutputs(uint32_t entry) {
  auto results = session.results(entry);
  const std::vector<TensorView> &views = entries[entry].views;
  for (size_t i = 0; i < views.size(); ++i)
    if (views[i].data && !entries[entry].isPlaced[i])
      SINTER_TRY(copyTo(views[i], results[i]));
  return {};
}

Status SessionObject::run(const RunRequest &request, const CancelFlag &flag) {
  std::lock_guard lock(mutex);
  if (flag.load())
    return cancelledError();
  SINTER_TRY(prepare(request));
  Status done = execute(request, flag);
  // What was bound may be gone after the call; the error is that of the run.
  Device &device = owner->model().device();
  if (!done && !request.usesStream && !device.sharesHostMemory())
    static_cast<void>(device.synchronize().ok());
  session.unbind(request.entry);
  entries[request.entry].places.clear();
  return done;
}

Status SessionObject::run(const RunRequest &request) {
  CancelFlag flag{false};
  Registration registration(*this, flag);
  return run(request, flag);
}

//===- Runs in the background ---------------------------------------------===//

Status SessionObject::begin(std::function<Status(const CancelFlag &)> run,
                            sinter_run_callback callback, void *user,
                            std::shared_ptr<EventObject> event,
                            std::shared_ptr<SessionObject> self) {
  std::shared_ptr<Worker> thread;
  {
    std::lock_guard lock(activeMutex);
    if (isClosed)
      return invalid("the session was closed");
    if (!worker)
      worker = std::make_shared<Worker>();
    thread = worker;
  }
  auto registration = std::make_shared<Registration>(*this, event->flag);
  event->doneBy(thread.get());
  return thread->add([=, key = thread.get(), self = std::move(self)]() mutable {
    ThreadMark mark(key);
    Status done;
    try {
      done = run(event->flag);
    } catch (...) {
      done = caught();
    }
    registration.reset();
    if (callback)
      callback(user, done ? SINTER_OK : statusOf(done.error().kind),
               done ? "" : done.error().message.c_str());
    event->finish(std::move(done));
  });
}

void SessionObject::close() {
  std::shared_ptr<Worker> thread;
  {
    std::lock_guard lock(activeMutex);
    isClosed = true;
    for (CancelFlag *flag : active)
      flag->store(true);
    thread = std::move(worker);
  }
  if (thread)
    thread->stop();
}

//===- What is known of runs ----------------------------------------------===//

Status SessionObject::memory(const RunRequest &request,
                             const StructArray<sinter_tensor> &outputs,
                             sinter_memory_info *info) {
  std::lock_guard lock(mutex);
  SINTER_TRY(prepare(request));
  SINTER_TRY(checkCount(request.entry, outputs.size()));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    SINTER_TRY_ASSIGN(
        sinter_tensor tensor,
        readStruct(request.inputs[i], "an input's sinter_tensor"));
    Subject subject = input(request.entry, i);
    SINTER_TRY_ASSIGN(TensorView view, viewOf(tensor, subject));
    SINTER_TRY(bindDims(view, subject, session.input(request.entry, i)));
  }
  SINTER_TRY_ASSIGN(SessionMemory memory, session.memory(request.entry));
  auto &dims = entries[request.entry].foreseen;
  dims = std::move(memory.outputDims);
  for (size_t i = 0; i < outputs.size(); ++i) {
    sinter_tensor filled{};
    filled.dtype = sinter_dtype(outputOf(request.entry, i).port->dtype);
    filled.ndim = int32_t(dims[i].size());
    filled.dims = dims[i].data();
    fillStruct(outputs[i], filled);
  }
  sinter_memory_info filled{};
  filled.input_bytes = memory.inputs;
  filled.output_bytes = memory.outputs;
  filled.temporary_bytes = memory.temporaries;
  filled.kept_bytes = memory.kept;
  fillStruct(info, filled);
  return {};
}

/// Of the entry's last run.
Result<const Output *> SessionObject::result(uint32_t entry,
                                             uint32_t number) const {
  SINTER_TRY(owner->checkEntry(entry));
  auto results = session.results(entry);
  if (results.empty())
    return invalid("the entry point was not run, or gives nothing");
  if (number >= results.size())
    return invalid(fmt::format("there is no output {}, the entry point gives "
                               "{}",
                               number, results.size()));
  return &results[number];
}

Status SessionObject::output(uint32_t entry, uint32_t number,
                             sinter_tensor *tensor) {
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(const Output *output, result(entry, number));
  fillStruct(tensor, tensorOf(*output, outputOf(entry, number).port->dtype));
  return {};
}

Result<DLManagedTensor *> SessionObject::outputDLPack(uint32_t entry,
                                                      uint32_t number) {
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(const Output *output, result(entry, number));
  Subject subject = outputOf(entry, number);
  if (entries[entry].isPlaced[number])
    return subject.invalid("it is in memory of the caller's");
  return toDLPack(*output, subject.port->dtype);
}

//===- State, weights, random numbers -------------------------------------===//

Result<const StoredTensor *> SessionObject::stored(KeptKind kind,
                                                   uint32_t number) const {
  const ModelInfo &info = owner->model().info();
  if (kind == KeptKind::weight) {
    SINTER_TRY(owner->checkWeight(number));
    return &info.tensors[number];
  }
  SINTER_TRY(owner->checkState(number));
  return &info.tensors[info.states[number].initial];
}

Status SessionObject::kept(KeptKind kind, uint32_t number,
                           sinter_tensor *tensor) {
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(const StoredTensor *first, stored(kind, number));
  auto value =
      kind == KeptKind::state ? session.state(number) : session.weight(number);
  if (!value)
    return value.takeError();
  fillStruct(tensor, tensorOf(*value, first->dtype));
  // The dims may go with the value.
  auto &dims = (kind == KeptKind::state ? stateDims : weightDims)[number];
  if (dims != value->dims) // else earlier views of it stay
    dims = std::move(value->dims);
  tensor->dims = dims.data();
  return {};
}

Status SessionObject::setKept(KeptKind kind, uint32_t number,
                              const sinter_tensor &tensor) {
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(const StoredTensor *first, stored(kind, number));
  std::string what = fmt::format(
      "{} '{}'", kind == KeptKind::state ? "state" : "weight", first->name);
  Subject subject{.what = what.c_str()};
  SINTER_TRY_ASSIGN(TensorView view, viewOf(tensor, subject));
  if (view.dtype != first->dtype || !std::ranges::equal(view.dims, first->dims))
    return subject.invalid(
        fmt::format("expected {}[{}], got {}[{}]", name(first->dtype),
                    fmt::join(first->dims, ","), name(view.dtype),
                    fmt::join(view.dims, ",")));
  Device &device = owner->model().device();
  SINTER_TRY_ASSIGN(Output value, copyOf(view, subject, device));
  SINTER_TRY_ASSIGN(auto event, device.record());
  SINTER_TRY(event->wait());
  if (kind == KeptKind::state)
    session.setState(number, std::move(value));
  else
    session.setWeight(number, std::move(value));
  return {};
}

void SessionObject::reset() {
  std::lock_guard lock(mutex);
  session.reset();
}

RandomPosition SessionObject::random() {
  std::lock_guard lock(mutex);
  return session.random();
}

void SessionObject::setRandom(const RandomPosition &position) {
  std::lock_guard lock(mutex);
  session.setRandom(position);
}
