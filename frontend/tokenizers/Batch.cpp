/// Work on many texts by several threads.
#include "frontend/tokenizers/Batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace sinter::text {

namespace {

/// Texts that a thread takes at once.
constexpr size_t blockSize = 16;
constexpr int64_t maxWorkers = 256;

/// The first text that failed.
class FirstFailure {
public:
  void add(size_t text, std::exception_ptr error) {
    std::lock_guard lock(mutex);
    if (text >= first)
      return;
    first = text;
    failure = std::move(error);
  }
  bool isBefore(size_t text) const { return first.load() < text; }
  void raise() const {
    try {
      if (failure)
        std::rethrow_exception(failure);
    } catch (const Failure &what) {
      fail(what.error.kind,
           fmt::format("text {}: {}", first.load(), what.error.message));
    }
  }

private:
  std::mutex mutex;
  std::atomic<size_t> first = SIZE_MAX;
  std::exception_ptr failure;
};

} // namespace

void forEachText(const Core &core, size_t count, int64_t workers,
                 const std::function<void(size_t, Workspace &)> &work) {
  if (workers < 0)
    fail(ErrorKind::invalid_argument,
         fmt::format("encode_batch: {} workers", workers));
  std::atomic<size_t> next = 0;
  FirstFailure failure;
  auto run = [&] {
    size_t text = 0;
    try {
      Borrowed space(core);
      while ((text = next.fetch_add(blockSize)) < count)
        for (size_t end = std::min(text + blockSize, count); text < end; ++text)
          if (!failure.isBefore(text))
            work(text, *space);
    } catch (...) {
      failure.add(text, std::current_exception());
    }
  };
  size_t blocks = (count + blockSize - 1) / blockSize;
  auto threads =
      std::min<size_t>(size_t(std::min(workers, maxWorkers)), blocks);
  std::vector<std::jthread> others;
  for (size_t i = 1; i < threads; ++i)
    others.emplace_back(run);
  run();
  others.clear();
  failure.raise();
}

} // namespace sinter::text
