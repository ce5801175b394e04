/// SessionObject: what a `sinter_session` stands for.
#pragma once

#include "runtime/capi/EventObject.h"
#include "runtime/capi/ModelObject.h"
#include "runtime/capi/Structs.h"
#include "runtime/capi/Tensors.h"
#include "runtime/capi/Worker.h"
#include "runtime/model/Session.h"
#include "runtime/support/Cancel.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sinter::capi {

/// What a run is asked for.
struct RunRequest {
  uint32_t entry = 0;
  StructArray<const sinter_tensor> inputs;
  StructArray<const sinter_tensor> places;
  bool usesStream = false;
  void *stream = nullptr;
};

/// Thread-safe: one call at a time.
class SessionObject {
public:
  explicit SessionObject(std::shared_ptr<ModelObject> model)
      : owner(std::move(model)), session(owner->shared()),
        entries(owner->model().info().entries.size()) {}

  ModelObject &model() const { return *owner; }

  /// Runs, unless `flag` is set till then.
  Status run(const RunRequest &request, const CancelFlag &flag);
  /// The same until it ends, or somebody calls `cancel`.
  Status run(const RunRequest &request);
  /// Has a thread of the session's run it.
  Status begin(std::function<Status(const CancelFlag &)> run,
               sinter_run_callback callback, void *user,
               std::shared_ptr<EventObject> event,
               std::shared_ptr<SessionObject> self);
  void cancel();
  /// Cancels, and waits for the thread's end.
  void close();

  /// `outputs` get dtype and dims.
  Status memory(const RunRequest &request,
                const StructArray<sinter_tensor> &outputs,
                sinter_memory_info *info);
  Status output(uint32_t entry, uint32_t number, sinter_tensor *tensor);
  Result<DLManagedTensor *> outputDLPack(uint32_t entry, uint32_t number);

  enum class KeptKind : uint8_t { state, weight };
  /// A view of a state or weight.
  Status kept(KeptKind kind, uint32_t number, sinter_tensor *tensor);
  Status setKept(KeptKind kind, uint32_t number, const sinter_tensor &tensor);
  void reset();
  runtime::RandomPosition random();
  void setRandom(const runtime::RandomPosition &position);

private:
  struct Entry {
    std::vector<TensorView> views;      ///< of places, as callers gave them
    std::vector<runtime::Place> places; ///< of what is returned
    std::vector<char> isPlaced;         ///< results in memory of the caller's
    std::vector<std::vector<int64_t>> foreseen; ///< dims told by `memory`
  };
  /// While it lives, `cancel` reaches a flag.
  class Registration;

  Status prepare(const RunRequest &request);
  Status checkCount(uint32_t entry, size_t outputs) const;
  Subject input(uint32_t entry, size_t number) const;
  Subject outputOf(uint32_t entry, size_t number) const;
  Status bindInputs(const RunRequest &request);
  Status listPlaces(const RunRequest &request);
  Status checkOwn(const TensorView &view, const Subject &subject,
                  uint32_t entry) const;
  Status checkOthers(const TensorView &view, const Subject &subject,
                     uint32_t entry) const;
  Status execute(const RunRequest &request, const CancelFlag &flag);
  Status finish(const RunRequest &request);
  Status copyOutputs(uint32_t entry);
  Result<const runtime::Output *> result(uint32_t entry, uint32_t number) const;

  Result<const runtime::StoredTensor *> stored(KeptKind kind,
                                               uint32_t number) const;

  const std::shared_ptr<ModelObject> owner;
  std::mutex mutex; ///< of what follows
  runtime::Session session;
  std::vector<Entry> entries;
  /// Dims that views of states and weights point to.
  std::map<uint32_t, std::vector<int64_t>> stateDims, weightDims;

  ForkMutex activeMutex; ///< of what follows
  std::vector<CancelFlag *> active;
  std::shared_ptr<Worker> worker; ///< made for the first run in the background
  bool isClosed = false;
};

template <> struct HandleOf<SessionObject> {
  using Type = sinter_session;
  static constexpr HandleKind kind = HandleKind::session;
};

} // namespace sinter::capi
