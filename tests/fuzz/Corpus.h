/// Corpus: the files that fuzzing starts from.
#pragma once

#include <filesystem>

namespace sinter::fuzz {

/// Makes FOLDER/NAME for each fuzzer with good files; false where that fails.
bool writeCorpus(const std::filesystem::path &folder);

} // namespace sinter::fuzz
