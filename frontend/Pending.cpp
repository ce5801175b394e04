/// Eager evaluation, and the flushes that a full backlog causes.
#include "frontend/Pending.h"

#include "frontend/Capture.h"
#include "frontend/KnownSteps.h"
#include "frontend/PendingWork.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/RecordNumber.h"
#include "runtime/support/Flags.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

namespace sinter {

using graph::Node;
using graph::NodeRef;

//===- Limits -------------------------------------------------------------===//

namespace {
struct Limits {
  std::atomic<size_t> ops{PendingLimits().ops};
  std::atomic<size_t> bytes{PendingLimits().bytes};
  std::atomic<size_t> lookEvery{PendingLimits().look_every};
};
} // namespace

constinit static Limits limits;

PendingLimits pending_limits() {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {limits.ops.load(relaxed), limits.bytes.load(relaxed),
          limits.lookEvery.load(relaxed)};
}

namespace detail {

//===- What a thread recorded ---------------------------------------------===//

namespace {
/// Hashes over what the thread recorded since its last flush, and since its
/// optimizers' last step: two, because a loop may read values now and then.
struct RecordedHashes {
  uint64_t sinceFlush = 0;
  uint64_t sinceStep = 0;
  /// The count of recorded ops at which there is something to do.
  uint64_t nextStop = 0;
};

/// Where a hash began, and its value at the last of the places, `look_every`
/// ops apart, where it is compared with earlier ones.
struct Marks {
  uint64_t begin = 0; ///< count of recorded ops
  uint64_t count = 0;
  uint64_t last = 0; ///< if there is one

  uint64_t next(uint64_t every) const { return begin + (count + 1) * every; }
  bool advance(uint64_t recorded, uint64_t every, uint64_t hash) {
    if (recorded < next(every))
      return false;
    count = (recorded - begin) / every;
    last = std::rotl(hash, 17) ^ count;
    return true;
  }
};

struct ThreadPending {
  Marks flush, step;
  /// Marks since the last flush: what it evaluates followed them.
  std::vector<uint64_t> unproven;
  uint64_t lastLook = 0;
  uint64_t nextLook = 0;
  size_t kept = 0; ///< nodes that the last look visited beside what is pending
  bool isOver = false; ///< at the last look
  bool isCut = false;  ///< of this step there are pieces
  bool isBusy = false; ///< evaluating pieces
  CutPlace lastCut;
};
} // namespace

constinit static SINTER_THREAD_LOCAL RecordedHashes hashes;

static uint64_t recordedOps() { return graph::lastRecordNumber().count(); }

static ThreadPending &threadPending() {
  static SINTER_THREAD_LOCAL auto mine = [] {
    auto fresh = std::make_unique<ThreadPending>();
    uint64_t now = recordedOps();
    fresh->flush.begin = fresh->step.begin = fresh->lastLook = now;
    fresh->nextLook = now + limits.lookEvery;
    return fresh;
  }();
  return *mine;
}

static void hashRecorded(const Node &node) {
  constexpr uint64_t factor = 0x9E3779B97F4A7C15;
  uint64_t word = uint64_t(node.op()) << 48 ^ uint64_t(node.site());
  for (Dim dim : node.dims())
    word =
        word * factor ^ (dim.isConstant() ? uint64_t(dim.value) : ~uint64_t(0));
  hashes.sinceFlush = (std::rotl(hashes.sinceFlush, 5) ^ word) * factor;
  hashes.sinceStep = (std::rotl(hashes.sinceStep, 5) ^ word) * factor;
}

/// The step that this recording led to before, if it does so far and is not
/// larger already.
static std::optional<KnownStep> currentStep(const ThreadPending &mine,
                                            size_t pendingOps) {
  for (const Marks *marks : {&mine.flush, &mine.step}) {
    if (marks->count == 0)
      continue;
    std::optional<KnownStep> step = findStep(marks->last);
    if (step && pendingOps / 2 <= step->ops)
      return step;
  }
  return std::nullopt;
}

bool isNewStep() {
  const std::vector<uint64_t> &marks = threadPending().unproven;
  return !marks.empty() && !findStep(marks.back());
}

/// The ops between two looks: what they take is little beside what these did.
static uint64_t pauseAfter(size_t visited) {
  return std::max<uint64_t>(limits.lookEvery, visited / 2);
}

/// Looks stand at the same places of each step, so that cuts do, too. Flushes
/// that follow each other closely do not put them off for long.
static void placeNextLook(ThreadPending &mine, uint64_t now) {
  uint64_t pause = pauseAfter(mine.kept);
  if (now - mine.lastLook < 4 * pause)
    mine.nextLook = now + pause;
}

void noteFlushed(FlushReason reason, size_t ops,
                 const std::shared_ptr<const runtime::Program> &program,
                 size_t temporaries) {
  ThreadPending &mine = threadPending();
  uint64_t now = recordedOps();
  // A program of little of what was recorded says nothing of the rest.
  if (isNewStep() && ops >= (now - mine.flush.begin) / 2)
    rememberStep(mine.unproven, {program, !program, ops, temporaries,
                                 reason == FlushReason::limit});
  mine.unproven.clear();
  mine.flush = {.begin = now};
  mine.lastCut = {};
  mine.isCut = false;
  placeNextLook(mine, now);
  hashes.sinceFlush = 0;
  hashes.nextStop = 0;
}

//===- Flushing -----------------------------------------------------------===//

/// Whether this thread cannot evaluate now.
static bool mustWait(const ThreadPending &mine) {
  return mine.isBusy || holdsHistory() || isLogging() || recordsScanBody() ||
         Capture::current();
}

/// The first flush at a limit tells so.
static void announce(size_t ops, size_t bytes, const char *how,
                     const SourceLine &where) {
  static std::atomic<bool> isTold{false};
  if (isTold.exchange(true))
    return;
  logWarning(fmt::format(
      "pending work passed a limit at {}: {} ops, {} bytes that stay in "
      "memory; {}. Ask for values more often (eval), or see "
      "sinter::set_pending_limits",
      siteString(userSite(where)), ops, bytes, how));
}

namespace {
class BusyScope {
public:
  explicit BusyScope(ThreadPending &mine) : mine(mine) { mine.isBusy = true; }
  ~BusyScope() { mine.isBusy = false; }
  BusyScope(const BusyScope &) = delete;

private:
  ThreadPending &mine;
};
} // namespace

static void evaluatePieces(ThreadPending &mine,
                           const std::vector<PendingWork::Piece> &pieces,
                           const SourceLine &where) {
  BusyScope busy(mine);
  for (const PendingWork::Piece &piece : pieces)
    evaluateAlone(piece, FlushReason::limit, where);
}

/// Cuts what is pending where it is over the limits `times`.
static void look(ThreadPending &mine, size_t times, const SourceLine &where) {
  PendingLimits most = pending_limits();
  std::vector<PendingWork::Piece> pieces;
  size_t ops = 0, bytes = 0;
  {
    PendingWork work;
    ops = work.ops();
    bytes = work.bytes();
    mine.lastLook = recordedOps();
    mine.nextLook = mine.lastLook + pauseAfter(work.visited());
    mine.kept = work.visited() - ops;
    std::optional<KnownStep> known = currentStep(mine, ops);
    size_t temporaries = known ? known->temporaries : 0;
    mine.isOver = ops > most.ops || bytes + temporaries > most.bytes;
    if (known || (ops / times <= most.ops && bytes / times <= most.bytes))
      return;
    pieces = work.pieces(most, mine.lastCut);
  }
  if (pieces.empty())
    return;
  announce(ops, bytes, "it is evaluated in pieces", where);
  mine.isOver = false;
  mine.isCut = true;
  evaluatePieces(mine, pieces, where);
}

void noteStepEnd(const SourceLine &where) {
  if (recordsScanBody() || Capture::current())
    return;
  ThreadPending &mine = threadPending();
  std::vector<NodeRef> roots;
  // What is left of a step in pieces is no part of the next, which would be cut
  // elsewhere then.
  if ((mine.isOver || mine.isCut) && !mustWait(mine)) {
    PendingWork work;
    mine.isOver = mine.isCut = false;
    // A step that ended by itself does so again, by the same program.
    std::optional<KnownStep> known = currentStep(mine, work.ops());
    if (!known || known->endsAtLimit) {
      roots = work.roots();
      announce(work.ops(), work.bytes(), "the step is evaluated at its end",
               where);
    }
  }
  if (!roots.empty()) {
    BusyScope busy(mine);
    evaluate(roots, FlushReason::limit, where);
  }
  mine.step = {.begin = recordedOps()};
  placeNextLook(mine, mine.step.begin);
  hashes.sinceStep = 0;
  hashes.nextStop = 0;
}

void noteReadBegins(const SourceLine &where) {
  ThreadPending &mine = threadPending();
  if ((recordedOps() - mine.lastLook) / 2 > limits.ops && !mustWait(mine))
    look(mine, 2, where);
}

void noteReadEnds(const SourceLine &where) {
  ThreadPending &mine = threadPending();
  if (!mine.isOver || mustWait(mine))
    return;
  mine.isOver = false;
  look(mine, 1, where);
}

//===- After each op ------------------------------------------------------===//

/// Compares what was recorded with earlier recordings, and looks at what is
/// pending, when it is time.
[[gnu::noinline]] static void stop(uint64_t now, const SourceLine &where) {
  ThreadPending &mine = threadPending();
  uint64_t every = limits.lookEvery.load(std::memory_order_relaxed);
  constexpr size_t mostMarks = 4096;
  auto advance = [&](Marks &marks, uint64_t hash) {
    if (marks.advance(now, every, hash) && mine.unproven.size() < mostMarks)
      mine.unproven.push_back(marks.last);
  };
  advance(mine.flush, hashes.sinceFlush);
  advance(mine.step, hashes.sinceStep);
  if (now >= mine.nextLook) {
    if (!mustWait(mine))
      look(mine, 2, where);
    else
      mine.nextLook = now + every;
  }
  hashes.nextStop = std::min({mine.flush.next(every), mine.step.next(every),
                              std::max(mine.nextLook, now + 1)});
}

void noteRecorded(const Tensor &tensor, const SourceLine &where) {
  if (recordsScanBody() || Capture::current()) [[unlikely]]
    return; // the loop, and the function's result, are evaluated as a whole
  static const bool evaluatesEagerly = flags().eager;
  if (evaluatesEagerly && !holdsHistory() && !isLogging()) [[unlikely]] {
    NodeRef node = tensor.node();
    evaluate({&node, 1}, FlushReason::eval, where);
    return;
  }
  hashRecorded(*tensor.node());
  if (uint64_t now = recordedOps(); now >= hashes.nextStop) [[unlikely]]
    stop(now, where);
}

void noteReplayed(std::span<const Tensor> results, const SourceLine &where) {
  if (recordsScanBody() || Capture::current())
    return;
  for (const Tensor &result : results)
    hashRecorded(*result.node());
  if (uint64_t now = recordedOps(); now >= hashes.nextStop)
    stop(now, where);
}

} // namespace detail

void set_pending_limits(const PendingLimits &most,
                        std::source_location where) try {
  if (most.ops == 0 || most.bytes == 0 || most.look_every == 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("set_pending_limits: a limit is 0: ops "
                                        "{}, bytes {}, look_every {}",
                                        most.ops, most.bytes, most.look_every),
                            "set_pending_limits"),
                  where);
  limits.ops = most.ops;
  limits.bytes = most.bytes;
  limits.lookEvery = most.look_every;
  detail::ThreadPending &mine = detail::threadPending();
  mine.nextLook = detail::recordedOps() + most.look_every;
  detail::hashes.nextStop = 0;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
