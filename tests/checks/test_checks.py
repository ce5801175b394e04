"""The checks find what they are there for and pass what is right."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/check"))
import deps  # noqa: E402
import frozen  # noqa: E402
import labels  # noqa: E402
import lint  # noqa: E402
import size  # noqa: E402
import words  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Labels(Folder):
    RUN = "// RUN: opt %s --split-input-file | FileCheck %s"
    SECTION = "// CHECK-LABEL: @main\n// CHECK: add\nfunc.func @main()\n"

    def problems(self, *lines):
        self.write("tests/lit/a.mlir", "\n".join(lines))
        return labels.check(self.root)

    def test_one_prefix_has_labels_and_one_has_not(self):
        run = self.RUN + " --check-prefix=EXACT"
        found = self.problems(self.RUN, run, "// EXACT: mul", self.SECTION,
                              "// -----", self.SECTION)
        self.assertEqual(len(found), 2, found)
        self.assertIn("a.mlir:1: ", found[0])
        self.assertIn("a.mlir:8: this section has no EXACT-LABEL", found[1])

    def test_a_run_line_that_goes_on(self):
        run = self.RUN.replace("| ", "\\\n// RUN:   | ")
        self.assertEqual(
            len(self.problems(run, self.SECTION, "// -----", "// CHECK: x")), 1)

    def test_right(self):
        both = self.RUN + " --check-prefixes=CHECK,EXACT"
        error = "// expected-error @+1 {{no}}\nfunc.func @main()\n"
        self.assertEqual(
            self.problems(both, "// EXACT: mul", self.SECTION, "// -----",
                          self.SECTION, "// -----", error), [])
        alone = self.RUN.replace("--split-input-file", "")
        self.assertEqual(self.problems(alone, "// CHECK: add"), [])


class Deps(Folder):
    def problems(self, path, include):
        self.write(path, f"/// A file.\n#include {include}\n")
        return deps.check(self.root)

    def test_wrong_arrows(self):
        wrong = [
            ("runtime/graph/Node.cpp", '"mlir/IR/Builders.h"'),
            ("runtime/graph/Node.h", "<llvm/ADT/SmallVector.h>"),
            ("runtime/graph/Node.cpp", '"compiler/Compiler.h"'),
            ("runtime/graph/Node.cpp", "<sinter/sinter.h>"),
            ("dialects/sinter/Ops.cpp", '"compiler/Compiler.h"'),
            ("frontend/Eval.cpp", '"mlir/IR/Builders.h"'),
            ("frontend/Eval.cpp", '"compiler/Pipeline.h"'),
            ("frontend/include/sinter/Tensor.h", '"compiler/Compiler.h"'),
            ("frontend/include/sinter/Tensor.h", '"runtime/graph/Key.h"'),
            ("runtime/include/sinter/runtime/Dim.h", "<fmt/format.h>"),
            ("runtime/include/sinter/runtime/Dim.h", '"runtime/graph/Key.h"'),
            ("compiler/Compiler.h", '"mlir/IR/Builders.h"'),
            ("compiler/fuse/Form.cpp", '"frontend/Eval.h"'),
            ("compiler/lower/reduce/Rows.cpp", '"compiler/fuse/OpCosts.h"'),
            ("compiler/lower/element/Views.cpp",
             '"compiler/lower/kernel/KernelWriter.h"'),
            ("compiler/target/cuda/Warp.cpp",
             '"compiler/target/cpu/CpuTarget.h"'),
            ("compiler/math/Nans.cpp", '"compiler/Pipeline.h"'),
            ("compiler/Passes.h", '"compiler/fuse/OpCosts.h"'),
            ("runtime/graph/Key.h", '"runtime/program/ProgramCache.h"'),
            ("runtime/memory/Segments.cpp", '"runtime/device/Device.h"'),
            ("runtime/device/Device.cpp",
             '"runtime/device/cuda/CudaDevice.h"'),
            ("runtime/device/null/NullDevice.cpp",
             '"runtime/device/cpu/CpuDevice.h"'),
            ("examples/01/main.cpp", '"runtime/graph/Node.h"'),
            ("tools/sinter/main.cpp", '"compiler/Pipeline.h"'),
        ]
        for path, include in wrong:
            with self.subTest(path=path, include=include):
                found = self.problems(path, include)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"{path}:2: ", found[0])
            (self.root / path).unlink()

    def test_right_arrows(self):
        right = [
            ("runtime/graph/Node.cpp", '"sinter/generated/OpTable.inc"'),
            ("runtime/graph/Node.cpp", "<fmt/format.h>"),
            ("runtime/graph/Node.cpp", "<vector>"),
            ("runtime/graph/Node.cpp", '"sinter/runtime/Node.h"'),
            ("compiler/fuse/Form.cpp", '"sinter/runtime/DType.h"'),
            ("compiler/fuse/Form.cpp", '"runtime/program/Numerics.h"'),
            ("compiler/Pipeline.cpp", '"compiler/fuse/Form.h"'),
            ("runtime/device/null/NullDevice.cpp",
             '"runtime/device/Device.h"'),
            ("runtime/program/Run.cpp", '"runtime/files/MappedFile.h"'),
            ("frontend/include/sinter/Tensor.h", "<sinter/runtime/DType.h>"),
            ("frontend/Eval.cpp", '"compiler/Compiler.h"'),
            ("compiler/import/Import.cpp", '"mlir/IR/Builders.h"'),
            ("compiler/import/Import.cpp", '"compiler/Passes.h"'),
            ("tests/unit/fuse/FormTest.cpp", '"compiler/fuse/Form.h"'),
            ("examples/01/main.cpp", "<sinter/sinter.h>"),
        ]
        for path, include in right:
            with self.subTest(path=path, include=include):
                self.assertEqual(self.problems(path, include), [])

    def test_rooms_stand_in_an_order(self):
        self.assertEqual(list(deps.check_rooms()), [])
        swapped = [("b", ["a"]), ("a", [])]
        rooms, deps.ROOMS = deps.ROOMS, swapped
        try:
            found = list(deps.check_rooms())
        finally:
            deps.ROOMS = rooms
        self.assertEqual(found, ["b may not include a: it stands behind it"])

    def test_every_folder_is_a_room(self):
        found = self.problems("runtime/cellar/Door.h", "<vector>")
        self.assertEqual(found, ["runtime/cellar/Door.h: runtime/cellar is "
                                 "not one of the ROOMS"])

    def test_include_not_from_the_root(self):
        self.write("runtime/graph/Dim.h", "/// A file.\n")
        found = self.problems("runtime/graph/Dim.cpp", '"Dim.h"')
        self.assertEqual(len(found), 1, found)
        self.assertIn("repository's root", found[0])

    def test_names_that_only_begin_alike(self):
        self.write("runtimeless/A.h", "/// A file.\n")
        self.assertEqual(self.problems("dialects/A.cpp",
                                       '"runtimeless/A.h"'), [])


class Size(Folder):
    def test_limit(self):
        self.write("runtime/A.cpp", "int a;\n" * 800)
        self.assertEqual(size.check(self.root, out=lambda line: None), [])
        self.write("runtime/B.cpp", "int a;\n" * 801)
        found = size.check(self.root, out=lambda line: None)
        self.assertEqual(found, ["runtime/B.cpp: 801 lines, more than 800"])

    def test_functions(self):
        text = ('namespace a {\nclass B {\npublic:\n  int c() {\n'
                '    if (x) {\n    }\n    return \'{\';\n  }\n};\n'
                'static const char *d(int e,\n                     int f) {\n'
                '  return "}";\n}\n} // namespace a\n')
        self.assertEqual(list(size.functions(text)), [(4, 5), (10, 4)])

    def test_long_function_is_told(self):
        self.write("runtime/A.cpp", "int a() {\n" + "  b();\n" * 70 + "}\n")
        told = []
        self.assertEqual(size.check(self.root, out=told.append), [])
        self.assertIn("long function: runtime/A.cpp:1: 72 lines", told)


class Words(Folder):
    def test_forbidden(self):
        for text in ["// TO" "DO: later", "see issue" " 12", "/wo" "rk/main",
                     "sub" "agent", "../sha" "red/suites",
                     "not imple" "mented"]:
            with self.subTest(text=text):
                self.write("runtime/A.cpp", f"int a;\n{text}\n")
                found = words.check(self.root)
                self.assertEqual(len(found), 1, found)
                self.assertIn("runtime/A.cpp:2: ", found[0])

    def test_the_pipeline_script_knows_the_suites(self):
        self.write(".ci/run", "SINTER_SUITES=../sha" "red/suites\n")
        self.assertEqual(words.check(self.root), [])

    def test_right(self):
        self.write("docs/a.md", "A workflow, a shared library, a session.\n")
        self.assertEqual(words.check(self.root), [])


class Frozen(Folder):
    def setUp(self):
        super().setUp()
        for files in frozen.INTERFACES.values():
            for file in files:
                self.write(file, "/// A file.\nvoid f(int a);\n")
        frozen.check(self.root, accept=True)

    def test_comments_and_layout_are_free(self):
        self.write(f"{frozen.PUBLIC}/Node.h",
                   "// Other words.\nvoid\n  f(int a);\n")
        self.assertEqual(frozen.check(self.root), [])

    def test_a_change_is_found(self):
        for file in (f"{frozen.PUBLIC}/Dim.h", "runtime/program/program.fbs",
                     "runtime/device/Device.h",
                     "compiler/lower/element/ElementSource.h"):
            with self.subTest(file=file):
                self.write(file, "void f(long a);\n")
                self.assertIn("+void f(long a);", frozen.check(self.root))

    def test_a_file_that_goes_is_found(self):
        (self.root / f"{frozen.PUBLIC}/Node.h").unlink()
        self.assertIn("+absent", frozen.check(self.root))


class Lint(unittest.TestCase):
    def test_recent_files(self):
        log = """diff --git a/a.cpp b/a.cpp
--- a/a.cpp
+++ b/a.cpp
@@ -3 +3 @@
-#include "old.h"
+#include "new.h"
+
diff --git a/b.cpp b/b.cpp
--- a/b.cpp
+++ b/b.cpp
@@ -3 +3 @@
+#include "new.h"
@@ -9 +9 @@
-  return 1;
diff --git a/c.cpp b/c.cpp
--- /dev/null
+++ b/c.cpp
@@ -0,0 +1 @@
+int three;
diff --git a/d.cpp b/d.cpp
--- a/d.cpp
+++ /dev/null
@@ -1 +0,0 @@
-int four;
"""
        self.assertEqual(lint.recent_files(log),
                         {str(lint.ROOT / "b.cpp"), str(lint.ROOT / "c.cpp")})

    def test_a_renamed_file_is_not_recent_for_it(self):
        log = """diff --git a/x/a.cpp b/x/y/a.cpp
similarity index 99%
rename from x/a.cpp
rename to x/y/a.cpp
--- a/x/a.cpp
+++ b/x/y/a.cpp
@@ -3 +3 @@
-#include "x/b.h"
+#include "x/y/b.h"
diff --git a/x/c.cpp b/x/y/c.cpp
similarity index 100%
rename from x/c.cpp
rename to x/y/c.cpp
diff --git a/x/c.cpp b/x/c.cpp
--- a/x/c.cpp
+++ b/x/c.cpp
@@ -9 +9 @@
-  return 1;
+  return 2;
"""
        self.assertEqual(lint.recent_files(log), {str(lint.ROOT / "x/y/c.cpp")})


if __name__ == "__main__":
    unittest.main()
