/// The reader of weight files' headers.
#include "runtime/params/Json.h"
#include "tests/fuzz/Fuzzer.h"

using namespace sinter::runtime;
using sinter::fuzz::require;

SINTER_FUZZER(Json) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  auto value = json::parse(text);
  require(value || !value.error().message.empty());
  if (value && value->is(json::Kind::string)) {
    auto again = json::parse(json::quote(value->string));
    require(again && again->string == value->string);
  }
  size_t members = 0;
  auto count = [&](std::string, json::Value) -> sinter::Status {
    ++members;
    return {};
  };
  bool isObject = json::parseMembers(text, count).ok();
  if (value && value->is(json::Kind::object))
    require(isObject && members == value->keys.size());
}
