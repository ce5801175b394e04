/// Makes pipelines of an image's kernels, several at once.
#include "runtime/device/vulkan/VulkanImage.h"

#include "runtime/device/LoadParts.h"
#include "runtime/device/vulkan/SpirvModule.h"
#include "runtime/device/vulkan/VulkanArguments.h"

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
                      const SpirvModule &spirv, VulkanKernel &kernel) const;

  const VulkanGpu &gpu;
  VulkanQueue &queue;
  const PipelineCache cache;
  std::map<std::string, VulkanKernel> kernels;
};

Status VulkanImage::makePipeline(ShaderModule module, const SpirvEntry &entry,
                                 const SpirvModule &spirv,
                                 VulkanKernel &kernel) const {
  kernel.given = entry.given;
  kernel.sizes = spirv.sizes;
  bool isKnown = gpu.about.subgroup > 0;
  if (spirv.usesSubgroups && !isKnown && !kernel.given)
    return makeError(ErrorKind::device,
                     "it uses subgroups, whose size is not known here");
  RequiredSubgroupSize size;
  size.threads = spirv.groups > 0 ? spirv.groups
                 : isKnown        ? gpu.about.subgroup
                                  : unknownSubgroup;
  ComputePipelineCreateInfo info;
  if (isKnown && spirv.groups == 0 && !kernel.given) {
    info.stage.next = &size;
    info.stage.flags = wholeSubgroups;
  }
  info.stage.module = module;
  info.stage.name = entry.name.c_str();
  info.layout = queue.layout();
  if (entry.threads > gpu.about.mostThreads)
    return makeError(ErrorKind::device,
                     fmt::format("{} threads are more than the {} of a "
                                 "workgroup",
                                 entry.threads, gpu.about.mostThreads));
  kernel.subgroups = entry.threads / size.threads;
  if (!kernel.given && kernel.subgroups * size.threads != entry.threads)
    return makeError(ErrorKind::device,
                     fmt::format("{} threads are no subgroups of {}",
                                 entry.threads, size.threads));
  return check("vkCreateComputePipelines",
               gpu.loader.createPipelines(gpu.device, cache, 1, &info, nullptr,
                                          &kernel.pipeline));
}

/// An error that says of which kernel it is.
ErrorInfo ofKernel(const std::string &kernel, ErrorInfo error) {
  error.op = kernel;
  error.message = fmt::format("kernel {}: {}", kernel, error.message);
  return error;
}

Status VulkanImage::loadModule(const SpirvModule &module) {
  ShaderModuleCreateInfo info;
  info.bytes = module.words.size() * sizeof(uint32_t);
  info.code = module.words.data();
  ShaderModule made = nullptr;
  Status status =
      check("vkCreateShaderModule",
            gpu.loader.createModule(gpu.device, &info, nullptr, &made));
  std::string kernel = module.entries.empty() ? "" : module.entries[0].name;
  for (const SpirvEntry &entry : module.entries) {
    if (!status)
      break;
    kernel = entry.name;
    status = makePipeline(made, entry, module, kernels.at(kernel));
  }
  if (made)
    gpu.loader.destroyModule(gpu.device, made, nullptr);
  if (!status)
    return ofKernel(kernel, status.takeError());
  return {};
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

ErrorInfo imageError(std::string_view device, ErrorInfo why) {
  if (why.kind != ErrorKind::out_of_memory)
    why.kind = ErrorKind::device;
  why.message =
      fmt::format("{}: cannot load an image: {}", device, why.message);
  return why;
}

} // namespace

Result<std::unique_ptr<Image>>
sinter::runtime::loadVulkanImage(const VulkanGpu &gpu, std::string_view device,
                                 VulkanQueue &queue, PipelineCache cache,
                                 std::span<const std::byte> bytes) {
  auto modules = readSpirv(bytes);
  if (!modules)
    return imageError(device, modules.takeError());
  auto image = std::make_unique<VulkanImage>(gpu, queue, cache);
  if (Status loaded = image->load(*modules); !loaded)
    return imageError(device, loaded.takeError());
  return std::unique_ptr<Image>(std::move(image));
}
