/// VulkanQueue: a device's work in one order.
#pragma once

#include "runtime/device/GivenLaunch.h"
#include "runtime/device/vulkan/VulkanMemory.h"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace sinter::runtime {

/// A kernel phase on a device.
struct VulkanKernel {
  vulkan::Pipeline pipeline = nullptr;
  uint32_t subgroups = 1; ///< of a workgroup
  std::optional<GivenLaunch> given = {};
  /// Of its module, where indices have 32 bits.
  std::optional<std::string> sizes = {};
};

/// What one dispatch needs.
struct VulkanDispatch {
  vulkan::Pipeline pipeline = nullptr;
  std::span<const uint64_t> words;            ///< the argument block
  uint32_t columns = 1, rows = 1, layers = 1; ///< workgroups
};

/// Commands are recorded and handed to the device some at a time: at once where
/// it has nothing to do, and where somebody waits. Each waits for those before
/// it. Once the device is lost, or commands that were taken are, all calls fail
/// with the error of that time. Thread-safe.
class VulkanQueue {
public:
  VulkanQueue(const VulkanGpu &gpu, std::string name)
      : gpu(gpu), name(std::move(name)) {}
  VulkanQueue(const VulkanQueue &) = delete;
  /// Nothing is to be done any longer.
  ~VulkanQueue();

  /// Comes first.
  Status start();

  using Place = VulkanMemory::Place;
  Status launch(const VulkanDispatch &dispatch);
  Status copy(const Place &to, const Place &from, uint64_t bytes);
  /// The host's bytes are the caller's again.
  Status upload(Place to, std::span<const std::byte> from);
  /// Waits for the bytes.
  Status download(std::span<std::byte> to, Place from);

  /// Runs `first` and `rest`, if that is not null, which were recorded before
  /// and wait by themselves. Gives what to wait for until `first` is through;
  /// `rest` is with the next value.
  Result<uint64_t> replay(vulkan::CommandBuffer first,
                          vulkan::CommandBuffer rest);

  /// Hands all that was recorded to the device; what to wait for.
  Result<uint64_t> submit();
  bool reached(uint64_t value) const;
  Status wait(uint64_t value) const;
  /// Waits for all.
  Status finish();

  /// What is queued between the two goes to the device together. Gives the
  /// nanoseconds that it took, or nothing where the device has no clock.
  Result<uint64_t> startTimer();
  Result<std::optional<uint64_t>> stopTimer(uint64_t timer);

  /// Why it takes no work any longer, once that is so.
  Status state() const;

  vulkan::PipelineLayout layout() const { return pipelineLayout; }

private:
  static constexpr uint64_t stagingBytes = uint64_t(4) << 20;
  static constexpr unsigned mostCommands = 64;
  /// Commands that go to the device together, and memory that the host writes
  /// for them.
  struct Batch {
    vulkan::CommandPool pool = nullptr;
    vulkan::CommandBuffer commands = nullptr;
    VulkanBlock staging;
    uint64_t used = 0;    ///< bytes of it
    uint64_t value = 0;   ///< of the timeline, once the device is through
    unsigned count = 0;   ///< commands
    bool isOpen = false;  ///< has commands that the device has not got
    bool isEnded = false; ///< and takes no more
  };

  Status makeBatch(Batch &batch);
  /// The batch that takes commands, with room for bytes of the host's.
  Result<Batch *> open(uint64_t bytes);
  Status endLocked();
  Status submitLocked(vulkan::CommandBuffer first = nullptr,
                      vulkan::CommandBuffer rest = nullptr);
  void order(Batch &batch);
  vulkan::Code waitInDriver(uint64_t value) const;
  uint64_t stage(Batch &batch, std::span<const std::byte> from);
  void copyIn(Batch &batch, const Place &to, std::span<const std::byte> from);
  void copyInto(Batch &batch, const Place &to, const Place &from,
                uint64_t bytes);
  /// `vulkan:0: what`; a lost device stays lost.
  Status check(std::string_view what, vulkan::Code code) const;
  /// Keeps the first error for `state`, and returns that.
  ErrorInfo fail(ErrorInfo error) const;

  const VulkanGpu &gpu;
  const std::string name;
  vulkan::PipelineLayout pipelineLayout = nullptr;
  vulkan::Semaphore timeline = nullptr;
  std::mutex mutex;
  std::array<Batch, 4> batches;
  size_t current = 0;
  uint64_t submitted = 0; ///< the timeline's value after all submissions
  /// Two times each, for as many threads as take times at once.
  static constexpr uint32_t mostTimers = 64;
  vulkan::QueryPool times = nullptr;
  uint64_t timersStarted = 0;
  unsigned timersRunning = 0;
  std::mutex readbackMutex;
  VulkanBlock readback;
  mutable std::atomic<bool> isFailed = false;
  mutable std::mutex failureMutex;
  mutable ErrorInfo failure;
};

} // namespace sinter::runtime
