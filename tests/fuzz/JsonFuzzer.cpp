/// libFuzzer on the reader of weight files' headers.
#include "runtime/params/Json.h"

using namespace sinter::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  auto value = json::parse(text);
  if (!value && value.error().message.empty())
    __builtin_trap();
  if (value && value->is(json::Kind::string)) {
    auto again = json::parse(json::quote(value->string));
    if (!again || again->string != value->string)
      __builtin_trap();
  }
  return 0;
}
