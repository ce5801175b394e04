/// HubImport: the files of a split, written into one SQLite file.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::data {

/// What says whether files are those that were imported: their names, sizes and
/// times.
Result<std::string> hubFingerprint(const std::string &folder,
                                   const std::vector<std::string> &files);

/// The key under which the meta table keeps it.
inline constexpr const char *fingerprintKey = "hub";

struct HubImport {
  std::string folder;
  std::vector<std::string> files; ///< relative to the folder
  std::string split;              ///< stands in advice
  std::string fingerprint;
  std::string target;
};

/// Reads all files, and replaces `target` at once when that is done. The count
/// of files that were read.
Result<int64_t> importHub(const HubImport &job);

} // namespace sinter::data
