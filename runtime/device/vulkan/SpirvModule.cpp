/// Reads the instructions that declare kernels.
#include "runtime/device/vulkan/SpirvModule.h"

#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

namespace {

// SPIR-V specification 1.6, sections 2.3 and 3.52.
constexpr size_t headerWords = 5;
constexpr uint32_t entryPoint = 15, executionMode = 16, capability = 17,
                   moduleProcessed = 330;
constexpr uint32_t groupNonUniform = 61;
constexpr uint32_t computes = 5, localSize = 17;
/// In one direction; more than any device has.
constexpr uint32_t mostThreads = 1024;

ErrorInfo broken(const char *why) {
  return makeError(ErrorKind::io, std::string("it is no SPIR-V: ") + why);
}

/// The text at the beginning of words, which a zero byte ends.
Result<std::string> textOf(std::span<const uint32_t> words) {
  auto *first = reinterpret_cast<const char *>(words.data());
  auto *last = first + words.size_bytes();
  auto *end = std::find(first, last, '\0');
  if (end == last)
    return broken("a name has no end");
  return std::string(first, end);
}

Status readLaunches(std::string_view text, SpirvModule &module) {
  for (SpirvEntry &entry : module.entries) {
    if (entry.given)
      continue;
    SINTER_TRY_ASSIGN(entry.given, givenLaunchOf(text, entry.name));
  }
  return {};
}

Status readGroups(std::string_view number, SpirvModule &module) {
  const char *end = number.data() + number.size();
  auto [rest, error] = std::from_chars(number.data(), end, module.groups);
  if (error != std::errc() || rest != end || module.groups == 0 ||
      module.groups > mostThreads)
    return broken("its groups are damaged");
  return {};
}

Status readInstruction(uint32_t code, std::span<const uint32_t> operands,
                       SpirvModule &module) {
  if (code == capability && !operands.empty())
    module.usesSubgroups |= operands[0] == groupNonUniform;
  if (code == entryPoint) {
    if (operands.size() < 3 || operands[0] != computes)
      return broken("an entry point is no kernel");
    SpirvEntry entry;
    entry.id = operands[1];
    SINTER_TRY_ASSIGN(entry.name, textOf(operands.subspan(2)));
    module.entries.push_back(std::move(entry));
  }
  if (code == executionMode && operands.size() == 5 &&
      operands[1] == localSize) {
    std::span<const uint32_t> size = operands.subspan(2);
    if (std::ranges::max(size) > mostThreads)
      return broken("a kernel has too many threads");
    for (SpirvEntry &entry : module.entries)
      if (entry.id == operands[0])
        entry.threads = size[0] * size[1] * size[2];
  }
  if (code == moduleProcessed) {
    SINTER_TRY_ASSIGN(std::string text, textOf(operands));
    SINTER_TRY(readLaunches(text, module));
    if (text.starts_with(sizesKeyword))
      module.sizes = text.substr(sizesKeyword.size());
    if (text.starts_with(groupsKeyword))
      return readGroups(std::string_view(text).substr(groupsKeyword.size()),
                        module);
  }
  return {};
}

Status readInstructions(SpirvModule &module) {
  std::span<const uint32_t> rest(module.words);
  if (rest.size() < headerWords || rest[0] != spirvMagic)
    return broken("it begins otherwise");
  rest = rest.subspan(headerWords);
  while (!rest.empty()) {
    size_t length = rest[0] >> 16;
    if (length == 0 || length > rest.size())
      return broken("an instruction has no end");
    SINTER_TRY(
        readInstruction(rest[0] & 0xffff, rest.subspan(1, length - 1), module));
    rest = rest.subspan(length);
  }
  if (module.entries.empty())
    return broken("it has no kernels");
  for (const SpirvEntry &entry : module.entries)
    if (entry.threads == 0)
      return broken("a kernel does not say how many threads it has");
  return {};
}

} // namespace

Result<std::vector<SpirvModule>>
sinter::runtime::readSpirv(std::span<const std::byte> image) {
  std::vector<SpirvModule> modules;
  while (!image.empty()) {
    uint32_t count = 0;
    if (image.size() < sizeof(count))
      return broken("a length is cut off");
    std::memcpy(&count, image.data(), sizeof(count));
    image = image.subspan(sizeof(count));
    if (count > image.size() / sizeof(uint32_t))
      return broken("a module is cut off");
    if (count == 0)
      return broken("a module is empty");
    SpirvModule &module = modules.emplace_back();
    module.words.resize(count);
    std::memcpy(module.words.data(), image.data(), count * sizeof(uint32_t));
    SINTER_TRY(readInstructions(module));
    image = image.subspan(count * sizeof(uint32_t));
  }
  return modules;
}
