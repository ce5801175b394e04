/// Looks things up in a model's description.
#include "runtime/program/ModelInfo.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

std::string_view sinter::runtime::toString(SlotKind kind) {
  static constexpr std::string_view names[] = {"given",    "weight", "state",
                                               "constant", "random", "passed"};
  return names[size_t(kind)];
}

int64_t EntryPoint::findInput(std::string_view input) const {
  auto found = std::ranges::find_if(inputs, [&](const EntryInput &each) {
    return each.kind == SlotKind::given && each.name == input;
  });
  return found == inputs.end() ? -1 : found - inputs.begin();
}

int64_t ModelInfo::findEntry(std::string_view entry) const {
  auto seen = std::span(entries).first(numPublic());
  auto found = std::ranges::find(seen, entry, &EntryPoint::name);
  return found == seen.end() ? -1 : found - seen.begin();
}

size_t ModelInfo::numPublic() const {
  size_t parts = 0;
  for (const EntryPoint &entry : entries)
    parts += entry.parts.size();
  return entries.size() - parts;
}

Result<RandomDraws>
sinter::runtime::randomDraws(const EntryPoint &entry,
                             std::span<const std::vector<int64_t>> dims) {
  RandomDraws draws;
  draws.offsets.resize(entry.inputs.size());
  if (entry.randomExpr < 0)
    return draws;
  std::vector<int64_t> symbols;
  for (const DynamicDim &dim : entry.dims) {
    if (dim.input >= dims.size() || dim.axis >= dims[dim.input].size())
      return makeError(ErrorKind::invalid_argument,
                       fmt::format("entry '{}': input {} has no axis {}",
                                   entry.name, dim.input, dim.axis));
    symbols.push_back(dims[dim.input][dim.axis]);
  }
  auto valueOf = [&](int32_t expr) {
    return evaluate(entry.exprs, uint32_t(expr), symbols);
  };
  int64_t total = valueOf(entry.randomExpr);
  bool fits = total >= 0;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (int32_t expr = entry.inputs[i].randomExpr; expr >= 0) {
      int64_t offset = valueOf(expr);
      fits &= offset >= 0 && offset <= total;
      draws.offsets[i] = uint64_t(offset);
    }
  if (!fits)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("entry '{}': the random numbers that it draws "
                                 "cannot be counted",
                                 entry.name));
  draws.total = uint64_t(total);
  return draws;
}
