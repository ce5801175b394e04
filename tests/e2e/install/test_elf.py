"""Libraries with one fault each are told from good ones."""

import pathlib
import subprocess
import tempfile
import unittest

import elf


class Elf(unittest.TestCase):
    def library(self, text, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name, "some.cpp")
        source.write_text(text)
        path = source.with_name("libsome.so")
        subprocess.run(["g++", "-shared", "-fPIC", source, "-o", path, *flags],
                       check=True)
        return path

    def test_good(self):
        path = self.library("""
            #include <cstdio>
            namespace sinter {
            struct Base { virtual ~Base() = default; };
            struct Some : virtual Base { int value(); };
            int Some::value() { static int once = std::puts(""); return once; }
            }
            extern "C" int sinter_value() { return sinter::Some().value(); }
            """, "-fvisibility=default", "-Wl,-rpath,$ORIGIN/../lib")
        count, foreign = elf.foreign_names(path)
        self.assertGreater(count, 5)
        self.assertEqual(foreign, [])
        self.assertEqual(list(elf.too_new(path)), [])
        self.assertEqual(list(elf.unusual_needs(path)), [])
        self.assertIsNone(elf.opens_alone(path))
        self.assertEqual(elf.elf_files(path.parent), [path])
        self.assertIn("GLIBC", elf.newest_needed([path]))

    def test_foreign_names(self):
        path = self.library("""
            namespace llvm { int defined() { return 1; } }
            int other() { return 2; }
            extern "C" int sinter_value() { return 3; }
            """)
        count, foreign = elf.foreign_names(path)
        self.assertEqual(count, 3)
        self.assertEqual(sorted(foreign), ["_Z5otherv", "_ZN4llvm7definedEv"])
        self.assertEqual(list(elf.unusual_needs(path)),
                         ["the name _ZN4llvm7definedEv"])

    def test_weak_name_of_llvm(self):
        path = self.library("""
            namespace llvm { __attribute__((weak)) int absent(); }
            extern "C" bool sinter_value() { return llvm::absent; }
            """)
        self.assertEqual(list(elf.unusual_needs(path)),
                         ["the name _ZN4llvm6absentEv"])

    def test_newer_system(self):
        path = self.library("""
            #include <condition_variable>
            #include <cstdlib>
            extern "C" unsigned sinter_value() { return arc4random(); }
            extern "C" void sinter_wait(std::condition_variable &variable,
                                        std::unique_lock<std::mutex> &lock) {
              variable.wait(lock);
            }
            """)
        self.assertEqual(sorted(elf.too_new(path)), [
            "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
            "@GLIBCXX_3.4.30", "arc4random@GLIBC_2.36"])

    def test_other_libraries_and_folders(self):
        path = self.library("""
            extern "C" const char *zlibVersion();
            extern "C" const char *sinter_value() { return zlibVersion(); }
            """, "-lz", "-Wl,-rpath,/opt/some:$ORIGIN")
        self.assertEqual(list(elf.unusual_needs(path)),
                         ["the library libz.so.1", "the folder /opt/some"])

    def test_does_not_open(self):
        path = self.library("""
            int absent();
            extern "C" int sinter_value() { return absent(); }
            """)
        self.assertIn("absent", elf.opens_alone(path))


if __name__ == "__main__":
    unittest.main()
