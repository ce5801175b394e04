/// Models of several files, which an `index.json` lists.
#include "runtime/params/Json.h"
#include "runtime/params/weights/Readers.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace sinter::runtime::weights {

namespace {

class ShardedWeights final : public WeightFile {
public:
  explicit ShardedWeights(const std::string &path)
      : WeightFile(path, "index of shards") {}

  Status readIndex(std::span<const std::byte> index);
  Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const override {
    const Place &place = places[numberOf(tensor)];
    return place.shard->read(*place.tensor);
  }
  Status check(const WeightTensor &tensor) const override {
    const Place &place = places[numberOf(tensor)];
    return place.shard->check(*place.tensor);
  }
  void leave(std::span<const std::byte> part) const override {
    for (const auto &[name, shard] : shards)
      shard->leave(part);
  }

private:
  struct Place {
    WeightFileRef shard;
    const WeightTensor *tensor = nullptr;
  };
  std::map<std::string, WeightFileRef, std::less<>> shards;
  std::vector<Place> places; ///< one a tensor

  Result<WeightFileRef> shardOf(const std::string &file);
  Status addTensor(const std::string &tensor, const json::Value &file);
  void readMetadata(const json::Value &index);
  void noteTheRest();
};

/// A shard is a file in the folder of the index.
bool isPlainName(std::string_view file) {
  return !file.empty() && file != "." && file != ".." &&
         file.find_first_of(std::string_view("/\\\0", 3)) == file.npos;
}

Result<WeightFileRef> ShardedWeights::shardOf(const std::string &file) {
  auto known = shards.find(file);
  if (known != shards.end())
    return known->second;
  if (!isPlainName(file))
    return fileError(path(),
                     fmt::format("the shard '{}' is no file beside the index",
                                 printableName(file)));
  std::string where = std::filesystem::path(path()).replace_filename(file);
  auto mapped = MappedFile::open(where);
  if (!mapped)
    return fileError(path(), mapped.error().message, mapped.error().kind);
  auto shard = openTensors(where, std::move(*mapped));
  if (!shard)
    return fileError(path(), shard.error().message, shard.error().kind);
  shards.emplace(file, *shard);
  return *shard;
}

Status ShardedWeights::addTensor(const std::string &tensor,
                                 const json::Value &file) {
  if (!file.is(json::Kind::string))
    return tensorError(path(), tensor, "its shard is no string");
  SINTER_TRY_ASSIGN(WeightFileRef shard, shardOf(file.string));
  const WeightTensor *found = shard->find(tensor);
  if (!found)
    return tensorError(
        path(), tensor,
        fmt::format("'{}' does not have it", printableName(file.string)));
  entries.push_back(*found);
  places.push_back({std::move(shard), found});
  return {};
}

void ShardedWeights::readMetadata(const json::Value &index) {
  const json::Value *list = index.find("metadata");
  for (size_t i = 0; list && i < list->keys.size(); ++i) {
    const json::Value &value = list->elements[i];
    if (value.is(json::Kind::string))
      strings.emplace_back(list->keys[i], value.string);
    else if (value.is(json::Kind::unsignedInteger))
      strings.emplace_back(list->keys[i], std::to_string(value.integer));
    else if (value.is(json::Kind::number))
      strings.emplace_back(list->keys[i], fmt::to_string(value.number));
  }
}

/// Those of the shards that the index leaves out are no part of the model.
void ShardedWeights::noteTheRest() {
  std::map<const WeightFile *, size_t> listed;
  for (const Place &place : places)
    ++listed[place.shard.get()];
  for (const auto &[file, shard] : shards) {
    size_t more = shard->tensors().size() - listed[shard.get()];
    if (more)
      remarks.push_back(fmt::format(
          "{}: left out, as the index does not list them: {} of {} tensors",
          file, more, shard->tensors().size()));
    for (const std::string &note : shard->notes())
      remarks.push_back(file + ": " + note);
  }
}

Status ShardedWeights::readIndex(std::span<const std::byte> index) {
  auto parsed =
      json::parse({reinterpret_cast<const char *>(index.data()), index.size()});
  if (!parsed)
    return fileError(path(), parsed.error().message);
  const json::Value *map = parsed->find("weight_map");
  if (!map || !map->is(json::Kind::object))
    return fileError(path(), "JSON without a weight_map is no index of shards");
  for (size_t i = 0; i < map->keys.size(); ++i)
    SINTER_TRY(addTensor(map->keys[i], map->elements[i]));
  readMetadata(*parsed);
  noteTheRest();
  SINTER_TRY(finish());
  // One that was left out is nobody's name.
  for (WeightTensor &tensor : entries) {
    const WeightTensor *same = find(tensor.tiedTo);
    if (same && places[numberOf(*same)].shard != places[numberOf(tensor)].shard)
      same = nullptr;
    if (!same || same >= &tensor)
      tensor.tiedTo.clear();
  }
  return {};
}

} // namespace

Result<WeightFileRef> openShards(const std::string &path,
                                 std::span<const std::byte> index) {
  auto result = std::make_shared<ShardedWeights>(path);
  SINTER_TRY(result->readIndex(index));
  return WeightFileRef(std::move(result));
}

} // namespace sinter::runtime::weights
