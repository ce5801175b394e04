/// Folders in the layout of Hugging Face's data sets.
#pragma once

#include <sinter/data/Sqlite.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::data {

struct HubFolderOptions {
  /// One of the `configs` in README.md; empty takes the only one, that with
  /// `default: true`, or that named `default`.
  std::string config = {};
  /// Where imported files are kept; empty is the folder `.sinter` in the data
  /// set's own.
  std::string cache = {};
};

/// One split of a local folder as the Hub has them: JSON lines, JSON lists,
/// CSV, TSV and plain text (a column `text`), each also packed by gzip (`.gz`).
/// Its rows are imported once into an SQLite file in the cache, and read from
/// there: any number, by many threads. While names, sizes and times of the
/// files stay, they are not read again; else they are imported anew. The file
/// in the cache is replaced at once, and of several processes one imports.
///
/// Which files there are, is said by `configs` with `data_files` or `data_dir`
/// in the front of README.md
/// (https://huggingface.co/docs/hub/datasets-manual-configuration); else by
/// names: `data/SPLIT-00000-of-00002.jsonl` for any split; else folders, else
/// files, in whose names a word between `-`, `_`, `.`, blanks and digits is
/// `train` or `training`, `validation`, `valid`, `val` or `dev`, `test`,
/// `testing`, `eval` or `evaluation`; else all are `train`.
///
/// Columns of CSV whose fields are whole numbers, or numbers, in all rows are
/// that; empty fields are nothing. A number that begins with 0 as `007` does
/// stays text.
///
/// Parquet and Arrow are `unsupported` Errors that say how to convert them. A
/// split or config that is not there is an `invalid_argument` Error that lists
/// those that are; what is wrong in a file is an `io` Error with its line, and
/// leaves the cache as it was.
class HubFolder {
public:
  explicit HubFolder(
      const std::string &folder, const std::string &split = "train",
      const HubFolderOptions &options = {},
      std::source_location where = std::source_location::current());

  int64_t size() const { return rows.size(); }
  Row get(int64_t index) const { return rows.get(index); }
  const std::vector<std::string> &columns() const { return rows.columns(); }

  /// How many files of the folder were read to make this object: none where
  /// they had been imported before.
  int64_t files_read() const { return filesRead; }
  /// The SQLite file in the cache.
  const std::string &cache_file() const { return cached; }

private:
  struct Opened {
    std::string cached;
    int64_t filesRead;
    Sqlite rows;
  };
  explicit HubFolder(Opened opened);
  static Opened open(const std::string &folder, const std::string &split,
                     const HubFolderOptions &options,
                     const std::source_location &where);

  std::string cached;
  int64_t filesRead;
  Sqlite rows;
};

/// The splits that a folder has, in the order of the alphabet.
std::vector<std::string>
hub_splits(const std::string &folder, const std::string &config = {},
           std::source_location where = std::source_location::current());

} // namespace sinter::data
