/// Writes a model section.
#include "runtime/program/PackModel.h"

#include "runtime/program/ReadExprs.h"
#include "sinter/generated/program_generated.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::runtime;

static std::unique_ptr<fb::StoredTensorT> packed(const StoredTensor &tensor,
                                                 const ModelInfo &info) {
  auto own = std::make_unique<fb::StoredTensorT>();
  own->name = tensor.name;
  own->dtype = uint8_t(tensor.dtype);
  own->dims = tensor.dims;
  own->offset = tensor.offset;
  own->bytes = tensor.bytes;
  own->zeros = tensor.zeros;
  own->external_name = tensor.externalName;
  auto external = std::ranges::find(info.externals, tensor.externalFile,
                                    &ExternalFile::name);
  if (external != info.externals.end())
    own->external = int32_t(external - info.externals.begin());
  return own;
}

static std::unique_ptr<fb::EntryInputT> packed(const EntryInput &input) {
  auto own = std::make_unique<fb::EntryInputT>();
  own->name = input.name;
  own->description = input.description;
  own->kind = fb::SlotKind(input.kind);
  own->number = input.number;
  own->scalar_bits = input.scalarBits;
  own->random_expr = input.randomExpr;
  own->count = input.count;
  return own;
}

static std::unique_ptr<fb::EntryOutputT> packed(const EntryOutput &output) {
  auto own = std::make_unique<fb::EntryOutputT>();
  own->name = output.name;
  own->description = output.description;
  own->updates = output.updates;
  own->is_weight = output.isWeight;
  return own;
}

static std::unique_ptr<fb::EntryT> packed(const EntryPoint &entry) {
  auto own = std::make_unique<fb::EntryT>();
  own->name = entry.name;
  own->description = entry.description;
  for (const EntryInput &input : entry.inputs)
    own->inputs.push_back(packed(input));
  for (const EntryOutput &output : entry.outputs)
    own->outputs.push_back(packed(output));
  own->programs = entry.programs;
  for (const DynamicDim &dim : entry.dims) {
    auto each = std::make_unique<fb::DynamicDimT>();
    each->name = dim.name;
    each->input = dim.input;
    each->axis = dim.axis;
    own->dims.push_back(std::move(each));
  }
  for (const Expr &expr : entry.exprs)
    own->exprs.push_back(toFile(expr));
  own->random_expr = entry.randomExpr;
  own->parts = entry.parts;
  return own;
}

static std::unique_ptr<fb::ExternalFileT> packed(const ExternalFile &file) {
  auto own = std::make_unique<fb::ExternalFileT>();
  own->name = file.name;
  own->bytes = file.bytes;
  own->digest.assign(file.digest.begin(), file.digest.end());
  return own;
}

std::vector<std::byte> sinter::runtime::packModel(const ModelInfo &info) {
  fb::ModelT model;
  for (const EntryPoint &entry : info.entries)
    model.entries.push_back(packed(entry));
  for (const StoredTensor &tensor : info.tensors)
    model.tensors.push_back(packed(tensor, info));
  for (const StateInfo &state : info.states) {
    auto own = std::make_unique<fb::StateT>();
    own->name = state.name;
    own->description = state.description;
    own->initial = state.initial;
    model.states.push_back(std::move(own));
  }
  for (const ExternalFile &file : info.externals)
    model.externals.push_back(packed(file));
  for (const auto &[key, value] : info.metadata) {
    auto own = std::make_unique<fb::MetadataT>();
    own->key = key;
    own->value = value;
    model.metadata.push_back(std::move(own));
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Model::Pack(builder, &model));
  auto *bytes = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {bytes, bytes + builder.GetSize()};
}
