/// The types of steps that there are.
#include "frontend/tokenizers/Types.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::text {

size_t typeOf(const Field &step, std::span<const std::string_view> types) {
  Field type = step.at("type");
  auto found = std::ranges::find(types, std::string_view(type.string()));
  if (found == types.end())
    type.unsupported(fmt::format("'{}' is none of {}",
                                 printableName(type.string()),
                                 fmt::join(types, ", ")));
  return size_t(found - types.begin());
}

namespace {

using Unknown = std::vector<std::string>;

void collect(const Field &step, std::span<const std::string_view> types,
             const char *parts, Unknown &unknown) {
  if (!step.json().is_object() || !step.get("type").json().is_string())
    return;
  const std::string &type = step.get("type").string();
  if (std::ranges::find(types, std::string_view(type)) == types.end())
    unknown.push_back(fmt::format("{} '{}'", step.name(), printableName(type)));
  Field inner = step.get(parts);
  for (size_t i = 0; inner.json().is_array() && i < inner.size(); ++i)
    collect(inner.at(i), types, parts, unknown);
}

} // namespace

void checkTypes(const Field &file) {
  Unknown unknown;
  collect(file.get("normalizer"), normalizerTypes, "normalizers", unknown);
  collect(file.get("pre_tokenizer"), preTokenizerTypes, "pretokenizers",
          unknown);
  collect(file.get("post_processor"), postProcessorTypes, "processors",
          unknown);
  collect(file.get("decoder"), decoderTypes, "decoders", unknown);
  collect(file.get("model"), modelTypes, "", unknown);
  if (!unknown.empty())
    fail(ErrorKind::unsupported, fmt::format("types that are not supported: {}",
                                             fmt::join(unknown, ", ")));
}

Regex readPattern(const Field &pattern) {
  const Json &object = pattern.object();
  if (object.size() != 1 ||
      !(object.contains("String") || object.contains("Regex")))
    pattern.wrong("expected {\"String\": ...} or {\"Regex\": ...}");
  bool plain = object.contains("String");
  Field text = pattern.at(plain ? "String" : "Regex");
  const std::string &value = text.string();
  return text.named(
      [&] { return plain ? Regex::literal(value) : Regex(value); });
}

void findPlain(std::string_view text, std::string_view wanted, Matches &parts) {
  parts.clear();
  size_t done = 0;
  for (size_t at; (at = text.find(wanted, done)) != text.npos;
       done = at + wanted.size()) {
    if (at > done)
      parts.push_back({done, at, false});
    parts.push_back({at, at + wanted.size(), true});
  }
  if (done < text.size() || text.empty())
    parts.push_back({done, text.size(), false});
}

} // namespace sinter::text
