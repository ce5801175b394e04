/// DataLoader: the items of a data set in batches, epoch by epoch.
#pragma once

#include <sinter/Held.h>
#include <sinter/data/Collate.h>
#include <sinter/data/Dataset.h>
#include <sinter/data/LoaderCore.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::data {

/// Makes a batch of a vector of items; called by several threads at once.
template <typename F, typename D>
concept Batcher =
    Dataset<D> && std::invocable<const F &, std::vector<ItemOf<D>>>;

/// One loop over it is one epoch:
///
///     sn::data::DataLoader loader(dataset, {.batch_size = 64, .workers = 2,
///         .sampler = sn::data::random_sampler(seed)}, batcher);
///     for (int64_t epoch = 0; epoch < epochs; ++epoch)
///       for (Batch &batch : loader)
///         ...
///
/// Batches come in the sampler's order, and random numbers that `get` and the
/// batcher draw from the default generator are the same, however many workers
/// there are. Tensors that the batcher makes of host values, and whose axis 0
/// has as many elements as the batch has items, are symbolic in that axis: a
/// short last batch runs the same program as the others. Tensors are made on
/// the default device of the thread that loops.
///
/// Used by one thread. Leaving a loop early stops and joins the workers, and
/// the next loop goes on after the last batch that was given; `seek` moves
/// elsewhere. An exception of `get` or of the batcher is a LoaderError where
/// the loop asks for that batch, which stays the next one. Ending a loop, or
/// the loader, waits for what workers are doing right now, an item at most.
///
/// In a child that was forked off, threads of the parent are not there: a loop
/// that was begun before is an Error of kind `device` at its next batch, and a
/// new one begins at the cursor with workers of its own.
template <Dataset D, Batcher<D> F = Collate> class DataLoader {
public:
  using Item = ItemOf<D>;
  using Batch =
      std::remove_cvref_t<std::invoke_result_t<const F &, std::vector<Item>>>;
  using Where = std::source_location;

  explicit DataLoader(D dataset, LoaderOptions options = {}, F batcher = {},
                      Where where = Where::current())
      : source(std::move(dataset)), batcher(std::move(batcher)),
        core(
            source.size(), std::move(options),
            [this](std::span<const int64_t> items, detail::BatchTask &task) {
              return make(items, task);
            },
            where) {}
  DataLoader(const DataLoader &) = delete;

  /// Gives one batch after the other.
  class Iterator {
  public:
    using value_type = Batch;
    using difference_type = ptrdiff_t;

    explicit Iterator(DataLoader &loader) : loader(&loader) { ++*this; }
    Iterator(Iterator &&other) noexcept
        : loader(std::exchange(other.loader, nullptr)),
          batch(std::move(other.batch)) {}
    Iterator &operator=(Iterator &&other) noexcept {
      std::swap(loader, other.loader);
      std::swap(batch, other.batch);
      return *this;
    }
    ~Iterator() {
      if (loader)
        loader->core.leave();
    }

    Batch &operator*() const { return detail::held(batch, "operator*"); }
    Batch *operator->() const { return &detail::held(batch, "operator->"); }
    Iterator &operator++() {
      DataLoader &from = detail::held(loader, "operator++");
      batch = std::static_pointer_cast<Batch>(from.core.next());
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch; }

  private:
    DataLoader *loader;
    std::shared_ptr<Batch> batch;
  };

  /// Begins at the cursor. A second loop ends the first.
  Iterator begin(Where where = Where::current()) {
    core.begin(where);
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// Batches of the epoch that the cursor is in, also those before it.
  int64_t size() { return core.batches(); }
  const D &dataset() const { return source; }

  /// How long loops waited for batches, and how long they had them.
  LoaderStats stats() const { return core.stats(); }
  void reset_stats() { core.resetStats(); }

  /// The batch that comes next. After the last of an epoch it is the epoch's
  /// size until the loop ends.
  Cursor cursor() const { return core.cursor(); }
  void seek(Cursor cursor, Where where = Where::current()) {
    core.seek(cursor, where);
  }
  /// Writes the cursor, which `load` of a loader of the same data set size,
  /// batch size and seed reads.
  void save(const std::string &file, Where where = Where::current()) const {
    core.save(file, where);
  }
  void load(const std::string &file, Where where = Where::current()) {
    core.load(file, where);
  }
  /// The same as a record, which `Record::put` and `get` take
  /// (sinter/Record.h).
  Record into_record(Where where = Where::current()) const {
    return core.into_record(where);
  }
  void load_record(const Record &record, Where where = Where::current()) {
    core.load_record(record, where);
  }

private:
  std::shared_ptr<void> make(std::span<const int64_t> items,
                             detail::BatchTask &task) const {
    std::vector<Item> batch;
    batch.reserve(items.size());
    for (int64_t item : items) {
      if (!task.begin(item))
        return nullptr;
      batch.push_back(source.get(item));
    }
    task.beginBatcher();
    return std::make_shared<Batch>(batcher(std::move(batch)));
  }

  D source;
  F batcher;
  detail::LoaderCore core;
};

} // namespace sinter::data
