/// Which kind of kernel a set of ops makes, or why it makes none.
#pragma once

#include "compiler/fuse/FusionGraph.h"
#include "compiler/target/MachineModel.h"
#include "dialects/program/Program.h"

#include <string>
#include <variant>

namespace sinter::compiler {

/// Limits of one kernel.
struct KernelCaps {
  unsigned ops = 96;
  unsigned buffers = 32; ///< inputs and outputs
  /// Elements that the emitter writes out for each op and each input at most,
  /// on the average (see EmissionCounter): what is read through several views
  /// is written for each of them.
  unsigned copies = 3;
  /// Of independent kernels that are one launch, together.
  unsigned parallelOps = 1024;
  unsigned parallelBuffers = 512;
  /// Ops that fusion looks at, merge by merge: its part of the compile time.
  unsigned long work = 4'000'000;
  /// A single row is worked on by one thread: at most this many elements.
  double serialElements = 1 << 16;
  /// Whether reductions of a product's rows and columns may join its kernel:
  /// not where a tile of the product is shared by more threads than take its
  /// rows.
  bool statistics = true;
  /// Rows of a product that a block keeps for those who reduce them: at most
  /// this many elements; and bytes of the right operand that each block reads.
  int64_t keptRow = 1024;
  double blockOperand = 1 << 20;
  /// Of a product whose columns are reduced in its own kernel, at least.
  double leastColumnBytes = 1 << 20;
  /// Whether reductions of columns may join those of rows, on each of which a
  /// block of threads works: that takes some rows after each other, so that
  /// there have to be many.
  bool columnsOfRows = false;
  double leastRows = 8192;
  /// Whether a GPU runs the kernels: what only makes elements wider takes no
  /// time beside reading them.
  bool byThreads = false;
  /// By which traffic, arithmetic and launches are weighed against each other:
  /// that of the usual card.
  MachineModel machine;
  /// Elements of an output at most that are stored one by one where a transpose
  /// puts them: that moves more bytes, but is no launch of its own.
  unsigned scatteredElements = 0;
};

/// Limits of kernels for a target.
KernelCaps capsOf(program::TargetAttr target);

/// A set of ops as a kernel.
struct KernelShape {
  const char *kind = ""; ///< one of kernel_kinds
  /// Microseconds of arithmetic done more than once per element.
  double recomputed = 0;
  /// Whether columns of the rows that it walks are reduced, too.
  bool reducesColumns = false;
};

/// Why a set is not a kernel.
struct Rejection {
  const char *rule = "";
  std::string detail;
};

using Classified = std::variant<KernelShape, Rejection>;

/// Looks at the ops' pattern kinds and at how their values are reached from
/// the values that the kernel stores; compares dims as expressions only.
Classified classifyKernel(const FusionGraph &graph, const OpSet &coreOps,
                          const KernelCaps &caps);

} // namespace sinter::compiler
