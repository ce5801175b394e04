/// Launches of given kernels as text.
#include "runtime/device/GivenLaunch.h"

#include "runtime/device/LineWords.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace sinter;
using namespace sinter::runtime;

static constexpr std::string_view keyword = "// launch ";
/// More than a kernel may have.
static constexpr uint32_t mostBuffers = 4096;

/// A line behind the kernel's name.
static bool readLaunch(std::string_view line, GivenLaunch &launch) {
  LineWords words(line);
  uint32_t count = 0;
  bool isWhole = true;
  for (auto *numbers : {&launch.grid, &launch.block})
    for (uint32_t &number : *numbers)
      isWhole = isWhole && words.read(number) && number > 0;
  isWhole = isWhole && words.read(launch.sharedBytes) && words.read(count) &&
            count <= mostBuffers;
  launch.buffers.resize(isWhole ? count : 0);
  for (uint32_t &buffer : launch.buffers)
    isWhole = isWhole && words.read(buffer);
  return isWhole && words.next().empty();
}

std::string sinter::runtime::givenLaunchLine(std::string_view kernel,
                                             const GivenLaunch &launch) {
  return fmt::format("{}{} {} {} {} {} {}\n", keyword, kernel,
                     fmt::join(launch.grid, " "), fmt::join(launch.block, " "),
                     launch.sharedBytes, launch.buffers.size(),
                     fmt::join(launch.buffers, " "));
}

Result<std::optional<GivenLaunch>>
sinter::runtime::givenLaunchOf(std::string_view text, std::string_view kernel) {
  std::string begin = fmt::format("\n{}{} ", keyword, kernel);
  size_t at = text.rfind(begin);
  if (at == text.npos)
    return std::optional<GivenLaunch>();
  at += begin.size();
  GivenLaunch launch;
  if (!readLaunch(text.substr(at, text.find('\n', at) - at), launch))
    return makeError(ErrorKind::io,
                     fmt::format("the launch of {} is damaged", kernel));
  return std::optional(std::move(launch));
}
