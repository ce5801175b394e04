/// Pickles, and the tensors that they tell of: no checksum of an archive stands
/// before them.
#include "runtime/params/weights/torch/Contents.h"
#include "tests/fuzz/WeightReads.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>

using namespace sinter;
using namespace sinter::runtime;
using sinter::fuzz::require;

#ifndef SINTER_REPLAY
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

/// Most mutations keep the program going: they put in a whole instruction, or
/// one that was there.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  static constexpr const char *instructions[] = {
      "(",
      ")",
      "]",
      "}",
      "t",
      "R",
      "b",
      "e",
      "u",
      "s",
      "a",
      "0",
      "1",
      "2",
      "\x85",
      "\x86",
      "\x87",
      "\x88",
      "N",
      "K\1",
      "q\1",
      "h\1",
      "Q",
      "\x81",
      "\x93",
      "\x94",
      "ctorch\nSize\n",
      "ctorch._utils\n_rebuild_tensor_v2\n",
      "ctorch._utils\n_rebuild_tensor_v3\n",
      "ccollections\nOrderedDict\n",
      "ctorch._utils\n_rebuild_parameter\n",
      "ctorch\nfloat32\n",
      "cnumpy.core.multiarray\n_reconstruct\n",
      "J\xff\xff\xff\xff",
      "Vconj\n",
      "V_parameters\n",
      "V_modules\n",
      "\x8a\x02\xff\x7f"};
  std::minstd_rand random(seed);
  if (size == 0 || random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  size_t at = random() % size;
  const char *text = instructions[random() % std::size(instructions)];
  size_t length = std::strlen(text);
  if (random() % 3 == 0) { // one byte less
    std::memmove(data + at, data + at + 1, size - at - 1);
    return size - 1;
  }
  if (size + length > limit)
    return size;
  std::memmove(data + at + length, data + at, size - at);
  std::memcpy(data + at, text, length);
  return size + length;
}
#endif

/// A legacy archive of the pickle, with a storage for each that it refers to:
/// no checksum stands between a change and the tensors.
static std::string archiveOf(const pickle::Pickle &parsed,
                             std::string_view data) {
  constexpr uint64_t count = 64; // elements of a storage
  std::string keys = "\x80\2](", storages;
  std::set<std::string_view> known;
  for (const pickle::Value &each : parsed.persistents()) {
    auto storage = torch::storageOf(parsed, each);
    if (!storage || !*storage || !known.insert((*storage)->key).second)
      continue;
    auto length = static_cast<uint32_t>((*storage)->key.size());
    keys += 'X';
    keys.append(reinterpret_cast<const char *>(&length), sizeof(length));
    keys += (*storage)->key;
    storages.append(reinterpret_cast<const char *>(&count), sizeof(count));
    storages.append(count * byteWidth((*storage)->dtype), '\1');
  }
  std::string archive = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50"
                        "\x19.\x80\2M\xe9\3.\x80\2}.";
  return archive.append(data).append(keys).append("e.").append(storages);
}

SINTER_FUZZER(Pickle) {
  auto bytes = fuzz::bytesOf(data, size);
  auto parsed = pickle::Pickle::parse(bytes);
  if (!parsed)
    return require(!parsed.error().message.empty());
  require(parsed->size() <= size);
  auto contents = torch::contentsOf(*parsed, "root");
  if (!contents)
    return require(!contents.error().message.empty());
  for (const auto &[name, tensor] : contents->tensors)
    require(tensor.storage || tensor.dims.size() == tensor.strides.size());
  std::string archive = archiveOf(
      *parsed, {reinterpret_cast<const char *>(data), parsed->size()});
  auto mapped = fuzz::mappedBytes(std::as_bytes(std::span(archive)));
  fuzz::readAll(weights::openTensors("weights", std::move(mapped)));
}
