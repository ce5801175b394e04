/// LoaderCore: what a DataLoader does whatever its items and batches are.
#include <sinter/data/LoaderCore.h>

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/data/BatchQueue.h"
#include "frontend/data/NotedLine.h"
#include "frontend/data/SplitMix.h"
#include "runtime/params/Safetensors.h"

#include <sinter/Arguments.h>
#include <sinter/Random.h>
#include <sinter/Record.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace sinter::detail {

using data::Cursor;
using data::LoaderError;

static ErrorInfo loaderError(const std::string &what,
                             ErrorKind kind = ErrorKind::invalid_argument) {
  return makeError(kind, "data loader: " + what, "data_loader");
}

//===- One batch ----------------------------------------------------------===//

bool BatchTask::begin(int64_t index) try {
  item = index;
  return !stopped();
} catch (...) {
  detail::raiseExhausted({});
}

namespace {

/// While it lives, the thread draws the random numbers of one batch.
class RandomScope {
public:
  RandomScope(uint64_t seed, Cursor at) : before(default_generator()) {
    data::SplitMix epoch(seed, static_cast<uint64_t>(at.epoch));
    data::SplitMix batch(epoch.next(), static_cast<uint64_t>(at.batch));
    manual_seed(batch.next());
  }
  ~RandomScope() { default_generator() = before; }
  RandomScope(const RandomScope &) = delete;

private:
  Generator before;
};

/// While it lives, the thread's default device is another one.
class DeviceScope {
public:
  explicit DeviceScope(DeviceId device) : before(default_device()) {
    set_default_device(device);
  }
  ~DeviceScope() { set_default_device(before); }
  DeviceScope(const DeviceScope &) = delete;

private:
  DeviceId before;
};

} // namespace

/// Throws the exception that is being handled again, nested in one that says
/// where it happened.
[[noreturn]] static void rethrow(Cursor at, std::optional<int64_t> item,
                                 SiteId site) {
  ErrorInfo info = loaderError("");
  std::string what;
  try {
    throw;
  } catch (const Error &error) {
    info.kind = error.kind();
    what = error.what();
  } catch (const std::exception &error) {
    what = error.what();
  } catch (...) {
    what = "an exception that is no std::exception";
  }
  info.site = site;
  std::string place =
      item ? fmt::format("item {} (batch {} of epoch {})", *item, at.batch,
                         at.epoch)
           : fmt::format("batch {} of epoch {}", at.batch, at.epoch);
  if (std::optional<SourceLine> line = takeNotedLine(); line && item)
    place += fmt::format(", map of {}", lineString(siteOf(*line)));
  info.message += fmt::format("{}: {}", place, what);
  std::throw_with_nested(LoaderError(std::move(info), at, item));
}

std::shared_ptr<void>
LoaderCore::make(const Order &order, int64_t batch,
                 const std::function<bool()> &stopped) const try {
  Cursor place{order.epoch, batch};
  auto count = static_cast<int64_t>(order.items.size());
  int64_t first = batch * options.batch_size;
  auto items = std::span(order.items)
                   .subspan(first, std::min(options.batch_size, count - first));
  BatchTask task;
  task.stopped = stopped;
  SiteId site = siteOf(line);
  RandomScope random(options.seed, place);
  BatchScope axis(static_cast<int64_t>(items.size()), site,
                  options.device_prefetch);
  takeNotedLine(); // of what somebody caught before
  try {
    return makeBatch(items, task);
  } catch (...) {
    rethrow(place, task.item, site);
  }
} catch (...) {
  detail::raiseExhausted({});
}

//===- Epochs -------------------------------------------------------------===//

LoaderCore::LoaderCore(int64_t items, data::LoaderOptions given, Make make,
                       std::source_location where) try
    : size(items), options(std::move(given)), makeBatch(std::move(make)),
      line(where) {
  Arguments("data loader", where)
      .positive("batch_size", options.batch_size)
      .atLeast(0, "workers", options.workers)
      .positive("prefetch", options.prefetch);
  if (!options.sampler)
    raise(loaderError("the sampler is empty"), where);
} catch (...) {
  detail::raiseExhausted(where);
}

LoaderCore::~LoaderCore() { end(); }

int64_t LoaderCore::countBatches(int64_t items) const try {
  int64_t rest = options.drop_last ? 0 : options.batch_size - 1;
  return (items + rest) / options.batch_size;
} catch (...) {
  detail::raiseExhausted({});
}

LoaderCore::OrderRef LoaderCore::order(int64_t epoch) try {
  std::lock_guard lock(plan->mutex);
  for (const auto &[number, planned] : plan->begins)
    if (planned->epoch == epoch)
      return planned;
  if (plan->known && plan->known->epoch == epoch)
    return plan->known;
  std::vector<int64_t> items = options.sampler(size, epoch);
  for (int64_t item : items)
    if (item < 0 || item >= size)
      raise(loaderError(
                fmt::format("the sampler gives item {} of {}", item, size)),
            line);
  plan->known = std::make_shared<const Order>(Order{epoch, std::move(items)});
  return plan->known;
} catch (...) {
  detail::raiseExhausted({});
}

int64_t LoaderCore::batches() try {
  abandon();
  return countBatches(static_cast<int64_t>(order(at.epoch)->items.size()));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Numbers of things --------------------------------------------------===//

// A queue's things are the batches from the cursor on and, where workers are
// kept, a null after each epoch and the batches of the next one, without end.

std::pair<LoaderCore::OrderRef, int64_t>
LoaderCore::placeOf(int64_t number) try {
  while (true) {
    std::unique_lock lock(plan->mutex);
    auto [first, order] = *std::prev(plan->begins.upper_bound(number));
    int64_t batches = countBatches(static_cast<int64_t>(order->items.size()));
    if (number - first <= batches)
      return {order, number - first};
    lock.unlock();
    OrderRef following = this->order(order->epoch + 1);
    lock.lock();
    plan->begins.emplace(first + batches + 1, std::move(following));
  }
} catch (...) {
  detail::raiseExhausted({});
}

std::shared_ptr<void>
LoaderCore::makeThing(int64_t number,
                      const std::function<bool()> &stopped) try {
  DeviceScope scope(device);
  auto [order, batch] = placeOf(number);
  if (batch == countBatches(static_cast<int64_t>(order->items.size())))
    return nullptr;
  return make(*order, batch, stopped);
} catch (...) {
  detail::raiseExhausted({});
}

//===- Loops --------------------------------------------------------------===//

void LoaderCore::start(std::source_location where) try {
  int64_t count = batches();
  if (at.batch > count)
    raise(loaderError(
              fmt::format("the cursor is at batch {} of {}", at.batch, count)),
          where);
  plan->begins = {{0, order(at.epoch)}};
  device = default_device();
  BatchQueue::Options queued{
      .first = at.batch,
      .end = keepsWorkers() ? std::numeric_limits<int64_t>::max() : count,
      .workers = options.workers,
      .ahead = options.workers * options.prefetch};
  try {
    queue = std::make_unique<BatchQueue>(
        queued, [this](int64_t number, const std::function<bool()> &stopped) {
          return makeThing(number, stopped);
        });
  } catch (const std::system_error &error) {
    raise(loaderError(fmt::format("cannot start {} workers: {}",
                                  options.workers, error.what()),
                      ErrorKind::out_of_memory),
          where);
  }
} catch (...) {
  detail::raiseExhausted(where);
}

void LoaderCore::begin(std::source_location where) try {
  leave();
  abandon();
  bool isAtIt = queue && device == default_device();
  if (!isAtIt) {
    end();
    start(where);
  }
  isInLoop = true;
} catch (...) {
  detail::raiseExhausted(where);
}

std::shared_ptr<void> LoaderCore::take() try {
  if (!queue) // after an exception
    begin(line);
  if (!queue->isHere()) {
    end();
    raise(loaderError("its workers are in the process that this one was forked "
                      "from; begin again here",
                      ErrorKind::device),
          line);
  }
  try {
    return queue->next();
  } catch (...) {
    end();
    throw;
  }
} catch (...) {
  detail::raiseExhausted({});
}

std::shared_ptr<void> LoaderCore::next() try {
  auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  Clock::time_point asked = Clock::now();
  if (given)
    fed.stepped += seconds(asked - *given);
  given.reset();
  std::shared_ptr<void> batch = take();
  Clock::time_point now = Clock::now();
  if (batch) {
    fed.waited += seconds(now - asked);
    ++fed.batches;
    given = now;
    ++at.batch;
    return batch;
  }
  at = {at.epoch + 1, 0};
  isInLoop = false;
  if (!keepsWorkers()) {
    end();
    return nullptr;
  }
  std::lock_guard lock(plan->mutex);
  std::erase_if(plan->begins, [this](const auto &planned) {
    return planned.second->epoch < at.epoch && plan->begins.size() > 1;
  });
  return nullptr;
} catch (...) {
  detail::raiseExhausted({});
}

void LoaderCore::resetStats() {
  fed = {};
  given.reset();
}

void LoaderCore::leave() {
  given.reset();
  if (isInLoop)
    end();
}

void LoaderCore::abandon() {
  if (!queue || queue->isHere())
    return;
  // In a child of its process nobody can end its threads, which are not there,
  // nor let go of what they held.
  [[maybe_unused]] BatchQueue *left = queue.release();
  [[maybe_unused]] Plan *leftPlan = plan.release();
  plan = std::make_unique<Plan>();
  isInLoop = false;
}

void LoaderCore::end() {
  abandon();
  isInLoop = false;
  queue.reset();
}

//===- The cursor ---------------------------------------------------------===//

void LoaderCore::seek(Cursor cursor, std::source_location where) try {
  if (cursor.epoch < 0 || cursor.batch < 0)
    raise(loaderError(fmt::format("there is no batch {} of epoch {}",
                                  cursor.batch, cursor.epoch)),
          where);
  end();
  at = cursor;
} catch (...) {
  detail::raiseExhausted(where);
}

static constexpr const char *cursorKey = "sinter.cursor";

/// What two loaders have in common if they give the same batches.
std::string LoaderCore::fingerprint() const try {
  return fmt::format("{} items in {}batches of {}, seed {}", size,
                     options.drop_last ? "full " : "", options.batch_size,
                     options.seed);
} catch (...) {
  detail::raiseExhausted({});
}

void LoaderCore::save(const std::string &file, std::source_location where) const
    try {
  int64_t state[] = {at.epoch, at.batch};
  runtime::NamedTensor tensor{
      "cursor", DType::i64, {2}, std::as_bytes(std::span(state))};
  unwrap(runtime::writeSafetensors(file, {&tensor, 1},
                                   {{cursorKey, fingerprint()}}),
         where);
} catch (...) {
  detail::raiseExhausted(where);
}

void LoaderCore::checkFingerprint(const std::string &found,
                                  const std::string &source,
                                  std::source_location where) const {
  if (found != fingerprint())
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("load: {} is a cursor for {}; this loader has "
                                "{}",
                                source, found, fingerprint()),
                    "load"),
          where);
}

void LoaderCore::load(const std::string &file, std::source_location where) try {
  auto opened = unwrap(runtime::SafetensorsFile::open(file), where);
  const runtime::NamedTensor *tensor = opened.find("cursor");
  auto key = std::ranges::find(opened.metadata(), cursorKey,
                               &std::pair<std::string, std::string>::first);
  int64_t state[2];
  if (key == opened.metadata().end() || !tensor ||
      tensor->dtype != DType::i64 || tensor->data.size() != sizeof(state))
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("load: {} is no cursor of a data loader", file),
                    "load"),
          where);
  checkFingerprint(key->second, file, where);
  std::memcpy(state, tensor->data.data(), sizeof(state));
  seek({state[0], state[1]}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Record LoaderCore::into_record(std::source_location where) const try {
  Record record;
  record.put("epoch", at.epoch, where);
  record.put("batch", at.batch, where);
  record.put("data", fingerprint(), where);
  return record;
} catch (...) {
  detail::raiseExhausted(where);
}

void LoaderCore::load_record(const Record &record,
                             std::source_location where) try {
  checkFingerprint(record.get<std::string>("data", where), "the record", where);
  seek({record.get<int64_t>("epoch", where),
        record.get<int64_t>("batch", where)},
       where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::detail
