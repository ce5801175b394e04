/// Summary: the modules of a model as a table.
#include <sinter/train/Summary.h>

#include "frontend/Raise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

namespace sinter {

//===- Calls of modules ---------------------------------------------------===//

static thread_local detail::ModuleObserver *observing = nullptr;

detail::ModuleObserver::ModuleObserver()
    : outer(std::exchange(observing, this)) {}
detail::ModuleObserver::~ModuleObserver() { observing = outer; }
detail::ModuleObserver *detail::ModuleObserver::current() { return observing; }

void detail::ShapeObserver::gave(const void *address,
                                 const std::type_info &type,
                                 const Tensor &output) {
  std::vector<int64_t> dims;
  for (Dim dim : output.shape())
    dims.push_back(dim.value);
  outputs.push_back({address, type, fmt::format("[{}]", fmt::join(dims, ","))});
}

//===- Rows ---------------------------------------------------------------===//

namespace {

std::string nameOf(const std::type_info &type) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string text = status == 0 ? name.get() : type.name();
  constexpr std::string_view own = "sinter::";
  for (size_t at = text.find(own); at != std::string::npos;
       at = text.find(own, at))
    text.erase(at, own.size());
  constexpr size_t most = 40;
  if (text.size() > most)
    text = text.substr(0, most - 3) + "...";
  return text;
}

bool isBelow(std::string_view path, std::string_view module) {
  return module.empty() ||
         (path.starts_with(module) &&
          (path.size() == module.size() || path[module.size()] == '.'));
}

/// What stands below a module.
train::SummaryRow rowOf(const detail::Fields &fields,
                        const detail::Extent &module) {
  train::SummaryRow row{.path = module.path, .type = nameOf(*module.type)};
  std::set<const runtime::Cell *> counted;
  std::set<std::string_view> dtypes;
  for (const auto &[path, param] : fields.params) {
    if (!isBelow(path, module.path) ||
        !counted.insert(param->cell().get()).second)
      continue;
    int64_t count = param->numel();
    dtypes.insert(name(param->dtype()));
    row.bytes += count * static_cast<int64_t>(byteWidth(param->dtype()));
    row.parameters += param->cell()->requiresGrad() ? count : 0;
    row.trainable += param->requires_grad() ? count : 0;
  }
  row.dtypes = fmt::format("{}", fmt::join(dtypes, ", "));
  return row;
}

} // namespace

train::ModelSummary detail::summarize(const Fields &fields,
                                      const WalkedModules &walked,
                                      const ShapeObserver *shapes,
                                      std::source_location where) try {
  train::ModelSummary summary;
  for (const Extent &module : walked.modules) {
    summary.rows.push_back(rowOf(fields, module));
    if (!shapes)
      continue;
    for (const ShapeObserver::Output &output : shapes->outputs)
      if (output.address == module.begin && output.type == *module.type)
        summary.rows.back().outputs.push_back(output.shape);
  }
  std::set<const runtime::Cell *> counted;
  for (const auto &[path, param] : fields.params)
    if (!param->cell()->requiresGrad() &&
        counted.insert(param->cell().get()).second)
      summary.buffers += param->numel();
  return summary;
} catch (...) {
  raiseExhausted(where);
}

//===- The table ----------------------------------------------------------===//

namespace {

using Line = std::array<std::string, 7>;

std::string outputsText(const std::vector<std::string> &outputs) {
  constexpr size_t most = 2;
  if (outputs.size() <= most)
    return fmt::format("{}", fmt::join(outputs, " "));
  return fmt::format("{} {} and {} more", outputs[0], outputs[1],
                     outputs.size() - most);
}

Line lineOf(const train::SummaryRow &row) {
  return {row.path.empty() ? "(model)" : row.path,
          row.type,
          outputsText(row.outputs),
          fmt::format("{}", row.parameters),
          fmt::format("{}", row.trainable),
          row.dtypes,
          fmt::format("{}", row.bytes)};
}

} // namespace

std::ostream &train::operator<<(std::ostream &stream,
                                const ModelSummary &summary) {
  std::vector<Line> lines{{"module", "class", "output", "parameters",
                           "trainable", "dtype", "bytes"}};
  for (const SummaryRow &row : summary.rows)
    lines.push_back(lineOf(row));
  std::array<size_t, std::tuple_size_v<Line>> widths{};
  for (const Line &line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  bool hasOutputs = std::ranges::any_of(
      summary.rows, [](const SummaryRow &row) { return !row.outputs.empty(); });
  constexpr size_t output = 2;
  for (const Line &line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      bool isNumber = i == 3 || i == 4 || i == 6;
      if (i == output && !hasOutputs)
        continue;
      if (!text.empty())
        text += "  ";
      text += isNumber ? fmt::format("{:>{}}", line[i], widths[i])
                       : fmt::format("{:<{}}", line[i], widths[i]);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    stream << text << '\n';
  }
  if (summary.rows.empty())
    return stream;
  const SummaryRow &whole = summary.rows.front();
  return stream << fmt::format("{} parameters, {} trained, {} elements of "
                               "statistics, {} bytes\n",
                               whole.parameters, whole.trainable,
                               summary.buffers, whole.bytes);
}

} // namespace sinter
