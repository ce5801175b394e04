/// Layouts that files, generated code and backends rely on. A failure here
/// means: the change is one of format or ABI, and needs a version.
#include "runtime/device/Device.h"
#include "runtime/device/KernelAbi.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/FileFormat.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

std::string toHex(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest)
    text += fmt::format("{:02x}", byte);
  return text;
}

/// A program with every kind of part, with bytes in place of machine code,
/// which depends on the C compiler.
std::vector<std::byte> goldenFile() {
  ProgramBuilder builder = fullProgram();
  ModelWriter writer;
  std::vector<std::byte> image(100, std::byte(0xcc));
  writer.addProgram(builder.program, image);
  writer.setConstants(std::vector<std::byte>(512, std::byte(7)));
  writer.setGraph("module {}");
  writer.setSites({"model.cpp:1", "", "model.cpp:2"});
  return *writer.finish();
}

/// The place of a virtual function in its class's table: the Itanium ABI
/// stores it in a pointer to the member, plus one.
template <typename Member> size_t slot(Member member) {
  uintptr_t offset;
  std::memcpy(&offset, &member, sizeof(offset));
  return (offset - 1) / sizeof(void *);
}

} // namespace

TEST(Interface, KernelArguments) {
  EXPECT_EQ(kernelAbiVersion, 1u);
  static_assert(sizeof(KernelBlock) == 32 && alignof(KernelBlock) == 8);
  static_assert(offsetof(KernelBlock, version) == 0);
  static_assert(offsetof(KernelBlock, launch) == 4);
  static_assert(offsetof(KernelBlock, error) == 8);
  static_assert(offsetof(KernelBlock, dims) == 16);
  static_assert(offsetof(KernelBlock, buffers) == 24);
  static_assert(sizeof(ErrorWord) == 8 && offsetof(ErrorWord, value) == 0);
  static_assert(
      std::is_same_v<KernelFunction,
                     void (*)(const KernelBlock *, char *, int64_t, int64_t)>);
}

TEST(Interface, DeviceFunctions) {
  // Two slots of destructors come first.
  EXPECT_EQ(slot(&Device::id), 2u);
  EXPECT_EQ(slot(&Device::description), 3u);
  EXPECT_EQ(slot(&Device::profile), 4u);
  EXPECT_EQ(slot(&Device::target), 5u);
  EXPECT_EQ(slot(&Device::memoryInfo), 6u);
  EXPECT_EQ(slot(&Device::sharesHostMemory), 7u);
  EXPECT_EQ(slot(&Device::allocate), 8u);
  EXPECT_EQ(slot(&Device::free), 9u);
  EXPECT_EQ(slot(&Device::copyIn), 10u);
  EXPECT_EQ(slot(&Device::copyOut), 11u);
  EXPECT_EQ(slot(&Device::copy), 12u);
  EXPECT_EQ(slot(&Device::move), 13u);
  EXPECT_EQ(slot(&Device::loadImage), 14u);
  EXPECT_EQ(slot(&Device::launch), 15u);
  EXPECT_EQ(slot(&Device::record), 16u);
  EXPECT_EQ(slot(&Device::synchronize), 17u);
  EXPECT_EQ(slot(&Device::hasGraphs), 18u);
  EXPECT_EQ(slot(&Device::makeGraph), 19u);
  EXPECT_EQ(slot(&Device::startTimer), 20u);
  EXPECT_EQ(slot(&Device::stopTimer), 21u);
  EXPECT_EQ(slot(&Device::copyAcross), 22u);
  EXPECT_EQ(slot(&Device::resetPeakMemory), 23u);
  EXPECT_EQ(slot(&Device::followStream), 24u);
  EXPECT_EQ(slot(&Device::leadStream), 25u);
  EXPECT_EQ(slot(&Device::mostAllocation), 26u);
  EXPECT_EQ(slot(&Device::upload), 27u);
  EXPECT_EQ(slot(&WorkGraph::setLaunch), 2u);
  EXPECT_EQ(slot(&WorkGraph::setCopy), 3u);
  EXPECT_EQ(slot(&WorkGraph::launch), 4u);
  EXPECT_EQ(slot(&WorkGraph::waitForWord), 5u);
  EXPECT_EQ(slot(&Image::find), 2u);
  EXPECT_EQ(slot(&Event::done), 2u);
  EXPECT_EQ(slot(&Event::wait), 3u);
  static_assert(sizeof(LaunchArgs) == 40 && sizeof(MemoryInfo) == 40);
}

TEST(Interface, CompilerFunctions) {
  constexpr size_t word = sizeof(void *);
  static_assert(sizeof(CompilerHook) == 12 * word);
  static_assert(offsetof(CompilerHook, compile) == 0 * word);
  static_assert(offsetof(CompilerHook, compileText) == 1 * word);
  static_assert(offsetof(CompilerHook, exportGraph) == 2 * word);
  static_assert(offsetof(CompilerHook, readGraph) == 3 * word);
  static_assert(offsetof(CompilerHook, inspect) == 4 * word);
  static_assert(offsetof(CompilerHook, inspectText) == 5 * word);
  static_assert(offsetof(CompilerHook, digest) == 6 * word);
  static_assert(offsetof(CompilerHook, optMain) == 7 * word);
  static_assert(offsetof(CompilerHook, disassemble) == 8 * word);
  static_assert(offsetof(CompilerHook, kernelTiles) == 9 * word);
  static_assert(offsetof(CompilerHook, compileKernel) == 10 * word);
  static_assert(offsetof(CompilerHook, machineText) == 11 * word);
  EXPECT_STREQ(compilerHookSymbol, "sinter_compiler_hook");
}

TEST(Interface, FileHeader) {
  EXPECT_EQ(fileVersion, 4u);
  static_assert(offsetof(FileHeader, magic) == 0);
  static_assert(offsetof(FileHeader, version) == 8);
  static_assert(offsetof(FileHeader, numSections) == 12);
  static_assert(offsetof(FileHeader, fileBytes) == 16);
  static_assert(offsetof(FileHeader, reserved) == 24);
  static_assert(offsetof(FileHeader, contentDigest) == 32);
  static_assert(offsetof(FileHeader, headerDigest) == 48);
  static_assert(offsetof(SectionEntry, kind) == 0);
  static_assert(offsetof(SectionEntry, index) == 4);
  static_assert(offsetof(SectionEntry, offset) == 8);
  static_assert(offsetof(SectionEntry, bytes) == 16);
  static_assert(offsetof(SectionEntry, alignment) == 24);
  static_assert(offsetof(SectionEntry, digest) == 32);
  static_assert(offsetof(SectionEntry, name) == 48);
  static_assert(offsetof(SectionEntry, optional) == 63);
  const unsigned char expected[] = {'S', 'I', 'N', 'T', 'E', 'R', 0, 1,
                                    4,   0,   0,   0,   5,   0,   0, 0};
  EXPECT_EQ(std::memcmp(goldenFile().data(), expected, sizeof(expected)), 0);
}

// Field numbers, enumerators and struct layouts of program.fbs are all in
// these bytes.
TEST(Interface, FileBytes) {
  std::vector<std::byte> file = goldenFile();
  EXPECT_EQ(file.size(), 2956u);
  EXPECT_EQ(toHex(digestOf(file)), "64f620349ade4fdc863869369ab5c61d");
}

TEST(Interface, BlockDigests) {
  std::vector<std::byte> section(2 * digestBlock + 10, std::byte(1));
  EXPECT_EQ(toHex(sectionDigest(section)), "f64b0dc8277dee654346f1429151ef5b");
  EXPECT_EQ(toHex(sectionDigest({})), "99aa06d3014798d86001c324468d497f");
}
