/// Writes ELF objects (System V ABI, chapters 4 and 5) and archives in the form
/// that GNU's tools write. Large parts go from where they are to the file.
#include "tools/sinter/embed/ObjectFile.h"

#include "runtime/files/ReplaceFile.h"
#include "tools/sinter/embed/HeaderText.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <list>

namespace sinter::cli {
namespace {

/// Above this the weights of x86-64 lie in a section that other sections need
/// not reach.
constexpr uint64_t largeBytes = uint64_t(256) << 20;
constexpr uint64_t largeFlag = 0x10000000; // SHF_X86_64_LARGE

/// The bytes of a file, in pieces that are kept elsewhere or here.
class Pieces {
public:
  uint64_t size() const { return end; }
  void add(std::span<const std::byte> bytes) {
    if (!bytes.empty())
      parts.push_back(bytes);
    end += bytes.size();
  }
  void addOwn(const void *from, size_t size) {
    auto *first = static_cast<const std::byte *>(from);
    own.emplace_back(first, first + size);
    add(own.back());
  }
  void pad(uint64_t alignment) {
    padTo((end + alignment - 1) / alignment * alignment);
  }
  void padTo(uint64_t size) {
    if (size > end) {
      own.emplace_back(size_t(size - end));
      add(own.back());
    }
  }
  /// The first bytes, which were kept here.
  std::byte *first() { return own.front().data(); }
  void take(Pieces &&other) {
    for (std::span<const std::byte> part : other.parts)
      add(part);
    own.splice(own.end(), std::move(other.own));
  }
  Status write(const std::string &path) const {
    return runtime::replaceFile(path, parts);
  }

private:
  std::vector<std::span<const std::byte>> parts;
  std::list<std::vector<std::byte>> own;
  uint64_t end = 0;
};

/// Texts that end with zeros, by offset.
class Names {
public:
  uint32_t add(const std::string &name) {
    auto place = uint32_t(text.size());
    text.append(name).push_back('\0');
    return place;
  }
  const std::string &bytes() const { return text; }

private:
  std::string text = std::string(1, '\0');
};

enum Number : uint16_t {
  noSection,
  codeSection,
  weightSection,
  planSection,
  modelSection,
  relocationSection,
  symbolSection,
  nameSection,
  sectionNames,
  stackSection,
  numSections,
};

/// What stands in the object for a `sinter_embedded`.
struct Descriptor {
  uint64_t reserved = 0, plan = 0, code = 0, weights = 0;
};

class ObjectWriter {
public:
  ObjectWriter(const EmbeddedModel &model, const std::string &name)
      : model(model), symbol(symbolOf(name)) {}

  Pieces write();

private:
  Elf64_Shdr &begin(Number number, const char *name, uint32_t type,
                    uint64_t flags, uint64_t alignment);
  void end(Number number) {
    sections[number].sh_size = file.size() - sections[number].sh_offset;
  }
  void writeParts();
  void writeModel();
  void writeSymbols();

  const EmbeddedModel &model;
  const std::string symbol;
  Pieces file;
  Elf64_Shdr sections[numSections] = {};
  Names names;
};

Elf64_Shdr &ObjectWriter::begin(Number number, const char *name, uint32_t type,
                                uint64_t flags, uint64_t alignment) {
  file.pad(alignment);
  Elf64_Shdr &section = sections[number];
  section.sh_name = names.add(name);
  section.sh_type = type;
  section.sh_flags = flags;
  section.sh_offset = file.size();
  section.sh_addralign = alignment;
  return section;
}

void ObjectWriter::writeParts() {
  begin(codeSection, ".text.sinter", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
        embedded::codeAlignment);
  file.add(model.code);
  end(codeSection);
  bool isLarge = model.machine == EM_X86_64 && model.weightBytes >= largeBytes;
  begin(weightSection, isLarge ? ".lrodata.sinter" : ".rodata.sinter",
        SHT_PROGBITS, SHF_ALLOC | (isLarge ? largeFlag : 0),
        embedded::alignment);
  uint64_t start = file.size();
  for (const PlacedBytes &weight : model.weights) {
    file.padTo(start + weight.offset);
    file.add(weight.bytes);
  }
  file.padTo(start + model.weightBytes);
  end(weightSection);
  begin(planSection, ".rodata.sinter.plan", SHT_PROGBITS, SHF_ALLOC, 8);
  file.add(model.plan);
  end(planSection);
}

/// The descriptor, and where the linker puts addresses into it.
void ObjectWriter::writeModel() {
  begin(modelSection, ".data.rel.ro.sinter", SHT_PROGBITS,
        SHF_ALLOC | SHF_WRITE, 8);
  Descriptor descriptor;
  file.addOwn(&descriptor, sizeof descriptor);
  end(modelSection);
  // Of an absolute address of 64 bits.
  uint32_t type =
      model.machine == EM_AARCH64 ? R_AARCH64_ABS64 : uint32_t(R_X86_64_64);
  const Elf64_Rela relocations[] = {
      {offsetof(Descriptor, plan), ELF64_R_INFO(uint64_t(planSection), type),
       0},
      {offsetof(Descriptor, code), ELF64_R_INFO(uint64_t(codeSection), type),
       0},
      {offsetof(Descriptor, weights),
       ELF64_R_INFO(uint64_t(weightSection), type), 0},
  };
  Elf64_Shdr &section = begin(relocationSection, ".rela.data.rel.ro.sinter",
                              SHT_RELA, SHF_INFO_LINK, 8);
  section.sh_link = symbolSection;
  section.sh_info = modelSection;
  section.sh_entsize = sizeof(Elf64_Rela);
  file.addOwn(relocations, sizeof relocations);
  end(relocationSection);
}

/// Sections by their own numbers, which relocations name, then the kernels,
/// then the one that others see.
void ObjectWriter::writeSymbols() {
  Names texts;
  std::vector<Elf64_Sym> symbols(1);
  for (uint16_t number : {codeSection, weightSection, planSection}) {
    Elf64_Sym entry = {};
    entry.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    entry.st_shndx = number;
    symbols.push_back(entry);
  }
  for (const CodeSymbol &kernel : model.symbols) {
    Elf64_Sym entry = {};
    entry.st_name = texts.add(symbol + "." + kernel.name);
    entry.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
    entry.st_shndx = codeSection;
    entry.st_value = kernel.offset;
    symbols.push_back(entry);
  }
  auto numLocal = uint32_t(symbols.size());
  Elf64_Sym entry = {};
  entry.st_name = texts.add(symbol);
  entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  entry.st_shndx = modelSection;
  entry.st_size = sizeof(Descriptor);
  symbols.push_back(entry);

  Elf64_Shdr &section = begin(symbolSection, ".symtab", SHT_SYMTAB, 0, 8);
  section.sh_link = nameSection;
  section.sh_info = numLocal;
  section.sh_entsize = sizeof(Elf64_Sym);
  file.addOwn(symbols.data(), symbols.size() * sizeof(Elf64_Sym));
  end(symbolSection);
  begin(nameSection, ".strtab", SHT_STRTAB, 0, 1);
  file.addOwn(texts.bytes().data(), texts.bytes().size());
  end(nameSection);
}

Pieces ObjectWriter::write() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = model.machine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = numSections;
  header.e_shstrndx = sectionNames;
  file.padTo(sizeof header);
  writeParts();
  writeModel();
  writeSymbols();
  begin(stackSection, ".note.GNU-stack", SHT_PROGBITS, 0, 1);
  end(stackSection);
  begin(sectionNames, ".shstrtab", SHT_STRTAB, 0, 1);
  file.addOwn(names.bytes().data(), names.bytes().size());
  end(sectionNames);
  file.pad(8);
  header.e_shoff = file.size();
  file.addOwn(sections, sizeof sections);
  std::memcpy(file.first(), &header, sizeof header);
  return std::move(file);
}

/// A member's header: texts of fixed lengths, filled with spaces.
std::string memberHeader(const std::string &name, uint64_t size) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644,
                     size);
}

} // namespace

Status writeObject(const EmbeddedModel &model, const std::string &name,
                   const std::string &path) {
  return ObjectWriter(model, name).write().write(path);
}

Status writeArchive(const EmbeddedModel &model, const std::string &name,
                    const std::string &path) {
  std::string symbol = symbolOf(name);
  Pieces object = ObjectWriter(model, name).write();
  if (object.size() > 9'999'999'999)
    return makeError(ErrorKind::unsupported,
                     "embed: an archive's member has less than 10 GB; write an "
                     "object (.o)");
  // The table: how many, where their members are (big-endian), their names.
  std::string magic = "!<arch>\n";
  uint64_t tableBytes = (4 + 4 + symbol.size() + 1 + 1) / 2 * 2;
  uint64_t memberAt = magic.size() + 60 + tableBytes;
  std::string table = {0, 0, 0, 1};
  for (int shift = 24; shift >= 0; shift -= 8)
    table.push_back(char(memberAt >> shift & 0xff));
  table += symbol;
  table.resize(tableBytes, '\0');
  std::string text = magic + memberHeader("/", tableBytes) + table +
                     memberHeader("model.o/", object.size());
  Pieces archive;
  archive.addOwn(text.data(), text.size());
  archive.take(std::move(object));
  archive.pad(2);
  return archive.write(path);
}

} // namespace sinter::cli
