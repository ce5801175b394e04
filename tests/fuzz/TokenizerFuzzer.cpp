/// tokenizer.json: what is read encodes texts, and the ids are decoded.
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/Tokenizers.h>

using namespace sinter;
using fuzz::require;

static void use(const text::Tokenizer &tokenizer, std::string_view line) {
  try {
    text::Encoding encoding = tokenizer.encode(line);
    require(encoding.ids.size() == encoding.offsets.size());
    require(encoding.ids.size() == encoding.tokens.size());
    tokenizer.decode(encoding.ids, false);
  } catch (const Error &error) {
    require(error.kind() != ErrorKind::internal);
  }
}

SINTER_FUZZER(Tokenizer) {
  std::string_view json(reinterpret_cast<const char *>(data), size);
  try {
    text::Tokenizer tokenizer = text::Tokenizer::from_json(json);
    tokenizer.padding = std::nullopt;
    for (std::string_view line : {"the playing ab é\n", "日本 a\u0301 x", ""})
      use(tokenizer, line);
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io ||
            error.kind() == ErrorKind::unsupported ||
            error.kind() == ErrorKind::invalid_argument);
  }
}
