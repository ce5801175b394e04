/// The fields of CSV.
#include "frontend/data/CsvText.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

namespace sinter::data {

std::string CsvField::value(char quote) const {
  std::string value;
  value.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    value += text[i];
    if (hasQuotes && text[i] == quote)
      ++i;
  }
  return value;
}

CsvText::CsvText(std::string_view text, std::string_view name,
                 const CsvOptions &options)
    : text(text), name(name), delimiter(options.delimiter),
      quote(options.quote) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark))
    at = lineBegin = mark.size();
}

Status CsvText::check() const {
  for (char special : {delimiter, quote})
    if (special == '\n' || special == '\r')
      return makeError(ErrorKind::invalid_argument,
                       "csv: a line end is no delimiter and no quote");
  if (delimiter == quote)
    return makeError(ErrorKind::invalid_argument,
                     "csv: the delimiter is the quote, too");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return errorAt(1, 0, "the text is UTF-16; it must be UTF-8");
  return {};
}

ErrorInfo CsvText::errorAt(int64_t line, size_t column,
                           const char *what) const {
  return makeError(
      ErrorKind::io,
      fmt::format("{}:{}:{}: {}", printableName(name), line, column + 1, what));
}

bool CsvText::atLineEnd() const {
  return at < text.size() && (text[at] == '\n' || text.substr(at, 2) == "\r\n");
}

bool CsvText::passLineEnd() {
  if (!atLineEnd())
    return false;
  at += text[at] == '\r' ? 2 : 1;
  ++line;
  lineBegin = at;
  return true;
}

void CsvText::skipEmptyLines() {
  while (passLineEnd()) {
  }
}

/// From the opening quote to behind the closing one.
Result<CsvField> CsvText::quoted() {
  int64_t openLine = line;
  size_t openColumn = at - lineBegin;
  CsvField field{{}, true, false};
  size_t first = ++at;
  while (true) {
    size_t stop = text.find(quote, at);
    if (stop == text.npos)
      return errorAt(openLine, openColumn, "a quote that is never closed");
    for (; at < stop; ++at)
      if (text[at] == '\n') {
        ++line;
        lineBegin = at + 1;
      }
    at = stop + 1;
    if (at >= text.size() || text[at] != quote) {
      field.text = text.substr(first, stop - first);
      break;
    }
    field.hasQuotes = true;
    ++at;
  }
  if (at < text.size() && text[at] != delimiter && !atLineEnd())
    return errorAt(line, at - lineBegin, "more text follows a closed quote");
  return field;
}

CsvField CsvText::plain() {
  size_t first = at;
  while (at < text.size() && text[at] != delimiter && text[at] != '\n')
    ++at;
  size_t end = at;
  if (at < text.size() && text[at] == '\n' && end > first &&
      text[end - 1] == '\r') {
    --end;
    --at;
  }
  return {text.substr(first, end - first), false, false};
}

Result<bool> CsvText::next(std::vector<CsvField> &fields) {
  fields.clear();
  skipEmptyLines();
  if (at >= text.size())
    return false;
  begin = at;
  beginLine = line;
  while (true) {
    if (at < text.size() && text[at] == quote && quote != '\0') {
      SINTER_TRY_ASSIGN(CsvField field, quoted());
      fields.push_back(field);
    } else {
      fields.push_back(plain());
    }
    if (at >= text.size() || passLineEnd())
      return true;
    ++at; // the delimiter
  }
}

} // namespace sinter::data
