/// Tokens become text.
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/Types.h"
#include "frontend/tokenizers/characters/Forms.h"

#include <algorithm>

namespace sinter::text {

namespace {

using Strings = std::vector<std::string>;

template <typename Function> class Simple : public Decoder {
public:
  explicit Simple(Function function) : function(std::move(function)) {}
  void run(Strings &tokens) const override { function(tokens); }

private:
  Function function;
};

template <typename Function>
std::unique_ptr<const Decoder> simple(Function function) {
  return std::make_unique<Simple<Function>>(std::move(function));
}

/// Each `from`, which is not empty, becomes `to`.
std::string replaced(std::string_view text, std::string_view from,
                     std::string_view to) {
  std::string result;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != text.npos;
       at = found + from.size()) {
    result += text.substr(at, found - at);
    result += to;
  }
  return result += text.substr(at);
}

/// Between all characters, where `from` is empty.
std::string replacedAnywhere(std::string_view text, std::string_view from,
                             std::string_view to) {
  if (!from.empty())
    return replaced(text, from, to);
  std::string result(to);
  for (size_t at = 0; at < text.size();) {
    size_t length = charLength(text[at]);
    result += text.substr(at, length);
    result += to;
    at += length;
  }
  return result;
}

/// English as it is written: no spaces before marks and endings.
std::string tidied(std::string text) {
  static constexpr std::string_view pairs[][2] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto [from, to] : pairs)
    if (text.find(from) != text.npos)
      text = replaced(text, from, to);
  return text;
}

void decodeBytes(Strings &tokens) {
  std::string bytes;
  for (const std::string &token : tokens) {
    size_t before = bytes.size();
    for (size_t at = 0; at < token.size();) {
      int byte = byteOfChar(nextChar(token, at));
      if (byte < 0) {
        // A token with other characters is text.
        bytes.resize(before);
        bytes += token;
        break;
      }
      bytes += char(byte);
    }
  }
  tokens.assign(1, replaceInvalid(bytes));
}

/// The byte that a token such as `<0x41>` says, or -1.
int byteOfToken(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>')
    return -1;
  auto digit = [&](size_t i) {
    char c = token[i];
    if (c >= '0' && c <= '9')
      return c - '0';
    c = char(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  // One digit with a sign is a number, too.
  if (token[3] == '+')
    return digit(4);
  return digit(3) < 0 || digit(4) < 0 ? -1 : digit(3) * 16 + digit(4);
}

void fallBack(Strings &tokens) {
  Strings result;
  std::string bytes;
  auto settle = [&] {
    if (findInvalid(bytes) == bytes.npos) {
      if (!bytes.empty())
        result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), "\xEF\xBF\xBD");
    }
    bytes.clear();
  };
  for (std::string &token : tokens) {
    if (int byte = byteOfToken(token); byte >= 0) {
      bytes += char(byte);
      continue;
    }
    settle();
    result.push_back(std::move(token));
  }
  settle();
  tokens = std::move(result);
}

std::unique_ptr<const Decoder> readWordPiece(const Field &field) {
  field.onlyHas({"type", "prefix", "cleanup"});
  bool tidy = field.at("cleanup").boolean();
  return simple([prefix = field.at("prefix").string(), tidy](Strings &tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string &token = tokens[i];
      if (i > 0 && token.starts_with(prefix))
        token.erase(0, prefix.size());
      else if (i > 0)
        token.insert(0, " ");
      if (tidy)
        token = tidied(std::move(token));
    }
  });
}

std::unique_ptr<const Decoder> readMetaspace(const Field &field) {
  field.onlyHas({"type", "replacement", "add_prefix_space", "prepend_scheme",
                 "split", "str_rep"});
  std::string mark;
  appendChar(mark, field.at("replacement").character());
  Field scheme = field.get("prepend_scheme");
  bool never =
      !scheme.isNull() && scheme.choice({"first", "never", "always"}) == 1;
  if (!field.booleanOr("add_prefix_space", true)) {
    if (!scheme.isNull() && !never)
      field.get("add_prefix_space")
          .wrong("false, but prepend_scheme is not never");
    never = true;
  }
  field.booleanOr("split", true);
  return simple([mark, never](Strings &tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replaced(tokens[i], mark, i == 0 && !never ? "" : " ");
  });
}

std::unique_ptr<const Decoder> readBpeDecoder(const Field &field) {
  field.onlyHas({"type", "suffix"});
  return simple([suffix = field.at("suffix").string()](Strings &tokens) {
    for (std::string &token : tokens)
      token =
          replacedAnywhere(token, suffix, &token == &tokens.back() ? "" : " ");
  });
}

std::unique_ptr<const Decoder> readStrip(const Field &field) {
  field.onlyHas({"type", "content", "start", "stop"});
  std::string content;
  appendChar(content, field.at("content").character());
  int64_t start = field.at("start").integer(0, INT64_MAX);
  int64_t stop = field.at("stop").integer(0, INT64_MAX);
  return simple([content, start, stop](Strings &tokens) {
    for (std::string &token : tokens) {
      size_t begin = 0, end = token.size();
      std::string_view text = token;
      for (int64_t i = 0; i < start && text.substr(begin).starts_with(content);
           ++i)
        begin += content.size();
      for (int64_t i = 0; i < stop && end >= begin + content.size() &&
                          text.substr(0, end).ends_with(content);
           ++i)
        end -= content.size();
      token = std::string(text.substr(begin, end - begin));
    }
  });
}

std::unique_ptr<const Decoder> readReplace(const Field &field) {
  field.onlyHas({"type", "pattern", "content"});
  Regex regex = readPattern(field.at("pattern"));
  return simple(
      [regex, content = field.at("content").string()](Strings &tokens) {
        Matches parts;
        for (std::string &token : tokens) {
          regex.split(token, parts);
          std::string result;
          for (auto [begin, end, matches] : parts)
            result += matches ? content : token.substr(begin, end - begin);
          token = std::move(result);
        }
      });
}

std::unique_ptr<const Decoder> readCtc(const Field &field) {
  field.onlyHas({"type", "pad_token", "word_delimiter_token", "cleanup"});
  bool tidy = field.at("cleanup").boolean();
  return simple([pad = field.at("pad_token").string(),
                 delimiter = field.at("word_delimiter_token").string(),
                 tidy](Strings &tokens) {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string &token : tokens) {
      token = replacedAnywhere(token, pad, "");
      if (tidy)
        token = replacedAnywhere(tidied(std::move(token)), delimiter, " ");
    }
    std::erase_if(tokens,
                  [](const std::string &token) { return token.empty(); });
  });
}

void fuse(Strings &tokens) {
  std::string all;
  for (const std::string &token : tokens)
    all += token;
  tokens.assign(1, all);
}

std::unique_ptr<const Decoder> readSequence(const Field &field) {
  field.onlyHas({"type", "decoders"});
  Field all = field.at("decoders");
  std::vector<std::unique_ptr<const Decoder>> steps;
  for (size_t i = 0; i < all.array().size(); ++i)
    steps.push_back(needed(readDecoder(all.at(i)), all.at(i)));
  return simple([steps = std::move(steps)](Strings &tokens) {
    for (const auto &step : steps)
      step->run(tokens);
  });
}

} // namespace

std::unique_ptr<const Decoder> readDecoder(const Field &field) {
  if (field.isNull())
    return nullptr;
  switch (typeOf(field, decoderTypes)) {
  case 0:
    field.onlyHas({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return simple(decodeBytes);
  case 1:
    return readWordPiece(field);
  case 2:
    return readMetaspace(field);
  case 3:
    return readBpeDecoder(field);
  case 4:
    field.onlyHas({"type"});
    return simple(fallBack);
  case 5:
    field.onlyHas({"type"});
    return simple(fuse);
  case 6:
    return readStrip(field);
  case 7:
    return readReplace(field);
  case 8:
    return readCtc(field);
  default:
    return readSequence(field);
  }
}

} // namespace sinter::text
