/// Charsmap: the normal form that a SentencePiece model brings along.
#pragma once

#include "frontend/tokenizers/JsonField.h"
#include "frontend/tokenizers/Line.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// A double array (Aoe, 1989) as the Darts library writes it, whose values are
/// places in a text of replacements, each ended by a zero byte.
class Charsmap {
public:
  /// Of base64; a Failure says what is wrong with it.
  explicit Charsmap(const Field &field);
  void run(Line &line) const;

private:
  std::vector<uint32_t> units;
  std::string replacements;

  /// What stands for the first key that `part` begins with.
  bool find(std::string_view part, std::string_view &replacement) const;
};

} // namespace sinter::text
