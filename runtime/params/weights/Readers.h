/// The readers behind `WeightFile::open`, one a format.
#pragma once

#include "runtime/files/MappedFile.h"
#include "runtime/params/weights/WeightFile.h"
#include "sinter/runtime/Result.h"

#include <span>
#include <string>

namespace sinter::runtime::weights {

// `file` is what `path` names. Errors begin with the path.

Result<WeightFileRef> openSafetensors(const std::string &path, MappedFile file);
Result<WeightFileRef> openNpy(const std::string &path, MappedFile file);
Result<WeightFileRef> openNpz(const std::string &path, MappedFile file);
/// PyTorch's archives: zip and what was before it.
Result<WeightFileRef> openTorchZip(const std::string &path, MappedFile file);
Result<WeightFileRef> openTorchLegacy(const std::string &path, MappedFile file);
Result<WeightFileRef> openGguf(const std::string &path, MappedFile file);
Result<WeightFileRef> openBurnpack(const std::string &path, MappedFile file);
Result<WeightFileRef> openFlax(const std::string &path, MappedFile file);
/// `index.json` of a sharded model. Shards lie beside it.
Result<WeightFileRef> openShards(const std::string &path,
                                 std::span<const std::byte> index);

/// Any format but that of an index of shards.
Result<WeightFileRef> openTensors(const std::string &path, MappedFile file);

/// `PATH: WHAT`.
ErrorInfo fileError(const std::string &path, const std::string &what,
                    ErrorKind kind = ErrorKind::io);
/// `PATH: tensor 'NAME': WHAT`.
ErrorInfo tensorError(const std::string &path, const std::string &tensor,
                      const std::string &what, ErrorKind kind = ErrorKind::io);

} // namespace sinter::runtime::weights
