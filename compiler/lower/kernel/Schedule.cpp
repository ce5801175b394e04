/// Candidates of schedules: what each skeleton says of a kernel.
#include "compiler/lower/kernel/Schedule.h"

#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;
using program::Owner;
using program::Skeleton;
using program::Staging;

std::string nameOf(const Way &way) {
  std::string name = stringifySkeleton(way.skeleton).str();
  if (way.skeleton != Skeleton::rows && way.skeleton != Skeleton::columns)
    return name;
  name += " by " + stringifyOwner(way.owner).str();
  if (way.staging != Staging::memory)
    name += " in " + stringifyStaging(way.staging).str();
  return way.split ? name + " of " + std::to_string(way.split) : name;
}

// Of tasks that are fewer and longer than the skeleton's own.
static constexpr int64_t longSplit = 8 * canonicalChunk;

// In the order in which they are asked for.
static constexpr Way waysOfRows[] = {
    {Skeleton::turn, Owner::warp},
    {Skeleton::rows, Owner::grid},
    {Skeleton::rows, Owner::grid, Staging::memory, longSplit},
    {Skeleton::windows, Owner::lane},
    {Skeleton::window_sums, Owner::lane},
    {Skeleton::columns, Owner::block},
    {Skeleton::columns, Owner::grid},
    {Skeleton::columns, Owner::lane},
    {Skeleton::rows, Owner::block, Staging::registers},
    {Skeleton::rows, Owner::block},
    {Skeleton::rows, Owner::lane},
    {Skeleton::rows, Owner::warp},
};

static Fit fitOf(KernelWriter &writer, const Way &way) {
  if (way.skeleton == Skeleton::turn)
    return fitOfTurn(writer);
  if (way.skeleton != Skeleton::rows)
    return fitOfColumns(writer, way.skeleton, way.owner);
  if (way.owner == Owner::grid)
    return fitOfSplitReduction(writer, way.split);
  if (way.owner == Owner::block)
    return way.staging == Staging::registers ? fitOfBlockRows(writer)
                                             : fitOfLongRows(writer);
  return fitOfRows(writer, way.owner);
}

static SmallVector<Way> candidatesOfRows(KernelWriter &writer) {
  SmallVector<Way> best, possible;
  for (const Way &way : waysOfRows) {
    Fit fit = fitOf(writer, way);
    if (fit != Fit::none)
      (fit == Fit::best ? best : possible).push_back(way);
  }
  best.append(possible);
  return best;
}

// Of a root that has loops of its own.
static std::optional<Skeleton> skeletonOf(PatternKind kind) {
  switch (kind) {
  case PatternKind::contraction:
    return Skeleton::contraction;
  case PatternKind::attention:
    return Skeleton::attention;
  case PatternKind::scatter:
    return Skeleton::scatter;
  case PatternKind::prefix:
    return Skeleton::prefix;
  case PatternKind::sort:
    return Skeleton::sort;
  case PatternKind::opaque:
    return Skeleton::opaque;
  default:
    return std::nullopt;
  }
}

SmallVector<Way> candidates(KernelWriter &writer) {
  program::KernelOp kernel = writer.kernel;
  for (Operation &op : kernel.getBlock())
    if (auto described = dyn_cast<ir::SinterOpInterface>(&op))
      if (auto skeleton = skeletonOf(described.getPatternKind()))
        return {Way{*skeleton}};
  return candidatesOfRows(writer);
}

FailureOr<Way> chosenWay(program::KernelOp kernel, ArrayRef<Way> candidates) {
  program::ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return candidates.front();
  Way way{schedule.getSkeleton(), schedule.getOwner(), schedule.getStaging()};
  way.split = schedule.getSplit();
  if (llvm::is_contained(candidates, way))
    return way;
  way.split = 0;
  if (llvm::is_contained(candidates, way))
    return way;
  // The first field that leaves none.
  auto hasSkeleton = [&](const Way &each) {
    return each.skeleton == way.skeleton;
  };
  auto hasOwner = [&](const Way &each) {
    return hasSkeleton(each) && each.owner == way.owner;
  };
  InFlightDiagnostic error = kernel.emitOpError("cannot have a schedule of ");
  if (llvm::none_of(candidates, hasSkeleton))
    error << "skeleton = " << stringifySkeleton(way.skeleton);
  else if (llvm::none_of(candidates, hasOwner))
    error << "owner = " << stringifyOwner(way.owner);
  else
    error << "staging = " << stringifyStaging(way.staging);
  return error << "; it is one of "
               << llvm::join(llvm::map_range(candidates, nameOf), ", ");
}

void emitRowsBy(KernelWriter &writer, const Way &way) {
  if (way.skeleton == Skeleton::turn)
    emitTurn(writer);
  else if (way.skeleton != Skeleton::rows)
    emitColumns(writer, way.skeleton, way.owner);
  else if (way.owner == Owner::grid)
    emitSplitReduction(writer);
  else if (way.owner != Owner::block)
    emitRows(writer, way.owner);
  else if (way.staging == Staging::registers)
    emitBlockRows(writer);
  else
    emitLongRows(writer);
}

void emitBestRows(KernelWriter &writer) {
  emitRowsBy(writer, candidatesOfRows(writer).front());
}

program::ScheduleAttr withChoice(program::KernelOp kernel, StringRef name) {
  program::ScheduleAttr schedule = kernel.getScheduleAttr();
  Skeleton own = schedule ? schedule.getSkeleton() : Skeleton::contraction;
  bool isOfRows = llvm::any_of(
      waysOfRows, [&](const Way &way) { return way.skeleton == own; });
  if (isOfRows)
    for (const Way &way : waysOfRows)
      if (nameOf(way) == name)
        return program::ScheduleAttr::get(kernel.getContext(), way.skeleton,
                                          way.owner, way.staging, way.split, "",
                                          {}, {});
  if (!schedule)
    schedule = program::ScheduleAttr::get(kernel.getContext(), own, Owner::warp,
                                          Staging::memory, 0, "", {}, {});
  if (schedule.getTile() == name)
    return schedule;
  // Parts are a tile's own.
  return schedule.withTile(name).withSplit(0);
}

} // namespace sinter::compiler
