/// Normal forms of texts.
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/Types.h"
#include "frontend/tokenizers/characters/Charsmap.h"
#include "frontend/tokenizers/characters/Forms.h"

#include <algorithm>

namespace sinter::text {

namespace {

/// A form that is a function of a line.
template <typename Function> class Simple : public Normalizer {
public:
  explicit Simple(Function function) : function(std::move(function)) {}
  void run(Line &line) const override { function(line); }

private:
  Function function;
};

template <typename Function>
std::unique_ptr<const Normalizer> simple(Function function) {
  return std::make_unique<Simple<Function>>(std::move(function));
}

bool isSpace(char32_t c) { return classesOf(c) & charSpace; }

void strip(Line &line, bool left, bool right) {
  std::string_view text = line.text;
  size_t first = 0, last = text.size(), leading = 0, trailing = 0;
  for (size_t at = 0; left && at < text.size() && isSpace(nextChar(text, at));
       ++leading)
    first = at;
  while (right && last > 0 && isSpace(charBefore(text, last))) {
    do
      --last;
    while ((text[last] & 0xC0) == 0x80);
    ++trailing;
  }
  if (leading == 0 && trailing == 0)
    return;
  line.changes.clear();
  // A text of spaces alone is counted from both sides.
  for (size_t at = first; at < last;)
    line.changes.push_back({nextChar(text, at), 0});
  line.transform(line.changes, leading);
}

void nmt(Line &line) {
  line.filter([](char32_t c) {
    return !((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) ||
             c == 0x7F || c == 0x8F || c == 0x9F);
  });
  line.map([](char32_t c) {
    bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                 (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                 c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    return space ? U' ' : c;
  });
}

void stripAccents(Line &line) {
  line.filter([](char32_t c) { return !(classesOf(c) & charMark); });
}

void spaceHan(Line &line) {
  line.changes.clear();
  bool any = false;
  for (size_t at = 0; at < line.text.size();) {
    char32_t c = nextChar(line.text, at);
    if (!(classesOf(c) & charHan)) {
      line.changes.push_back({c, 0});
      continue;
    }
    any = true;
    line.changes.insert(line.changes.end(), {{U' ', 0}, {c, 1}, {U' ', 1}});
  }
  if (any || line.isOdd())
    line.transform(line.changes);
}

class BertNormalizer : public Normalizer {
public:
  explicit BertNormalizer(const Field &field)
      : clean(field.at("clean_text").boolean()),
        han(field.at("handle_chinese_chars").boolean()),
        lowercase(field.at("lowercase").boolean()),
        accents(field.booleanOr("strip_accents", lowercase)) {
    field.onlyHas({"type", "clean_text", "handle_chinese_chars",
                   "strip_accents", "lowercase"});
  }

  void run(Line &line) const override {
    if (!line.isOdd() && runAscii(line))
      return;
    if (clean) {
      line.filter([](char32_t c) {
        return c != 0 && c != 0xFFFD && !(classesOf(c) & charControl);
      });
      line.map([](char32_t c) { return isSpace(c) ? U' ' : c; });
    }
    if (han)
      spaceHan(line);
    if (accents) {
      toForm(line, Form::nfd);
      line.filter([](char32_t c) { return !(classesOf(c) & charAccent); });
    }
    if (lowercase)
      line.lower();
  }

private:
  bool clean, han, lowercase, accents;

  /// Of ASCII without characters that go, each byte becomes another.
  bool runAscii(Line &line) const {
    for (char c : line.text)
      if (c & 0x80 || (clean && (c == 0x7F || (c < ' ' && c != '\t' &&
                                               c != '\n' && c != '\r'))))
        return false;
    for (char &c : line.text) {
      if (clean && c < ' ')
        c = ' ';
      if (lowercase && c >= 'A' && c <= 'Z')
        c = char(c + ('a' - 'A'));
    }
    return true;
  }
};

class Replace : public Normalizer {
public:
  explicit Replace(const Field &field)
      : regex(readPattern(field.at("pattern"))),
        content(field.at("content").string()) {
    field.onlyHas({"type", "pattern", "content"});
    const Json &pattern = field.at("pattern").json();
    if (pattern.contains("String"))
      plain = pattern["String"].get<std::string>();
  }

  void run(Line &line) const override {
    if (!plain.empty())
      findPlain(line.text, plain, parts(line));
    else
      regex.split(line.text, parts(line));
    line.replace(parts(line), content);
  }

private:
  Regex regex;
  std::string plain, content;

  static Matches &parts(Line &line) { return line.parts; }
};

class Sequence : public Normalizer {
public:
  explicit Sequence(const Field &field) {
    field.onlyHas({"type", "normalizers"});
    Field all = field.at("normalizers");
    for (size_t i = 0; i < all.array().size(); ++i)
      steps.push_back(needed(readNormalizer(all.at(i)), all.at(i)));
  }

  void run(Line &line) const override {
    for (const auto &step : steps)
      step->run(line);
  }

private:
  std::vector<std::unique_ptr<const Normalizer>> steps;
};

std::unique_ptr<const Normalizer> readPrepend(const Field &field) {
  field.onlyHas({"type", "prepend"});
  return simple([front = field.at("prepend").string()](Line &line) {
    line.prepend(front);
  });
}

std::unique_ptr<const Normalizer> readStrip(const Field &field) {
  field.onlyHas({"type", "strip_left", "strip_right"});
  bool left = field.at("strip_left").boolean();
  bool right = field.at("strip_right").boolean();
  return simple([left, right](Line &line) { strip(line, left, right); });
}

std::unique_ptr<const Normalizer> readCharsmap(const Field &field) {
  field.onlyHas({"type", "precompiled_charsmap"});
  Field map = field.at("precompiled_charsmap");
  return simple([map = Charsmap(map)](Line &line) { map.run(line); });
}

} // namespace

std::unique_ptr<const Normalizer> readNormalizer(const Field &field) {
  if (field.isNull())
    return nullptr;
  switch (typeOf(field, normalizerTypes)) {
  case 0:
    return std::make_unique<BertNormalizer>(field);
  case 1:
    return readStrip(field);
  case 2:
    field.onlyHas({"type"});
    return simple(stripAccents);
  case 3:
  case 4:
  case 5:
  case 6: {
    field.onlyHas({"type"});
    auto form = static_cast<Form>(typeOf(field, normalizerTypes) - 3);
    return simple([form](Line &line) { toForm(line, form); });
  }
  case 7:
    return std::make_unique<Sequence>(field);
  case 8:
    field.onlyHas({"type"});
    return simple([](Line &line) { line.lower(); });
  case 9:
    field.onlyHas({"type"});
    return simple(nmt);
  case 10:
    return readCharsmap(field);
  case 11:
    return std::make_unique<Replace>(field);
  case 12:
    return readPrepend(field);
  default:
    field.onlyHas({"type"});
    return simple(toByteAlphabet);
  }
}

} // namespace sinter::text
