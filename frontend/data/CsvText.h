/// CsvText: cuts a text into the fields of its rows (RFC 4180).
#pragma once

#include "runtime/files/MappedFile.h"
#include "sinter/runtime/Result.h"

#include <sinter/data/Csv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::data {

/// One field, as it stands in the text.
struct CsvField {
  std::string_view text; ///< without the quotes around it
  bool isQuoted = false;
  bool hasQuotes = false; ///< quotes within, each of them twice

  /// With such quotes made one.
  std::string value(char quote) const;
};

/// Goes through a text. Rows end with LF or CRLF; within quotes these and
/// delimiters are text. Empty lines are skipped, and a byte order mark of
/// UTF-8.
class CsvText {
public:
  /// `text` and `name`, which stands in errors, must outlive the object.
  CsvText(std::string_view text, std::string_view name,
          const CsvOptions &options);

  /// Whether the options make sense, and the text is none of another encoding.
  Status check() const;

  /// The next row's fields; false after the last one.
  Result<bool> next(std::vector<CsvField> &fields);

  /// Where the row that `next` gave last begins: an offset, and its line.
  size_t rowBegin() const { return begin; }
  int64_t rowLine() const { return beginLine; }
  /// Goes to a row that was there before.
  void seek(size_t offset, int64_t line) {
    at = offset;
    this->line = line;
    lineBegin = offset;
  }

private:
  std::string_view text, name;
  char delimiter, quote;
  size_t at = 0, begin = 0, lineBegin = 0;
  int64_t line = 1, beginLine = 1;

  void skipEmptyLines();
  bool atLineEnd() const;
  bool passLineEnd();
  Result<CsvField> quoted();
  CsvField plain();
  ErrorInfo errorAt(int64_t line, size_t column, const char *what) const;
};

/// What CsvRows reads, of a file that is open; `path` stands in errors.
Result<std::shared_ptr<const CsvRows::File>> openCsv(runtime::MappedFile mapped,
                                                     const std::string &path,
                                                     const CsvOptions &options);

} // namespace sinter::data
