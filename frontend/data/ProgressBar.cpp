/// ProgressBar: how far a long loop has come, on a terminal only.
#include <sinter/data/ProgressBar.h>

#include "frontend/Raise.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace sinter::data {

ProgressBar::ProgressBar(std::string label, int64_t total, std::FILE *stream)
    : label(std::move(label)), total(std::max<int64_t>(total, 1)),
      stream(stream), terminal(::isatty(::fileno(stream)) == 1) {}

ProgressBar::~ProgressBar() {
  if (!drawn)
    return;
  std::fputs("\r\033[K", stream);
  std::fflush(stream);
}

void ProgressBar::show(int64_t done, const std::string &text) try {
  constexpr int64_t width = 30;
  constexpr auto interval = std::chrono::milliseconds(50);
  done = std::clamp<int64_t>(done, 0, total);
  Clock::time_point now = Clock::now();
  if (!terminal || (drawn && done < total && now - last < interval))
    return;
  int64_t filled = width * done / total;
  std::string bar = std::string(filled, '=') + (filled < width ? ">" : "");
  bar.resize(width, ' ');
  std::fprintf(stream, "\r%s [%s] %s\033[K", label.c_str(), bar.c_str(),
               text.c_str());
  std::fflush(stream);
  drawn = true;
  last = now;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data
