/// Unicode's normal forms (UAX 15), and the alphabet of bytes.
#include "frontend/tokenizers/characters/Forms.h"

#include <algorithm>
#include <array>

namespace sinter::text {

namespace {

/// Takes characters apart and puts those that combine in their order.
void takeApart(Line &line, bool compatible, std::vector<Change> &list) {
  list.clear();
  // Where the characters begin whose order is not settled.
  size_t pending = 0;
  auto settle = [&] {
    std::stable_sort(list.begin() + std::ptrdiff_t(pending), list.end(),
                     [](const Change &a, const Change &b) {
                       return combiningClass(a.c) < combiningClass(b.c);
                     });
  };
  for (size_t at = 0; at < line.text.size();) {
    char32_t c = nextChar(line.text, at);
    int32_t parts[maxDecomposed] = {int32_t(c)};
    int count =
        classesOf(c) & charComposed ? decompose(c, compatible, parts) : 1;
    for (int i = 0; i < count; ++i) {
      Change change = {char32_t(parts[i]), i > 0};
      if (combiningClass(change.c) == 0) {
        if (list.size() - pending > 1)
          settle();
        list.push_back(change);
        pending = list.size();
      } else {
        list.push_back(change);
      }
    }
  }
  if (list.size() - pending > 1)
    settle();
}

/// Puts what was taken apart together, in place.
void putTogether(std::vector<Change> &list) {
  size_t starter = list.size(), size = 0;
  int lastClass = -1; // of what stands between the starter and here
  for (size_t i = 0; i < list.size(); ++i) {
    Change change = list[i];
    int own = combiningClass(change.c);
    if (starter < size && lastClass < own) {
      if (char32_t joined = compose(list[starter].c, change.c)) {
        list[starter].c = joined;
        list[starter].change += change.change - 1;
        continue;
      }
    }
    if (own == 0) {
      starter = size;
      lastClass = -1;
    } else {
      lastClass = own;
    }
    list[size++] = change;
  }
  list.resize(size);
}

/// Whether no character changes in this form.
bool isInForm(std::string_view text, Form form) {
  char32_t last = form == Form::nfc ? 0x300 : form == Form::nfkc ? 0xA0 : 0xC0;
  for (size_t at = 0; at < text.size();) {
    if (!(text[at] & 0x80)) {
      ++at;
      continue;
    }
    char32_t c = nextChar(text, at);
    if (form == Form::nfkd ? c >= 0xA0 : c >= last)
      return false;
  }
  return true;
}

} // namespace

void toForm(Line &line, Form form) {
  if (!line.isOdd() && isInForm(line.text, form))
    return;
  bool compatible = form == Form::nfkc || form == Form::nfkd;
  takeApart(line, compatible, line.changes);
  if (form == Form::nfc || form == Form::nfkc)
    putTogether(line.changes);
  line.transform(line.changes);
}

// ---- The alphabet of bytes --------------------------------------------------

/// Bytes that are no printable character of Latin-1 get those from U+0100 on.
static constexpr std::array<char16_t, 256> byteChars = [] {
  std::array<char16_t, 256> all = {};
  char16_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bool prints = (byte >= '!' && byte <= '~') ||
                  (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
    all[size_t(byte)] = prints ? char16_t(byte) : next++;
  }
  return all;
}();

static constexpr std::array<int16_t, 512> charBytes = [] {
  std::array<int16_t, 512> all = {};
  all.fill(-1);
  for (int16_t byte = 0; byte < 256; ++byte)
    all[byteChars[size_t(byte)]] = byte;
  return all;
}();

char32_t charOfByte(uint8_t byte) { return byteChars[byte]; }

int byteOfChar(char32_t c) { return c < 512 ? charBytes[c] : -1; }

void toByteAlphabet(Line &line) {
  line.changes.clear();
  for (char byte : line.text)
    line.changes.push_back({charOfByte(uint8_t(byte)), (byte & 0xC0) == 0x80});
  if (!line.text.empty())
    line.transform(line.changes);
}

} // namespace sinter::text
