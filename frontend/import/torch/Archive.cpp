/// Reads archives of torch.export.save.
#include "frontend/import/torch/Archive.h"

#include "frontend/import/torch/ReadRecords.h"
#include "runtime/params/Zip.h"
#include "runtime/params/weights/Strided.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace sinter::torch {

using runtime::ZipArchive;
using runtime::ZipEntry;

static ErrorInfo broken(const std::string &what) {
  return makeError(ErrorKind::io, what);
}
static ErrorInfo lacking(const std::string &what) {
  return makeError(ErrorKind::unsupported, what);
}

namespace {

/// Bytes of an entry: in the file, or unpacked.
struct EntryBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> own;

  std::string_view text() const {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
};

class ArchiveReader {
public:
  ArchiveReader(const ZipArchive &zip, uint64_t bytes, bool checksAll)
      : zip(zip), checksAll(checksAll), left(leastBudget + 16 * bytes) {
    for (const ZipEntry &entry : zip.entries())
      entries.emplace(entry.name, &entry);
  }

  Result<Archive> read();

private:
  static constexpr uint64_t leastBudget = uint64_t(64) << 20;
  const ZipEntry *find(const std::string &name) const;
  Result<EntryBytes> bytesOf(const ZipEntry &entry, bool checks);
  Result<std::string> nameOfModel() const;
  Status readProgramOf(const ZipEntry &entry);
  Status readLayout(const std::string &name);
  Status readOldLayout(const ZipEntry &program);
  Status readPickled(const ZipEntry &entry, ArchivedTensors &out);
  Status readTensors(const std::string &folder, const std::string &config,
                     ArchivedTensors &out);
  Result<ArchivedTensor> tensorOf(const std::string &name,
                                  const PayloadRecord &payload,
                                  const std::string &folder);

  const ZipArchive &zip;
  const bool checksAll;
  /// Bytes that may still be unpacked, or made of strided tensors.
  uint64_t left;
  std::unordered_map<std::string_view, const ZipEntry *> entries;
  std::string root; ///< `model/`, or empty
  Archive archive;
};

} // namespace

const ZipEntry *ArchiveReader::find(const std::string &name) const {
  auto found = entries.find(root + name);
  return found == entries.end() ? nullptr : found->second;
}

Result<EntryBytes> ArchiveReader::bytesOf(const ZipEntry &entry, bool checks) {
  EntryBytes found;
  if (!entry.deflated) {
    if (checks)
      SINTER_TRY(zip.check(entry));
    found.bytes = zip.packed(entry);
    return found;
  }
  // PyTorch does not deflate: little is lost by a bound.
  if (entry.size > left)
    return broken(fmt::format("{} is packed, and large", entry.name));
  left -= entry.size;
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes, zip.read(entry));
  found.own = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  found.bytes = *found.own;
  return found;
}

//===- Programs -----------------------------------------------------------===//

/// Whether inputs or outputs of the graph are those of the signature.
static bool fitsSignature(const std::vector<SpecRecord> &specs,
                          const std::vector<ArgumentRecord> &arguments) {
  if (specs.size() != arguments.size())
    return false;
  for (size_t i = 0; i < specs.size(); ++i) {
    const ArgumentRecord &own = specs[i].value;
    bool isNamed = own.kind == ArgumentRecord::Kind::tensor &&
                   specs[i].kind != SpecRecord::Kind::token;
    if (isNamed && own.text != arguments[i].text)
      return false;
  }
  return true;
}

/// Major versions change what there is to read; minor ones add what may be
/// passed over.
static Status checkVersion(const ProgramRecord &program) {
  if (program.major != 8)
    return lacking(fmt::format("schema version {}.{} (torch {}); 8 is read",
                               program.major, program.minor,
                               program.torchVersion));
  if (!fitsSignature(program.inputs, program.graph.inputs) ||
      !fitsSignature(program.outputs, program.graph.outputs))
    return broken("the signature does not fit the graph");
  return {};
}

Status ArchiveReader::readProgramOf(const ZipEntry &entry) {
  // Its records take many times its bytes.
  constexpr uint64_t least = uint64_t(4) << 20, times = 20;
  if (entry.deflated && entry.size > std::max(least, times * entry.packed))
    return broken(fmt::format("{} is packed, and large", entry.name));
  SINTER_TRY_ASSIGN(EntryBytes text, bytesOf(entry, true));
  SINTER_TRY_ASSIGN(archive.program, readProgram(text.text()));
  return checkVersion(archive.program);
}

//===- Tensors ------------------------------------------------------------===//

static Result<std::vector<int64_t>>
numbersOf(const std::vector<SizeRecord> &sizes) {
  std::vector<int64_t> numbers;
  for (const SizeRecord &size : sizes) {
    if (!size.number)
      return broken("a stored tensor of a size that is no number");
    numbers.push_back(*size.number);
  }
  return numbers;
}

/// How many elements of a storage the strides reach; -1 where that is wrong.
static int64_t extentOf(const std::vector<int64_t> &dims,
                        const std::vector<int64_t> &strides, int64_t offset) {
  int64_t last = offset, count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t reach = 0;
    if (dims[i] < 0 || strides[i] < 0 ||
        __builtin_mul_overflow(count, dims[i], &count))
      return -1;
    if (dims[i] == 0)
      return 0;
    if (__builtin_mul_overflow(dims[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return -1;
  }
  return last < INT64_MAX ? last + 1 : -1;
}

/// The elements of a storage that a tensor has.
static Result<ArchivedTensor>
viewOf(EntryBytes storage, const TensorRecord &record, uint64_t &left) {
  std::optional<DType> dtype = dtypeOf(record.dtype);
  constexpr int64_t strided = 7;
  if (!dtype || record.layout != strided)
    return lacking(dtype ? "a sparse layout" : dtypeText(record.dtype));
  ArchivedTensor tensor;
  tensor.dtype = *dtype;
  SINTER_TRY_ASSIGN(tensor.dims, numbersOf(record.sizes));
  SINTER_TRY_ASSIGN(std::vector<int64_t> strides, numbersOf(record.strides));
  if (!record.offset.number)
    return broken("a stored tensor whose place is no number");
  int64_t offset = *record.offset.number;
  if (strides.size() != tensor.dims.size() || offset < 0)
    return broken("sizes and strides that do not fit");
  size_t width = byteWidth(*dtype);
  int64_t extent = extentOf(tensor.dims, strides, offset);
  if (extent < 0 || uint64_t(extent) > storage.bytes.size() / width)
    return broken("a tensor that reaches beyond its storage");
  int64_t count = extent == 0 ? 0 : 1;
  for (int64_t dim : tensor.dims)
    count *= extent == 0 ? 1 : dim;
  auto from = storage.bytes.subspan(extent == 0 ? 0 : size_t(offset) * width);
  tensor.own = storage.own;
  tensor.bytes = from.first(
      extent == 0 ? 0 : std::min(from.size(), size_t(count) * width));
  if (extent == 0 || runtime::weights::isRowMajor(tensor.dims, strides))
    return tensor;
  // An expanded tensor has more elements than its storage.
  if (uint64_t(count) > left / width)
    return broken("tensors that are much larger than their storages");
  left -= uint64_t(count) * width;
  std::vector<std::byte> dense(size_t(count) * width);
  runtime::weights::gather(from, tensor.dims, strides, width, dense);
  tensor.own = std::make_shared<const std::vector<std::byte>>(std::move(dense));
  tensor.bytes = *tensor.own;
  return tensor;
}

Result<ArchivedTensor> ArchiveReader::tensorOf(const std::string &name,
                                               const PayloadRecord &payload,
                                               const std::string &folder) {
  auto inTensor = [&](ErrorInfo error) {
    error.message = fmt::format("tensor '{}': {}", name, error.message);
    return error;
  };
  const ZipEntry *entry = find(folder + payload.path);
  if (!entry)
    return inTensor(broken(fmt::format("{} is missing", payload.path)));
  Result<EntryBytes> storage = bytesOf(*entry, checksAll);
  if (!storage)
    return inTensor(storage.error());
  Result<ArchivedTensor> tensor =
      viewOf(std::move(*storage), *payload.tensor, left);
  if (!tensor)
    return inTensor(tensor.error());
  bool hasOdd = tensor->dtype == DType::boolean && checksAll &&
                std::ranges::any_of(tensor->bytes, [](std::byte each) {
                  return each > std::byte{1};
                });
  if (hasOdd)
    return inTensor(broken("a bool that is neither 0 nor 1"));
  tensor->isParameter = payload.isParameter;
  return tensor;
}

Status ArchiveReader::readTensors(const std::string &folder,
                                  const std::string &config,
                                  ArchivedTensors &out) {
  const ZipEntry *entry = find(folder + config);
  if (!entry)
    return broken(fmt::format("{}{} is missing", folder, config));
  SINTER_TRY_ASSIGN(EntryBytes text, bytesOf(*entry, true));
  SINTER_TRY_ASSIGN(auto payloads, readPayloads(text.text()));
  for (const auto &[name, payload] : payloads) {
    if (payload.isPickled || !payload.tensor) {
      archive.pickled.push_back(name);
      continue;
    }
    SINTER_TRY_ASSIGN(ArchivedTensor tensor, tensorOf(name, payload, folder));
    out.emplace(name, std::move(tensor));
  }
  return {};
}

/// A checkpoint in the archive, as torch.save writes it.
Status ArchiveReader::readPickled(const ZipEntry &entry, ArchivedTensors &out) {
  SINTER_TRY_ASSIGN(EntryBytes bytes, bytesOf(entry, true));
  // One without tensors says so.
  if (bytes.bytes.empty())
    return {};
  auto file = runtime::WeightFile::parse(bytes.bytes, entry.name);
  if (!file)
    return file.error();
  for (const runtime::WeightTensor &each : (*file)->tensors()) {
    ArchivedTensor tensor;
    tensor.dtype = each.dtype;
    tensor.dims = each.dims;
    tensor.bytes = (*file)->view(each);
    if (tensor.bytes.empty()) {
      SINTER_TRY_ASSIGN(std::vector<std::byte> own, (*file)->read(each));
      tensor.own =
          std::make_shared<const std::vector<std::byte>>(std::move(own));
      tensor.bytes = *tensor.own;
    }
    out.emplace(each.name, std::move(tensor));
  }
  archive.files.push_back(std::move(*file));
  return {};
}

//===- Layouts ------------------------------------------------------------===//

/// The one program, or the one of the name that torch.export.save gives.
Result<std::string> ArchiveReader::nameOfModel() const {
  std::set<std::string> names;
  std::string folder = root + "models/";
  for (const ZipEntry &entry : zip.entries())
    if (entry.name.starts_with(folder) && entry.name.ends_with(".json"))
      names.insert(entry.name.substr(folder.size(),
                                     entry.name.size() - folder.size() - 5));
  if (names.empty())
    return broken("no program is in it");
  if (names.size() > 1 && !names.contains("model"))
    return lacking("an archive of several programs");
  return names.contains("model") ? "model" : *names.begin();
}

Result<Archive> ArchiveReader::read() {
  constexpr std::string_view format = "archive_format";
  for (const ZipEntry &entry : zip.entries()) {
    if (entry.name == "serialized_exported_program.json") {
      SINTER_TRY(readOldLayout(entry));
      return std::move(archive);
    }
    if (entry.name.ends_with(format) &&
        std::ranges::count(entry.name, '/') <= 1)
      root = entry.name.substr(0, entry.name.size() - format.size());
  }
  if (const ZipEntry *order = find("byteorder")) {
    SINTER_TRY_ASSIGN(EntryBytes word, bytesOf(*order, true));
    if (word.text() == "big")
      return lacking("an archive of a big-endian machine");
  }
  const ZipEntry *kind = find(std::string(format));
  if (!kind)
    return broken("no archive of torch.export: archive_format is missing");
  SINTER_TRY_ASSIGN(EntryBytes word, bytesOf(*kind, true));
  if (word.text() != "pt2")
    return lacking("an archive of another kind than pt2");
  SINTER_TRY_ASSIGN(std::string name, nameOfModel());
  SINTER_TRY(readLayout(name));
  return std::move(archive);
}

Status ArchiveReader::readLayout(const std::string &name) {
  SINTER_TRY(readProgramOf(*find("models/" + name + ".json")));
  struct Part {
    std::string folder, config;
    ArchivedTensors *tensors;
  };
  const Part parts[] = {
      {"data/weights/", name + "_weights_config.json", &archive.weights},
      {"data/constants/", name + "_constants_config.json", &archive.constants}};
  for (const Part &part : parts) {
    const ZipEntry *pickled = find(part.folder + name + ".pt");
    if (!find(part.folder + part.config) && pickled) {
      SINTER_TRY(readPickled(*pickled, *part.tensors));
      continue;
    }
    SINTER_TRY(readTensors(part.folder, part.config, *part.tensors));
  }
  return {};
}

Status ArchiveReader::readOldLayout(const ZipEntry &program) {
  SINTER_TRY(readProgramOf(program));
  if (const ZipEntry *entry = find("serialized_state_dict.pt"))
    SINTER_TRY(readPickled(*entry, archive.weights));
  if (const ZipEntry *entry = find("serialized_constants.pt"))
    SINTER_TRY(readPickled(*entry, archive.constants));
  return {};
}

bool isSame(const ArchivedTensor &a, const ArchivedTensor &b) {
  return !a.bytes.empty() && a.bytes.data() == b.bytes.data() &&
         a.bytes.size() == b.bytes.size() && a.dims == b.dims &&
         a.dtype == b.dtype;
}

Result<Archive> readArchive(std::span<const std::byte> bytes, bool checksAll) {
  SINTER_TRY_ASSIGN(ZipArchive zip, ZipArchive::parse(bytes));
  return ArchiveReader(zip, bytes.size(), checksAll).read();
}

} // namespace sinter::torch
