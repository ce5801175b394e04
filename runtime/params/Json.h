/// A strict JSON reader for the headers of weight files.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::json {

enum class Kind : uint8_t {
  null,
  boolean,
  unsignedInteger, ///< digits only, fits uint64
  number,          ///< any other number
  string,
  array,
  object,
};

/// One JSON value. Objects keep the order of the text and hold no key twice.
class Value {
public:
  Kind kind = Kind::null;
  bool boolean = false;
  uint64_t integer = 0; ///< of an unsignedInteger
  double number = 0;    ///< of a number or an unsignedInteger
  std::string string;
  std::vector<Value> elements;   ///< of an array or object
  std::vector<std::string> keys; ///< of an object, one an element

  bool is(Kind wanted) const { return kind == wanted; }
  /// The element of that key, or null.
  const Value *find(std::string_view key) const;
};

/// Parses one value with nothing but blanks around it. Rejects what RFC 8259
/// does, and duplicate keys, invalid UTF-8, lone surrogates and nesting deeper
/// than 64. The error gives the byte offset. A value takes some hundred bytes,
/// so more of them than 2^16 and one for 32 bytes of the text are an error,
/// too.
Result<Value> parse(std::string_view text);

/// Parses one object and hands on its members, one after the other, so that all
/// together take no memory. The limits of `parse` are those of one member, but
/// that a key of the object itself may come twice.
Status
parseMembers(std::string_view text,
             const std::function<Status(std::string key, Value value)> &visit);

/// Reads a text value by value and keeps nothing of it, so that a file of any
/// size takes the memory of what its reader keeps. Rejects what `parse` does,
/// but for keys that come twice.
class Reader {
public:
  /// With `hasWords`, numbers may be NaN, Infinity and -Infinity, which
  /// Python's json writes.
  explicit Reader(std::string_view text, bool hasWords = false)
      : text(text), hasWords(hasWords) {}

  /// What comes next; `number` for any number.
  Result<Kind> next();
  /// Calls `member` for each key of an object; it has to read the value.
  Status object(const std::function<Status(const std::string &key)> &member);
  /// Calls `element` for each element of an array; it has to read it.
  Status array(const std::function<Status()> &element);
  Result<std::string> string();
  /// A number without a fraction.
  Result<int64_t> integer();
  Result<double> real();
  Result<bool> boolean();
  /// Passes over a value.
  Status skip();
  /// An error unless nothing but blanks is left.
  Status end();
  /// An error at the place that was reached.
  ErrorInfo fail(std::string_view what) const;

protected:
  std::string_view text;
  size_t at = 0;

  bool atEnd() const { return at == text.size(); }
  char peek() const { return atEnd() ? '\0' : text[at]; }
  bool take(char c);
  void skipBlanks();
  /// A key and the colon after it.
  Result<std::string> parseKey();
  /// Whether a comma follows; false at the end of the list.
  Result<bool> takesAnother(char end, std::string_view expected);
  Status parseString(std::string &out);
  Status parseWord(Value &out);
  Status parseNumber(Value &out);

private:
  bool hasWords = false;
  int depth = 0; ///< of objects and arrays that are read now

  /// Whether a number that is a word came, which is taken.
  bool takeWord(Value &out);

  Status enter();
  Status expect(Kind kind, std::string_view what);
  Status parseEscape(std::string &out);
  Result<uint32_t> parseHex();
  void skipDigits();
};

/// `text` as a JSON string with its quotes.
std::string quote(std::string_view text);

} // namespace sinter::runtime::json
