/// Unicode's normal forms, and the alphabet of bytes.
#pragma once

#include "frontend/tokenizers/Line.h"

namespace sinter::text {

enum class Form : uint8_t { nfc, nfd, nfkc, nfkd };

void toForm(Line &line, Form form);

/// The character that stands for a byte in byte-level vocabularies, as GPT-2
/// began it.
char32_t charOfByte(uint8_t byte);
/// The byte that a character stands for, or -1.
int byteOfChar(char32_t c);

/// Each byte becomes its character.
void toByteAlphabet(Line &line);

} // namespace sinter::text
