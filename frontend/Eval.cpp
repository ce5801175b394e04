/// The evaluator: one flush from request to values.
#include "frontend/Flush.h"

#include "frontend/Capture.h"
#include "frontend/Counters.h"
#include "frontend/Execute.h"
#include "frontend/FlushPlan.h"
#include "frontend/Initialize.h"
#include "frontend/Pending.h"
#include "frontend/Programs.h"
#include "frontend/Raise.h"
#include "frontend/ReachSearch.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"
#include "frontend/SiteMemory.h"
#include "frontend/SymbolicResults.h"
#include "runtime/device/Device.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"
#include "runtime/support/WorkTimes.h"
#include "sinter/runtime/Log.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;
using graph::NodeState;
using runtime::BufferRef;
using runtime::CellTable;

namespace {
/// What the flushes of all threads share.
struct Evaluator {
  std::mutex mutex; ///< planning and committing, not compiling and running
  std::condition_variable flushEnded;
  std::vector<const FlushPlan *> inFlight;
  unsigned providing = 0; ///< flushes that wait for values of lazy leaves
  /// In a child process: another thread was in the middle of work at the fork.
  /// What it had locked stays locked here.
  bool isCutOff = false;
  RetainedNodes retained;
  std::unordered_map<const Node *, EvaluationNote> notes;
  std::deque<const Node *> noteOrder;

  void note(const Node *node, const EvaluationNote &note);
  bool conflicts(const FlushPlan &plan) const;
};
} // namespace

static Evaluator *makeEvaluator();

static Evaluator &evaluator() {
  static Evaluator *instance = makeEvaluator(); // outlives static tensors
  return *instance;
}

static Status checkNotCutOff(const Evaluator &all) {
  if (!all.isCutOff)
    return {};
  return makeError(ErrorKind::device,
                   "this process was forked while another thread computed: "
                   "it cannot compute; fork when no evaluation runs, or start "
                   "a program by exec");
}

/// How many HistoryLocks this thread holds; one locks, the others are inside.
static SINTER_THREAD_LOCAL unsigned historyLocks = 0;

bool holdsHistory() { return historyLocks > 0; }

/// Of the flushes that provide values of lazy leaves, this thread's.
static SINTER_THREAD_LOCAL unsigned providingHere = 0;

/// The evaluator's lock, unless this thread has it.
static std::unique_lock<std::mutex> lockUnlessHeld(Evaluator &all) {
  if (holdsHistory())
    return {};
  return std::unique_lock(all.mutex);
}

/// A fork waits for what is planned or committed, not for what runs.
static Evaluator *makeEvaluator() {
  // A hook that `backward` calls may fork: then this thread has the lock.
  auto release = [] {
    if (!holdsHistory())
      evaluator().mutex.unlock();
  };
  aroundFork(
      [] { static_cast<void>(lockUnlessHeld(evaluator()).release()); }, release,
      [] {
        Evaluator &all = evaluator();
        all.isCutOff |= !all.inFlight.empty() || all.providing != providingHere;
        if (!holdsHistory())
          all.mutex.unlock();
      });
  return new Evaluator;
}

void Evaluator::note(const Node *node, const EvaluationNote &note) {
  constexpr size_t mostNotes = 256;
  auto [entry, isNew] = notes.insert_or_assign(node, note);
  if (!isNew)
    return;
  noteOrder.push_back(node);
  if (noteOrder.size() > mostNotes) {
    notes.erase(noteOrder.front());
    noteOrder.pop_front();
  }
}

/// Whether a flush in progress computes, or replaces, what the plan reads.
bool Evaluator::conflicts(const FlushPlan &plan) const {
  std::span<Node *const> nodes = plan.slice.nodes();
  for (const FlushPlan *other : inFlight) {
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (!plan.slice.isInput(i) && other->slice.contains(nodes[i]))
        return true;
    for (const CellUpdate &update : other->updates)
      if (plan.slice.contains(update.old.get()))
        return true;
    for (const CellUpdate &update : plan.updates)
      for (const CellUpdate &theirs : other->updates)
        if (update.cell == theirs.cell)
          return true;
  }
  return false;
}

//===- Committing ---------------------------------------------------------===//

/// All of it or nothing: values take no memory here, and notes are kept if
/// there is some.
static void commit(Evaluator &all, FlushPlan &plan,
                   std::vector<BufferRef> &buffers,
                   const EvaluationNote &note) {
  SiteId step = plan.updates.empty() ? 0 : plan.updates[0].cell->updateSite();
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const NodeRef &output = plan.outputs[i];
    if (output->state() == NodeState::pending)
      output->setReady(buffers[i]);
    if (i + plan.updates.size() <
        plan.outputs.size()) // not a cell's next value
      ifPossible([&] { noteResult(output); });
    EvaluationNote own = note;
    if (plan.dropsHistory(i)) {
      own.releasedBy = output->requiresGrad() ? step : 0;
      output->dropOperands();
    }
    if (output->useCount() > 1) // somebody may ask
      ifPossible([&] { all.note(output.get(), own); });
  }
  buffers.clear();
  for (CellUpdate &update : plan.updates) {
    CellTable::get().commit(update.cell, update.next, std::move(update.leaf));
    update.next->dropOperands();
  }
  for (const NodeRef &node : plan.released) {
    EvaluationNote own;
    if (auto found = all.notes.find(node.get()); found != all.notes.end())
      own = found->second;
    own.releasedBy = step;
    ifPossible([&] { all.note(node.get(), own); });
  }
}

/// State keeps its old values. When the data was wrong, results are failed
/// values; after any other failure they may be asked for again.
static void rollBack(FlushPlan &plan, const ErrorInfo &error) {
  for (const CellUpdate &update : plan.updates)
    CellTable::get().rollBack(update.cell, update.next);
  if (error.kind != ErrorKind::invalid_argument)
    return;
  for (const NodeRef &output : plan.outputs)
    if (output->state() == NodeState::pending)
      ifPossible([&] {
        output->setFailed(error);
        output->dropOperands();
      });
}

//===- One flush ----------------------------------------------------------===//

static std::vector<NodeRef> pendingOf(std::span<const NodeRef> nodes) {
  std::vector<NodeRef> pending;
  for (const NodeRef &node : nodes)
    if (node->state() == NodeState::pending)
      pending.push_back(node);
  return pending;
}

namespace {
/// The plan that this thread reuses, while a flush makes and runs it. However
/// the flush ends, nobody waits for the plan and it keeps nothing alive.
class OwnPlan {
public:
  OwnPlan(Evaluator &all, std::unique_lock<std::mutex> &lock)
      : all(all), lock(lock), plan(threadPlan()) {}
  ~OwnPlan() {
    if (!lock.owns_lock())
      lock.lock();
    std::erase(all.inFlight, &plan);
    plan.clear();
    lock.unlock();
    all.flushEnded.notify_all();
  }
  OwnPlan(const OwnPlan &) = delete;
  FlushPlan &operator*() { return plan; }

private:
  static FlushPlan &threadPlan() {
    // A pointer: what threads have by themselves is to stay small.
    static SINTER_THREAD_LOCAL auto plan = std::make_unique<FlushPlan>();
    return *plan;
  }

  Evaluator &all;
  std::unique_lock<std::mutex> &lock;
  FlushPlan &plan;
};

/// While it lives the evaluator is unlocked, and lazy leaves get their values.
class ProvidesLazy {
public:
  ProvidesLazy(Evaluator &all, std::unique_lock<std::mutex> &lock)
      : all(all), lock(lock) {
    ++all.providing;
    ++providingHere;
    lock.unlock();
  }
  ~ProvidesLazy() {
    lock.lock();
    --all.providing;
    --providingHere;
  }
  ProvidesLazy(const ProvidesLazy &) = delete;

private:
  Evaluator &all;
  std::unique_lock<std::mutex> &lock;
};
} // namespace

/// The initial values of lazy leaves.
static Status provide(std::span<const NodeRef> lazy,
                      const EvaluationNote &note) {
  SlowNotice notice;
  Status made = initialize(lazy, note);
  notice.done([&] {
    return fmt::format("making the first values of {} parameters", lazy.size());
  });
  return made;
}

/// What temporaries take in a step that was not met before.
static size_t temporariesOf(const Execution &execution, const FlushPlan &plan) {
  if (!execution.program || !isNewStep())
    return 0;
  auto peak = orExhausted(
      [&] { return runtime::peakMemory(*execution.program, plan.bindings()); });
  return peak ? peak->arenaBytes : 0;
}

static Status flush(std::span<const NodeRef> nodes, const EvaluationNote &note,
                    bool alone) {
  LogLine line(note.site);
  DefaultFloats floats;
  SINTER_TRY(checkCancelled());
  Evaluator &all = evaluator();
  DeviceId device = nodes[0]->device();
  SINTER_TRY_ASSIGN(runtime::Key environment, environmentOf(device));
  std::unique_lock lock(all.mutex);
  SINTER_TRY(checkNotCutOff(all));
  OwnPlan own(all, lock);
  FlushPlan &plan = *own;
  std::optional<WorkTimer> planning;
  while (true) {
    planning.emplace(Work::planning);
    SINTER_TRY(plan.choose(nodes, alone, environment, all.retained));
    if (plan.isEmpty())
      return {};
    if (all.conflicts(plan)) {
      planning.reset();
      plan.clear();
      all.flushEnded.wait(lock);
      continue;
    }
    std::vector<NodeRef> lazy = plan.lazyLeaves();
    if (lazy.empty())
      break;
    planning.reset();
    plan.clear();
    ProvidesLazy provides(all, lock);
    SINTER_TRY(provide(lazy, note));
  }
  plan.bind(all.retained);
  if (plan.refused)
    countRefusedDonations(plan.refused, plan.refusedSite);
  Execution execution = prepare(plan, device, {note.site, !alone});
  planning.reset();
  for (CellUpdate &update : plan.updates)
    update.leaf = CellTable::get().nextLeaf(*update.cell);
  all.inFlight.push_back(&plan);
  lock.unlock();

  auto buffers = orExhausted([&] { return execute(execution, plan); });
  size_t ops = plan.slice.nodes().size() - plan.slice.inputs().size();
  size_t temporaries = alone ? 0 : temporariesOf(execution, plan);

  lock.lock();
  std::erase(all.inFlight, &plan);
  plan.releaseInputs(); // the old values' buffers
  if (buffers)
    commit(all, plan, *buffers, note);
  else
    rollBack(plan, buffers.error());
  if (!buffers)
    return buffers.takeError();
  if (!alone)
    ifPossible(
        [&] { noteFlushed(note.reason, ops, execution.program, temporaries); });
  return {};
}

Status flushAlone(std::span<const NodeRef> nodes, const EvaluationNote &note) {
  return flush(nodes, note, true);
}

/// Throws where this thread cannot evaluate.
static void checkMayEvaluate(FlushReason reason, const SourceLine &where) {
  if (holdsHistory())
    raise(makeError(ErrorKind::invalid_argument,
                    "a function that is called by backward() reads a value "
                    "that is not there yet: it can only record",
                    "backward"),
          where);
  if (isLogging())
    raise(makeError(ErrorKind::invalid_argument,
                    "a log callback reads a value that is not there yet: it "
                    "can only record",
                    std::string(toString(reason))),
          where);
  refuseInScanBody("reads a value that is not there yet: it can only record",
                   where);
}

/// Of those that are pending, one program per device. Throws what went wrong.
static void flushByDevice(std::span<const NodeRef> nodes, FlushReason reason,
                          bool alone, const SourceLine &where) {
  EvaluationNote note{reason, userSite(where), 0};
  std::vector<NodeRef> pending = pendingOf(nodes);
  if (!pending.empty())
    noteEvaluation();
  while (!pending.empty()) {
    auto others = std::stable_partition(
        pending.begin(), pending.end(),
        [device = pending[0]->device()](const NodeRef &node) {
          return node->device() == device;
        });
    std::span<const NodeRef> here(pending.begin(), others);
    countFlush(reason, note.site);
    if (checksNan())
      checkNan(here, note);
    else if (Status status = flush(here, note, alone); !status)
      raise(status.takeError(), where);
    for (const NodeRef &node : here)
      if (node->state() == NodeState::failed)
        throw Error(node->failure());
    pending.erase(pending.begin(), others);
  }
}

void evaluate(std::span<const NodeRef> nodes, FlushReason reason,
              const SourceLine &where) try {
  refuseInCapture(reason == FlushReason::dataDependentShape
                      ? "calls an op whose result's shape depends on values"
                      : "reads a value: while it is captured, it can only "
                        "record",
                  where);
  bool isPending = false;
  for (const NodeRef &node : nodes) {
    if (node->state() == NodeState::failed)
      throw Error(node->failure());
    isPending |= node->state() == NodeState::pending;
  }
  if (!isPending)
    return;
  checkMayEvaluate(reason, where);
  if (reason != FlushReason::limit)
    noteReadBegins(where); // may have evaluated some
  flushByDevice(nodes, reason, false, where);
  if (reason != FlushReason::limit)
    noteReadEnds(where);
} catch (...) {
  raiseExhausted(where);
}

void evaluateAlone(std::span<const NodeRef> nodes, FlushReason reason,
                   const SourceLine &where) try {
  flushByDevice(nodes, reason, true, where);
} catch (...) {
  raiseExhausted(where);
}

//===- Notes and history --------------------------------------------------===//

EvaluationNote evaluationNote(const Node *node) {
  Evaluator &all = evaluator();
  auto lock = lockUnlessHeld(all);
  auto found = all.notes.find(node);
  return found == all.notes.end() ? EvaluationNote() : found->second;
}

void retainHistory(const NodeRef &node) {
  Evaluator &all = evaluator();
  auto lock = lockUnlessHeld(all);
  all.retained.insert(node.get());
}

HistoryLock::HistoryLock(std::span<const NodeRef> nodes) {
  Evaluator &all = evaluator();
  auto lock = lockUnlessHeld(all);
  auto isReplaced = [&] {
    ReachSearch search;
    bool hasTargets = false;
    for (const FlushPlan *plan : all.inFlight)
      for (const CellUpdate &update : plan->updates) {
        search.addTarget(update.old.get());
        hasTargets = true;
      }
    return hasTargets &&
           std::any_of(nodes.begin(), nodes.end(), [&](const NodeRef &node) {
             return search.reaches(node.get());
           });
  };
  if (lock.owns_lock())
    all.flushEnded.wait(lock, [&] { return !isReplaced(); });
  else if (isReplaced())
    throw Error(makeError(ErrorKind::invalid_argument,
                          "backward: another thread is replacing what this was "
                          "computed from",
                          "backward"));
  ++historyLocks;
  lock.release();
}

HistoryLock::~HistoryLock() {
  if (--historyLocks == 0)
    evaluator().mutex.unlock();
}

} // namespace sinter::detail
