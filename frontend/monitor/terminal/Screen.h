/// Screen: lines of styled text for a terminal, and the sequences that draw
/// them. All that is known of terminals stands here.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::train {

/// What a terminal shows, and how large it is.
struct Look {
  int columns = 80, rows = 24;
  bool isTerminal = false; ///< that can go up; or lines are all it has
  bool hasColor = false;
  bool isUnicode = false;
};

/// What the stream and the environment say: NO_COLOR, TERM, LC_ALL, LC_CTYPE,
/// LANG.
Look lookOf(std::FILE *stream);

/// Whether another program has the terminal now: drawing would disturb it.
bool isInBackground(std::FILE *stream);

enum class Style : uint8_t { plain, bold, quiet, train, valid, bad };

/// The columns that text takes: wide letters two, marks that combine none.
int columnsOf(std::string_view text);

/// The first so many columns of it.
std::string_view cutToColumns(std::string_view text, int columns);

/// A line that is never wider than its limit.
class ScreenLine {
public:
  explicit ScreenLine(const Look &look) : look(look) {}

  /// Names are made printable first, by whoever adds them.
  ScreenLine &add(std::string_view text, Style style = Style::plain);
  /// Spaces up to that column.
  ScreenLine &to(int column);
  /// Text that ends in that column.
  ScreenLine &right(int column, std::string_view text,
                    Style style = Style::plain);
  int width() const { return used; }
  std::string take();

private:
  void setStyle(Style style);

  const Look &look;
  std::string text;
  Style now = Style::plain;
  int used = 0;
};

/// Draws lines over those it drew last, with one write. Nothing has to be
/// undone when the process ends: the cursor stays visible, below the lines, and
/// the screen is the usual one.
class Screen {
public:
  explicit Screen(std::FILE *stream) : stream(stream) {}

  /// At most `rows - 1` lines. A size other than the last time's clears the
  /// screen. Throws an Error of kind `io`.
  void draw(const std::vector<std::string> &lines, const Look &look);

private:
  std::FILE *stream;
  int height = 0, columns = 0, rows = 0;
};

/// Writes and flushes; a closed pipe is an error, no signal. Throws an Error of
/// kind `io`.
void writeTo(std::FILE *stream, std::string_view text);

} // namespace sinter::train
