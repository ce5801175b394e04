/// Pickle: a Python pickle as plain values. Nothing of it is looked up, called
/// or imported: classes and functions are names, calls are records.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::pickle {

enum class Kind : uint8_t {
  none,
  boolean,
  integer,
  big, ///< an integer beyond 64 bits: its little-endian bytes or its digits
  real,
  text,
  bytes,
  tuple,
  list,
  dict,
  set,
  global,     ///< `module.name`, a class or a function
  persistent, ///< what the pickle refers to outside of itself
  object,     ///< what a call would give
};

/// A small handle, which the pickle that it is of understands.
class Value {
public:
  Kind kind = Kind::none;

  bool is(Kind wanted) const { return kind == wanted; }
  bool boolean() const { return integerValue != 0; }
  int64_t integer() const { return integerValue; }
  double real() const { return realValue; }
  /// Of a text, bytes or a big integer.
  std::string_view text() const { return {textValue, length}; }

private:
  friend class Pickle;
  friend class Machine;
  uint32_t length = 0;
  union {
    int64_t integerValue = 0;
    double realValue;
    const char *textValue;
    size_t node;
  };
};

/// What a call was made of, and what was done to its result.
struct Call {
  Value callee; ///< a global as a rule
  Value args;   ///< a tuple
  Value state;  ///< of BUILD; none without
};

/// One pickle of protocol 0 to 5.
class Pickle {
public:
  /// Reads the pickle at the beginning of `bytes`, which must outlive it. An
  /// `io` error says at which byte it is damaged, or that it would run what no
  /// data file needs to run (`os.system`). Memory is taken for a small multiple
  /// of the bytes.
  static Result<Pickle> parse(std::span<const std::byte> bytes);

  const Value &root() const { return top; }
  /// Bytes of the pickle.
  size_t size() const { return consumed; }
  /// Of a tuple, list or set; of a dict its keys and values in turn. Of an
  /// object what was appended to it.
  std::span<const Value> items(const Value &value) const;
  /// Keys and values that an object was given, in turn.
  std::span<const Value> pairs(const Value &object) const;
  const Call &call(const Value &object) const;
  /// `module.name` of a global, else empty.
  std::string globalName(const Value &global) const;
  /// The value behind a persistent one.
  const Value &idOf(const Value &persistent) const;
  /// The value of the key in a dict or in the pairs of an object, or null.
  const Value *find(const Value &dict, std::string_view key) const;
  /// All that the pickle refers to, in order.
  std::span<const Value> persistents() const { return outside; }
  /// Tells containers apart: below `numNodes`.
  std::optional<size_t> nodeOf(const Value &value) const;
  size_t numNodes() const { return nodes.size(); }

private:
  friend class Machine;
  struct Node {
    std::vector<Value> items;
    size_t object = 0; ///< of an object
  };
  struct Object {
    Call call;
    std::vector<Value> pairs;
  };
  std::deque<Node> nodes;
  std::deque<Object> objects;
  std::deque<std::string> owned; ///< texts that had escapes
  std::vector<Value> outside;
  Value top;
  size_t consumed = 0;
};

/// Whether a call of it can harm: modules that run programs, code or the
/// network.
bool isDangerous(std::string_view module, std::string_view name);

} // namespace sinter::runtime::pickle
