/// Kernels as flatbuffers.
#include "compiler/package/KernelFile.h"
#include "runtime/program/CopyBudget.h"
#include "runtime/program/ReadExprs.h"
#include "sinter/generated/kernel_generated.h"

namespace sinter::compiler {

std::vector<std::byte> writeKernel(std::string_view key,
                                   const KernelCode &code) {
  fb::CompiledKernelT table;
  table.key = key;
  table.object.assign(code.object.begin(), code.object.end());
  for (const Expr &expr : code.exprs)
    table.exprs.push_back(runtime::toFile(expr));
  table.num_symbols = code.numSymbols;
  for (const PhaseCode &phase : code.phases) {
    auto entry = std::make_unique<fb::PhaseT>();
    entry->symbol = phase.symbol;
    entry->chunks = phase.chunks;
    entry->grain_us = phase.chunkMicroseconds;
    entry->prepares = phase.prepares;
    entry->workspace = phase.workspace;
    table.phases.push_back(std::move(entry));
  }
  table.workspaces = code.workspaces;
  table.tiles = code.tiles;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CompiledKernel::Pack(builder, &table));
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

static ErrorInfo broken(std::string what) {
  return makeError(ErrorKind::io, "kernel file: " + std::move(what));
}

// What a copy of its lists and strings takes.
static uint64_t copiedBytes(const fb::CompiledKernel &table) {
  auto sizeOf = [](auto *list) -> uint64_t { return list ? list->size() : 0; };
  uint64_t bytes = sizeOf(table.object()) +
                   sizeOf(table.exprs()) * sizeof(Expr) +
                   sizeOf(table.workspaces()) * sizeof(uint32_t);
  for (const fb::Phase *phase : *table.phases())
    bytes += sizeof(PhaseCode) + sizeOf(phase->symbol());
  for (uint64_t index = 0; index < sizeOf(table.tiles()); ++index)
    bytes += sizeof(std::string) + table.tiles()->Get(index)->size();
  return bytes;
}

Result<KernelCode> readKernel(std::string_view key,
                              std::span<const std::byte> bytes) {
  auto *start = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(start, bytes.size(), /*max_depth=*/16,
                                 runtime::CopyBudget::tablesIn(bytes.size()));
  if (!fb::VerifyCompiledKernelBuffer(verifier))
    return broken("not valid");
  const fb::CompiledKernel &table = *fb::GetCompiledKernel(start);
  if (!table.key() || table.key()->string_view() != key)
    return broken("of another kernel");
  if (!table.object() || !table.phases() || table.phases()->size() == 0)
    return broken("without code");
  runtime::CopyBudget budget(bytes.size());
  if (!budget.take(copiedBytes(table)))
    return broken("with parts that are named again and again");
  KernelCode code;
  code.object.assign(table.object()->begin(), table.object()->end());
  code.numSymbols = table.num_symbols();
  SINTER_TRY_ASSIGN(code.exprs,
                    runtime::readExprs(table.exprs(), code.numSymbols));
  for (const fb::Phase *phase : *table.phases()) {
    if (!phase->symbol() || phase->chunks() >= code.exprs.size())
      return broken("with a phase that is not valid");
    code.phases.push_back({phase->symbol()->str(), phase->chunks(),
                           phase->grain_us(), phase->prepares(),
                           phase->workspace()});
  }
  for (uint32_t index = 0;
       table.workspaces() && index < table.workspaces()->size(); ++index) {
    code.workspaces.push_back(table.workspaces()->Get(index));
    if (code.workspaces.back() >= code.exprs.size())
      return broken("with a workspace that is not valid");
  }
  for (uint32_t index = 0; table.tiles() && index < table.tiles()->size();
       ++index)
    code.tiles.push_back(table.tiles()->Get(index)->str());
  return code;
}

} // namespace sinter::compiler
