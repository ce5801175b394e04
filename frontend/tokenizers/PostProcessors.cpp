/// Special tokens around texts.
#include "frontend/tokenizers/Encodings.h"
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/Types.h"
#include "frontend/tokenizers/Vocabulary.h"
#include "frontend/tokenizers/characters/Forms.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sinter::text {

namespace {

struct Special {
  std::string token;
  int32_t id = 0;
};

int32_t readId(const Field &field, const IsKnown &isKnown) {
  auto id = int32_t(field.integer(0, maxId));
  if (!isKnown(id))
    field.wrong(fmt::format("no token has id {}", id));
  return id;
}

/// `["[SEP]", 102]`
Special readSpecial(const Field &field, const IsKnown &isKnown) {
  if (field.array().size() != 2)
    field.wrong("expected a token and its id");
  return {field.at(0).string(), readId(field.at(1), isKnown)};
}

void setType(Encoding &encoding, int32_t id) {
  std::ranges::fill(encoding.type_ids, id);
}

/// Takes spaces out of offsets: they are at the beginning of tokens.
void trim(Encoding &encoding, bool prefix) {
  auto isBlank = [](char32_t c) {
    return c == charOfByte(' ') || classesOf(c) & charSpace;
  };
  for (size_t i = 0; i < encoding.offsets.size(); ++i) {
    std::string_view token = encoding.tokens[i];
    int32_t leading = 0, trailing = 0;
    for (size_t at = 0; at < token.size() && isBlank(nextChar(token, at));)
      ++leading;
    for (size_t end = token.size(); end > 0 && isBlank(charBefore(token, end));
         ++trailing)
      do
        --end;
      while ((token[end] & 0xC0) == 0x80);
    auto &[begin, end] = encoding.offsets[i];
    // A single space before the text was not in it.
    if (leading == 1 && prefix && (i == 0 || begin == 0))
      leading = 0;
    begin = std::min(begin + leading, end);
    if (trailing > 0 && end >= trailing)
      end = std::max(end - trailing, begin);
  }
  for (Encoding &part : encoding.overflowing)
    trim(part, prefix);
}

class ByteLevel : public PostProcessor {
public:
  explicit ByteLevel(const Field &field)
      : prefix(field.at("add_prefix_space").boolean()),
        trims(field.at("trim_offsets").boolean()) {
    field.onlyHas({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    field.booleanOr("use_regex", true);
  }
  size_t added(bool) const override { return 0; }
  void run(std::vector<Encoding> &encodings, bool) const override {
    for (Encoding &encoding : encodings)
      if (trims)
        trim(encoding, prefix);
  }

private:
  bool prefix, trims;
};

/// One token before a text, one after it, and one around its pair.
class Enclosing : public PostProcessor {
public:
  size_t added(bool pair) const override { return pair ? numOfPair : 2; }

protected:
  Special separator, first;
  size_t numOfPair = 3;

  Enclosing(const Field &field, const IsKnown &isKnown)
      : separator(readSpecial(field.at("sep"), isKnown)),
        first(readSpecial(field.at("cls"), isKnown)) {}

  /// Puts tokens around an encoding and its parts; `before` may be null.
  void enclose(Encoding &encoding, const Special *before, int32_t typeId,
               int32_t typeOfText) const {
    auto around = [&](const Encoding &text) {
      Encoding made;
      if (before)
        addSpecial(made, before->id, before->token, typeId);
      Encoding inner = text;
      inner.overflowing.clear();
      setType(inner, typeOfText);
      std::ranges::fill(inner.special_tokens_mask, uint8_t(0));
      std::ranges::fill(inner.attention_mask, uint8_t(1));
      append(made, inner);
      addSpecial(made, separator.id, separator.token, typeId);
      return made;
    };
    Encoding made = around(encoding);
    for (const Encoding &part : encoding.overflowing)
      made.overflowing.push_back(around(part));
    encoding = std::move(made);
  }
};

class BertProcessing : public Enclosing {
public:
  BertProcessing(const Field &field, const IsKnown &isKnown)
      : Enclosing(field, isKnown) {
    field.onlyHas({"type", "sep", "cls"});
  }
  void run(std::vector<Encoding> &encodings, bool special) const override {
    for (size_t i = 0; special && i < encodings.size(); ++i)
      enclose(encodings[i], i == 0 ? &first : nullptr, int32_t(i), int32_t(i));
  }
};

class RobertaProcessing : public Enclosing {
public:
  RobertaProcessing(const Field &field, const IsKnown &isKnown)
      : Enclosing(field, isKnown), trims(field.at("trim_offsets").boolean()),
        prefix(field.at("add_prefix_space").boolean()) {
    field.onlyHas({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    numOfPair = 4;
  }
  void run(std::vector<Encoding> &encodings, bool special) const override {
    for (size_t i = 0; i < encodings.size(); ++i) {
      if (trims)
        trim(encodings[i], prefix);
      setType(encodings[i], 0);
      if (special)
        enclose(encodings[i], i == 0 ? &first : &separator, 0, 0);
    }
  }

private:
  bool trims, prefix;
};

/// A part of a template: a text, or special tokens.
struct TemplatePart {
  int32_t typeId = 0;
  size_t text = 0;
  const std::vector<Special> *specials = nullptr;
};
using Template = std::vector<TemplatePart>;

class TemplateProcessing : public PostProcessor {
public:
  TemplateProcessing(const Field &field, const IsKnown &isKnown) {
    field.onlyHas({"type", "single", "pair", "special_tokens"});
    readSpecials(field.at("special_tokens"), isKnown);
    single = readTemplate(field.at("single"), 1);
    pair = readTemplate(field.at("pair"), 2);
  }

  size_t added(bool isPair) const override {
    size_t count = 0;
    for (const TemplatePart &part : isPair ? pair : single)
      count += part.specials ? part.specials->size() : 0;
    return count;
  }

  void run(std::vector<Encoding> &encodings, bool special) const override {
    if (encodings.empty() || encodings.size() > 2)
      fail(ErrorKind::unsupported,
           "post_processor: a template cannot follow another one");
    std::vector<Encoding> parts;
    for (const TemplatePart &part : encodings.size() > 1 ? pair : single) {
      if (part.specials) {
        if (!special)
          continue;
        Encoding &made = parts.emplace_back();
        for (const Special &token : *part.specials)
          addSpecial(made, token.id, token.token, part.typeId);
        continue;
      }
      setType(encodings[part.text], part.typeId);
      parts.push_back(encodings[part.text]);
    }
    encodings = std::move(parts);
  }

private:
  std::map<std::string, std::vector<Special>> specials;
  Template single, pair;

  void readSpecials(const Field &field, const IsKnown &isKnown) {
    for (const auto &[name, value] : field.object().items()) {
      Field token(value,
                  fmt::format("{}['{}']", field.name(), printableName(name)));
      token.onlyHas({"id", "ids", "tokens"});
      token.at("id").string();
      Field ids = token.at("ids"), tokens = token.at("tokens");
      if (ids.array().size() != tokens.array().size())
        token.wrong(
            fmt::format("{} ids, but {} tokens", ids.size(), tokens.size()));
      auto &list = specials[name];
      for (size_t i = 0; i < ids.size(); ++i)
        list.push_back({tokens.at(i).string(), readId(ids.at(i), isKnown)});
    }
  }

  Template readTemplate(const Field &field, size_t numTexts) const {
    Template made;
    for (size_t i = 0; i < field.array().size(); ++i) {
      Field part = field.at(i);
      const Json &object = part.object();
      if (object.size() != 1 ||
          !(object.contains("Sequence") || object.contains("SpecialToken")))
        part.wrong("expected {\"Sequence\": ...} or {\"SpecialToken\": ...}");
      bool isText = object.contains("Sequence");
      Field inner = part.at(isText ? "Sequence" : "SpecialToken");
      inner.onlyHas({"id", "type_id"});
      TemplatePart &to = made.emplace_back();
      to.typeId = int32_t(inner.at("type_id").integer(0, maxId));
      Field id = inner.at("id");
      if (isText) {
        to.text = id.choice({"A", "B"});
        if (to.text >= numTexts)
          id.wrong("there is no text B");
        continue;
      }
      auto found = specials.find(id.string());
      if (found == specials.end())
        id.wrong(fmt::format("'{}' is none of special_tokens",
                             printableName(id.string())));
      to.specials = &found->second;
    }
    return made;
  }
};

class Sequence : public PostProcessor {
public:
  Sequence(const Field &field, const IsKnown &isKnown) {
    field.onlyHas({"type", "processors"});
    Field all = field.at("processors");
    for (size_t i = 0; i < all.array().size(); ++i)
      steps.push_back(needed(readPostProcessor(all.at(i), isKnown), all.at(i)));
  }
  size_t added(bool pair) const override {
    size_t count = 0;
    for (const auto &step : steps)
      count += step->added(pair);
    return count;
  }
  void run(std::vector<Encoding> &encodings, bool special) const override {
    for (const auto &step : steps)
      step->run(encodings, special);
  }

private:
  std::vector<std::unique_ptr<const PostProcessor>> steps;
};

} // namespace

std::unique_ptr<const PostProcessor> readPostProcessor(const Field &field,
                                                       const IsKnown &isKnown) {
  if (field.isNull())
    return nullptr;
  switch (typeOf(field, postProcessorTypes)) {
  case 0:
    return std::make_unique<TemplateProcessing>(field, isKnown);
  case 1:
    return std::make_unique<BertProcessing>(field, isKnown);
  case 2:
    return std::make_unique<RobertaProcessing>(field, isKnown);
  case 3:
    return std::make_unique<ByteLevel>(field);
  default:
    return std::make_unique<Sequence>(field, isKnown);
  }
}

} // namespace sinter::text
