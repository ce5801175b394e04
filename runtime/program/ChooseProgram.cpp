/// Compares what programs need with what a device has.
#include "runtime/program/ChooseProgram.h"

#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/program/VerifyProgram.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

namespace {

struct Candidate {
  uint32_t index = 0; ///< among the file's programs
  Requirements needs;
  std::string refusal; ///< who it is and why not; empty where it runs
};

size_t countFeatures(std::string_view list) {
  return list.empty() ? 0 : 1 + std::ranges::count(list, ',');
}

std::string describe(const Requirements &needs) {
  if (needs.variant.empty())
    return needs.target;
  return fmt::format("{} ({})", needs.target, needs.variant);
}

Result<std::vector<Candidate>>
readCandidates(const ModelFile &model, std::span<const uint32_t> programs,
               const Device &device) {
  std::string kind = toString(device.id());
  kind.resize(std::min(kind.find(':'), kind.size()));
  std::vector<Candidate> candidates;
  for (uint32_t index : programs) {
    const Section *section = model.find(SectionKind::program, index);
    Candidate candidate;
    candidate.index = index;
    SINTER_TRY_ASSIGN(candidate.needs, readRequirements(section->bytes));
    std::string missing =
        missingFeatures(candidate.needs.variant, device.profile());
    if (candidate.needs.target != kind)
      candidate.refusal = candidate.needs.target + " is for another device";
    else if (!missing.empty())
      candidate.refusal = describe(candidate.needs) + " needs " + missing;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// More features, or the same with more instructions: `sm_90a` before `sm_90`.
bool needsMore(const Candidate &one, const Candidate &other) {
  std::string_view a = one.needs.variant, b = other.needs.variant;
  if (auto more = countFeatures(a), less = countFeatures(b); more != less)
    return more > less;
  return a.size() > b.size() && a.starts_with(b);
}

/// Of all but the program `taken`.
std::string whyNot(const std::vector<Candidate> &candidates,
                   const Candidate *taken) {
  std::string text;
  for (const Candidate &each : candidates)
    if (&each != taken)
      text += (text.empty() ? "" : "; ") +
              (each.refusal.empty()
                   ? describe(each.needs) + " needs no more of the device"
                   : each.refusal);
  return text;
}

} // namespace

Result<ProgramChoice>
sinter::runtime::chooseProgram(const ModelFile &model,
                               std::span<const uint32_t> programs,
                               const Device &device) {
  SINTER_TRY_ASSIGN(std::vector<Candidate> candidates,
                    readCandidates(model, programs, device));
  const Candidate *best = nullptr;
  for (const Candidate &each : candidates)
    if (each.refusal.empty() && (!best || needsMore(each, *best)))
      best = &each;
  std::string others = whyNot(candidates, best);
  if (!best) {
    std::string has = device.profile();
    return makeError(ErrorKind::unsupported,
                     fmt::format("model file: no program runs on {}{}{}{}{}",
                                 toString(device.id()),
                                 others.empty() ? "" : ": ", others,
                                 has.empty() ? "" : "; the device has ", has));
  }
  ProgramChoice choice;
  choice.index = best->index;
  if (candidates.size() > 1)
    choice.text = fmt::format("{} runs on {}; {}", describe(best->needs),
                              toString(device.id()), others);
  return choice;
}
