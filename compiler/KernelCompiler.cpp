/// Parallel compilation of kernels.
#include "compiler/KernelCompiler.h"
#include "compiler/Diagnostics.h"
#include "compiler/KernelCache.h"
#include "compiler/fuse/KernelText.h"
#include "compiler/guard/Guarded.h"
#include "dialects/sinter/Dialect.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/Progress.h"
#include "runtime/support/RunTogether.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace sinter::compiler {

// Made when the library is loaded: memory that runs out in the first call would
// leave it half-made, and every later call waiting.
static const DialectRegistry &registry = *[] {
  auto *dialects = new DialectRegistry;
  dialects->insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                   ir::SinterDialect, program::ProgramDialect>();
  return dialects;
}();

const DialectRegistry &compilerDialects() { return registry; }

namespace {

/// Contexts that wait for the next kernel. A context keeps every attribute it
/// ever made, so it serves a bounded number of kernels.
class ContextPool {
public:
  struct Pooled {
    std::unique_ptr<MLIRContext> context;
    unsigned kernels = 0;
  };

  Pooled take() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Pooled pooled = std::move(idle.back());
        idle.pop_back();
        return pooled;
      }
    }
    return {std::make_unique<MLIRContext>(compilerDialects(),
                                          MLIRContext::Threading::DISABLED),
            0};
  }

  void giveBack(Pooled pooled) {
    constexpr unsigned maxKernels = 200;
    if (++pooled.kernels >= maxKernels)
      return;
    std::lock_guard lock(mutex);
    if (idle.size() < idle.capacity())
      idle.push_back(std::move(pooled));
  }

  ContextPool() { idle.reserve(maxIdle); }

private:
  /// So many have room: giving back must not fail with the lock held.
  static constexpr size_t maxIdle = 256;
  std::mutex mutex;
  std::vector<Pooled> idle;
};

/// One kernel's work.
struct Job {
  std::string name;
  std::string text;
  KernelCache::Code code;
  ErrorInfo error;
};

} // namespace

// Never destroyed: threads may still compile while the process ends. Made when
// the library is loaded, so that no thread can meet them half-made.
static ContextPool &contextPool = *new ContextPool;

static Status compileJob(Job &job, const Target &target,
                         const EmitOptions &options) {
  SINTER_TRY(checkCancelled());
  ContextPool::Pooled pooled = contextPool.take();
  {
    MLIRContext *context = pooled.context.get();
    DiagnosticCollector diagnostics(context);
    ParserConfig config(context, options.verify);
    auto module = parseSourceString<ModuleOp>(job.text, config);
    FailureOr<KernelCode> code = failure();
    if (module)
      code = emitKernel(*module->getOps<program::KernelOp>().begin(), target,
                        options);
    if (succeeded(code))
      job.code = std::make_shared<const KernelCode>(std::move(*code));
    else
      job.error = diagnostics.takeError(ErrorKind::compile, "lower");
  }
  contextPool.giveBack(std::move(pooled));
  return {};
}

// One that memory runs out for is lost alone.
static void runJob(Job &job, const Target &target, const EmitOptions &options) {
  Status done = guarded([&] { return compileJob(job, target, options); });
  if (!done) {
    job.code = nullptr;
    job.error = done.takeError();
  }
}

static void runJobs(std::vector<Job *> &jobs, const Target &target,
                    const EmitOptions &options) {
  std::atomic<size_t> next = 0, done = 0;
  const CancelFlag *cancel = currentCancelFlag();
  ProgressStep progress("compiling kernel", jobs.size());
  auto work = [&] {
    CancelFlagScope scope(cancel);
    for (size_t index = next++; index < jobs.size(); index = next++) {
      progress.at(done);
      runJob(*jobs[index], target, options);
      ++done;
    }
  };
  runTogether(
      std::min<size_t>(std::thread::hardware_concurrency(), jobs.size()),
      [&] { work(); });
}

// Compiles those jobs that no other compilation works on. Their claims end
// here, so nobody waits for this one after that.
static Status compileClaimed(std::vector<Job> &jobs, KernelCache &cache,
                             const Target &target, const EmitOptions &options) {
  std::vector<Job *> missing;
  for (Job &job : jobs) {
    if (job.code || !cache.claim(job.text))
      continue;
    job.code = cache.find(job.text);
    if (!job.code)
      missing.push_back(&job);
  }
  runJobs(missing, target, options);
  for (Job *job : missing) {
    if (!job->code)
      return std::move(job->error);
    cache.insert(job->text, job->code);
  }
  return {};
}

static Result<KernelCodes> findOrCompile(ModuleOp module, KernelCache &cache,
                                         const Target &target,
                                         const EmitOptions &options) {
  std::vector<Job> jobs;
  for (auto kernel : module.getOps<program::KernelOp>()) {
    Job job;
    job.name = kernel.getSymName().str();
    llvm::raw_string_ostream stream(job.text);
    kernel->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
    jobs.push_back(std::move(job));
  }
  SINTER_TRY(compileClaimed(jobs, cache, target, options));
  KernelCodes codes;
  for (Job &job : jobs) {
    // What another compilation failed to make is left to this one.
    while (!job.code) {
      cache.await(job.text);
      SINTER_TRY(compileClaimed(jobs, cache, target, options));
    }
    codes[job.name] = job.code;
  }
  return codes;
}

Result<KernelCodes> compileKernels(ModuleOp module, const Target &target,
                                   const EmitOptions &options) {
  // Others wait for its claims: they end however the rest does.
  KernelCache cache(target, options);
  return guarded([&] { return findOrCompile(module, cache, target, options); });
}

} // namespace sinter::compiler
