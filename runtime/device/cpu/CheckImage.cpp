/// Reads an ELF file as the dynamic loader will, and runs nothing.
#include "runtime/device/cpu/CheckImage.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr uint64_t pageBytes = 4096;
/// Of addresses that an image may take.
constexpr uint64_t maxSpan = uint64_t(1) << 30;

ErrorInfo refused(const std::string &why) {
  return makeError(ErrorKind::device, "cpu: cannot load an image: " + why);
}

/// Tags of the dynamic section that kernels do not need.
struct RefusedTag {
  int64_t tag;
  const char *why;
};
constexpr RefusedTag refusedTags[] = {
    {DT_INIT, "it has constructors"},
    {DT_INIT_ARRAY, "it has constructors"},
    {DT_PREINIT_ARRAY, "it has constructors"},
    {DT_FINI, "it has destructors"},
    {DT_FINI_ARRAY, "it has destructors"},
    {DT_NEEDED, "it needs other libraries"},
    {DT_FILTER, "it needs other libraries"},
    {DT_AUXILIARY, "it needs other libraries"},
    {DT_AUDIT, "it needs other libraries"},
    {DT_DEPAUDIT, "it needs other libraries"},
    {DT_RPATH, "it needs other libraries"},
    {DT_RUNPATH, "it needs other libraries"},
    {DT_REL, "it has relocations"},
    {DT_RELA, "it has relocations"},
    {DT_JMPREL, "it has relocations"},
    {36, "it has relocations"}, // DT_RELR, which older headers lack
    {DT_TEXTREL, "it has relocations"},
};

class ImageChecker {
public:
  explicit ImageChecker(std::span<const std::byte> bytes) : bytes(bytes) {}

  Result<CpuImageContents> run() {
    SINTER_TRY(readSegments());
    SINTER_TRY(readDynamic());
    SINTER_TRY(checkTags());
    SINTER_TRY(readSymbols());
    return std::move(contents);
  }

private:
  Status readSegments();
  Status addSegment(const Elf64_Phdr &segment);
  Status readDynamic();
  Status checkTags() const;
  Result<uint32_t> countSymbols() const;
  Status readSymbols();

  /// What the file has at an address of the image; nothing where all of it is
  /// not in one segment's bytes.
  template <typename T> std::optional<T> at(uint64_t address) const {
    for (const Elf64_Phdr &segment : loaded) {
      uint64_t offset = address - segment.p_vaddr;
      if (address < segment.p_vaddr || offset > segment.p_filesz ||
          sizeof(T) > segment.p_filesz - offset)
        continue;
      T value;
      std::memcpy(&value, bytes.data() + segment.p_offset + offset, sizeof(T));
      return value;
    }
    return std::nullopt;
  }
  /// Text of the names' table, which ends with a zero.
  std::string nameAt(uint64_t address) const {
    std::string name;
    for (auto next = at<char>(address); next && *next; next = at<char>(address))
      name += *next, ++address;
    return name;
  }
  std::optional<uint64_t> tag(int64_t number) const {
    auto found = tags.find(number);
    return found == tags.end() ? std::nullopt : std::optional(found->second);
  }

  std::span<const std::byte> bytes;
  std::vector<Elf64_Phdr> loaded;
  std::optional<Elf64_Phdr> dynamic;
  std::map<int64_t, uint64_t> tags;
  CpuImageContents contents;
};

Status ImageChecker::addSegment(const Elf64_Phdr &segment) {
  if (segment.p_offset > bytes.size() ||
      segment.p_filesz > bytes.size() - segment.p_offset)
    return refused("a segment is not in the file");
  if (segment.p_type == PT_DYNAMIC) {
    if (dynamic)
      return refused("it has two dynamic sections");
    dynamic = segment;
    return {};
  }
  bool fits = segment.p_vaddr <= maxSpan && segment.p_memsz <= maxSpan &&
              segment.p_filesz <= segment.p_memsz &&
              segment.p_vaddr % pageBytes == segment.p_offset % pageBytes;
  // Segments are mapped by pages; where two share one, the second is seen.
  if (fits && !loaded.empty()) {
    const Elf64_Phdr &before = loaded.back();
    uint64_t end = before.p_vaddr + before.p_memsz;
    fits = (end + pageBytes - 1) / pageBytes <= segment.p_vaddr / pageBytes;
  }
  if (!fits)
    return refused("a segment is not where it may be");
  loaded.push_back(segment);
  contents.segments.push_back(
      {segment.p_vaddr, segment.p_memsz,
       bytes.subspan(segment.p_offset, segment.p_filesz),
       (segment.p_flags & PF_W) != 0});
  return {};
}

Status ImageChecker::readSegments() {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return refused("it is shorter than an ELF header");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return refused("it is not a 64-bit ELF shared object");
  uint64_t tableBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  contents.machine = header.e_machine;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phoff > bytes.size() ||
      tableBytes > bytes.size() - header.e_phoff)
    return refused("its program headers are not in the file");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment,
                bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr),
                sizeof(segment));
    if (segment.p_type == PT_TLS)
      return refused("it has thread-local data");
    if (segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC)
      SINTER_TRY(addSegment(segment));
  }
  if (loaded.empty() || !dynamic)
    return refused("it has no dynamic section");
  return {};
}

Status ImageChecker::readDynamic() {
  for (uint64_t i = 0; i < dynamic->p_memsz / sizeof(Elf64_Dyn); ++i) {
    auto entry = at<Elf64_Dyn>(dynamic->p_vaddr + i * sizeof(Elf64_Dyn));
    if (!entry)
      break;
    if (entry->d_tag == DT_NULL)
      return {};
    if (!tags.emplace(entry->d_tag, entry->d_un.d_val).second &&
        entry->d_tag != DT_NEEDED)
      return refused("its dynamic section says something twice");
  }
  return refused("its dynamic section has no end");
}

Status ImageChecker::checkTags() const {
  for (auto [number, why] : refusedTags)
    if (tag(number))
      return refused(why);
  if (tag(DT_FLAGS).value_or(0) & (DF_TEXTREL | DF_STATIC_TLS))
    return refused("it has relocations");
  if (!tag(DT_SYMTAB) || !tag(DT_STRTAB) || !tag(DT_STRSZ))
    return refused("it has no symbols");
  uint64_t names = *tag(DT_STRTAB), size = *tag(DT_STRSZ);
  auto last = size > 0 ? at<char>(names + size - 1) : std::nullopt;
  if (!last || *last != 0)
    return refused("its names are not in the file");
  return {};
}

/// From the table that the dynamic loader looks in.
Result<uint32_t> ImageChecker::countSymbols() const {
  ErrorInfo broken = refused("its table of symbols is not in the file");
  if (auto table = tag(DT_GNU_HASH)) {
    auto head = at<std::array<uint32_t, 4>>(*table);
    if (!head || (*head)[0] == 0 || (*head)[0] > bytes.size() ||
        (*head)[2] == 0 || (*head)[2] > bytes.size())
      return broken;
    auto [buckets, first, words, shift] = *head;
    uint64_t bucketsAt = *table + sizeof(*head) + uint64_t(words) * 8;
    uint64_t chains = bucketsAt + uint64_t(buckets) * 4;
    uint32_t count = 0; // the first of the chain that ends last
    for (uint32_t i = 0; i < buckets; ++i) {
      auto bucket = at<uint32_t>(bucketsAt + uint64_t(i) * 4);
      if (!bucket || (*bucket != 0 && *bucket < first))
        return broken;
      count = std::max(count, *bucket);
    }
    if (count == 0)
      return first;
    while (true) {
      auto chain = at<uint32_t>(chains + uint64_t(count - first) * 4);
      if (!chain)
        return broken;
      ++count;
      if (*chain & 1)
        return count;
    }
  }
  auto table = tag(DT_HASH);
  auto head = table ? at<std::array<uint32_t, 2>>(*table) : std::nullopt;
  if (!head)
    return broken;
  return (*head)[1];
}

Status ImageChecker::readSymbols() {
  SINTER_TRY_ASSIGN(uint32_t count, countSymbols());
  for (uint32_t i = 1; i < count; ++i) {
    auto symbol =
        at<Elf64_Sym>(*tag(DT_SYMTAB) + uint64_t(i) * sizeof(Elf64_Sym));
    if (!symbol || symbol->st_name >= *tag(DT_STRSZ))
      return refused("its table of symbols is not in the file");
    if (symbol->st_shndx == SHN_UNDEF)
      return refused("it needs symbols of others");
    // Such a symbol's address is what code says that runs then.
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE &&
        type != STT_SECTION)
      return refused("it has symbols of another kind");
    contents.symbols.push_back(
        {nameAt(*tag(DT_STRTAB) + symbol->st_name), symbol->st_value});
  }
  return {};
}

} // namespace

Result<CpuImageContents>
sinter::runtime::readCpuImage(std::span<const std::byte> bytes) {
  return ImageChecker(bytes).run();
}

Status sinter::runtime::checkCpuImage(std::span<const std::byte> bytes) {
  if (auto contents = readCpuImage(bytes); !contents)
    return contents.takeError();
  return {};
}
