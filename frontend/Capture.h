/// Capture: what one call of a jitted function reads, records and changes; and
/// doing the same again with other arguments.
///
/// While a capture is open on a thread, nothing can be evaluated. What is
/// passed in, the values of cells and the positions of random draws are
/// placeholders: leaves without a value. Closing gives a Trace, whose replay
/// records the same nodes on what takes their place, so everything that holds
/// for recorded nodes (gradients, donation, threads) holds for a jitted call.
#pragma once

#include "frontend/State.h"
#include "sinter/runtime/Cell.h"

#include <sinter/Random.h>
#include <sinter/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::detail {

/// What reading a cell once gives: its value before the call, or after a part
/// of it that host code does.
struct CellRead {
  runtime::CellRef cell;
  graph::NodeRef placeholder;
  bool latest = false; ///< by latestValue
};

/// The scalars of a random draw.
struct Draw {
  graph::NodeRef keyLow, keyHigh, counter;
  Dim blocks; ///< of four numbers
};
/// Takes the next blocks; while a function is captured, placeholders.
Draw takeDraw(Generator &generator, Dim blocks, const SourceLine &where);

/// A cell, and the record id of the Param that it is changed as.
struct CellUse {
  runtime::CellRef cell;
  uint64_t recordId = 0;
};

/// Something that a call does to cells, in order: an assignment, or host code
/// that is run anew in each call (an optimizer's step, whose numbers change).
struct CapturedEffect {
  /// Given the cells of this call and the inputs' tensors.
  using Function =
      std::function<void(std::span<const CellUse>, std::span<const Tensor>)>;
  std::vector<CellUse> cells;
  std::vector<graph::NodeRef> inputs;
  Function run;
  std::vector<CellRead> after = {}; ///< which of these cells are read then
};

/// The first rows of a value, as many as a scalar of i64 says: a size that only
/// values tell. What reads them is another program of the file.
struct CountedRows {
  graph::NodeRef value, count;
  graph::NodeRef placeholder; ///< the rows; its first axis has a symbol
};

/// State that belongs to a parameter, and what it is of it.
struct StateName {
  runtime::CellRef cell, of;
  std::string name;
};

/// A parameter whose steps an optimizer counts with those of a set of others.
struct SteppedTogether {
  runtime::CellRef parameter;
  std::string set;
};

/// What a call is captured for.
enum class CaptureUse : uint8_t {
  replay, ///< jit: host code stays host code, and is run in each call
  file,   ///< export: all that is done to state is recorded, state made inside
          ///< is state of the file
  plan,   ///< plan_step: a step as a loop records it, of which nothing stays
};

/// Open from construction to destruction, on one thread; the innermost counts.
class Capture {
public:
  /// `where` is the line of the jitted call.
  explicit Capture(const SourceLine &where,
                   CaptureUse use = CaptureUse::replay);
  ~Capture();
  Capture(const Capture &) = delete;

  /// The thread's innermost one, or null.
  static Capture *current();
  CaptureUse use() const { return purpose; }

  /// A leaf of that type that stands for an argument.
  Tensor argument(const Tensor &like);
  /// The same with other dims.
  Tensor argument(const Tensor &like, std::span<const Dim> dims);
  /// The cell's value at this point of the call, as readCell or, if `latest`,
  /// latestValue gives it.
  Tensor read(const runtime::CellRef &cell, bool latest = false);
  /// The cell's value becomes `value`. Throws when the types differ.
  void update(const runtime::CellRef &cell, const Tensor &value,
              const SourceLine &where);
  /// Host code that changes `cells`, to be run in each call.
  void addEffect(std::vector<CellUse> cells, std::span<const Tensor> inputs,
                 CapturedEffect::Function function);
  /// A draw of that many blocks. Only the default generator can be drawn from.
  Draw draw(const Generator &generator, Dim blocks, const SourceLine &where);
  /// For a file: the first `count` rows of a value, through which no gradient
  /// flows. Equal counts are one symbol.
  Tensor countedRows(const Tensor &value, const Tensor &count);
  std::span<const CountedRows> allCountedRows() const { return counted; }
  /// For a file: runs are given the rate of the optimizer of that number.
  void openRate(uint64_t optimizer) { rates.try_emplace(optimizer); }
  /// That rate, a scalar, for parameters on a device; empty where it is a
  /// constant, or was not asked for and no device is named.
  Tensor rateOf(uint64_t optimizer, std::optional<DeviceId> device = {});
  /// For a file: `cell` is an optimizer's state of the parameter `of`.
  void nameState(const runtime::CellRef &cell, const runtime::CellRef &of,
                 const std::string &name);
  /// A cell that was made inside, with this value: it lives as long as the
  /// call.
  void addLocal(const runtime::CellRef &cell, const Tensor &value);
  /// A cell that was made inside and is the same one in each call: whoever
  /// made it keeps it.
  void adopt(const runtime::CellRef &cell);
  /// The value of a local cell; empty for every other.
  Tensor local(const runtime::CellRef &cell) const;

  /// What was captured so far.
  std::span<const CellRead> cellReads() const { return reads; }
  std::span<const Draw> allDraws() const { return draws; }
  std::span<const CapturedEffect> allEffects() const { return effects; }
  std::span<const StateName> stateNames() const { return names; }
  std::vector<SteppedTogether> &stepped() { return steppedTogether; }

private:
  friend class Trace;
  /// A cell's value at this point. Reading what host code makes is an
  /// evaluation in each call, so it is noted only where it is done.
  struct Value {
    Tensor tensor = {}; ///< empty: what `effect` makes, not read yet
    bool isLocal = false;
    size_t effect = 0;
  };
  [[noreturn]] void refuse(const std::string &what, const SourceLine &where);

  Capture *outer;
  CaptureUse purpose;
  uint64_t firstNewCell;
  SourceLine callLine;
  std::vector<graph::NodeRef> arguments;
  std::vector<CellRead> reads;
  std::vector<Draw> draws;
  std::vector<CountedRows> counted;
  uint32_t numCounts = 0; ///< different ones
  std::vector<CapturedEffect> effects;
  std::vector<StateName> names;
  std::vector<SteppedTogether> steppedTogether;
  std::map<uint64_t, Tensor> rates; ///< by optimizer
  std::unordered_map<const runtime::Cell *, Value> values;
  std::vector<runtime::CellRef> locals; ///< kept, so addresses stay theirs
  std::vector<runtime::CellRef> adopted;
};

/// Throws, while a function is captured, that it `what`.
void refuseInCapture(const char *what, const SourceLine &where);

/// A captured call. Immutable; replayed by many threads.
class Trace {
public:
  /// Of `capture`, whose function gave these results.
  Trace(Capture &capture, std::span<const graph::NodeRef> results);

  /// Records the call on other arguments, with cells in the places of those
  /// that it was captured on; gives the results.
  using CellMap = std::map<const runtime::Cell *, CellUse>;
  std::vector<Tensor> replay(std::span<const Tensor> arguments,
                             const CellMap &cells,
                             const SourceLine &where) const;

private:
  enum class Source : uint8_t { argument, read, draw, outside, op };
  /// How one value of the call comes about.
  struct Value {
    Source source = Source::outside;
    uint32_t index = 0; ///< of the argument, read or draw (3 values each)
    graph::NodeRef node;
    std::vector<uint32_t> operands;
  };
  struct Effect {
    CapturedEffect what;
    std::vector<uint32_t> inputs;
    uint32_t valuesBefore = 0; ///< computed when it runs
  };
  class Numbering;
  class Replay;

  std::vector<Value> values; ///< operands before users
  std::vector<CellRead> reads;
  std::vector<Draw> draws;
  std::vector<Effect> effects;
  std::vector<uint32_t> results;
  /// What was there before the call: held, so that no update overwrites it.
  std::vector<Tensor> outside;
};

} // namespace sinter::detail
