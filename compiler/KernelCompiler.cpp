/// Parallel compilation of kernels, and the cache of their code.
#include "compiler/KernelCompiler.h"
#include "compiler/Diagnostics.h"
#include "compiler/fuse/KernelText.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>

using namespace mlir;

namespace sinter::compiler {

const DialectRegistry &compilerDialects() {
  static const DialectRegistry registry = [] {
    DialectRegistry dialects;
    dialects.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    ir::SinterDialect, program::ProgramDialect>();
    return dialects;
  }();
  return registry;
}

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
    idle.push_back(std::move(pooled));
  }

private:
  std::mutex mutex;
  std::vector<Pooled> idle;
};

/// Code of kernels seen before. Emptied when it grows too large.
class CodeCache {
public:
  using Code = std::shared_ptr<const KernelCode>;

  Code find(const std::string &key) {
    std::lock_guard lock(mutex);
    auto found = codes.find(key);
    return found == codes.end() ? nullptr : found->second;
  }

  void insert(const std::string &key, Code code) {
    constexpr size_t maxBytes = 64 << 20;
    std::lock_guard lock(mutex);
    bytes += key.size() + code->object.size();
    if (bytes > maxBytes) {
      codes.clear();
      bytes = key.size() + code->object.size();
    }
    codes[key] = std::move(code);
  }

private:
  std::mutex mutex;
  std::unordered_map<std::string, Code> codes;
  size_t bytes = 0;
};

/// One kernel's work.
struct Job {
  std::string name;
  std::string text;
  std::string key;
  CodeCache::Code code;
  ErrorInfo error;
};

} // namespace

// Never destroyed: threads may still compile while the process ends. Made when
// the library is loaded, so that no thread can meet them half-made.
static ContextPool &contextPool = *new ContextPool;
static CodeCache &codeCache = *new CodeCache;

static void runJob(Job &job, const Target &target, const EmitOptions &options) {
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
}

static std::string cacheKey(const std::string &text, const Target &target,
                            const EmitOptions &options) {
  return llvm::formatv("{0}|{1}|{2}|{3}{4}|{5}", std::string(target.name()),
                       std::string(target.requirements()),
                       unsigned(options.numerics), options.keepText,
                       options.lowerOnly, text);
}

static void runJobs(std::vector<Job *> &jobs, const Target &target,
                    const EmitOptions &options) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t index = next++; index < jobs.size(); index = next++)
      runJob(*jobs[index], target, options);
  };
  size_t threads =
      std::min<size_t>(std::thread::hardware_concurrency(), jobs.size());
  std::vector<std::thread> pool;
  for (size_t extra = 1; extra < threads; ++extra)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}

Result<KernelCodes> compileKernels(ModuleOp module, const Target &target,
                                   const EmitOptions &options) {
  std::vector<Job> jobs;
  for (auto kernel : module.getOps<program::KernelOp>()) {
    Job job;
    job.name = kernel.getSymName().str();
    llvm::raw_string_ostream stream(job.text);
    kernel->print(stream, OpPrintingFlags().useLocalScope());
    job.key = cacheKey(job.text, target, options);
    job.code = codeCache.find(job.key);
    jobs.push_back(std::move(job));
  }
  std::vector<Job *> missing;
  for (Job &job : jobs)
    if (!job.code)
      missing.push_back(&job);
  runJobs(missing, target, options);
  KernelCodes codes;
  for (Job &job : jobs) {
    if (!job.code)
      return std::move(job.error);
    codeCache.insert(job.key, job.code);
    codes[job.name] = job.code;
  }
  return codes;
}

} // namespace sinter::compiler
