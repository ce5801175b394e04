/// The outputs of sinter-tblgen: one function, and one file, for each.
#pragma once

#include "tools/sinter-tblgen/Records.h"

#include "llvm/Support/raw_ostream.h"

namespace sinter::tblgen {

// Each prints to `os` and returns false after it printed an error.

// EmitOpTable.cpp
bool emitOpIds(const Records &records, llvm::raw_ostream &os);
bool emitOpTable(const Records &records, llvm::raw_ostream &os);
bool emitPrecisions(const Records &records, llvm::raw_ostream &os);
bool emitChoices(const Records &records, llvm::raw_ostream &os);

// EmitGraphBuilders.cpp
bool emitGraphBuilderDecls(const Records &records, llvm::raw_ostream &os);
bool emitGraphBuilderDefs(const Records &records, llvm::raw_ostream &os);

// EmitRules.cpp
bool emitDecompositions(const Records &records, llvm::raw_ostream &os);
bool emitGradients(const Records &records, llvm::raw_ostream &os);

// EmitScalars.cpp
bool emitScalarBodies(const Records &records, llvm::raw_ostream &os);

// EmitFrontend.cpp
bool emitFrontendDecls(const Records &records, llvm::raw_ostream &os);
bool emitFrontendDefs(const Records &records, llvm::raw_ostream &os);
bool emitMethodDecls(const Records &records, llvm::raw_ostream &os);
bool emitMethodDefs(const Records &records, llvm::raw_ostream &os);

// EmitPropertyTable.cpp
bool emitPropertyTable(const Records &records, llvm::raw_ostream &os);
bool emitExamples(const Records &records, llvm::raw_ostream &os);

// EmitDocs.cpp
bool emitDocs(const Records &records, llvm::raw_ostream &os);

} // namespace sinter::tblgen
