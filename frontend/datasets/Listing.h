/// Listing: the files below a folder.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::data {

/// Names ordered by their bytes, relative to `folder`, of all regular files in
/// it and in its folders, whose names end in one of `endings`, in whatever
/// case; no endings are all. Names that begin with a dot are left. Links are
/// followed; one that leads to a folder that it is in, or nowhere, is an `io`
/// error.
Result<std::vector<std::string>>
listFiles(const std::string &folder, std::span<const std::string> endings);

/// Files of classes, of which each has its own folder.
struct ClassListing {
  std::vector<std::string> classes;
  struct File {
    std::string path; ///< with the folder before it
    int64_t label;    ///< of `classes`
  };
  std::vector<File> files;
};

/// The folders in `folder` are the classes, ordered by their bytes, unless
/// `classes` are given: then other folders are an `io` error. No file at all is
/// one, too.
Result<ClassListing> listClasses(const std::string &folder,
                                 std::span<const std::string> endings,
                                 std::vector<std::string> classes);

} // namespace sinter::data
