/// HubLayout: which files are which split of a folder of the Hub.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/data/Row.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::data {

/// Files by their splits, relative to the folder, ordered.
using HubSplits = std::map<std::string, std::vector<std::string>>;

struct HubLayout {
  std::string config; ///< its name; `default` where README.md names none
  HubSplits splits;
};

Result<HubLayout> findLayout(const std::string &folder,
                             const std::string &config);

/// The value of `configs` in the YAML at the front of README.md; null where
/// there is none. Of YAML there are block lists and maps, and plain and quoted
/// text; more is an `unsupported` error, which gives the line.
Result<Cell> readHubConfigs(std::string_view readme);

/// Whether a path fits a pattern: `*` and `?` stand for what holds no slash,
/// `**` for anything.
bool fitsGlob(std::string_view path, std::string_view pattern);

} // namespace sinter::data
