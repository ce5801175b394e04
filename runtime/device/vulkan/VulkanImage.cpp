/// Makes pipelines of an image's kernels, several at once.
#include "runtime/device/vulkan/VulkanImage.h"

#include "runtime/device/LoadParts.h"
#include "runtime/device/vulkan/SpirvModule.h"

#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

class VulkanImage final : public Image {
public:
  VulkanImage(const VulkanGpu &gpu, VulkanQueue &queue, PipelineCache cache)
      : gpu(gpu), queue(queue), cache(cache) {}
  ~VulkanImage() override {
    (void)queue.finish();
    for (auto &[name, kernel] : kernels)
      if (kernel.pipeline)
        gpu.loader.destroyPipeline(gpu.device, kernel.pipeline, nullptr);
  }

  KernelHandle find(const std::string &symbol) const override {
    auto known = kernels.find(symbol);
    return known == kernels.end() ? nullptr : &known->second;
  }

  Status load(std::span<const SpirvModule> modules);

private:
  Status loadModule(const SpirvModule &module);
  Status makePipeline(ShaderModule module, const SpirvEntry &entry,
                      VulkanKernel &kernel) const;

  const VulkanGpu &gpu;
  VulkanQueue &queue;
  const PipelineCache cache;
  std::map<std::string, VulkanKernel> kernels;
};

Status VulkanImage::makePipeline(ShaderModule module, const SpirvEntry &entry,
                                 VulkanKernel &kernel) const {
  RequiredSubgroupSize size;
  size.threads = gpu.about.subgroup;
  ComputePipelineCreateInfo info;
  info.stage.next = &size;
  info.stage.flags = wholeSubgroups;
  info.stage.module = module;
  info.stage.name = entry.name.c_str();
  info.layout = queue.layout();
  kernel.subgroups = entry.threads / gpu.about.subgroup;
  if (kernel.subgroups * gpu.about.subgroup != entry.threads)
    return makeError(ErrorKind::device,
                     fmt::format("kernel {}: {} threads are no subgroups of {}",
                                 entry.name, entry.threads,
                                 gpu.about.subgroup));
  return check(fmt::format("kernel {}: vkCreateComputePipelines", entry.name),
               gpu.loader.createPipelines(gpu.device, cache, 1, &info, nullptr,
                                          &kernel.pipeline));
}

Status VulkanImage::loadModule(const SpirvModule &module) {
  ShaderModuleCreateInfo info;
  info.bytes = module.words.size() * sizeof(uint32_t);
  info.code = module.words.data();
  ShaderModule made = nullptr;
  SINTER_TRY(check("vkCreateShaderModule",
                   gpu.loader.createModule(gpu.device, &info, nullptr, &made)));
  Status status;
  for (const SpirvEntry &entry : module.entries)
    if (status)
      status = makePipeline(made, entry, kernels.at(entry.name));
  gpu.loader.destroyModule(gpu.device, made, nullptr);
  return status;
}

Status VulkanImage::load(std::span<const SpirvModule> modules) {
  for (const SpirvModule &module : modules)
    for (const SpirvEntry &entry : module.entries)
      if (!kernels.try_emplace(entry.name).second)
        return makeError(ErrorKind::io,
                         fmt::format("kernel {} is there twice", entry.name));
  return loadParts(
      modules.size(), [] {}, [&](size_t i) { return loadModule(modules[i]); });
}

ErrorInfo imageError(std::string_view device, std::string_view why) {
  return makeError(ErrorKind::device,
                   fmt::format("{}: cannot load an image: {}", device, why));
}

} // namespace

Result<std::unique_ptr<Image>>
sinter::runtime::loadVulkanImage(const VulkanGpu &gpu, std::string_view device,
                                 VulkanQueue &queue, PipelineCache cache,
                                 std::span<const std::byte> bytes) {
  auto modules = readSpirv(bytes);
  if (!modules)
    return imageError(device, modules.error().message);
  auto image = std::make_unique<VulkanImage>(gpu, queue, cache);
  if (Status loaded = image->load(*modules); !loaded)
    return imageError(device, loaded.error().message);
  return std::unique_ptr<Image>(std::move(image));
}
