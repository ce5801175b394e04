/// Cutting texts into words.
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/Types.h"
#include "frontend/tokenizers/characters/Forms.h"
#include "frontend/tokenizers/characters/WordPatterns.h"

#include <algorithm>

namespace sinter::text {

namespace {

/// What becomes of the parts that match.
enum class Behavior : uint8_t {
  removed,
  isolated,
  mergedWithPrevious,
  mergedWithNext,
  contiguous,
};

/// Joins neighbours, in place; what is to be removed keeps `matches`.
void join(Matches &parts, Behavior behavior) {
  if (behavior == Behavior::removed)
    return;
  auto isJoined = [&](const Match &left, const Match &right) {
    switch (behavior) {
    case Behavior::contiguous:
      return left.matches == right.matches;
    case Behavior::mergedWithPrevious:
      return right.matches && !left.matches;
    case Behavior::mergedWithNext:
      return left.matches && !right.matches;
    default:
      return false;
    }
  };
  size_t size = 0;
  Match last = {0, 0, false};
  for (Match part : parts) {
    bool joined = size > 0 && isJoined(last, part);
    last = part;
    if (joined)
      parts[size - 1].end = part.end;
    else
      parts[size++] = part;
  }
  parts.resize(size);
  for (Match &part : parts)
    part.matches = false;
}

template <typename Add>
void addParts(Matches &parts, Behavior behavior, Add add) {
  join(parts, behavior);
  for (const Match &part : parts)
    if (!part.matches)
      add(part.begin, part.end);
}

/// Each character that `is` is one match.
template <typename Predicate>
void findChars(std::string_view text, Predicate is, Matches &parts) {
  parts.clear();
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    if (!is(nextChar(text, at)))
      continue;
    if (done < begin)
      parts.push_back({done, begin, false});
    parts.push_back({begin, at, true});
    done = at;
  }
  if (done < text.size())
    parts.push_back({done, text.size(), false});
}

/// Cuts at characters.
template <typename Predicate> class CharSplit : public PreTokenizer {
public:
  CharSplit(Predicate is, Behavior behavior) : is(is), behavior(behavior) {}
  void run(Pieces &pieces, bool) const override {
    Matches &parts = pieces.line.parts;
    pieces.split([&](std::string_view text, auto add) {
      findChars(text, is, parts);
      addParts(parts, behavior, add);
    });
  }

private:
  Predicate is;
  Behavior behavior;
};

template <typename Predicate>
std::unique_ptr<const PreTokenizer> charSplit(Predicate is, Behavior behavior) {
  return std::make_unique<CharSplit<Predicate>>(is, behavior);
}

struct HasClass {
  uint16_t classes;
  bool operator()(char32_t c) const { return classesOf(c) & classes; }
};

class ByteLevel : public PreTokenizer {
public:
  explicit ByteLevel(const Field &field)
      : prefix(field.at("add_prefix_space").boolean()),
        words(field.booleanOr("use_regex", true)) {
    field.at("trim_offsets").boolean();
    field.onlyHas({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  }

  void run(Pieces &pieces, bool rawBytes) const override {
    if (prefix)
      addSpaces(pieces);
    if (words)
      pieces.split([](std::string_view text, auto add) {
        splitWords(WordPattern::gpt2, text, add);
      });
    if (rawBytes)
      pieces.bytes = true;
    else
      pieces.rewrite(toByteAlphabet);
  }

private:
  bool prefix, words;

  static void addSpaces(Pieces &pieces) {
    bool any = std::ranges::any_of(pieces.list, [&](const Piece &piece) {
      return piece.id < 0 && !pieces.textOf(piece).starts_with(' ');
    });
    if (any)
      pieces.rewrite([](Line &line) {
        if (!line.text.starts_with(' '))
          line.prepend(" ");
      });
  }
};

class Whitespace : public PreTokenizer {
public:
  void run(Pieces &pieces, bool) const override {
    pieces.split([](std::string_view text, auto add) {
      auto kind = [](char32_t c) {
        uint16_t classes = classesOf(c);
        return classes & charWord ? 1 : classes & charSpace ? 0 : 2;
      };
      size_t begin = 0;
      int last = 0;
      for (size_t at = 0; at < text.size();) {
        size_t here = at;
        int own = kind(nextChar(text, at));
        if (own == last)
          continue;
        if (last)
          add(begin, here);
        begin = here;
        last = own;
      }
      if (last)
        add(begin, text.size());
    });
  }
};

class Bert : public PreTokenizer {
public:
  void run(Pieces &pieces, bool) const override {
    pieces.split([](std::string_view text, auto add) {
      size_t begin = 0;
      for (size_t at = 0; at < text.size();) {
        size_t here = at;
        uint16_t classes = classesOf(nextChar(text, at));
        if (!(classes & (charSpace | charPunctuation)))
          continue;
        add(begin, here);
        if (!(classes & charSpace))
          add(here, at);
        begin = at;
      }
      add(begin, text.size());
    });
  }
};

class Metaspace : public PreTokenizer {
public:
  explicit Metaspace(const Field &field)
      : split(field.booleanOr("split", true)) {
    field.onlyHas({"type", "replacement", "add_prefix_space", "prepend_scheme",
                   "split", "str_rep"});
    appendChar(mark, field.at("replacement").character());
    if (Field name = field.get("prepend_scheme"); !name.isNull())
      scheme = static_cast<Scheme>(name.choice({"first", "never", "always"}));
    if (!field.booleanOr("add_prefix_space", true)) {
      if (!field.get("prepend_scheme").isNull() && scheme != Scheme::never)
        field.get("add_prefix_space")
            .wrong("false, but prepend_scheme is not never");
      scheme = Scheme::never;
    }
  }

  void run(Pieces &pieces, bool) const override {
    pieces.rewrite([&](Line &line) {
      findPlain(line.text, " ", line.parts);
      line.replace(line.parts, mark);
      bool wanted = scheme == Scheme::always ||
                    (scheme == Scheme::first && line.origin.begin == 0);
      if (wanted && !line.text.starts_with(mark))
        line.prepend(mark);
    });
    pieces.split([&](std::string_view text, auto add) {
      size_t begin = 0;
      while (split && begin < text.size()) {
        // A mark begins a word.
        size_t next = text.find(mark, begin + 1);
        if (next == text.npos)
          break;
        add(begin, next);
        begin = next;
      }
      add(begin, text.size());
    });
  }

private:
  enum class Scheme : uint8_t { first, never, always };
  Scheme scheme = Scheme::always;
  bool split;
  std::string mark;
};

class Split : public PreTokenizer {
public:
  explicit Split(const Field &field)
      : regex(readPattern(field.at("pattern"))),
        behavior(static_cast<Behavior>(
            field.at("behavior")
                .choice({"Removed", "Isolated", "MergedWithPrevious",
                         "MergedWithNext", "Contiguous"}))),
        invert(field.at("invert").boolean()) {
    field.onlyHas({"type", "pattern", "behavior", "invert"});
    if (field.at("pattern").json().contains("Regex"))
      known = knownPattern(regex.pattern());
  }

  void run(Pieces &pieces, bool) const override {
    Matches &parts = pieces.line.parts;
    bool whole = behavior == Behavior::isolated ||
                 (behavior == Behavior::removed && invert);
    pieces.split([&](std::string_view text, auto add) {
      // Known patterns match everywhere.
      if (known != WordPattern::other && whole) {
        splitWords(known, text, add);
        return;
      }
      regex.split(text, parts);
      for (Match &part : parts)
        part.matches ^= invert;
      addParts(parts, behavior, add);
    });
  }

private:
  Regex regex;
  Behavior behavior;
  bool invert;
  WordPattern known = WordPattern::other;
};

class Scripts : public PreTokenizer {
public:
  void run(Pieces &pieces, bool) const override {
    pieces.split([](std::string_view text, auto add) {
      // A text begins with a script; spaces and what has none belong to any.
      constexpr int none = -1, any = -2;
      int last = none;
      size_t begin = 0;
      bool begun = false;
      for (size_t at = 0; at < text.size();) {
        size_t here = at;
        int own = joined(nextChar(text, at), any);
        if (own == any)
          continue;
        if (own != last) {
          if (begun)
            add(begin, here);
          begin = here;
          begun = true;
        }
        last = own;
      }
      if (begun)
        add(begin, text.size());
    });
  }

private:
  /// The scripts of Japanese are one.
  static int joined(char32_t c, int any) {
    static const int han = scriptOf(0x4E00), hiragana = scriptOf(0x3042),
                     katakana = scriptOf(0x30A2), none = scriptOf(0x10FFFF);
    if (c == 0x30FC)
      return han;
    int script = c == ' ' ? none : scriptOf(c);
    if (script == none)
      return any;
    return script == hiragana || script == katakana ? han : script;
  }
};

class FixedLength : public PreTokenizer {
public:
  explicit FixedLength(const Field &field) {
    field.onlyHas({"type", "length"});
    if (Field given = field.get("length"); !given.isNull())
      length = given.integer(1, INT32_MAX);
  }
  void run(Pieces &pieces, bool) const override {
    pieces.split([&](std::string_view text, auto add) {
      for (size_t at = 0; at < text.size();) {
        size_t begin = at;
        for (int64_t i = 0; i < length && at < text.size(); ++i)
          at += charLength(text[at]);
        add(begin, at);
      }
    });
  }

private:
  int64_t length = 5;
};

class Sequence : public PreTokenizer {
public:
  explicit Sequence(const Field &field) {
    field.onlyHas({"type", "pretokenizers"});
    Field all = field.at("pretokenizers");
    for (size_t i = 0; i < all.array().size(); ++i)
      steps.push_back(needed(readPreTokenizer(all.at(i)), all.at(i)));
  }
  void run(Pieces &pieces, bool rawBytes) const override {
    for (const auto &step : steps)
      step->run(pieces, rawBytes && step == steps.back());
  }

private:
  std::vector<std::unique_ptr<const PreTokenizer>> steps;
};

Behavior readBehavior(const Field &field) {
  if (field.isNull())
    return Behavior::isolated;
  return static_cast<Behavior>(
      field.choice({"Removed", "Isolated", "MergedWithPrevious",
                    "MergedWithNext", "Contiguous"}));
}

std::unique_ptr<const PreTokenizer> readSmall(const Field &field, size_t type) {
  switch (type) {
  case 6:
    field.onlyHas({"type", "behavior"});
    return charSplit(HasClass{charPunctuation},
                     readBehavior(field.get("behavior")));
  case 7:
    field.onlyHas({"type", "individual_digits"});
    return charSplit(HasClass{charNumeric},
                     field.at("individual_digits").boolean()
                         ? Behavior::isolated
                         : Behavior::contiguous);
  case 8: {
    field.onlyHas({"type", "delimiter"});
    char32_t delimiter = field.at("delimiter").character();
    return charSplit([delimiter](char32_t c) { return c == delimiter; },
                     Behavior::removed);
  }
  default:
    field.onlyHas({"type"});
    return std::make_unique<Scripts>();
  }
}

} // namespace

std::unique_ptr<const PreTokenizer> readPreTokenizer(const Field &field) {
  if (field.isNull())
    return nullptr;
  size_t type = typeOf(field, preTokenizerTypes);
  switch (type) {
  case 0:
    return std::make_unique<ByteLevel>(field);
  case 1:
    field.onlyHas({"type"});
    return std::make_unique<Whitespace>();
  case 2:
    field.onlyHas({"type"});
    return charSplit(HasClass{charSpace}, Behavior::removed);
  case 3:
    field.onlyHas({"type"});
    return std::make_unique<Bert>();
  case 4:
    return std::make_unique<Metaspace>(field);
  case 5:
    return std::make_unique<Split>(field);
  case 10:
    return std::make_unique<Sequence>(field);
  case 11:
    return std::make_unique<FixedLength>(field);
  default:
    return readSmall(field, type);
  }
}

} // namespace sinter::text
