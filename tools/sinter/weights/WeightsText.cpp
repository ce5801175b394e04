/// `sinter inspect` of weight files.
#include "tools/sinter/weights/WeightsText.h"

#include "frontend/weights/FitTensor.h"
#include "frontend/weights/ReadTensor.h"
#include "runtime/params/Json.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Progress.h"
#include "runtime/trust/TrustHook.h"

#include <sinter/StateDict.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

namespace sinter::cli {

namespace {

/// A tensor and what is told of it.
struct Row {
  WeightInfo info;
  std::string digest; ///< empty: not asked for
};

struct Contents {
  StateDict state;
  std::vector<Row> rows;
  uint64_t bytes = 0, elements = 0;
};

std::string quoted(const std::string &text) {
  return runtime::json::quote(printable(text));
}

} // namespace

bool isWeightPath(const std::string &path, const Arguments &arguments) {
  if (arguments.has("--weights"))
    return true;
  std::string extension = std::filesystem::path(path).extension();
  return path != "-" && extension != ".mlir" && extension != ".onnx" &&
         extension != ".sinter";
}

static uint64_t countOf(const WeightInfo &info) {
  uint64_t count = 1;
  for (int64_t dim : info.dims)
    count *= uint64_t(dim);
  return count;
}

static Result<Contents> contentsOf(const std::string &path, bool isDigested) {
  Contents contents;
  contents.state = read_state(path);
  const runtime::TrustHook *hook = nullptr;
  if (isDigested) {
    SINTER_TRY_ASSIGN(hook, runtime::trustHook());
  }
  ProgressStep progress("reading tensor", contents.state.size());
  std::map<std::string_view, std::string> digests; ///< of the first of a tie
  for (const StateDict::Entry &entry : contents.state.all()) {
    progress.at(contents.rows.size());
    Row row{contents.state.info(entry.name), {}};
    std::string_view first;
    if (hook)
      first = entry.stored->tiedTo;
    auto known = first.empty() ? digests.end() : digests.find(first);
    if (known != digests.end()) {
      row.digest = known->second;
    } else if (hook) {
      const runtime::WeightFile &file = *contents.state.source();
      SINTER_TRY_ASSIGN(detail::DenseElements dense,
                        detail::denseElements(file, *entry.stored));
      row.digest = hook->digest(dense.bytes);
      file.leave(entry.stored->data);
      digests.emplace(entry.stored->name, row.digest);
    }
    // One that is tied takes no room of its own.
    if (row.info.tied_to.empty())
      contents.bytes += row.info.bytes;
    contents.elements += countOf(row.info);
    contents.rows.push_back(std::move(row));
  }
  return contents;
}

static std::string rowJson(const Row &row) {
  const WeightInfo &info = row.info;
  std::string text = fmt::format(
      R"({{"name":{},"type":{},"dtype":"{}","shape":[{}],"bytes":{})",
      quoted(info.name), quoted(info.type), name(info.dtype),
      fmt::join(info.dims, ","), info.bytes);
  if (info.quantized)
    text += R"(,"quantized":true)";
  if (!info.tied_to.empty())
    text += fmt::format(R"(,"tied_to":{})", quoted(info.tied_to));
  if (!row.digest.empty())
    text += fmt::format(R"(,"sha256":"{}")", row.digest);
  return text + "}";
}

static std::string jsonOf(const Contents &contents) {
  std::vector<std::string> rows, metadata, notes;
  for (const Row &row : contents.rows)
    rows.push_back(rowJson(row));
  for (const auto &[key, value] : contents.state.metadata())
    metadata.push_back(fmt::format("[{},{}]", quoted(key), quoted(value)));
  for (const std::string &note : contents.state.notes())
    notes.push_back(quoted(note));
  return fmt::format(
      "{{\"format\":{},\"tensors\":[{}],\n\"metadata\":[{}],\n\"notes\":[{}],\n"
      "\"elements\":{},\"bytes\":{}}}\n",
      quoted(contents.state.format()), fmt::join(rows, ",\n"),
      fmt::join(metadata, ",\n"), fmt::join(notes, ","), contents.elements,
      contents.bytes);
}

/// Columns are as wide as what stands in them, names up to a limit.
static std::string tableOf(const Contents &contents) {
  constexpr size_t mostNameWidth = 60;
  std::vector<std::string> names, types;
  size_t nameWidth = 0, typeWidth = 0;
  for (const Row &row : contents.rows) {
    names.push_back(printableName(row.info.name));
    types.push_back(printableName(detail::typeText(row.info)));
    nameWidth =
        std::max(nameWidth, std::min(names.back().size(), mostNameWidth));
    typeWidth = std::max(typeWidth, types.back().size());
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const Row &row = contents.rows[i];
    text += fmt::format("  {:<{}}  {:<{}}  {:>12}", names[i], nameWidth,
                        types[i], typeWidth, row.info.bytes);
    if (!row.digest.empty())
      text += "  " + row.digest;
    if (!row.info.tied_to.empty())
      text += "  tied to " + printableName(row.info.tied_to);
    text += '\n';
  }
  return text;
}

static std::string textOf(const Contents &contents) {
  const StateDict &state = contents.state;
  std::string text =
      fmt::format("{}: {} tensors, {} elements, {} bytes\n", state.format(),
                  state.size(), contents.elements, contents.bytes);
  text += tableOf(contents);
  if (!state.metadata().empty())
    text += "metadata:\n";
  for (const auto &[key, value] : state.metadata())
    text += fmt::format("  {}: {}\n", printableName(key), printableName(value));
  if (!state.notes().empty())
    text += "notes:\n";
  for (const std::string &note : state.notes())
    text += fmt::format("  {}\n", printableName(note));
  return text;
}

Result<std::string> weightsText(const std::string &path,
                                const Arguments &arguments) {
  try {
    SINTER_TRY_ASSIGN(Contents contents,
                      contentsOf(path, arguments.has("--sha256")));
    return arguments.has("--json") ? jsonOf(contents) : textOf(contents);
  } catch (const Error &error) {
    return makeError(error.kind(), error.message());
  }
}

} // namespace sinter::cli
