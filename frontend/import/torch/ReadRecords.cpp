/// Reads the JSON texts of torch.export archives.
#include "frontend/import/torch/ReadRecords.h"

#include "frontend/import/torch/Expressions.h"
#include "runtime/params/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <utility>

namespace sinter::torch {

using runtime::json::Kind;
using runtime::json::Reader;

namespace {

/// Reads records; each function reads one value of the text.
class RecordReader {
public:
  explicit RecordReader(std::string_view text) : json(text, true) {}

  Status program(ProgramRecord &out);
  Status payloads(std::map<std::string, PayloadRecord> &out);

private:
  using Member = std::function<Status(const std::string &key)>;

  Status members(const Member &member) { return json.object(member); }
  template <typename T>
  Status listOf(std::vector<T> &out, Status (RecordReader::*read)(T &)) {
    return json.array([&] { return (this->*read)(out.emplace_back()); });
  }
  template <typename T>
  Status mapOf(std::map<std::string, T> &out,
               Status (RecordReader::*read)(T &)) {
    return members(
        [&](const std::string &key) { return (this->*read)(out[key]); });
  }
  /// Whether null came, which is passed over.
  Result<bool> isNull() {
    SINTER_TRY_ASSIGN(Kind kind, json.next());
    if (kind != Kind::null)
      return false;
    SINTER_TRY(json.skip());
    return true;
  }

  Status text(std::string &out);
  Status integer(int64_t &out);
  Status real(double &out);
  Status boolean(bool &out);
  Status optionalInteger(std::optional<int64_t> &out);
  Status size(SizeRecord &out);
  Status expression(SizeRecord &out);
  Status tensor(TensorRecord &out);
  Status argument(ArgumentRecord &out);
  Status content(const std::string &kind, ArgumentRecord &out);
  Status scalar(const std::string &kind, ArgumentRecord &out);
  Status list(const std::string &kind, ArgumentRecord &out);
  Status symbol(ArgumentRecord::Kind kind, ArgumentRecord &out);
  Status name(ArgumentRecord &out);
  Status graphArgument(ArgumentRecord &out);
  Status dictionary(ArgumentRecord &out);
  Status namedArgument(NamedArgument &out);
  Status node(NodeRecord &out);
  Status metadata(PythonLine &out);
  Status graph(GraphRecord &out);
  Status spec(SpecRecord &out);
  Status signature(ProgramRecord &out);
  Status range(RangeRecord &out);
  Status moduleCalls(CallRecord &out);
  Status callSignature(CallRecord &out);
  Status graphModule(ProgramRecord &out);
  Status version(ProgramRecord &out);
  Status payload(PayloadRecord &out);

  Reader json;
  int graphs = 0; ///< that this one stands in
};

//===- Plain values -------------------------------------------------------===//

Status RecordReader::text(std::string &out) {
  SINTER_TRY_ASSIGN(out, json.string());
  return {};
}
Status RecordReader::integer(int64_t &out) {
  SINTER_TRY_ASSIGN(out, json.integer());
  return {};
}

/// Numbers that JSON has no words for are strings in newer files.
Status RecordReader::real(double &out) {
  SINTER_TRY_ASSIGN(Kind kind, json.next());
  if (kind != Kind::string) {
    SINTER_TRY_ASSIGN(out, json.real());
    return {};
  }
  SINTER_TRY_ASSIGN(std::string word, json.string());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (word == "Infinity" || word == "-Infinity")
    out = word[0] == '-' ? -infinity : infinity;
  else if (word == "NaN")
    out = std::numeric_limits<double>::quiet_NaN();
  else
    return json.fail("expected a number");
  return {};
}
Status RecordReader::boolean(bool &out) {
  SINTER_TRY_ASSIGN(out, json.boolean());
  return {};
}
Status RecordReader::optionalInteger(std::optional<int64_t> &out) {
  SINTER_TRY_ASSIGN(bool none, isNull());
  if (none)
    return {};
  SINTER_TRY_ASSIGN(out, json.integer());
  return {};
}

Status RecordReader::expression(SizeRecord &out) {
  SINTER_TRY(members([&](const std::string &key) {
    return key == "expr_str" ? text(out.expression) : json.skip();
  }));
  out.expression = readable(out.expression);
  constexpr size_t longest = 2000;
  if (out.expression.size() > longest)
    return json.fail("an expression that is too long");
  return {};
}

Status RecordReader::size(SizeRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "as_int")
      return integer(out.number.emplace());
    if (key == "as_expr")
      return expression(out);
    return json.skip();
  });
}

Status RecordReader::tensor(TensorRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "dtype")
      return integer(out.dtype);
    if (key == "sizes")
      return listOf(out.sizes, &RecordReader::size);
    if (key == "strides")
      return listOf(out.strides, &RecordReader::size);
    if (key == "storage_offset")
      return size(out.offset);
    if (key == "layout")
      return integer(out.layout);
    return json.skip();
  });
}

//===- Arguments ----------------------------------------------------------===//

Status RecordReader::name(ArgumentRecord &out) {
  return members([&](const std::string &key) {
    return key == "name" || key == "class_fqn" || key == "type" ? text(out.text)
                                                                : json.skip();
  });
}

/// A symbol's name, or a number in its place.
Status RecordReader::symbol(ArgumentRecord::Kind kind, ArgumentRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "as_name") {
      out.kind = kind;
      return text(out.text);
    }
    return scalar(key, out);
  });
}

Status RecordReader::scalar(const std::string &kind, ArgumentRecord &out) {
  using Is = ArgumentRecord::Kind;
  struct Number {
    std::string_view word;
    Is kind;
  };
  static constexpr Number integers[] = {
      {"as_int", Is::integer},
      {"as_scalar_type", Is::dtype},
      {"as_memory_format", Is::memoryFormat},
      {"as_layout", Is::layout},
  };
  for (const Number &each : integers)
    if (kind == each.word) {
      out.kind = each.kind;
      return integer(out.integer);
    }
  if (kind == "as_float") {
    out.kind = Is::real;
    return real(out.real);
  }
  if (kind == "as_bool") {
    out.kind = Is::boolean;
    bool isTrue = false;
    SINTER_TRY(boolean(isTrue));
    out.integer = isTrue;
    return {};
  }
  if (kind == "as_string" || kind == "as_operator") {
    out.kind = Is::string;
    return text(out.text);
  }
  return json.fail(
      fmt::format("unknown argument {}", runtime::json::quote(kind)));
}

Status RecordReader::list(const std::string &kind, ArgumentRecord &out) {
  using Is = ArgumentRecord::Kind;
  out.kind = Is::list;
  struct List {
    std::string_view word, element;
    Is symbol = Is::none;
  };
  static constexpr List lists[] = {
      {"as_tensors", "as_tensor"},
      {"as_ints", "as_int"},
      {"as_floats", "as_float"},
      {"as_strings", "as_string"},
      {"as_bools", "as_bool"},
      {"as_sym_ints", "as_int", Is::symInt},
      {"as_sym_floats", "as_float", Is::symFloat},
      {"as_sym_bools", "as_bool", Is::symBool},
      {"as_optional_tensors", "as_optional_tensor"},
      {"as_nested_tensors", "as_tensors"},
      {"as_int_lists", "as_ints"},
      {"as_float_lists", "as_floats"},
  };
  for (const List &each : lists)
    if (kind == each.word)
      return json.array([&]() -> Status {
        ArgumentRecord &element = out.elements.emplace_back();
        if (each.symbol != Is::none)
          return symbol(each.symbol, element);
        return content(std::string(each.element), element);
      });
  out.kind = Is::none;
  return scalar(kind, out);
}

Status RecordReader::graphArgument(ArgumentRecord &out) {
  // Loops in branches in loops; each is several levels of JSON.
  constexpr int mostGraphs = 8;
  if (++graphs > mostGraphs)
    return json.fail("graphs in graphs, too deep");
  auto record = std::make_shared<GraphRecord>();
  SINTER_TRY(members([&](const std::string &key) {
    return key == "graph"  ? graph(*record)
           : key == "name" ? text(out.text)
                           : json.skip();
  }));
  out.graph = std::move(record);
  --graphs;
  return {};
}

Status RecordReader::dictionary(ArgumentRecord &out) {
  return members([&](const std::string &key) {
    out.keys.push_back(key);
    return argument(out.elements.emplace_back());
  });
}

Status RecordReader::content(const std::string &kind, ArgumentRecord &out) {
  using Is = ArgumentRecord::Kind;
  if (kind == "as_none") {
    out.kind = Is::none;
    return json.skip();
  }
  if (kind == "as_tensor") {
    out.kind = Is::tensor;
    return name(out);
  }
  if (kind == "as_optional_tensor")
    return argument(out);
  if (kind == "as_sym_int")
    return symbol(Is::symInt, out);
  if (kind == "as_sym_float")
    return symbol(Is::symFloat, out);
  if (kind == "as_sym_bool")
    return symbol(Is::symBool, out);
  if (kind == "as_device" || kind == "as_custom_obj") {
    out.kind = kind == "as_device" ? Is::device : Is::object;
    return name(out);
  }
  if (kind == "as_complex") {
    out.kind = Is::complex;
    return members([&](const std::string &key) {
      return key == "real"   ? real(out.real)
             : key == "imag" ? real(out.imaginary)
                             : json.skip();
    });
  }
  if (kind == "as_graph") {
    out.kind = Is::graph;
    return graphArgument(out);
  }
  if (kind == "as_string_to_argument") {
    out.kind = Is::dict;
    return dictionary(out);
  }
  return list(kind, out);
}

/// A union: an object of one member, whose key says what it is.
Status RecordReader::argument(ArgumentRecord &out) {
  return members([&](const std::string &key) { return content(key, out); });
}

Status RecordReader::namedArgument(NamedArgument &out) {
  return members([&](const std::string &key) {
    return key == "name"  ? text(out.name)
           : key == "arg" ? argument(out.value)
                          : json.skip();
  });
}

//===- Graphs -------------------------------------------------------------===//

/// The last line of a stack trace that is not PyTorch's own: what the user
/// wrote.
PythonLine lineOf(std::string_view trace) {
  PythonLine found;
  bool isOwn = true;
  constexpr std::string_view mark = "File \"", after = "\", line ";
  for (size_t at = trace.find(mark); at != trace.npos;
       at = trace.find(mark, at)) {
    at += mark.size();
    size_t end = trace.find(after, at);
    if (end == trace.npos)
      break;
    std::string_view file = trace.substr(at, end - at);
    uint32_t line = 0;
    const char *digits = trace.data() + end + after.size();
    std::from_chars(digits, trace.data() + trace.size(), line);
    // Graphs in graphs are traced through code that has no file.
    bool isTorch = file.find("/torch/") != file.npos ||
                   file.starts_with("torch/") || file.starts_with('<') ||
                   file.find("/transformers/") != file.npos;
    if (isOwn || !isTorch)
      found = {std::string(file), line};
    isOwn &= isTorch;
    at = end;
  }
  return found;
}

Status RecordReader::metadata(PythonLine &out) {
  return members([&](const std::string &key) -> Status {
    if (key != "stack_trace")
      return json.skip();
    std::string trace;
    SINTER_TRY(text(trace));
    out = lineOf(trace);
    return {};
  });
}

Status RecordReader::node(NodeRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "target")
      return text(out.target);
    if (key == "inputs")
      return listOf(out.inputs, &RecordReader::namedArgument);
    if (key == "outputs")
      return listOf(out.outputs, &RecordReader::argument);
    if (key == "metadata")
      return metadata(out.line);
    return json.skip();
  });
}

Status RecordReader::graph(GraphRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "inputs")
      return listOf(out.inputs, &RecordReader::argument);
    if (key == "outputs")
      return listOf(out.outputs, &RecordReader::argument);
    if (key == "nodes")
      return listOf(out.nodes, &RecordReader::node);
    if (key == "tensor_values")
      return mapOf(out.tensors, &RecordReader::tensor);
    if (key == "sym_int_values")
      return mapOf(out.integers, &RecordReader::size);
    return json.skip();
  });
}

//===- Signatures ---------------------------------------------------------===//

Status RecordReader::spec(SpecRecord &out) {
  using Is = SpecRecord::Kind;
  static constexpr std::pair<std::string_view, Is> kinds[] = {
      {"user_input", Is::user},
      {"user_output", Is::user},
      {"parameter", Is::parameter},
      {"buffer", Is::buffer},
      {"tensor_constant", Is::tensorConstant},
      {"custom_obj", Is::customObject},
      {"token", Is::token},
      {"constant_input", Is::constantInput},
      {"loss_output", Is::loss},
      {"buffer_mutation", Is::bufferMutation},
      {"parameter_mutation", Is::parameterMutation},
      {"user_input_mutation", Is::userInputMutation},
      {"gradient_to_parameter", Is::gradient},
      {"gradient_to_user_input", Is::gradient},
  };
  return members([&](const std::string &word) -> Status {
    const auto *kind =
        std::ranges::find(kinds, word, &std::pair<std::string_view, Is>::first);
    if (kind == std::ranges::end(kinds))
      return json.fail(
          fmt::format("unknown part {}", runtime::json::quote(word)));
    out.kind = kind->second;
    // Of user's values the argument is a union, of others a tensor's name.
    bool isUnion = out.kind == Is::user;
    return members([&](const std::string &key) -> Status {
      if (key == "arg" && isUnion)
        return argument(out.value);
      if (key == "arg") {
        out.value.kind = ArgumentRecord::Kind::tensor;
        return name(out.value);
      }
      if (key == "value")
        return argument(out.value);
      if (key == "persistent")
        return boolean(out.isPersistent);
      bool isTarget = key == "name" || key.ends_with("_name");
      return isTarget ? text(out.target) : json.skip();
    });
  });
}

Status RecordReader::signature(ProgramRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "input_specs")
      return listOf(out.inputs, &RecordReader::spec);
    if (key == "output_specs")
      return listOf(out.outputs, &RecordReader::spec);
    return json.skip();
  });
}

Status RecordReader::callSignature(CallRecord &out) {
  SINTER_TRY_ASSIGN(bool none, isNull());
  if (none)
    return {};
  return members([&](const std::string &key) -> Status {
    if (key == "in_spec")
      return text(out.inputs);
    if (key == "out_spec")
      return text(out.outputs);
    if (key != "forward_arg_names")
      return json.skip();
    SINTER_TRY_ASSIGN(bool unnamed, isNull());
    return unnamed ? Status() : listOf(out.argumentNames, &RecordReader::text);
  });
}

/// Of the outermost module, whose name is empty.
Status RecordReader::moduleCalls(CallRecord &out) {
  return json.array([&]() -> Status {
    std::string path;
    CallRecord call;
    SINTER_TRY(members([&](const std::string &key) {
      return key == "fqn"         ? text(path)
             : key == "signature" ? callSignature(call)
                                  : json.skip();
    }));
    if (path.empty())
      out = std::move(call);
    return {};
  });
}

Status RecordReader::graphModule(ProgramRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "graph")
      return graph(out.graph);
    if (key == "signature")
      return signature(out);
    if (key == "module_call_graph")
      return moduleCalls(out.call);
    return json.skip();
  });
}

Status RecordReader::version(ProgramRecord &out) {
  return members([&](const std::string &key) {
    return key == "major"   ? integer(out.major)
           : key == "minor" ? integer(out.minor)
                            : json.skip();
  });
}

Status RecordReader::range(RangeRecord &out) {
  return members([&](const std::string &key) {
    return key == "min_val"   ? optionalInteger(out.least)
           : key == "max_val" ? optionalInteger(out.most)
                              : json.skip();
  });
}

Status RecordReader::program(ProgramRecord &out) {
  SINTER_TRY(members([&](const std::string &key) -> Status {
    if (key == "graph_module")
      return graphModule(out);
    if (key == "schema_version")
      return version(out);
    if (key == "range_constraints")
      return mapOf(out.ranges, &RecordReader::range);
    if (key == "torch_version")
      return text(out.torchVersion);
    return json.skip();
  }));
  return json.end();
}

//===- Payloads -----------------------------------------------------------===//

Status RecordReader::payload(PayloadRecord &out) {
  return members([&](const std::string &key) -> Status {
    if (key == "path_name")
      return text(out.path);
    if (key == "is_param")
      return boolean(out.isParameter);
    if (key == "use_pickle")
      return boolean(out.isPickled);
    if (key != "tensor_meta")
      return json.skip();
    SINTER_TRY_ASSIGN(bool none, isNull());
    return none ? Status() : tensor(out.tensor.emplace());
  });
}

Status RecordReader::payloads(std::map<std::string, PayloadRecord> &out) {
  SINTER_TRY(members([&](const std::string &key) {
    return key == "config" ? mapOf(out, &RecordReader::payload) : json.skip();
  }));
  return json.end();
}

} // namespace

Result<ProgramRecord> readProgram(std::string_view text) {
  ProgramRecord program;
  SINTER_TRY(RecordReader(text).program(program));
  return program;
}

Result<std::map<std::string, PayloadRecord>>
readPayloads(std::string_view text) {
  std::map<std::string, PayloadRecord> payloads;
  SINTER_TRY(RecordReader(text).payloads(payloads));
  return payloads;
}

//===- Dtypes -------------------------------------------------------------===//

namespace {
struct DTypeRow {
  int64_t code;
  const char *text;
  std::optional<DType> dtype;
};
} // namespace

static constexpr DTypeRow dtypes[] = {
    {1, "torch.uint8", DType::u8},
    {2, "torch.int8", DType::i8},
    {3, "torch.int16", DType::i16},
    {4, "torch.int32", DType::i32},
    {5, "torch.int64", DType::i64},
    {6, "torch.float16", DType::f16},
    {7, "torch.float32", DType::f32},
    {8, "torch.float64", DType::f64},
    {9, "torch.complex32", std::nullopt},
    {10, "torch.complex64", DType::c64},
    {11, "torch.complex128", DType::c128},
    {12, "torch.bool", DType::boolean},
    {13, "torch.bfloat16", DType::bf16},
    {28, "torch.uint16", DType::u16},
    {29, "torch.float8_e4m3fn", DType::f8e4m3fn},
    {30, "torch.float8_e5m2", DType::f8e5m2},
    {31, "torch.float8_e4m3fnuz", DType::f8e4m3fnuz},
    {32, "torch.float8_e5m2fnuz", DType::f8e5m2fnuz},
    {33, "torch.float8_e8m0fnu", DType::f8e8m0fnu},
    {34, "torch.uint32", DType::u32},
    {35, "torch.uint64", DType::u64},
};

std::optional<DType> dtypeOf(int64_t code) {
  for (const DTypeRow &row : dtypes)
    if (row.code == code)
      return row.dtype;
  return std::nullopt;
}

std::string dtypeText(int64_t code) {
  for (const DTypeRow &row : dtypes)
    if (row.code == code)
      return row.text;
  return fmt::format("dtype {}", code);
}

} // namespace sinter::torch
