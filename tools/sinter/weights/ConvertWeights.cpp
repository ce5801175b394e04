/// Tensors of one file, one after the other, into another.
#include "tools/sinter/weights/ConvertWeights.h"

#include "frontend/Raise.h"
#include "frontend/weights/NameChanges.h"
#include "frontend/weights/OpenWeights.h"
#include "frontend/weights/ReadTensor.h"
#include "frontend/weights/Slots.h"
#include "runtime/files/MappedFile.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/params/Json.h"
#include "runtime/params/Npz.h"
#include "runtime/params/Safetensors.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>

namespace sinter::cli {

using namespace runtime;

namespace {

constexpr const char *call = "convert";
constexpr std::string_view safetensorsEnd = ".safetensors";
constexpr std::string_view npzEnd = ".npz";

/// A tensor that is written.
struct Output {
  std::string name;
  const WeightTensor *stored;
  detail::TensorForm form;

  uint64_t bytes() const {
    uint64_t count = byteWidth(form.dtype);
    for (int64_t dim : stored->dims)
      count *= uint64_t(dim);
    return count;
  }
};

class Converter {
public:
  Converter(const std::string &from, std::string to,
            const ConvertOptions &options)
      : from(from), to(std::move(to)), options(options),
        file(detail::openWeights(from, {})) {}

  Converted run();

private:
  void choose();
  void add(const WeightTensor &tensor, std::string name);
  void shareTies();
  Metadata metadataOfOutput() const;
  void refuseInput(const std::string &path) const;
  std::vector<std::vector<const Output *>> shards() const;
  void writeShards(const std::vector<std::vector<const Output *>> &parts);
  void writeOne(const std::string &path,
                const std::vector<const Output *> &part,
                const Metadata &metadata);
  void writeIndex(const std::map<std::string, std::string> &places);
  void writeNumpy();
  Result<detail::DenseElements> elementsOf(const Output &output) const;

  const std::string from, to;
  const ConvertOptions &options;
  WeightFileRef file;
  std::vector<Output> outputs;
  std::map<std::string, std::string> names; ///< of the input by the output's
  Converted done;
  size_t numWritten = 0;
};

[[noreturn]] void refuse(const std::string &what,
                         ErrorKind kind = ErrorKind::invalid_argument) {
  throw Error(makeError(kind, fmt::format("{}: {}", call, what)));
}

} // namespace

//===- What is written ----------------------------------------------------===//

/// Names stand in JSON; those of some formats are bytes.
static void checkText(const std::string &name) {
  if (!json::parse(json::quote(name)))
    refuse(fmt::format("'{}' is no UTF-8: --rename changes it",
                       printableName(name)));
}

void Converter::add(const WeightTensor &tensor, std::string name) {
  checkText(name);
  auto [other, isNew] = names.emplace(name, tensor.name);
  if (!isNew)
    refuse(fmt::format("'{}' and '{}' of {} are both '{}'",
                       printableName(other->second), printableName(tensor.name),
                       printable(from), printableName(name)));
  Output output{std::move(name), &tensor, {tensor.dtype}};
  if (options.dtype && isFloat(tensor.dtype))
    output.form.dtype = *options.dtype;
  outputs.push_back(std::move(output));
}

void Converter::choose() {
  using Fate = detail::ChangedName::Fate;
  detail::NameChanges changes(options.names, call, {});
  size_t numLeft = 0;
  for (const WeightTensor &tensor : file->tensors()) {
    detail::ChangedName changed = changes.of(tensor.name);
    numLeft += changed.fate == Fate::left;
    if (changed.fate == Fate::unused)
      done.unused.push_back(tensor.name);
    if (changed.fate == Fate::wanted)
      add(tensor, std::move(changed.path));
  }
  const std::string &key = options.names.top_level_key;
  if (numLeft > 0 && numLeft == file->tensors().size())
    throw Error(detail::nothingBelow(call, from, key));
  if (outputs.empty())
    refuse(printable(from) + ": no tensor is left");
  done.notes.assign(file->notes().begin(), file->notes().end());
  if (numLeft > 0)
    done.notes.push_back(
        fmt::format("{} tensors are not below '{}'", numLeft, key));
}

/// Formats have no ties: a second name is a second tensor, or is left out.
void Converter::shareTies() {
  std::map<std::string_view, const Output *> firsts;
  std::vector<Output> kept;
  for (Output &output : outputs) {
    const WeightTensor &stored = *output.stored;
    std::string_view root =
        stored.tiedTo.empty() ? std::string_view(stored.name) : stored.tiedTo;
    auto [first, isFirst] = firsts.emplace(root, &output);
    if (!isFirst)
      done.ties.emplace_back(output.name, first->second->name);
    if (isFirst || !options.dropTies)
      kept.push_back(output);
  }
  outputs = std::move(kept);
}

/// What an index of shards says of all of them.
static constexpr std::string_view totalSize = "total_size";

/// Record ids go with their tensors. `format` says to other programs how axes
/// are ordered.
Metadata Converter::metadataOfOutput() const {
  std::map<std::string, std::string> all;
  std::map<std::string_view, std::string_view> changed;
  for (const auto &[name, before] : names)
    changed.emplace(before, name);
  for (const auto &[key, value] : file->metadata()) {
    if (key == totalSize)
      continue;
    if (!key.starts_with(detail::recordKey)) {
      all.emplace(key, value);
      continue;
    }
    auto found =
        changed.find(std::string_view(key).substr(detail::recordKey.size()));
    if (found != changed.end())
      all.emplace(fmt::format("{}{}", detail::recordKey, found->second), value);
  }
  all.emplace("format", "pt");
  if (options.dropTies)
    for (const auto &[name, first] : done.ties)
      all.insert_or_assign(name, first);
  return {all.begin(), all.end()};
}

/// A bool that is neither 0 nor 1 is written by no program: readers of the
/// output would refuse it, or take it for another one.
Result<detail::DenseElements>
Converter::elementsOf(const Output &output) const {
  SINTER_TRY_ASSIGN(detail::DenseElements elements,
                    detail::denseElements(*file, *output.stored, output.form));
  auto isBit = [](std::byte byte) { return byte <= std::byte{1}; };
  if (output.form.dtype == DType::boolean &&
      !std::ranges::all_of(elements.bytes, isBit))
    return makeError(ErrorKind::io,
                     fmt::format("{}: tensor '{}': a bool byte is neither 0 "
                                 "nor 1",
                                 printable(from),
                                 printableName(output.stored->name)));
  return elements;
}

//===- Files --------------------------------------------------------------===//

/// The files that an index of shards names, and the index.
static std::vector<std::filesystem::path> filesOf(const std::string &path) {
  std::vector<std::filesystem::path> files{path};
  MappedFile mapped = detail::unwrap(MappedFile::open(path), {});
  auto *text = reinterpret_cast<const char *>(mapped.bytes().data());
  if (mapped.bytes().empty() || text[0] != '{')
    return files;
  auto index = json::parse({text, mapped.bytes().size()});
  const json::Value *places = index ? index->find("weight_map") : nullptr;
  if (!places)
    return files;
  std::filesystem::path folder = files.front().parent_path();
  for (const json::Value &place : places->elements)
    files.push_back(folder / place.string);
  return files;
}

void Converter::refuseInput(const std::string &path) const {
  for (const std::filesystem::path &input : filesOf(from)) {
    std::error_code ignored;
    if (std::filesystem::equivalent(input, path, ignored))
      refuse(fmt::format("{} is a file of the input", printable(path)));
  }
}

/// As many in each, in the order of the input, as there is room for.
std::vector<std::vector<const Output *>> Converter::shards() const {
  std::vector<std::vector<const Output *>> parts(1);
  uint64_t bytes = 0;
  for (const Output &output : outputs) {
    bool isFull = options.shardBytes > 0 && !parts.back().empty() &&
                  bytes + output.bytes() > options.shardBytes;
    if (isFull) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(&output);
    bytes += output.bytes();
  }
  return parts;
}

void Converter::writeOne(const std::string &path,
                         const std::vector<const Output *> &part,
                         const Metadata &metadata) {
  std::vector<MadeTensor> made;
  detail::DenseElements current; // one is in memory
  for (const Output *output : part) {
    auto make = [this, output,
                 &current]() -> Result<std::span<const std::byte>> {
      showProgress("writing tensor", std::min(numWritten++, outputs.size()),
                   outputs.size());
      file->leave(current.bytes);
      current = {};
      SINTER_TRY_ASSIGN(current, elementsOf(*output));
      return current.bytes;
    };
    made.push_back(
        {output->name, output->form.dtype, output->stored->dims, make});
  }
  detail::unwrap(
      writeSafetensors(path, std::span<const MadeTensor>(made), metadata), {});
  done.files.push_back(path);
}

/// The index is last: with it all are there.
void Converter::writeShards(
    const std::vector<std::vector<const Output *>> &parts) {
  std::string stem = to.substr(0, to.size() - safetensorsEnd.size());
  std::vector<std::string> paths;
  for (size_t i = 0; i < parts.size(); ++i)
    paths.push_back(fmt::format("{}-{:05}-of-{:05}{}", stem, i + 1,
                                parts.size(), safetensorsEnd));
  for (const std::string &path : paths)
    refuseInput(path);
  refuseInput(to + ".index.json");
  std::map<std::string, std::string> places;
  Metadata metadata = metadataOfOutput();
  for (size_t i = 0; i < parts.size(); ++i) {
    writeOne(paths[i], parts[i], metadata);
    for (const Output *output : parts[i])
      places.emplace(output->name,
                     std::filesystem::path(paths[i]).filename().string());
  }
  writeIndex(places);
}

void Converter::writeIndex(const std::map<std::string, std::string> &places) {
  std::vector<std::string> lines;
  for (const auto &[name, place] : places)
    lines.push_back(
        fmt::format("    {}: {}", json::quote(name), json::quote(place)));
  std::string text = fmt::format(
      "{{\n  \"metadata\": {{\"{}\": {}}},\n  \"weight_map\": {{\n{}\n"
      "  }}\n}}\n",
      totalSize, done.bytes, fmt::join(lines, ",\n"));
  std::string path = to + ".index.json";
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  detail::unwrap(replaceFile(path, {&bytes, 1}), {});
  done.files.push_back(path);
}

/// Archives hold checksums before the elements, so all are in memory at once
/// that are not in the file as they are. They hold no metadata.
void Converter::writeNumpy() {
  std::deque<detail::DenseElements> elements;
  std::vector<NamedTensor> tensors;
  std::map<std::string_view, std::span<const std::byte>> firsts; ///< of ties
  ProgressStep progress("reading tensor", outputs.size());
  for (const Output &output : outputs) {
    progress.at(tensors.size());
    const WeightTensor &stored = *output.stored;
    std::string_view root =
        stored.tiedTo.empty() ? std::string_view(stored.name) : stored.tiedTo;
    auto [first, isFirst] = firsts.try_emplace(root);
    if (isFirst) {
      elements.push_back(detail::unwrap(elementsOf(output), {}));
      first->second = elements.back().bytes;
    }
    tensors.push_back(
        {output.name, output.form.dtype, stored.dims, first->second});
  }
  detail::unwrap(writeNpz(to, tensors), {});
  done.files.push_back(to);
}

Converted Converter::run() {
  bool isSafetensors = to.ends_with(safetensorsEnd);
  if (!isSafetensors && !to.ends_with(npzEnd))
    refuse(fmt::format("{}: what is written is a .safetensors or .npz file",
                       printable(to)));
  if (!isSafetensors && options.shardBytes > 0)
    refuse("shards are .safetensors files");
  refuseInput(to);
  done.format = file->format();
  choose();
  shareTies();
  done.numTensors = outputs.size();
  for (const Output &output : outputs) {
    done.bytes += output.bytes();
    done.numDequantized += output.stored->isBlocks;
    done.numCast += output.form.dtype != output.stored->dtype;
  }
  std::vector<std::vector<const Output *>> parts = shards();
  if (!isSafetensors)
    writeNumpy();
  else if (parts.size() > 1)
    writeShards(parts);
  else
    writeOne(to, parts.front(), metadataOfOutput());
  showProgress("writing tensor", outputs.size(), outputs.size());
  return std::move(done);
}

Converted convertWeights(const std::string &from, const std::string &to,
                         const ConvertOptions &options) {
  return Converter(from, to, options).run();
}

} // namespace sinter::cli
