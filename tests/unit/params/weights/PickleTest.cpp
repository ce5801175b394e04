/// The machine for pickles: each instruction, and programs that are wrong.
#include "runtime/params/weights/torch/Pickle.h"
#include "runtime/params/weights/torch/PickleTexts.h"

#include <gtest/gtest.h>

#include <string>

using namespace sinter;
using namespace sinter::runtime::pickle;
using namespace std::string_literals;

namespace {

Result<Pickle> parse(const std::string &program) {
  return Pickle::parse(std::as_bytes(std::span(program)));
}

/// The value as text, as Python shows it.
std::string show(const Pickle &pickle, const Value &value) {
  auto list = [&](std::span<const Value> items) {
    std::string text;
    for (const Value &item : items)
      text += (text.empty() ? "" : ", ") + show(pickle, item);
    return text;
  };
  switch (value.kind) {
  case Kind::none:
    return "None";
  case Kind::boolean:
    return value.boolean() ? "True" : "False";
  case Kind::integer:
    return std::to_string(value.integer());
  case Kind::real:
    return std::to_string(value.real());
  case Kind::big:
    return "big " + std::to_string(value.text().size());
  case Kind::text:
    return "'" + std::string(value.text()) + "'";
  case Kind::bytes:
    return "b'" + std::string(value.text()) + "'";
  case Kind::tuple:
    return "(" + list(pickle.items(value)) + ")";
  case Kind::list:
    return "[" + list(pickle.items(value)) + "]";
  case Kind::dict:
  case Kind::set:
    return "{" + list(pickle.items(value)) + "}";
  case Kind::global:
    return pickle.globalName(value);
  case Kind::persistent:
    return "@" + show(pickle, pickle.idOf(value));
  case Kind::object:
    break;
  }
  const Call &call = pickle.call(value);
  std::string text = show(pickle, call.callee) + show(pickle, call.args);
  if (!call.state.is(Kind::none))
    text += " state " + show(pickle, call.state);
  if (!pickle.items(value).empty())
    text += " items " + list(pickle.items(value));
  if (!pickle.pairs(value).empty())
    text += " pairs " + list(pickle.pairs(value));
  return text;
}

std::string run(const std::string &program) {
  static std::string kept; // texts of values are in it
  kept = program;
  auto pickle = parse(kept);
  return pickle ? show(*pickle, pickle->root())
                : "error " + pickle.error().message;
}

} // namespace

TEST(Pickle, NumbersOfEachProtocol) {
  EXPECT_EQ(run("I42\n."), "42");
  EXPECT_EQ(run("I01\n."), "True");
  EXPECT_EQ(run("L-7L\n."), "-7");
  EXPECT_EQ(run("L119547037146038801333356L\n."), "big 24");
  EXPECT_EQ(run("F2.5\n."), "2.500000");
  EXPECT_EQ(run("K\xff."), "255");
  EXPECT_EQ(run("M\x01\x02."), "513");
  EXPECT_EQ(run("J\xfe\xff\xff\xff."), "-2");
  EXPECT_EQ(run("G\x3f\xf8\0\0\0\0\0\0."s), "1.500000");
  EXPECT_EQ(run("\x8a\0."s), "0");
  EXPECT_EQ(run("\x8a\x01\xff."), "-1");
  EXPECT_EQ(run("\x8a\x02\xff\0."s), "255");
  EXPECT_EQ(run("\x8a\x09\x01\0\0\0\0\0\0\0\0."s), "big 9");
  EXPECT_EQ(run("\x8b\x02\0\0\0\x01\x80."s), "-32767");
  EXPECT_EQ(run("\x88."), "True");
  EXPECT_EQ(run("\x89."), "False");
  EXPECT_EQ(run("N."), "None");
}

TEST(Pickle, Texts) {
  EXPECT_EQ(run("S'a\\n\\x41'\n."), "'a\nA'");
  EXPECT_EQ(run("V\\u00e9\xe9\n."), "'\xc3\xa9\xc3\xa9'");
  EXPECT_EQ(run("X\x02\0\0\0hi."s), "'hi'");
  EXPECT_EQ(run("\x8c\x02hi."), "'hi'");
  EXPECT_EQ(run("\x8d\x02\0\0\0\0\0\0\0hi."s), "'hi'");
  EXPECT_EQ(run("U\x01h."), "'h'");
  EXPECT_EQ(run("T\x01\0\0\0h."s), "'h'");
  EXPECT_EQ(run("C\x01h."), "b'h'");
  EXPECT_EQ(run("B\x01\0\0\0h."s), "b'h'");
  EXPECT_EQ(run("\x8e\x01\0\0\0\0\0\0\0h."s), "b'h'");
  EXPECT_EQ(run("\x96\x01\0\0\0\0\0\0\0h."s), "b'h'");
  EXPECT_EQ(latin1Bytes("\xc3\xa9\x41")->size(), 2u);
  EXPECT_FALSE(latin1Bytes("\xe2\x82\xac"));
}

TEST(Pickle, Containers) {
  EXPECT_EQ(run("(K\1K\2t."), "(1, 2)");
  EXPECT_EQ(run("K\1\x85."), "(1)");
  EXPECT_EQ(run("K\1K\2\x86."), "(1, 2)");
  EXPECT_EQ(run("K\1K\2K\3\x87."), "(1, 2, 3)");
  EXPECT_EQ(run("](K\1K\2e."), "[1, 2]");
  EXPECT_EQ(run("]K\1a."), "[1]");
  EXPECT_EQ(run("(K\1l."), "[1]");
  EXPECT_EQ(run("}(K\1K\2u."), "{1, 2}");
  EXPECT_EQ(run("}K\1K\2s."), "{1, 2}");
  EXPECT_EQ(run("(K\1K\2d."), "{1, 2}");
  EXPECT_EQ(run("\x8f(K\1\x90."), "{1}");
  EXPECT_EQ(run("(K\1\x91."), "{1}");
  EXPECT_EQ(run("K\1"
                "2\x86."),
            "(1, 1)");
  EXPECT_EQ(run("K\1K\2"
                "0."),
            "1");
  EXPECT_EQ(run("K\1(K\2K\3"
                "1."),
            "1");
  EXPECT_EQ(run("K\1(0."), "1");
}

TEST(Pickle, TheTableOfValues) {
  EXPECT_EQ(run("]q\0h\0\x86."s), "([], [])");
  EXPECT_EQ(run("K\7p3\ng3\n\x86."), "(7, 7)");
  EXPECT_EQ(run("K\7r\1\0\0\0j\1\0\0\0\x86."s), "(7, 7)");
  EXPECT_EQ(run("K\7\x94K\x08\x94h\0h\1\x86\x86\x86."s), "(7, (8, (7, 8)))");
  // Written again; one number more is none more to count.
  EXPECT_EQ(run("K\1q\0000K\2q\0K\3\x94h\1\x87."s), "(2, 3, 3)");
  // A list that holds itself.
  auto pickle = parse("]q\0h\0a."s);
  ASSERT_TRUE(pickle);
  EXPECT_EQ(pickle->nodeOf(pickle->root()),
            pickle->nodeOf(pickle->items(pickle->root())[0]));
}

TEST(Pickle, CallsAreRecords) {
  EXPECT_EQ(run("cm\nf\n(K\1tR."), "m.f(1)");
  EXPECT_EQ(run("\x8c\1m\x8c\1f\x93)R."), "m.f()");
  EXPECT_EQ(run("(K\1im\nf\n."), "m.f(1)");
  EXPECT_EQ(run("(cm\nf\nK\1o."), "m.f(1)");
  EXPECT_EQ(run("cm\nf\n)\x81."), "m.f()");
  EXPECT_EQ(run("cm\nf\n)}\x92."), "m.f()");
  EXPECT_EQ(run("cm\nf\n)R}b."), "m.f() state {}");
  EXPECT_EQ(run("cm\nf\n)R(K\1e(K\2K\3u."), "m.f() items 1 pairs 2, 3");
  EXPECT_EQ(run("Pkey\n."), "@'key'");
  EXPECT_EQ(run("K\1Q."), "@1");
}

TEST(Pickle, DangerousCallsAreRefused) {
  for (const char *name :
       {"posix\nsystem", "os\nsystem", "subprocess\nPopen", "builtins\neval",
        "__builtin__\nexec", "os.path\njoin", "socket\nsocket", "nt\nsystem",
        "runpy\nrun_path", "torch\nload", "operator\nattrgetter"}) {
    std::string text = run("c"s + name + "\n(X\1\0\0\0atR."s);
    EXPECT_NE(text.find("which is refused"), std::string::npos) << name;
    text = run("(X\1\0\0\0ai"s + name + "\n."s);
    EXPECT_NE(text.find("which is refused"), std::string::npos) << name;
    text = run("(c"s + name + "\nX\1\0\0\0ao."s);
    EXPECT_NE(text.find("which is refused"), std::string::npos) << name;
    text = run("c"s + name + "\n)\x81.");
    EXPECT_NE(text.find("which is refused"), std::string::npos) << name;
  }
  // Named, but not called.
  EXPECT_EQ(run("cposix\nsystem\n."), "posix.system");
  EXPECT_EQ(run("cbuiltins\nset\n)R."), "builtins.set()");
}

TEST(Pickle, WrongProgramsAreRefused) {
  const std::pair<std::string, const char *> programs[] = {
      {"", "it is cut off at byte 0"},
      {"N", "it is cut off at byte 1"},
      {".", "without a value"},
      {"NN.", "values to spare"},
      {"(N.", "values to spare"},
      {"0.", "nothing is on the stack"},
      {"t.", "no mark"},
      {"N(\x85.", "nothing is on the stack"},
      {"NR.", "nothing is on the stack"},
      {"N)R.", "calls what is no function"},
      {"cm\nf\nNR.", "with no tuple"},
      {"NNs.", "nothing is on the stack"},
      {"NNNs.", "sets an item of no dictionary"},
      {"}(Nu.", "a key without a value"},
      {"(Nd.", "a key without a value"},
      {"NNa.", "appends to no list"},
      {"NNb.", "state to no object"},
      {"h\1.", "memo 1 was not set"},
      {"g7\n.", "memo 7 was not set"},
      {"gx\n.", "a memo that is no number"},
      {"Nr\xff\xff\xff\x7f.", "memo 2147483647 is out of range"},
      {"\x8b\xff\xff\xff\xff.", "a negative length"},
      {"T\xff\xff\xff\xff.", "a negative length"},
      {"X\x05\0\0\0a."s, "it is cut off"},
      {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "4 GiB"},
      {"\x80\x06N.", "protocol 6"},
      {"\x80\x04\x95\xff\0\0\0\0\0\0\0N."s, "a frame is cut off"},
      {"NN\x93.", "no text"},
      {"S'a\n.", "cannot be read"},
      {"V\\u12\n.", "cannot be read"},
      {"I1x\n.", "cannot be read"},
      {"F\n.", "cannot be read"},
      {"(o.", "it calls nothing"},
      {"\x82\1.", "extension registry"},
      {"\x97.", "buffers outside"},
      {"\xff.", "unknown instruction 0xff"}};
  for (const auto &[program, message] : programs) {
    std::string text = run(program);
    EXPECT_TRUE(text.starts_with("error ")) << message;
    EXPECT_NE(text.find(message), std::string::npos) << text;
  }
}

/// Lists in lists are no recursion, and what they take is bounded.
TEST(Pickle, LargeProgramsTakeLittle) {
  constexpr size_t many = 100'000;
  std::string nested(many, ']');
  nested += std::string(many - 1, 'a') + ".";
  EXPECT_TRUE(parse(nested));
  std::string tuples = ")" + std::string(many, '\x85') + ".";
  EXPECT_TRUE(parse(tuples));
  std::string lists = "(" + std::string(10'000'000, ']') + "t.";
  auto refused = parse(lists);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more values than"),
            std::string::npos);
}
