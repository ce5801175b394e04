/// Importing the files of a split of a folder of the Hub.
#include "frontend/datasets/HubImport.h"

#include "frontend/data/CsvText.h"
#include "frontend/datasets/OpenRows.h"
#include "frontend/datasets/WriteSqlite.h"
#include "runtime/files/SystemError.h"
#include "runtime/params/Gunzip.h"
#include "runtime/support/Printable.h"

#include <sinter/data/Csv.h>

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <variant>

namespace sinter::data {

namespace {

using runtime::MappedFile;

/// A gzip file, unpacked into a file without a name in the folder of `beside`.
Result<MappedFile> unpacked(const MappedFile &packed, const std::string &path,
                            const std::string &beside) {
  std::string name =
      std::filesystem::path(beside).parent_path() / ".sinter-XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file)
    return runtime::systemError(beside, "cannot make a file beside it");
  ::unlink(name.c_str());
  SINTER_TRY_ASSIGN(auto gunzip, runtime::Gunzip::open(packed.bytes(), path));
  std::vector<std::byte> piece(1 << 20);
  while (true) {
    SINTER_TRY_ASSIGN(size_t got, gunzip.read(piece));
    if (got == 0)
      break;
    if (!file.writeAll(std::span(piece).first(got)))
      return runtime::systemError(path, "cannot unpack it");
  }
  return MappedFile::map(file.get(), path);
}

/// What the texts of a column of CSV are.
enum class Number : uint8_t { none, integer, real, text };

Number numberOf(const std::string &text) {
  const char *begin = text.data(), *end = begin + text.size();
  const char *digits = begin + (text.starts_with('-') ? 1 : 0);
  // Such as a postal code: what it is may be in its zeros.
  if (end - digits > 1 && digits[0] == '0' && digits[1] != '.')
    return Number::text;
  int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(begin, end, integer);
      error == std::errc() && stop == end)
    return Number::integer;
  double real = 0;
  bool isDigit = digits < end && *digits >= '0' && *digits <= '9';
  if (auto [stop, error] = std::from_chars(begin, end, real);
      isDigit && error == std::errc() && stop == end)
    return Number::real;
  return Number::text;
}

Cell cellAs(const std::string &text, Number number) {
  if (text.empty())
    return {};
  const char *begin = text.data(), *end = begin + text.size();
  if (number == Number::integer) {
    int64_t value = 0;
    std::from_chars(begin, end, value);
    return Cell(value);
  }
  if (number == Number::real) {
    double value = 0;
    std::from_chars(begin, end, value);
    return Cell(value);
  }
  return Cell(text);
}

using AnyRows = std::variant<JsonLines, CsvRows, TextLines>;

class Importer {
public:
  explicit Importer(const HubImport &job) : job(job) {}

  Result<int64_t> run() {
    for (const std::string &file : job.files)
      SINTER_TRY(refuse(file));
    for (const std::string &file : job.files)
      SINTER_TRY(open(file));
    findNumbers();
    SINTER_TRY_ASSIGN(auto writer, SqliteWriter::create(job.target, "items"));
    for (size_t i = 0; i < rows.size(); ++i)
      SINTER_TRY(std::visit(
          [&](const auto &own) { return copy(own, job.files[i], writer); },
          rows[i]));
    writer.note(fingerprintKey, job.fingerprint);
    SINTER_TRY(writer.finish());
    return static_cast<int64_t>(rows.size());
  }

private:
  const HubImport &job;
  std::vector<AnyRows> rows;
  std::map<std::string, Number> numbers;

  std::string pathOf(const std::string &file) const {
    return std::filesystem::path(job.folder) / file;
  }

  /// Files that hold columns one after the other.
  Status refuse(const std::string &file) const {
    for (const char *ending : {".parquet", ".arrow", ".feather"})
      if (file.ends_with(ending))
        return makeError(
            ErrorKind::unsupported,
            fmt::format("{}: files of this format are not read. Write them as "
                        "JSON lines once, in Python: datasets.load_dataset("
                        "FOLDER, split=\"{}\").to_json(\"{}.jsonl\")",
                        printableName(pathOf(file)), printableName(job.split),
                        printableName(job.split)));
    return {};
  }

  Status open(const std::string &file) {
    std::string path = pathOf(file);
    SINTER_TRY_ASSIGN(auto mapped, MappedFile::open(path));
    std::string_view name = file;
    if (name.ends_with(".gz")) {
      SINTER_TRY_ASSIGN(mapped, unpacked(mapped, path, job.target));
      name.remove_suffix(3);
    }
    if (name.ends_with(".csv") || name.ends_with(".tsv")) {
      CsvOptions options;
      options.delimiter = name.ends_with(".tsv") ? '\t' : ',';
      SINTER_TRY_ASSIGN(auto csv, openCsv(std::move(mapped), path, options));
      rows.emplace_back(CsvRows(std::move(csv)));
    } else if (name.ends_with(".txt")) {
      rows.emplace_back(TextLines(openLines(std::move(mapped))));
    } else {
      SINTER_TRY_ASSIGN(auto json, openJsonLines(std::move(mapped), path));
      rows.emplace_back(JsonLines(std::move(json)));
    }
    return {};
  }

  void findNumbers() {
    for (const AnyRows &any : rows)
      if (const auto *csv = std::get_if<CsvRows>(&any))
        for (int64_t i = 0; i < csv->size(); ++i)
          look(csv->get(i));
  }

  void look(const Row &row) {
    for (size_t i = 0; i < row.cells().size(); ++i) {
      const auto &text = *row.cells()[i].get_if<std::string>();
      Number &known = numbers[row.names()[i]];
      if (!text.empty() && known != Number::text)
        known = std::max(known, numberOf(text));
    }
  }

  static Status added(SqliteWriter &writer, const Row &row) {
    auto result = writer.add(row);
    if (!result) {
      ErrorInfo error = result.takeError();
      error.message = row.place().text() + ": " + error.message;
      return error;
    }
    return {};
  }

  Status copy(const JsonLines &lines, const std::string &,
              SqliteWriter &writer) const {
    for (int64_t i = 0; i < lines.size(); ++i)
      SINTER_TRY(added(writer, lines.get(i)));
    return {};
  }

  Status copy(const CsvRows &csv, const std::string &,
              SqliteWriter &writer) const {
    SINTER_TRY(writer.addColumns(csv.columns()));
    for (int64_t i = 0; i < csv.size(); ++i) {
      Row row = csv.get(i);
      std::vector<Cell> cells;
      for (size_t c = 0; c < row.cells().size(); ++c)
        cells.push_back(cellAs(*row.cells()[c].get_if<std::string>(),
                               numbers.at(row.names()[c])));
      auto names =
          std::make_shared<const std::vector<std::string>>(row.names());
      SINTER_TRY(added(writer, Row(names, std::move(cells), row.place())));
    }
    return {};
  }

  Status copy(const TextLines &lines, const std::string &file,
              SqliteWriter &writer) const {
    auto path = std::make_shared<const std::string>(pathOf(file));
    auto names = std::make_shared<const std::vector<std::string>>(1, "text");
    for (int64_t i = 0; i < lines.size(); ++i) {
      RowPlace place{path, i + 1, true};
      if (!isUtf8(lines.view(i)))
        return makeError(ErrorKind::io,
                         place.text() + ": the text is not UTF-8");
      SINTER_TRY(added(writer, Row(names, {Cell(lines.get(i))}, place)));
    }
    return {};
  }
};

} // namespace

Result<std::string> hubFingerprint(const std::string &folder,
                                   const std::vector<std::string> &files) {
  std::string print = "1"; // how rows are imported
  for (const std::string &file : files) {
    std::string path = std::filesystem::path(folder) / file;
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
      return runtime::systemError(path, "cannot read");
    print +=
        fmt::format("\n{}:{} {} {}.{} {}.{}", file.size(), file, info.st_size,
                    info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                    info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  }
  return print;
}

Result<int64_t> importHub(const HubImport &job) { return Importer(job).run(); }

} // namespace sinter::data
