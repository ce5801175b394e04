/// The strict JSON reader: what it accepts, and that it rejects the rest.
#include "runtime/params/Json.h"

#include <gtest/gtest.h>

using namespace sinter::runtime;
using json::Kind;
using namespace std::string_literals;

TEST(Json, ReadsEveryKind) {
  auto value = json::parse(
      R"( {"a": [1, -2.5e1, true, false, null], "b": {"c": "x\n\u00e9"}} )");
  ASSERT_TRUE(value.ok()) << value.error().message;
  const json::Value *a = value->find("a");
  ASSERT_TRUE(a);
  ASSERT_EQ(a->elements.size(), 5u);
  EXPECT_TRUE(a->elements[0].is(Kind::unsignedInteger));
  EXPECT_EQ(a->elements[0].integer, 1u);
  EXPECT_EQ(a->elements[1].number, -25.0);
  EXPECT_TRUE(a->elements[2].boolean);
  EXPECT_FALSE(a->elements[3].boolean);
  EXPECT_TRUE(a->elements[4].is(Kind::null));
  EXPECT_EQ(value->find("b")->find("c")->string, "x\n\xC3\xA9");
  EXPECT_FALSE(value->find("c"));
}

TEST(Json, IntegersAreExactOrNumbers) {
  auto largest = json::parse("18446744073709551615");
  ASSERT_TRUE(largest.ok());
  EXPECT_TRUE(largest->is(Kind::unsignedInteger));
  EXPECT_EQ(largest->integer, UINT64_MAX);
  for (const char *text : {"18446744073709551616", "-1", "1.0", "1e3", "-0"}) {
    auto value = json::parse(text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_TRUE(value->is(Kind::number)) << text;
  }
}

TEST(Json, NumbersBeyondADoubleAreErrors) {
  std::string digits(400, '9'), zeros(400, '0');
  for (const std::string &text :
       {"1e999"s, "-1e999"s, "1E+309"s, digits, "-" + digits + ".5",
        "1e99999999999999999999"s, "0." + zeros + "1e900", "1.8e308"s}) {
    auto value = json::parse("[" + text + "]");
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find("a number that is too large"),
              std::string::npos)
        << value.error().message;
    json::Reader reader(text);
    EXPECT_FALSE(reader.real()) << text;
  }
  for (const std::string &text :
       {"1e-999"s, "-1e-999"s, "0." + zeros + "1", "1e-99999999999999999999"s,
        digits + "e-900", "0e999"s}) {
    auto value = json::parse(text);
    ASSERT_TRUE(value) << text << value.error().message;
    EXPECT_EQ(value->number, 0) << text;
  }
  EXPECT_EQ(json::parse("5e-324")->number, 5e-324);
  EXPECT_EQ(json::parse("1.7976931348623157e308")->number,
            1.7976931348623157e308);
}

TEST(Json, JoinsSurrogates) {
  auto value = json::parse(R"("\ud83d\ude00")");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->string, "\xF0\x9F\x98\x80");
}

TEST(Json, RejectsWhatIsNotJson) {
  const char *bad[] = {"",
                       "{",
                       "}",
                       "[1,]",
                       "{\"a\":}",
                       "{a:1}",
                       "01",
                       "1.",
                       ".5",
                       "+1",
                       "1e",
                       "nul",
                       "truth",
                       "\"\n\"",
                       "\"\\x\"",
                       "\"\\u12\"",
                       "\"\\ud800\"",
                       "\"\\udc00\"",
                       "\"\xFF\"",
                       "\"\xC0\x80\"",
                       "\"\xED\xA0\x80\"",
                       "1 2",
                       "{\"a\":1,\"a\":2}",
                       "\"open",
                       "[1",
                       "{\"a\" 1}",
                       "{\"a\":1 \"b\":2}",
                       "NaN",
                       "Infinity",
                       "'a'"};
  for (const char *text : bad) {
    auto value = json::parse(text);
    EXPECT_FALSE(value.ok()) << text;
    if (!value) {
      EXPECT_EQ(value.error().kind, sinter::ErrorKind::io);
    }
  }
}

TEST(Json, LimitsNesting) {
  EXPECT_TRUE(json::parse(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_FALSE(json::parse(std::string(100000, '[')).ok());
}

TEST(Json, QuoteRoundTrips) {
  std::string text = "a\"b\\c\x01\n\xC3\xA9";
  auto value = json::parse(json::quote(text));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->string, text);
}

TEST(Json, LimitsValues) {
  std::string list = "[0";
  for (int i = 0; i < 200'000; ++i)
    list += ",0";
  auto value = json::parse(list + "]");
  ASSERT_FALSE(value.ok());
  EXPECT_NE(value.error().message.find("more than"), std::string::npos);
  EXPECT_TRUE(json::parse(list.substr(0, 100'000) + "]").ok());
}

TEST(Json, MembersComeOneByOne) {
  std::string keys;
  auto visit = [&](std::string key, json::Value value) -> sinter::Status {
    keys += key + (value.is(Kind::array) ? "[]" : "");
    if (key == "stop")
      return makeError(sinter::ErrorKind::io, "stopped");
    return {};
  };
  EXPECT_TRUE(
      json::parseMembers(R"( {"a":1, "b":[2,3], "a":{}} )", visit).ok());
  EXPECT_EQ(keys, "ab[]a");
  EXPECT_TRUE(json::parseMembers("{}", visit).ok());
  auto stopped = json::parseMembers(R"({"stop":1,"c":2})", visit);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "stopped");
  for (const char *text : {"", "[]", "{", "{,}", "{\"a\":1,}", "{\"a\"}",
                           "{\"a\":1} x", "{\"a\":1 \"b\":2}"})
    EXPECT_FALSE(json::parseMembers(text, visit).ok()) << text;
}
