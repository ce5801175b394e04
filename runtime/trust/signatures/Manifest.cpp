/// Hashes what a model file is made of.
#include "runtime/trust/signatures/Manifest.h"

#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <sodium.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::trust;

std::string trust::hexOf(std::span<const unsigned char> bytes) {
  std::string hex(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  hex.pop_back();
  return hex;
}

Result<std::vector<unsigned char>>
trust::bytesOfHex(std::string_view hex, size_t size, const std::string &what) {
  std::vector<unsigned char> bytes(size);
  size_t found = 0;
  const char *end = nullptr;
  bool isHex = hex.size() == 2 * size &&
               sodium_hex2bin(bytes.data(), size, hex.data(), hex.size(),
                              nullptr, &found, &end) == 0 &&
               found == size && end == hex.data() + hex.size();
  if (!isHex)
    return makeError(
        ErrorKind::io,
        fmt::format("{} has no {} hexadecimal digits", what, 2 * size));
  return bytes;
}

std::string trust::sha256Of(std::span<const std::byte> bytes) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash,
                     reinterpret_cast<const unsigned char *>(bytes.data()),
                     bytes.size());
  return hexOf(hash);
}

/// A name as one word.
static std::string wordOf(std::string_view name) {
  return hexOf(
      {reinterpret_cast<const unsigned char *>(name.data()), name.size()});
}

static Result<std::string> externalLine(const ExternalFile &external,
                                        const std::string &folder) {
  std::string shown = printable(external.name);
  if (folder.empty())
    return makeError(ErrorKind::io,
                     fmt::format("its weights are in {}, which bytes in memory "
                                 "have no folder for",
                                 shown));
  SINTER_TRY_ASSIGN(MappedFile file,
                    MappedFile::open(folder + "/" + external.name));
  return fmt::format("external {} {} {}\n", wordOf(external.name),
                     file.bytes().size(), sha256Of(file.bytes()));
}

Result<std::string> trust::manifestOf(const TrustedFile &file) {
  std::string text;
  // All that a table's entry says, but where the section is.
  auto add = [&](const SectionEntry &entry, std::span<const std::byte> bytes) {
    text += fmt::format("section {}.{} {} {} {} {} {}\n", nameOf(entry),
                        entry.index, uint32_t(entry.kind), entry.optional,
                        entry.alignment, bytes.size(), sha256Of(bytes));
  };
  for (const Section &section : file.model.sections)
    if (section.kind != SectionKind::signature)
      add(makeEntry(section.kind, section.index), section.bytes);
  for (const OtherSection &other : file.model.others)
    add(other.entry, other.bytes);
  for (const ExternalFile &external : file.info.externals) {
    SINTER_TRY_ASSIGN(std::string line, externalLine(external, file.folder));
    text += line;
  }
  return text;
}

/// The next line, without its end.
static std::string_view takeLine(std::string_view &text) {
  size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// What a line is of: its kind, and the name there.
static std::string subject(std::string_view line) {
  size_t first = line.find(' ');
  size_t second = line.find(' ', first + 1);
  std::string kind(line.substr(0, first));
  std::string name(first == line.npos
                       ? std::string_view()
                       : line.substr(first + 1, second - first - 1));
  if (kind == "external") {
    auto bytes = bytesOfHex(name, name.size() / 2, "a name");
    if (bytes)
      name.assign(bytes->begin(), bytes->end());
    return "the file " + printable(name);
  }
  return "section " + printable(name);
}

std::string trust::difference(std::string_view signedText,
                              std::string_view foundText) {
  while (!signedText.empty() || !foundText.empty()) {
    std::string_view was = takeLine(signedText), is = takeLine(foundText);
    if (was == is)
      continue;
    if (is.empty())
      return subject(was) + " was signed and is not there";
    if (was.empty() || subject(was) != subject(is))
      return subject(is) + " was not signed";
    return subject(is) + " is not what was signed";
  }
  return "it is what was signed";
}
