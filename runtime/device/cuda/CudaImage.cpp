/// Loads the modules of an image, several at once.
#include "runtime/device/cuda/CudaImage.h"

#include "runtime/device/LoadParts.h"
#include "runtime/device/cuda/MachineCode.h"
#include "runtime/support/WorkTimes.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace {

class CudaImage final : public Image {
public:
  CudaImage(const Driver &driver, int capability, Stream stream)
      : driver(driver), stream(stream), machineCode(capability) {}
  ~CudaImage() override {
    if (context)
      driver.setContext(context);
    driver.synchronize(stream);
    for (Module module : modules)
      if (module)
        driver.unloadModule(module);
  }

  KernelHandle find(const std::string &symbol) const override {
    auto known = kernels.find(symbol);
    return known == kernels.end() ? nullptr : &known->second;
  }

  Status load(std::span<const std::string_view> texts, std::string_view device);

private:
  using CodeOfText = std::optional<std::vector<std::byte>>;
  Status loadModule(std::string_view text, const CodeOfText &code,
                    Module &module) const;
  Status findKernels(std::string_view text, Module module);
  Status findShared(CudaKernel &kernel) const;

  const Driver &driver;
  const Stream stream;
  const MachineCode machineCode;
  Context context = nullptr;
  std::vector<Module> modules;
  std::map<std::string, CudaKernel> kernels;
};

ErrorInfo imageError(std::string_view device, std::string_view why) {
  return makeError(ErrorKind::device,
                   fmt::format("{}: cannot load an image: {}", device, why));
}

/// The zero bytes that end the texts are behind them still.
Result<std::vector<std::string_view>>
splitTexts(std::string_view device, std::span<const std::byte> bytes) {
  std::string_view rest(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  std::vector<std::string_view> texts;
  while (!rest.empty()) {
    size_t end = rest.find('\0');
    std::string_view text = rest.substr(0, end);
    if (end == rest.npos || text.find(".version") == text.npos)
      return imageError(device, "it is no PTX");
    texts.push_back(text);
    rest.remove_prefix(end + 1);
  }
  return texts;
}

Status CudaImage::loadModule(std::string_view text, const CodeOfText &code,
                             Module &module) const {
  if (code &&
      driver.loadModule(&module, code->data(), 0, nullptr, nullptr) == success)
    return {};
  char log[2048] = "";
  int options[] = {errorLogBuffer, errorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  Code result = driver.loadModule(&module, text.data(), std::size(options),
                                  options, values);
  Status status = driver.check("cuModuleLoadDataEx", result);
  // It is the code that the driver did not take, not that it is out of memory.
  if (status && code)
    machineCode.refuse(text);
  if (status || !log[0])
    return status;
  ErrorInfo error = status.takeError();
  error.message += fmt::format(": {}", log);
  return error;
}

/// The number behind a keyword in the kernel's declaration, which begins the
/// text; 0 where it does not say.
uint32_t declared(std::string_view text, std::string_view keyword) {
  text = text.substr(0, text.find('{'));
  size_t at = text.find(keyword);
  uint32_t number = 0;
  if (at != text.npos)
    std::from_chars(text.data() + at + keyword.size(),
                    text.data() + text.size(), number);
  return number;
}

/// Whether the kernel whose declaration begins the text says what it waits for.
bool waitsItself(std::string_view text) {
  text = text.substr(0, text.find(".entry "));
  return text.find("griddepcontrol.wait;") != text.npos;
}

/// The bytes of shared memory that launches of the kernel ask for, by the name
/// of the array.
uint32_t launchedBytesOf(std::string_view text, std::string_view kernel) {
  std::string name = launchedMemoryName(kernel, 0);
  name.pop_back();
  size_t at = text.find(" " + name);
  uint32_t bytes = 0;
  if (at != text.npos)
    std::from_chars(text.data() + at + 1 + name.size(),
                    text.data() + text.size(), bytes);
  return bytes;
}

/// How much shared memory blocks of the kernel take.
Status CudaImage::findShared(CudaKernel &kernel) const {
  int declared = 0, blocks = 0;
  uint32_t threads = kernel.warps * warpLanes;
  if (kernel.given)
    threads = kernel.given->block[0] * kernel.given->block[1] *
              kernel.given->block[2];
  if (kernel.bytes > 0)
    SINTER_TRY(driver.check("cuFuncSetAttribute",
                            driver.setFunctionAttribute(kernel.function,
                                                        maxDynamicSharedBytes,
                                                        int(kernel.bytes))));
  SINTER_TRY(
      driver.check("cuFuncGetAttribute",
                   driver.functionAttribute(&declared, declaredSharedBytes,
                                            kernel.function)));
  SINTER_TRY(driver.check("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                          driver.residentBlocks(&blocks, kernel.function,
                                                int(threads), kernel.bytes)));
  kernel.residentBytes = uint32_t(blocks) * (uint32_t(declared) + kernel.bytes);
  return {};
}

/// The kernels that a text declares.
Status CudaImage::findKernels(std::string_view text, Module module) {
  constexpr std::string_view keyword = ".entry ";
  for (size_t at = text.find(keyword); at != text.npos;
       at = text.find(keyword, at)) {
    at += keyword.size();
    std::string name(text.substr(at, text.find_first_of("( \n\t", at) - at));
    CudaKernel kernel;
    SINTER_TRY(driver.check(
        "cuModuleGetFunction",
        driver.findFunction(&kernel.function, module, name.c_str())));
    std::string_view declaration = text.substr(at);
    kernel.warps = std::max(1u, declared(declaration, ".reqntid ") / warpLanes);
    kernel.blocks = std::max(1u, declared(declaration, ".minnctapersm "));
    SINTER_TRY_ASSIGN(kernel.maps, tensorMapsOf(text, name));
    SINTER_TRY_ASSIGN(kernel.given, givenLaunchOf(text, name));
    kernel.waits = !kernel.given && waitsItself(declaration);
    kernel.gathers = text.find("\n" + gathersLine(name)) != text.npos;
    kernel.bytes =
        kernel.given ? kernel.given->sharedBytes : launchedBytesOf(text, name);
    SINTER_TRY(findShared(kernel));
    kernels.emplace(std::move(name), kernel);
  }
  return {};
}

Status CudaImage::load(std::span<const std::string_view> texts,
                       std::string_view device) {
  modules.resize(texts.size());
  SINTER_TRY(driver.check("cuCtxGetCurrent", driver.getContext(&context)));
  std::vector<CodeOfText> codes(texts.size());
  {
    WorkTimer timer(Work::machineCode);
    SINTER_TRY(loadParts(
        texts.size(), [] {},
        [&](size_t i) {
          codes[i] = machineCode.find(texts[i]);
          return Status();
        }));
  }
  Status first = loadParts(
      texts.size(), [&] { driver.setContext(context); },
      [&](size_t i) { return loadModule(texts[i], codes[i], modules[i]); });
  for (size_t i = 0; first && i < texts.size(); ++i)
    first = findKernels(texts[i], modules[i]);
  if (!first)
    return imageError(device, first.error().message);
  return {};
}

} // namespace

std::string sinter::runtime::launchedMemoryName(std::string_view kernel,
                                                uint64_t bytes) {
  return fmt::format("{}_launched_{}", kernel, bytes);
}

std::string sinter::runtime::gathersLine(std::string_view kernel) {
  return fmt::format("// gathers {}\n", kernel);
}

Result<std::unique_ptr<Image>>
sinter::runtime::loadCudaImage(const Driver &driver, std::string_view device,
                               int capability, Stream stream,
                               std::span<const std::byte> bytes) {
  SINTER_TRY_ASSIGN(std::vector<std::string_view> texts,
                    splitTexts(device, bytes));
  auto image = std::make_unique<CudaImage>(driver, capability, stream);
  SINTER_TRY(image->load(texts, device));
  return std::unique_ptr<Image>(std::move(image));
}
