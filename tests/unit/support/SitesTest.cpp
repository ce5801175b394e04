/// Sites: one id per line, paths after the prefix map, from many threads.
#include "runtime/support/Sites.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace sinter;

TEST(Sites, OneIdPerLine) {
  SiteId first = internSite("a/b.cpp", 3);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(internSite("a/b.cpp", 3), first);
  EXPECT_NE(internSite("a/b.cpp", 4), first);
  EXPECT_EQ(siteString(first), "a/b.cpp:3");
  EXPECT_EQ(siteString(0), "");
  EXPECT_EQ(siteOf(1u << 30).line, 0u);
}

TEST(Sites, SourceLocation) {
  auto here = std::source_location::current();
  SiteId first = internSite(here);
  EXPECT_EQ(internSite(here), first);
  EXPECT_TRUE(siteOf(first).file.ends_with("SitesTest.cpp"));
  EXPECT_FALSE(siteOf(first).file.starts_with("/"));
  EXPECT_EQ(siteOf(first).line, here.line());
}

TEST(Sites, PrefixMap) {
  addSitePrefix("/somewhere/else/", "lib/");
  EXPECT_EQ(siteString(internSite("/somewhere/else/x.cpp", 1)), "lib/x.cpp:1");
}

TEST(Sites, ManyThreads) {
  std::vector<std::vector<SiteId>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<SiteId> &ids : found)
    threads.emplace_back([&ids] {
      for (uint32_t line = 1; line < 2000; ++line) {
        ids.push_back(internSite("threads.cpp", line));
        EXPECT_EQ(siteOf(ids.back()).line, line);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<SiteId> &ids : found)
    EXPECT_EQ(ids, found[0]);
}

namespace {
/// A line as the compiler gives it.
std::source_location
lineHere(std::source_location where = std::source_location::current()) {
  return where;
}
std::source_location innerLine() { return std::source_location::current(); }
} // namespace

TEST(Sites, APathIsTheLineAndWhatLedToIt) {
  std::source_location outer = lineHere(), inner = innerLine();
  SiteId main = internSite(outer), path = internSite(inner, main);
  EXPECT_NE(path, internSite(inner)) << "another way to the same line";
  EXPECT_EQ(internSite(inner, main), path);
  EXPECT_EQ(siteOf(path).caller, main);
  EXPECT_EQ(lineString(path), lineString(internSite(inner)));
  EXPECT_EQ(siteString(path),
            "innerLine at " + lineString(path) + ", from " + lineString(main));
}

TEST(Sites, APassedOnLineIsOneLine) {
  std::source_location here = lineHere();
  SiteId site = internSite(here);
  EXPECT_EQ(internSite(here, site), site);
}

TEST(Sites, LongPathsKeepTheirEnds) {
  SiteId first = internSite(lineHere()), path = first;
  for (int i = 0; i < 100; ++i)
    path = internSite(i % 2 ? lineHere() : innerLine(), path);
  size_t length = 1;
  SiteId end = path;
  for (; siteOf(end).caller != 0; end = siteOf(end).caller)
    ++length;
  EXPECT_EQ(length, 16u);
  EXPECT_EQ(end, first);
}
