/// Compiles on threads of their own.
#include "runtime/capi/EventObject.h"
#include "runtime/capi/ModelObject.h"
#include "runtime/capi/Structs.h"
#include "runtime/capi/ThreadWait.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Numerics.h"
#include "runtime/support/BeforeExit.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"

#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

namespace {

/// How many threads compile. LLVM must not go before they end.
class Compiling {
public:
  static Compiling &all() {
    static auto *instance = new Compiling;
    return *instance;
  }
  void begin() {
    waitBeforeExit([] { all().waitForAll(); });
    std::lock_guard lock(mutex);
    ++count;
  }
  void end() {
    std::lock_guard lock(mutex);
    if (--count == 0)
      changed.notify_all();
  }

private:
  void waitForAll() {
    if (madeIn != forkNumber())
      return; // a child has none of the threads
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return count == 0; });
  }

  const uint32_t madeIn = forkNumber();
  std::mutex mutex;
  std::condition_variable changed;
  size_t count = 0;
};

struct CompileJob {
  std::string graph;
  CompileRequest request;
  Device *device = nullptr;
  sinter_compile_callback callback = nullptr;
  void *user = nullptr;
  std::shared_ptr<EventObject> event = std::make_shared<EventObject>();

  Result<sinter_model *> compile() const;
  void run() noexcept;
};

} // namespace

Result<sinter_model *> CompileJob::compile() const {
  CancelFlagScope scope(&event->flag);
  SINTER_TRY(checkCancelled());
  SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
  SINTER_TRY_ASSIGN(auto bytes, hook->compileText(graph, request));
  SINTER_TRY(checkCancelled());
  SINTER_TRY_ASSIGN(auto model, Model::openMemory(bytes, {.device = device}));
  return toHandle(std::make_shared<ModelObject>(std::move(model)));
}

void CompileJob::run() noexcept {
  ThreadMark mark(this);
  Result<sinter_model *> model = [&]() -> Result<sinter_model *> {
    try {
      return compile();
    } catch (...) {
      return caught();
    }
  }();
  callback(user, model ? SINTER_OK : statusOf(model.error().kind),
           model ? "" : model.error().message.c_str(),
           model ? *model : nullptr);
  event->finish(model ? Status() : Status(model.takeError()));
}

static Result<std::shared_ptr<CompileJob>>
jobOf(const char *graph, size_t bytes, const sinter_compile_options *given) {
  SINTER_TRY_ASSIGN(sinter_compile_options options,
                    readOptions(given, "sinter_compile_options"));
  auto job = std::make_shared<CompileJob>();
  job->graph.assign(graph, bytes);
  SINTER_TRY_ASSIGN(job->device, deviceNamed(options.device));
  job->request.target = options.target ? options.target : job->device->target();
  SINTER_TRY_ASSIGN(job->request.numerics,
                    parseNumerics("numerics", options.numerics
                                                  ? options.numerics
                                                  : "default"));
  job->request.memoryLimit = flags().memoryLimit;
  return job;
}

sinter_status sinter_compile(const char *graph, size_t bytes,
                             const sinter_compile_options *options,
                             sinter_compile_callback callback, void *user,
                             sinter_event **event) {
  return guarded([&]() -> Status {
    if (!graph || !callback)
      return invalid(graph ? "callback is null" : "graph is null");
    SINTER_TRY_ASSIGN(auto job, jobOf(graph, bytes, options));
    SINTER_TRY(compilerHook()); // whether there is one
    job->callback = callback;
    job->user = user;
    job->event->doneBy(job.get());
    sinter_event *handle = event ? toHandle(job->event) : nullptr;
    if (event)
      *event = handle; // the callback may look at it
    Compiling::all().begin();
    try {
      std::thread([job] {
        job->run();
        Compiling::all().end();
      }).detach();
    } catch (...) {
      Compiling::all().end();
      if (event) {
        static_cast<void>(closeHandle<EventObject>(handle));
        *event = nullptr;
      }
      throw;
    }
    return {};
  });
}
