/// Figures: numbers as text, for files and for people.
#pragma once

#include <sinter/train/Events.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::train {

/// The shortest digits that read back as the same number; `nan`, `inf`, `-inf`.
void addExact(std::string &text, double value);
void addWhole(std::string &text, int64_t value);

/// As JSON, where `"NaN"`, `"Infinity"` and `"-Infinity"` are strings.
void addJson(std::string &text, double value);
/// As a JSON string; what is no UTF-8 becomes U+FFFD.
void addJson(std::string &text, std::string_view value);

/// Four digits that a person reads: `0.1234`, `12.34`, `1.235e-05`.
std::string shortNumber(double value);
/// `87.2 %`, `1.2 GB`, `0.1234`: with its unit.
std::string shortValue(const Value &value);
/// `512 B`, `1.3 GB`.
std::string shortBytes(double bytes);
/// `1,234,567`.
std::string grouped(int64_t value);
/// `0:07`, `12:34`, `3:04:05`, `2d 03:04`.
std::string duration(double seconds);
/// `2026-01-31T12:34:56.789Z`.
std::string timestamp(double time);

} // namespace sinter::train
