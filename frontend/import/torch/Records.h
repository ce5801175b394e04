/// Records: what a program of torch.export says, as it stands in the file.
///
/// Names are those of the schema (torch/_export/serde/schema.py of PyTorch,
/// major version 8). Values are named; a graph's nodes give them once each.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter::torch {

struct GraphRecord;

/// An argument of a node, or an input or output of a graph.
struct ArgumentRecord {
  enum class Kind : uint8_t {
    none,
    tensor, ///< text: its name
    symInt, ///< text: its name; so of the next two
    symFloat,
    symBool,
    integer,
    real,
    boolean,
    string,
    dtype,        ///< integer: the code of the file
    memoryFormat, ///< integer
    layout,       ///< integer
    device,       ///< text
    complex,      ///< real and imaginary
    graph,
    object, ///< text: a class outside of PyTorch's own values
    list,
    dict, ///< keys: one an element
  };
  Kind kind = Kind::none;
  std::string text;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::vector<ArgumentRecord> elements;
  std::vector<std::string> keys;
  std::shared_ptr<const GraphRecord> graph;
};

struct NamedArgument {
  std::string name;
  ArgumentRecord value;
};

/// The place in a user's program that a node comes from.
struct PythonLine {
  std::string file; ///< empty when the file does not say
  uint32_t line = 0;
};

struct NodeRecord {
  std::string target; ///< `torch.ops.aten.conv2d.default`
  std::vector<NamedArgument> inputs;
  std::vector<ArgumentRecord> outputs;
  PythonLine line;
};

/// A size: a number, or an expression over symbols such as `2*s0 + 1`.
struct SizeRecord {
  std::optional<int64_t> number;
  std::string expression;
};

/// What the file says of a tensor.
struct TensorRecord {
  int64_t dtype = 0; ///< a code: `dtypeOf`
  std::vector<SizeRecord> sizes, strides;
  SizeRecord offset; ///< of the first element in its storage
  int64_t layout = 7;
};

struct GraphRecord {
  std::vector<ArgumentRecord> inputs, outputs;
  std::vector<NodeRecord> nodes;
  std::map<std::string, TensorRecord> tensors;
  std::map<std::string, SizeRecord> integers; ///< symbolic ones
};

/// What an input or output of the outermost graph is to the model.
struct SpecRecord {
  enum class Kind : uint8_t {
    user,
    parameter,
    buffer,
    tensorConstant,
    customObject,
    token,
    constantInput,
    loss,
    bufferMutation,
    parameterMutation,
    userInputMutation,
    gradient,
  };
  Kind kind = Kind::user;
  ArgumentRecord value;
  std::string target; ///< `layers.0.weight`; of mutations, what is changed
  bool isPersistent = true; ///< of a buffer: it is saved
};

struct RangeRecord {
  std::optional<int64_t> least, most;
};

/// How nested inputs and outputs were made flat, as JSON texts.
struct CallRecord {
  std::string inputs, outputs;
  std::vector<std::string> argumentNames;
};

struct ProgramRecord {
  int64_t major = 0, minor = 0;
  std::string torchVersion;
  GraphRecord graph;
  std::vector<SpecRecord> inputs, outputs;   ///< one each of the graph's
  std::map<std::string, RangeRecord> ranges; ///< by symbol
  CallRecord call;
};

/// A tensor that is stored beside the program.
struct PayloadRecord {
  std::string path; ///< in the archive
  bool isParameter = false;
  bool isPickled = false;
  std::optional<TensorRecord> tensor;
};

/// The dtype of a code of the file; empty for one that tensors do not have.
std::optional<DType> dtypeOf(int64_t code);
/// As PyTorch calls it: `torch.float32`.
std::string dtypeText(int64_t code);

} // namespace sinter::torch
