/// SINTER_EMBED: the bytes of a file as a part of the program.
#pragma once

#include <cstddef>
#include <span>

namespace sinter {

/// Bytes that the linker put into the program.
class EmbeddedBytes {
public:
  constexpr EmbeddedBytes(const std::byte *first, const std::byte *last)
      : first(first), last(last) {}
  size_t size() const { return size_t(last - first); }
  const std::byte *data() const { return first; }
  operator std::span<const std::byte>() const { return {first, last}; }

private:
  const std::byte *first, *last;
};

} // namespace sinter

/// Puts a file into the program and names its bytes, 64-aligned:
///
///     SINTER_EMBED(digits, "/models/digits.bin")
///     auto mlp = sn::load_from_memory<Mlp>(digits);
///
/// Stands once for a name, in a source file, outside of namespaces and
/// functions. The assembler reads the file: a path that is not absolute is one
/// from the folder in which the compiler runs, or of its `-I`. CMake is told of
/// the file by `set_source_files_properties(main.cpp PROPERTIES OBJECT_DEPENDS
/// FILE)`, and a path by a definition. For assemblers of ELF.
#define SINTER_EMBED(name, file)                                               \
  __asm__(".pushsection .rodata.sinter_embed_" #name ",\"a\",%progbits\n"      \
          ".balign 64\n"                                                       \
          ".globl sinter_embed_" #name "_first\n"                              \
          ".hidden sinter_embed_" #name "_first\n"                             \
          "sinter_embed_" #name "_first:\n"                                    \
          ".incbin \"" file "\"\n"                                             \
          ".globl sinter_embed_" #name "_last\n"                               \
          ".hidden sinter_embed_" #name "_last\n"                              \
          "sinter_embed_" #name "_last:\n"                                     \
          ".byte 0\n"                                                          \
          ".popsection\n");                                                    \
  extern "C" __attribute__((visibility("hidden")))                             \
  const std::byte sinter_embed_##name##_first[];                               \
  extern "C" __attribute__((visibility("hidden")))                             \
  const std::byte sinter_embed_##name##_last[];                                \
  static constexpr ::sinter::EmbeddedBytes name{sinter_embed_##name##_first,   \
                                                sinter_embed_##name##_last};
