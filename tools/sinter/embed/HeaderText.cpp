/// Writes C.
#include "tools/sinter/embed/HeaderText.h"

#include "runtime/support/Printable.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace sinter::cli {

static std::string upper(std::string text) {
  for (char &each : text)
    each = char(std::toupper(static_cast<unsigned char>(each)));
  return text;
}

/// Letters, digits and `_` alone.
static std::string plain(std::string_view name) {
  std::string made;
  for (char each : name) {
    bool isPlain = (each >= 'a' && each <= 'z') ||
                   (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
    made.push_back(isPlain ? each : '_');
  }
  return made;
}

std::string identifier(std::string_view name) {
  std::string made = plain(name);
  if (made.empty() || (made[0] >= '0' && made[0] <= '9'))
    made.insert(made.begin(), '_');
  return made;
}

/// Names that are made of others: each once.
class Names {
public:
  std::string add(const std::string &wanted) {
    std::string made = wanted;
    for (size_t count = 2; !taken.insert(made).second; ++count)
      made = fmt::format("{}_{}", wanted, count);
    return made;
  }

private:
  std::set<std::string> taken;
};

/// The type of one element in C; complex ones are pairs.
static const char *typeOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
  case DType::c128:
    return "double";
  case DType::f32:
  case DType::c64:
    return "float";
  case DType::f16:
  case DType::bf16:
  case DType::u16:
    return "uint16_t";
  case DType::i8:
  case DType::i4:
  case DType::i2:
    return "int8_t";
  case DType::i16:
    return "int16_t";
  case DType::i32:
    return "int32_t";
  case DType::i64:
    return "int64_t";
  case DType::u32:
    return "uint32_t";
  case DType::u64:
    return "uint64_t";
  default:
    return "uint8_t"; // of one byte
  }
}

static std::string typeText(const EmbeddedPort &port) {
  return fmt::format("{}[{}]", name(port.dtype), fmt::join(port.dims, ", "));
}

static bool isComplex(DType dtype) {
  return dtype == DType::c64 || dtype == DType::c128;
}

/// What a comment can hold.
static std::string commentText(std::string_view text) {
  std::string plain = printable(std::string(text));
  for (std::string_view mark : {"*/", "/*"})
    for (size_t at = plain.find(mark); at != plain.npos; at = plain.find(mark))
      plain.insert(at + 1, " ");
  return plain;
}

static std::string describe(const char *what, const EmbeddedPort &port) {
  std::string text = fmt::format(" * {} `{}`: {}", what, commentText(port.name),
                                 typeText(port));
  if (!port.description.empty())
    text += ", " + commentText(port.description);
  return text + "\n";
}

/// Names of a function's arguments, which no word or macro of C has.
static std::vector<std::string> argumentNames(const EmbeddedEntry &entry) {
  std::vector<std::string> names;
  Names taken;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    names.push_back(taken.add("in_" + (entry.inputs[i].name.empty()
                                           ? fmt::format("{}", i)
                                           : plain(entry.inputs[i].name))));
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    names.push_back(taken.add("out_" + (entry.outputs[i].name.empty()
                                            ? fmt::format("{}", i)
                                            : plain(entry.outputs[i].name))));
  return names;
}

/// Pointers as a local list, or none.
static std::string listText(const char *type, const char *list,
                            const std::vector<std::string> &values) {
  return values.empty() ? fmt::format("  {} const *{} = 0;\n", type, list)
                        : fmt::format("  {} const {}[] = {{{}}};\n", type, list,
                                      fmt::join(values, ", "));
}

static std::string functionText(const EmbeddedEntry &entry,
                                const std::string &function, size_t number) {
  std::vector<std::string> names = argumentNames(entry);
  std::string text = fmt::format("\n/* Entry `{}`", commentText(entry.name));
  if (!entry.description.empty())
    text += ": " + commentText(entry.description);
  text += "\n";
  for (const EmbeddedPort &port : entry.inputs)
    text += describe("input ", port);
  for (const EmbeddedPort &port : entry.outputs)
    text += describe("output", port);
  text += " * An output may be null: sinter_embedded_output has it then. */\n";
  std::string declared = fmt::format("static inline sinter_status {}(\n"
                                     "    sinter_embedded_session *session",
                                     function);
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < names.size(); ++i) {
    bool isInput = i < entry.inputs.size();
    const EmbeddedPort &port =
        isInput ? entry.inputs[i] : entry.outputs[i - entry.inputs.size()];
    bool byValue = isInput && port.isScalar && !isComplex(port.dtype);
    declared +=
        fmt::format(",\n    {}{} {}{}", isInput && !byValue ? "const " : "",
                    typeOf(port.dtype), byValue ? "" : "*", names[i]);
    (isInput ? inputs : outputs).push_back((byValue ? "&" : "") + names[i]);
  }
  text += declared + ") {\n";
  text += listText("const void *", "sinter_inputs", inputs);
  text += listText("void *", "sinter_outputs", outputs);
  text +=
      fmt::format("  return sinter_embedded_run(session, {}, sinter_inputs,\n"
                  "                             sinter_outputs);\n}}\n",
                  number);
  return text;
}

std::string headerText(const EmbeddedModel &model, const std::string &name,
                       const std::string &origin) {
  std::string large = upper(name);
  std::string text = fmt::format(
      "/* A model inside of a program: {}, as `sinter embed` made it. Link "
      "the\n"
      " * object that was written beside this and libsinter-runtime.a; see\n"
      " * sinter/embedded.h. */\n"
      "#ifndef SINTER_MODEL_{}\n#define SINTER_MODEL_{}\n\n"
      "#include <sinter/embedded.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "extern const sinter_embedded {};\n"
      "/* The bytes that a session takes, at a multiple of 64. */\n"
      "#define {}_MEMORY ((size_t){}u)\n",
      commentText(origin), name, name, symbolOf(name), large,
      model.memoryBytes);
  Names macros;
  for (size_t i = 0; i < model.stored.size(); ++i)
    text += fmt::format(
        "/* State `{}`: {} */\n#define {} {}u\n",
        commentText(model.stored[i].name), typeText(model.stored[i]),
        macros.add(large + "_STATE_" + upper(plain(model.stored[i].name))), i);
  Names functions;
  functions.add(symbolOf(name));
  for (size_t i = 0; i < model.entries.size(); ++i)
    text += functionText(
        model.entries[i],
        functions.add(name + "_" + plain(model.entries[i].name)), i);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

} // namespace sinter::cli
