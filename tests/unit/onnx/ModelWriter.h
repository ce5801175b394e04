/// ModelWriter: makes the bytes of ONNX messages for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::onnx_test {

/// A protobuf message that grows field by field.
class Message {
public:
  Message &integer(uint32_t field, int64_t value) {
    tag(field, 0);
    varint(uint64_t(value));
    return *this;
  }
  Message &real(uint32_t field, float value) {
    tag(field, 5);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  Message &text(uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes.append(value);
    return *this;
  }
  Message &message(uint32_t field, const Message &value) {
    return text(field, value.bytes);
  }
  Message &integers(uint32_t field, std::initializer_list<int64_t> values) {
    for (int64_t value : values)
      integer(field, value);
    return *this;
  }
  /// As one field of bytes.
  Message &packed(uint32_t field, std::initializer_list<int64_t> values) {
    Message list;
    for (int64_t value : values)
      list.varint(uint64_t(value));
    return text(field, list.bytes);
  }
  void tag(uint32_t field, uint32_t type) { varint(field << 3 | type); }
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes += char(value | 128);
    bytes += char(value);
  }

  std::string bytes;
};

/// TensorProto with raw bytes; type 1 is FLOAT, 7 INT64.
template <typename T>
Message tensorMessage(std::string_view name, int type,
                      std::initializer_list<int64_t> dims,
                      std::vector<T> elements) {
  Message tensor;
  tensor.integers(1, dims).integer(2, type).text(8, name);
  return tensor.text(
      9, std::string_view(reinterpret_cast<const char *>(elements.data()),
                          elements.size() * sizeof(T)));
}

/// ValueInfoProto of a tensor; negative dims are symbols `sN`.
inline Message valueMessage(std::string_view name, int type,
                            std::initializer_list<int64_t> dims) {
  Message shape, tensor, kind, value;
  for (int64_t dim : dims) {
    Message axis;
    if (dim < 0)
      axis.text(2, "s" + std::to_string(-dim));
    else
      axis.integer(1, dim);
    shape.message(1, axis);
  }
  tensor.integer(1, type).message(2, shape);
  kind.message(1, tensor);
  return value.text(1, name).message(2, kind);
}

inline Message attributeMessage(std::string_view name, int64_t value) {
  return Message().text(1, name).integer(3, value).integer(20, 2);
}
inline Message attributeMessage(std::string_view name, float value) {
  return Message().text(1, name).real(2, value).integer(20, 1);
}
inline Message attributeMessage(std::string_view name,
                                std::initializer_list<int64_t> values) {
  return Message().text(1, name).integers(8, values).integer(20, 7);
}
inline Message graphAttribute(std::string_view name, const Message &graph) {
  return Message().text(1, name).message(6, graph).integer(20, 5);
}

inline Message nodeMessage(std::string_view op,
                           std::initializer_list<std::string_view> inputs,
                           std::initializer_list<std::string_view> outputs,
                           std::initializer_list<Message> attributes = {},
                           std::string_view name = {}) {
  Message node;
  for (std::string_view input : inputs)
    node.text(1, input);
  for (std::string_view output : outputs)
    node.text(2, output);
  if (!name.empty())
    node.text(3, name);
  node.text(4, op);
  for (const Message &attribute : attributes)
    node.message(5, attribute);
  return node;
}

/// ModelProto of IR 8 with a graph.
inline Message modelMessage(const Message &graph, int64_t opset = 17,
                            int64_t ir = 8) {
  Message opsets;
  opsets.integer(2, opset);
  return Message().integer(1, ir).message(8, opsets).message(7, graph);
}

} // namespace sinter::onnx_test
