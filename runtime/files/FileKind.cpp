/// Recognizes files of other kinds by how they begin.
#include "runtime/files/FileKind.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sinter {

using namespace std::string_view_literals;

/// A zip names each entry before its bytes: the first ones tell whose it is.
static std::string_view zipKind(std::string_view text) {
  std::string_view head = text.substr(0, 4096);
  auto has = [&](std::string_view name) {
    return head.find(name) != std::string_view::npos;
  };
  if (has("data.pkl") || has("/version") || has("/.format_version"))
    return "a PyTorch checkpoint (.pt, a zip of pickles); save its tensors "
           "with safetensors.torch.save_file";
  if (has(".npy"))
    return "an archive of NumPy arrays (.npz)";
  return "a zip archive";
}

static bool isSafetensors(std::string_view text) {
  uint64_t length = 0;
  if (text.size() <= sizeof(length))
    return false;
  std::memcpy(&length, text.data(), sizeof(length));
  return text[sizeof(length)] == '{' && length <= text.size() - sizeof(length);
}

static bool isText(std::string_view text) {
  return std::ranges::all_of(text.substr(0, 256), [](char letter) {
    auto code = static_cast<unsigned char>(letter);
    return code >= 32 || letter == '\n' || letter == '\r' || letter == '\t';
  });
}

std::string_view fileKind(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (text.empty())
    return "an empty file";
  struct Beginning {
    std::string_view magic, kind;
  };
  static constexpr Beginning beginnings[] = {
      {"\x93NUMPY"sv, "a NumPy array (.npy)"},
      {"SINTER"sv, "a compiled model (.sinter)"},
      {"SINTKR"sv, "an entry of Sinter's cache"},
      {"GGUF"sv, "a GGUF file"},
      {"\x89HDF\r\n"sv, "an HDF5 file"},
      {"\x1f\x8b"sv, "a gzip file"},
      {"version https://git-lfs"sv,
       "a Git LFS pointer: the file itself was not fetched"},
      {"<!DOCTYPE html"sv, "a web page"},
      {"<html"sv, "a web page"},
      {"\x7f"
       "ELF"sv,
       "an ELF object"},
  };
  if (text.starts_with("PK\3\4"sv) || text.starts_with("PK\5\6"sv))
    return zipKind(text);
  for (const auto &[magic, kind] : beginnings)
    if (text.starts_with(magic))
      return kind;
  if (isSafetensors(text))
    return "a safetensors file";
  // Pickles begin with their protocol; ONNX with the field ir_version.
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
    return "a Python pickle, as older PyTorch checkpoints are; save its "
           "tensors with safetensors.torch.save_file";
  if (text.size() > 3 && text[0] == '\x08' && text[1] > 0 && text[1] < 20 &&
      (text[2] == '\x12' || text[2] == '\x1a' || text[2] == ':'))
    return "an ONNX model";
  if (std::ranges::all_of(text, [](char letter) { return letter == 0; }))
    return "nothing but zeros, as of a write that was cut short";
  if (isText(text))
    return text.front() == '{' ? "JSON text" : "plain text";
  return {};
}

std::string otherFile(std::string what, std::span<const std::byte> bytes) {
  std::string_view kind = fileKind(bytes);
  if (!kind.empty())
    what.append("; this is ").append(kind);
  return what;
}

} // namespace sinter
