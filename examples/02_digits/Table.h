/// A table of text.
#pragma once

#include <string>
#include <vector>

/// Prints rows under their headings, in columns as wide as they need.
void printTable(const std::vector<std::string> &headings,
                const std::vector<std::vector<std::string>> &rows);

/// `value` with so many decimals.
std::string fixed(double value, int decimals);
