/// Records commands, hands them on and waits.
#include "runtime/device/vulkan/VulkanQueue.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

// To look at the counter is quicker than to wait for it (H200: 13 and 33
// microseconds), as long as it takes a processor for little, and not from what
// computes.
static std::chrono::microseconds spinTime(const VulkanAbout &about) {
  return std::chrono::microseconds(about.isProcessor() ? 50 : 20000);
}

Status VulkanQueue::check(std::string_view what, Code code) const {
  if (code >= success)
    return {};
  if (code != deviceLost)
    return errorOf(fmt::format("{}: {}", name, what), code);
  return fail(
      errorOf(fmt::format("{}: the device is lost: {}", name, what), code));
}

ErrorInfo VulkanQueue::fail(ErrorInfo error) const {
  std::lock_guard lock(failureMutex);
  if (!isFailed) {
    failure = std::move(error);
    isFailed = true;
  }
  return failure;
}

Status VulkanQueue::state() const {
  if (!isFailed)
    return {};
  std::lock_guard lock(failureMutex);
  return ErrorInfo(failure);
}

VulkanQueue::~VulkanQueue() {
  for (Batch &batch : batches) {
    if (batch.pool)
      gpu.loader.destroyPool(gpu.device, batch.pool, nullptr);
    freeBlock(gpu, batch.staging);
  }
  freeBlock(gpu, readback);
  if (times)
    gpu.loader.destroyQueries(gpu.device, times, nullptr);
  if (timeline)
    gpu.loader.destroySemaphore(gpu.device, timeline, nullptr);
  if (pipelineLayout)
    gpu.loader.destroyLayout(gpu.device, pipelineLayout, nullptr);
}

Status VulkanQueue::start() {
  SemaphoreType type;
  SemaphoreCreateInfo info;
  info.next = &type;
  SINTER_TRY(
      check("vkCreateSemaphore",
            gpu.loader.createSemaphore(gpu.device, &info, nullptr, &timeline)));
  PushConstantRange range;
  range.stages = computeStage;
  range.bytes = sizeof(uint64_t);
  PipelineLayoutCreateInfo layoutInfo;
  layoutInfo.rangeCount = 1;
  layoutInfo.ranges = &range;
  return check("vkCreatePipelineLayout",
               gpu.loader.createLayout(gpu.device, &layoutInfo, nullptr,
                                       &pipelineLayout));
}

Status VulkanQueue::makeBatch(Batch &batch) {
  if (batch.commands)
    return {};
  CommandPoolCreateInfo poolInfo;
  poolInfo.family = gpu.about.family;
  if (!batch.pool)
    SINTER_TRY(check(
        "vkCreateCommandPool",
        gpu.loader.createPool(gpu.device, &poolInfo, nullptr, &batch.pool)));
  if (!batch.staging.buffer)
    SINTER_TRY(check(
        "memory of the host",
        makeBlock(gpu, stagingBytes, VulkanPlace::upload, batch.staging)));
  CommandBufferAllocateInfo info;
  info.pool = batch.pool;
  return check("vkAllocateCommandBuffers",
               gpu.loader.allocateCommands(gpu.device, &info, &batch.commands));
}

Result<VulkanQueue::Batch *> VulkanQueue::open(uint64_t bytes) {
  SINTER_TRY(state());
  Batch &last = batches[current];
  if (last.isOpen && !last.isEnded && last.used + bytes <= stagingBytes &&
      last.count < mostCommands)
    return &last;
  SINTER_TRY(submitLocked());
  Batch &batch = batches[current];
  SINTER_TRY(makeBatch(batch));
  SINTER_TRY(wait(batch.value));
  SINTER_TRY(check("vkResetCommandPool",
                   gpu.loader.resetPool(gpu.device, batch.pool, 0)));
  CommandBufferBeginInfo info;
  info.flags = submittedOnce;
  SINTER_TRY(
      check("vkBeginCommandBuffer", gpu.loader.begin(batch.commands, &info)));
  batch.used = batch.count = 0;
  batch.isOpen = true;
  return &batch;
}

Status VulkanQueue::endLocked() {
  Batch &batch = batches[current];
  if (!batch.isOpen || batch.isEnded)
    return {};
  if (Status ended =
          check("vkEndCommandBuffer", gpu.loader.end(batch.commands));
      !ended)
    return fail(ended.takeError());
  batch.isEnded = true;
  return {};
}

// With commands that were recorded elsewhere after its own. What the driver has
// no memory for now is handed to it again with the next batch.
Status VulkanQueue::submitLocked(CommandBuffer first, CommandBuffer rest) {
  SINTER_TRY(state());
  SINTER_TRY(endLocked());
  Batch &batch = batches[current];
  std::array<CommandBufferSubmitInfo, 3> commands;
  uint32_t count = 0;
  if (batch.isOpen)
    commands[count++].commands = batch.commands;
  if (first)
    commands[count++].commands = first;
  if (count == 0)
    return {};
  commands[count].commands = rest;
  std::array<SemaphoreSubmitInfo, 2> signals;
  std::array<SubmitInfo, 2> parts;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    signals[part].semaphore = timeline;
    signals[part].value = submitted + 1 + part;
    parts[part].signalCount = 1;
    parts[part].signals = &signals[part];
  }
  parts[0].commandCount = count;
  parts[0].commands = commands.data();
  parts[1].commandCount = 1;
  parts[1].commands = &commands[count];
  uint32_t numParts = rest ? 2 : 1;
  SINTER_TRY(check("vkQueueSubmit2", gpu.loader.submit(gpu.queue, numParts,
                                                       parts.data(), nullptr)));
  if (batch.isOpen) {
    batch.isOpen = batch.isEnded = false;
    batch.value = submitted + 1;
    current = (current + 1) % batches.size();
  }
  submitted += numParts;
  return {};
}

// What comes now sees what was written before, also by earlier batches.
void VulkanQueue::order(Batch &batch) {
  addBarrier(gpu, batch.commands, VulkanOrder::work);
  ++batch.count;
}

Status VulkanQueue::launch(const VulkanDispatch &dispatch) {
  auto bytes = std::as_bytes(dispatch.words);
  if (bytes.size() > stagingBytes)
    return makeError(ErrorKind::unsupported,
                     fmt::format("{}: a launch has {} bytes of arguments", name,
                                 bytes.size()));
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(Batch * batch, open(bytes.size()));
  uint64_t address = batch->staging.address + stage(*batch, bytes);
  order(*batch);
  constexpr uint32_t computePoint = 1;
  gpu.loader.bindPipeline(batch->commands, computePoint, dispatch.pipeline);
  gpu.loader.push(batch->commands, pipelineLayout, computeStage, 0,
                  sizeof(address), &address);
  gpu.loader.dispatch(batch->commands, dispatch.columns, dispatch.rows,
                      dispatch.layers);
  // A device that has nothing to do begins.
  bool begins = timersRunning == 0 && reached(submitted);
  return begins ? submitLocked() : Status();
}

void VulkanQueue::copyInto(Batch &batch, const Place &to, const Place &from,
                           uint64_t bytes) {
  order(batch);
  BufferCopy region{from.offset, to.offset, bytes};
  gpu.loader.copyBuffer(batch.commands, from.buffer, to.buffer, 1, &region);
}

Status VulkanQueue::copy(const Place &to, const Place &from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  SINTER_TRY_ASSIGN(Batch * batch, open(0));
  copyInto(*batch, to, from, bytes);
  return {};
}

// There is room for the bytes.
void VulkanQueue::copyIn(Batch &batch, const Place &to,
                         std::span<const std::byte> from) {
  uint64_t place = stage(batch, from);
  copyInto(batch, to, {batch.staging.buffer, place}, from.size());
}

// Where the bytes are in the batch's memory.
uint64_t VulkanQueue::stage(Batch &batch, std::span<const std::byte> from) {
  constexpr uint64_t alignment = 64;
  uint64_t place = batch.used;
  std::memcpy(batch.staging.mapped + place, from.data(), from.size());
  batch.used = std::min(stagingBytes, (place + from.size() + alignment - 1) /
                                          alignment * alignment);
  return place;
}

Status VulkanQueue::upload(Place to, std::span<const std::byte> from) {
  std::lock_guard lock(mutex);
  while (!from.empty()) {
    auto part = from.first(std::min<size_t>(from.size(), stagingBytes));
    SINTER_TRY_ASSIGN(Batch * batch, open(part.size()));
    copyIn(*batch, to, part);
    to.offset += part.size();
    from = from.subspan(part.size());
  }
  return {};
}

Status VulkanQueue::download(std::span<std::byte> to, Place from) {
  std::lock_guard readbackLock(readbackMutex);
  if (!readback.buffer)
    SINTER_TRY(
        check("memory of the host",
              makeBlock(gpu, stagingBytes, VulkanPlace::readback, readback)));
  while (!to.empty()) {
    auto part = to.first(std::min<size_t>(to.size(), stagingBytes));
    uint64_t value = 0;
    {
      std::lock_guard lock(mutex);
      SINTER_TRY_ASSIGN(Batch * batch, open(0));
      copyInto(*batch, {readback.buffer, 0}, from, part.size());
      addBarrier(gpu, batch->commands, VulkanOrder::host);
      SINTER_TRY(submitLocked());
      value = submitted;
    }
    SINTER_TRY(wait(value));
    std::memcpy(part.data(), readback.mapped, part.size());
    from.offset += part.size();
    to = to.subspan(part.size());
  }
  return {};
}

Result<uint64_t> VulkanQueue::replay(CommandBuffer first, CommandBuffer rest) {
  std::lock_guard lock(mutex);
  uint64_t value = submitted + 1;
  SINTER_TRY(submitLocked(first, rest));
  return value;
}

Result<uint64_t> VulkanQueue::submit() {
  std::lock_guard lock(mutex);
  SINTER_TRY(submitLocked());
  return submitted;
}

// Mesa (seen in 22.3) reads the counter outside of its lock: what a processor
// wrote before is there for certain after a wait alone, which does not wait
// then.
bool VulkanQueue::reached(uint64_t value) const {
  uint64_t now = 0;
  Code code = gpu.loader.counter(gpu.device, timeline, &now);
  if (code != success || now < value)
    return code != success;
  if (gpu.about.isProcessor())
    (void)waitInDriver(value);
  return true;
}

Status VulkanQueue::wait(uint64_t value) const {
  SINTER_TRY(state());
  auto end = std::chrono::steady_clock::now() + spinTime(gpu.about);
  uint64_t now = 0;
  do {
    SINTER_TRY(check("vkGetSemaphoreCounterValue",
                     gpu.loader.counter(gpu.device, timeline, &now)));
  } while (now < value && std::chrono::steady_clock::now() < end);
  if (now >= value && !gpu.about.isProcessor())
    return {};
  return check("vkWaitSemaphores", waitInDriver(value));
}

Code VulkanQueue::waitInDriver(uint64_t value) const {
  SemaphoreWaitInfo info;
  info.semaphores = &timeline;
  info.values = &value;
  return gpu.loader.wait(gpu.device, &info, UINT64_MAX);
}

Status VulkanQueue::finish() {
  SINTER_TRY_ASSIGN(uint64_t value, submit());
  return wait(value);
}

Result<uint64_t> VulkanQueue::startTimer() {
  std::lock_guard lock(mutex);
  uint64_t timer = timersStarted++ % mostTimers;
  if (gpu.about.timestampBits == 0)
    return timer;
  QueryPoolCreateInfo info;
  info.count = 2 * mostTimers;
  if (!times)
    SINTER_TRY(
        check("vkCreateQueryPool",
              gpu.loader.createQueries(gpu.device, &info, nullptr, &times)));
  SINTER_TRY_ASSIGN(Batch * batch, open(0));
  auto first = uint32_t(2 * timer);
  gpu.loader.resetQueries(batch->commands, times, first, 2);
  gpu.loader.writeTime(batch->commands, allCommands, times, first);
  ++timersRunning;
  return timer;
}

Result<std::optional<uint64_t>> VulkanQueue::stopTimer(uint64_t timer) {
  if (gpu.about.timestampBits == 0) {
    SINTER_TRY(finish());
    return std::optional<uint64_t>();
  }
  auto first = uint32_t(2 * timer);
  {
    std::lock_guard lock(mutex);
    --timersRunning;
    SINTER_TRY_ASSIGN(Batch * batch, open(0));
    gpu.loader.writeTime(batch->commands, allCommands, times, first + 1);
  }
  SINTER_TRY(finish());
  uint64_t at[2] = {};
  SINTER_TRY(check("vkGetQueryPoolResults",
                   gpu.loader.queryResults(gpu.device, times, first, 2,
                                           sizeof(at), at, sizeof(at[0]),
                                           results64 | waitsForResults)));
  uint64_t mask = ~uint64_t(0) >> (64 - gpu.about.timestampBits);
  double ticks = double((at[1] - at[0]) & mask);
  return std::optional(uint64_t(ticks * double(gpu.about.timestampPeriod)));
}
