/// ModelFile: an ONNX model that is being written.
#pragma once

#include "frontend/export/onnx/WireWriter.h"

#include "sinter/runtime/DType.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::onnx {

/// An attribute of a node.
struct WrittenAttribute {
  enum class Kind : uint8_t { integer, real, text, integers, graph };

  WrittenAttribute(const char *name, int64_t value)
      : name(name), kind(Kind::integer), integer(value) {}
  WrittenAttribute(const char *name, double value)
      : name(name), kind(Kind::real), real(float(value)) {}
  WrittenAttribute(const char *name, const char *value)
      : name(name), kind(Kind::text), text(value) {}
  WrittenAttribute(const char *name, std::vector<int64_t> values)
      : name(name), kind(Kind::integers), integers(std::move(values)) {}

  WrittenAttribute(const char *name, WireWriter graph)
      : name(name), kind(Kind::graph), graph(std::move(graph)) {}

  std::string name;
  Kind kind;
  int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<int64_t> integers;
  WireWriter graph;
};
using WrittenAttributes = std::vector<WrittenAttribute>;

/// A dim of an input or output; one without a name and a size is left open.
struct WrittenDim {
  std::string name;
  int64_t size = -1;
};

/// A value that goes into or comes out of a graph inside.
struct WrittenPort {
  std::string name;
  DType dtype;
  std::vector<WrittenDim> dims;
};

/// Nodes, initializers, inputs and outputs, in the order in which they come.
class ModelFile {
public:
  explicit ModelFile(int64_t opset) : version(opset) {}

  int64_t opset() const { return version; }
  /// Throws an Error of kind unsupported where the opset has no such elements.
  void checkElements(DType dtype) const;

  /// A name that nothing has yet; `wanted` where that is free.
  std::string uniqueName(const std::string &wanted);
  void node(std::string_view op, std::span<const std::string> inputs,
            std::span<const std::string> outputs,
            const WrittenAttributes &attributes);
  /// Nodes that follow are those of a graph inside, up to its end.
  void beginGraph();
  WireWriter endGraph(std::span<const WrittenPort> from,
                      std::span<const WrittenPort> to);
  /// `bytes` must live until the file is written.
  void initializer(const std::string &name, DType dtype,
                   std::span<const int64_t> dims,
                   std::span<const std::byte> bytes);
  /// A list of whole numbers: the same for the same ones.
  std::string integers(const std::vector<int64_t> &values);
  /// A number without axes of a dtype.
  std::string number(DType dtype, double value);
  std::string number(DType dtype, int64_t value);
  void input(const std::string &name, DType dtype,
             std::span<const WrittenDim> dims);
  void output(const std::string &name, DType dtype,
              std::span<const WrittenDim> dims);

  /// Initializers stand in `PATH.data` where that is wanted, and where a file
  /// of one message would be too large.
  Status write(const std::string &path, bool isBeside) const;

private:
  struct Stored {
    std::string name;
    DType dtype;
    std::vector<int64_t> dims;
    std::span<const std::byte> bytes;
  };
  std::string constant(const std::string &key, DType dtype,
                       std::vector<int64_t> dims, std::vector<std::byte> bytes);
  size_t storedBytes() const;

  int64_t version;
  size_t numNodes = 0;
  std::set<std::string> names;
  WireWriter nodes, inputs, outputs;
  std::vector<WireWriter> around; ///< nodes of graphs that this one stands in
  std::vector<Stored> stored;
  std::map<std::string, std::string> constants; ///< names by content
  std::vector<std::vector<std::byte>> owned;
};

} // namespace sinter::onnx
