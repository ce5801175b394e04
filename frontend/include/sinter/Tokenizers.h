/// Tokenizers: link `sinter::data`.
#pragma once

#include <sinter/text/Encoding.h>
#include <sinter/text/Tokenizer.h>
