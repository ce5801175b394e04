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
