/// SortRecords: keys and positions in memory, and how they are put in order.
#pragma once

#include "compiler/lower/fiber/SortKeys.h"

#include <functional>

namespace sinter::compiler {

/// Records of 64 bits: a position in the low half and, where keys have 32 bits,
/// the key in the high half, so that records compare as what they stand for.
/// They stand in two arrays of `capacity` each, one behind the other in one
/// buffer: records move from one to the other. Wide keys are read anew.
class SortRecords {
public:
  using Value = mlir::Value;
  /// The keys of the elements at positions (vectors of index), of the lanes in
  /// `mask` (null: all).
  using ReadKeys =
      std::function<Value(Emission &, Value positions, Value mask)>;

  /// `buffer` holds i64 from `base` on. The first array is being filled.
  SortRecords(Emission &emission, const SortKeys &keys, Value buffer,
              Value base, Value capacity, ReadKeys readKeys);

  /// Elements of the buffer for arrays of so many records.
  static mlir::AffineExpr bufferElements(mlir::AffineExpr records,
                                         const Target &target);
  /// Elements that may be read or written behind `capacity` records.
  static int64_t padding(const Target &target) { return 4 * target.lanes(); }

  /// A key (i32) and a position (i64) as one number, and its halves (i64, i32):
  /// vectors of any number of lanes.
  static Value join(Emission &emission, Value key, Value positions);
  static Value lowHalf(Emission &emission, Value records);
  static Value highHalf(Emission &emission, Value records);

  unsigned lanes() const { return count; }
  /// Records of elements: vectors of keys and of i64 positions.
  Value make(Value keys, Value positions);
  /// A vector of records, or one, for the array that is being filled.
  void store(Value records, Value at);

  /// Puts the first `number` records in order; `known` is their number where it
  /// is a constant, else -1.
  void order(Value number, int64_t known);
  /// A vector of records in order, from `at` on.
  Value load(Value at);
  Value positionsOf(Value records);
  Value keysOf(Value records);

private:
  using Values = Emission::Values;
  /// Where two arrays begin.
  struct Arrays {
    Value from, to;
  };

  Value loadAt(Value place, unsigned lanes);
  void storeAt(Value value, Value place);
  Value tailMask(Value number, Value at);
  Value wideKeys(Value records, Value mask);
  Value orderByRank(Value number);
  Value copyWideKeys(Value number);
  Value ranksOf(Value keyArray, Value base, Value start, Value number);
  Value orderByDigits(Value number);
  void takeHalf(Value number, Value from, bool high);
  void countDigits(Value number, Value from);
  Arrays placeDigits(Value number, Arrays arrays, bool lastIsSigned);
  void startBuckets(Value buckets, Value turn);
  void placeDigit(Value number, Arrays arrays, Value shift, Value buckets);
  Value digitOf(Value record, Value shift);
  Value frame(int64_t elements, mlir::Type type, unsigned slot);
  Value i64(int64_t value);
  Value toIndex(Value value);

  Emission &emission;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const SortKeys &keys;
  Value buffer;
  Arrays arrays;
  ReadKeys readKeys;
  unsigned count, digits;
  /// Where the array in order begins.
  Value ordered;
};

} // namespace sinter::compiler
