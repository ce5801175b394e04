/// ANSI sequences, and what the environment says about them.
#include "frontend/monitor/terminal/Screen.h"

#include "frontend/Raise.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/SignalHold.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sinter::train {

static std::string_view environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

// A program that never called setlocale has the locale "C" whatever its
// terminal shows, so the variables are asked.
static bool isUtf8Locale() {
  for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty())
      continue;
    std::ranges::transform(value, value.begin(), [](unsigned char each) {
      return std::tolower(each);
    });
    return value.find("utf-8") != value.npos ||
           value.find("utf8") != value.npos;
  }
  return false;
}

Look lookOf(std::FILE *stream) {
  Look look;
  std::string_view kind = environment("TERM");
  int file = ::fileno(stream);
  look.isTerminal = ::isatty(file) == 1 && !kind.empty() && kind != "dumb";
  look.hasColor = look.isTerminal && environment("NO_COLOR").empty();
  look.isUnicode = isUtf8Locale();
  winsize size = {};
  if (::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      size.ws_row > 0) {
    look.columns = size.ws_col;
    look.rows = size.ws_row;
  }
  return look;
}

bool isInBackground(std::FILE *stream) {
  pid_t owner = ::tcgetpgrp(::fileno(stream));
  return owner >= 0 && owner != ::getpgrp();
}

//===- Text ---------------------------------------------------------------===//

/// The code point at the front, and its bytes; a byte that begins none is one.
static std::pair<char32_t, size_t> front(std::string_view text) {
  auto first = uint8_t(text.front());
  size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (size == 1 || size > text.size())
    return {first, 1};
  char32_t point = first & (0xFF >> (size + 1));
  for (size_t at = 1; at < size; ++at)
    point = point << 6 | (uint8_t(text[at]) & 0x3F);
  return {point, size};
}

/// UAX 11, by ranges: what is wide in fonts of fixed width.
static int widthOf(char32_t point) {
  struct Range {
    char32_t first, last;
    int width;
  };
  static constexpr std::array<Range, 14> ranges = {{
      {0x0300, 0x036F, 0},
      {0x1100, 0x115F, 2},
      {0x200B, 0x200F, 0},
      {0x20D0, 0x20F0, 0},
      {0x2E80, 0x303E, 2},
      {0x3041, 0x33FF, 2},
      {0x3400, 0x4DBF, 2},
      {0x4E00, 0xA4CF, 2},
      {0xAC00, 0xD7A3, 2},
      {0xF900, 0xFAFF, 2},
      {0xFE00, 0xFE0F, 0},
      {0xFE30, 0xFE6F, 2},
      {0xFF00, 0xFF60, 2},
      {0x1F300, 0x3FFFD, 2},
  }};
  for (const Range &range : ranges)
    if (point >= range.first && point <= range.last)
      return range.width;
  return 1;
}

std::string_view cutToColumns(std::string_view text, int columns) {
  size_t at = 0;
  while (at < text.size()) {
    auto [point, size] = front(text.substr(at));
    columns -= widthOf(point);
    if (columns < 0)
      break;
    at += size;
  }
  return text.substr(0, at);
}

int columnsOf(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    auto [point, size] = front(text);
    columns += widthOf(point);
    text.remove_prefix(size);
  }
  return columns;
}

static std::string_view sequenceOf(Style style) {
  switch (style) {
  case Style::plain:
    return "";
  case Style::bold:
    return "\033[1m";
  case Style::quiet:
    return "\033[2m";
  case Style::train:
    return "\033[36m";
  case Style::valid:
    return "\033[33m";
  case Style::bad:
    break;
  }
  return "\033[31m";
}

ScreenLine &ScreenLine::add(std::string_view added, Style style) {
  // The last column stays free: what a terminal does behind it differs.
  std::string_view fitting = cutToColumns(added, look.columns - 1 - used);
  if (fitting.empty())
    return *this;
  setStyle(look.hasColor ? style : Style::plain);
  text += fitting;
  used += columnsOf(fitting);
  return *this;
}

void ScreenLine::setStyle(Style style) {
  if (style == now)
    return;
  if (now != Style::plain)
    text += "\033[0m";
  text += sequenceOf(style);
  now = style;
}

std::string ScreenLine::take() {
  setStyle(Style::plain);
  return std::move(text);
}

ScreenLine &ScreenLine::to(int column) {
  if (column > used)
    add(std::string(size_t(column - used), ' '));
  return *this;
}

ScreenLine &ScreenLine::right(int column, std::string_view added, Style style) {
  to(column - columnsOf(added));
  return add(added, style);
}

//===- Drawing ------------------------------------------------------------===//

void writeTo(std::FILE *stream, std::string_view text) {
  SignalHold hold;
  bool isWritten =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (isWritten && std::fflush(stream) == 0)
    return;
  ErrorInfo error = runtime::systemError("the terminal", "cannot be written");
  std::clearerr(stream);
  // What is left would be written again when the process ends, with the signal.
  ::__fpurge(stream);
  detail::raise(std::move(error), {});
}

void Screen::draw(const std::vector<std::string> &lines, const Look &look) {
  // One picture in one piece, for terminals that know that; others skip it.
  std::string text = "\033[?2026h";
  if (columns != 0 && (look.columns != columns || look.rows != rows))
    text += "\033[H\033[2J"; // lines have moved
  else if (height > 0)
    text += "\033[" + std::to_string(height) + "A\r";
  columns = look.columns;
  rows = look.rows;
  for (const std::string &line : lines)
    text.append(line).append("\033[K\r\n");
  text += "\033[J\033[?2026l";
  height = int(lines.size());
  writeTo(stream, text);
}

} // namespace sinter::train
