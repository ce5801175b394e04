/// Disassembly of images by LLVM's MC layer.
#include "compiler/Disassemble.h"

#include "compiler/target/cuda/DisassembleSass.h"
#include "compiler/target/vulkan/DisassembleSpirv.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace sinter::compiler {

namespace {

/// The parts of LLVM that one disassembly needs.
class Disassembler {
public:
  explicit Disassembler(const llvm::object::ObjectFile &object);
  bool isReady() const { return decoder && printer; }
  void print(llvm::ArrayRef<uint8_t> code, uint64_t address,
             llvm::raw_ostream &out);

private:
  llvm::Triple triple;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

} // namespace

Disassembler::Disassembler(const llvm::object::ObjectFile &object)
    : triple(object.makeTriple()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetDisassembler();
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return;
  registers.reset(target->createMCRegInfo(triple));
  assembly.reset(target->createMCAsmInfo(*registers, triple, {}));
  instructions.reset(target->createMCInstrInfo());
  // All features: an image names its own in the program section.
  subtarget.reset(target->createMCSubtargetInfo(triple, "", "+all"));
  context = std::make_unique<llvm::MCContext>(triple, assembly.get(),
                                              registers.get(), subtarget.get());
  decoder.reset(target->createMCDisassembler(*subtarget, *context));
  printer.reset(target->createMCInstPrinter(triple, 0, *assembly, *instructions,
                                            *registers));
}

void Disassembler::print(llvm::ArrayRef<uint8_t> code, uint64_t address,
                         llvm::raw_ostream &out) {
  while (!code.empty()) {
    llvm::MCInst instruction;
    uint64_t size = 0;
    auto status = decoder->getInstruction(instruction, size, code, address,
                                          llvm::nulls());
    out << llvm::formatv("{0,8:x-}:", address);
    if (status == llvm::MCDisassembler::Fail) {
      out << llvm::formatv("\t.byte {0:x}\n", code.front());
      size = std::max<uint64_t>(size, 1);
    } else {
      printer->printInst(&instruction, address, "", *subtarget, out);
      out << '\n';
    }
    size = std::min<uint64_t>(size, code.size());
    code = code.drop_front(size);
    address += size;
  }
}

// Function symbols by address, with the bytes that they cover.
static std::map<uint64_t, std::pair<std::string, llvm::ArrayRef<uint8_t>>>
functionsOf(const llvm::object::ELFObjectFileBase &object) {
  std::map<uint64_t, std::pair<std::string, llvm::ArrayRef<uint8_t>>> found;
  for (const llvm::object::ELFSymbolRef symbol :
       object.getDynamicSymbolIterators()) {
    auto type = symbol.getType();
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    auto section = symbol.getSection();
    if (!type || !name || !address || !section ||
        *type != llvm::object::SymbolRef::ST_Function ||
        *section == object.section_end())
      continue;
    auto contents = (*section)->getContents();
    uint64_t start = *address - (*section)->getAddress();
    if (!contents || start + symbol.getSize() > contents->size())
      continue;
    llvm::StringRef bytes = contents->substr(start, symbol.getSize());
    found[*address] = {name->str(), llvm::arrayRefFromStringRef(bytes)};
  }
  return found;
}

Result<std::string> disassemble(std::span<const std::byte> image) {
  if (isSpirv(image))
    return disassembleSpirv(image);
  if (isPtx(image))
    return disassembleSass(image);
  llvm::StringRef bytes(reinterpret_cast<const char *>(image.data()),
                        image.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(bytes, "image"));
  if (!file)
    return makeError(ErrorKind::io,
                     "disassemble: " + llvm::toString(file.takeError()));
  auto *object = llvm::cast<llvm::object::ELFObjectFileBase>(file->get());
  Disassembler disassembler(*object);
  if (!disassembler.isReady())
    return makeError(ErrorKind::unsupported,
                     "disassemble: the image is for another machine");
  std::string text;
  llvm::raw_string_ostream out(text);
  for (auto &[address, function] : functionsOf(*object)) {
    out << function.first << ":\n";
    disassembler.print(function.second, address, out);
  }
  return text;
}

} // namespace sinter::compiler
