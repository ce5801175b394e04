/// The left operand of a contraction where its rows are windows side by side
/// over an image: lines of the image are copied once, and rows are read from
/// them in place.
#pragma once

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

/// Rows of an operand as windows over an image. An axis of the image is gone
/// along by the positions of a line of windows; the one before it, where
/// windows have lines, from line to line. What lies side by side in an image's
/// line under one window is a run of k.
struct ImageWindows {
  mlir::Value image;
  unsigned axis = 0;     ///< of the image: along a line
  bool hasLines = false; ///< windows stand on axis - 1 as well
  int64_t lines = 1;     ///< of windows, in one image
  int64_t positions = 1; ///< of a line
  int64_t lineStride = 1, lineDilation = 1, lineTaps = 1;
  int64_t inner = 1; ///< elements from one place along the axis to the next
  int64_t width = 1; ///< elements of an image's line
  int64_t step = 1;  ///< elements from one position to the next
  int64_t run = 1;   ///< elements side by side in one window

  /// Lines of the image under `count` lines of windows.
  int64_t imageLines(int64_t count) const {
    return (count - 1) * lineStride + (lineTaps - 1) * lineDilation + 1;
  }
};

/// The windows that are the rows of `operand`, a matrix; none where it is
/// anything else, or where sizes are not known.
std::optional<ImageWindows> findImageWindows(mlir::Value operand);

/// Copies lines of an image to a buffer, one after the other, as accumulators
/// of products of type `element`.
class ImageStager {
public:
  using Value = mlir::Value;

  ImageStager(Emission &emission, const ImageWindows &windows, unsigned lanes,
              mlir::Type element)
      : emission(emission), windows(windows), lanes(lanes), element(element) {}

  /// The lines under windows' lines [first, first + count) of all images'
  /// lines, all in one image. What a vector writes past the end of the last
  /// line goes up to `lanes` elements further.
  void copy(Value first, Value count, Value to) const;

private:
  struct Span {
    Value begin, end;
    int64_t low = 0, high = 0; ///< bounds of [begin, end) that are promised
    bool isKnown = false;
  };
  llvm::SmallVector<Span, 3> split(Value begin, Value end, int64_t size,
                                   const Interior &interior) const;
  void copyLine(llvm::ArrayRef<Coord> lead, Value line, bool isInside, Value to,
                Value place) const;
  void copyPlaces(llvm::ArrayRef<Coord> lead, const Span &span, Value to,
                  Value place) const;
  void copyPlace(llvm::ArrayRef<Coord> lead, Value at, Value to,
                 Value place) const;
  void copyVector(llvm::ArrayRef<Coord> lead, Value at, Value mask, Value to,
                  Value place) const;

  Emission &emission;
  const ImageWindows &windows;
  unsigned lanes;
  mlir::Type element;
};

} // namespace sinter::compiler
