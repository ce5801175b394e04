/// Kept: which lines of a file stay where a run goes on.
#pragma once

#include <sinter/train/Events.h>

#include <string_view>

namespace sinter::train {

/// Where a line belongs.
struct LinePlace {
  bool isEpoch = false; ///< or a step
  Split split = Split::train;
  int64_t epoch = 0, totalStep = 0;
};

/// Whether it is there before the run goes on. Values of an epoch are emitted
/// again unless the epoch was whole.
inline bool isKept(const Resume &resume, const LinePlace &place) {
  if (place.isEpoch)
    return place.epoch <= resume.epoch;
  return place.totalStep <= (place.split == Split::train ? resume.train_steps
                                                         : resume.valid_steps);
}

/// A line of `metrics.csv`. False where it is none.
struct CsvLine {
  LinePlace place;
  double time = 0;
  Value value;
};
bool readCsvLine(std::string_view line, CsvLine &into);

/// The first line of `metrics.csv`.
inline constexpr std::string_view csvHead =
    "event,split,epoch,step,total_step,items,time,name,value,unit,role,better";

/// `path` below `folder`; an absolute one as it is.
std::string below(const std::string &folder, const std::string &path);

} // namespace sinter::train
