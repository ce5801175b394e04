/// einsum: operands are joined one after the other, each time by one batched
/// matrix product.
#include <sinter/Linalg.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Shaping.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace sinter {

using detail::Composed;

namespace {

/// Labels of axes: letters, and numbers from `firstHidden` on for what "..."
/// stands for, the last axis first.
using Labels = std::vector<int>;
constexpr int firstHidden = 256;

struct Term {
  Tensor x;
  Labels labels;
};

class Einsum {
public:
  Einsum(const Composed &call, std::string_view equation)
      : call(call), equation(equation) {}
  Tensor record(std::span<const Tensor> operands);

private:
  [[noreturn]] void fail(const std::string &what) const {
    call.fail(fmt::format("{} in \"{}\"", what, equation));
  }
  Labels parse(std::string_view text, int64_t hidden) const;
  Term termOf(const Tensor &x, std::string_view text);
  Term withoutRepeats(Term term) const;
  void learnSizes(const Term &term);
  Term expanded(Term term) const;
  Labels impliedResult() const;
  Term summedTo(Term term, const Labels &kept) const;
  Term joined(const Term &lhs, const Term &rhs, const Labels &kept) const;
  Tensor arranged(const Term &term, const Labels &order) const;
  Dim sizeOf(int label) const { return sizes.find(label)->second; }
  Dim sizeOf(const Labels &labels) const {
    Dim size(1);
    for (int label : labels)
      size = size * sizeOf(label);
    return size;
  }

  const Composed &call;
  std::string equation;
  std::map<int, Dim> sizes;
  std::map<int, int> uses; ///< how often a label stands, in one term or more
  int64_t hiddenRank = 0;
};

bool has(const Labels &labels, int label) {
  return std::ranges::count(labels, label) > 0;
}

Labels Einsum::parse(std::string_view text, int64_t hidden) const {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ')
      continue;
    if (text.substr(i, 3) == "...") {
      for (int64_t axis = hidden; axis-- > 0;)
        labels.push_back(firstHidden + int(axis));
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      labels.push_back(c);
    } else {
      fail(fmt::format("there is a '{}'", c));
    }
  }
  return labels;
}

Term Einsum::termOf(const Tensor &x, std::string_view text) {
  auto letters = int64_t(parse(text, 0).size());
  bool isOpen = text.find("...") != std::string_view::npos;
  int64_t hidden = x.rank() - letters;
  if (hidden < 0 || (hidden > 0 && !isOpen))
    fail(fmt::format("\"{}\" does not fit {} axes", text, x.rank()));
  hiddenRank = std::max(hiddenRank, hidden);
  Labels labels = parse(text, hidden);
  for (int label : labels)
    ++uses[label];
  return withoutRepeats({x, labels});
}

/// Of a label that stands twice, the diagonal of both axes.
Term Einsum::withoutRepeats(Term term) const {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = i + 1; j < term.labels.size(); ++j) {
      if (term.labels[i] != term.labels[j])
        continue;
      int label = term.labels[i];
      if (term.x.dim(int64_t(i)).value != term.x.dim(int64_t(j)).value)
        fail(fmt::format("label '{}' has two sizes", char(label)));
      term.x = diagonal(term.x, 0, int64_t(i), int64_t(j));
      term.labels.erase(term.labels.begin() + int64_t(j));
      term.labels.erase(term.labels.begin() + int64_t(i));
      term.labels.push_back(label);
      return withoutRepeats(std::move(term));
    }
  return term;
}

void Einsum::learnSizes(const Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    int label = term.labels[i];
    Dim size = term.x.dim(int64_t(i));
    auto [known, isNew] = sizes.try_emplace(label, size);
    if (isNew || known->second.value == size.value || size.value == 1)
      continue;
    if (known->second.value != 1)
      fail(fmt::format("an axis has sizes {} and {}", known->second.value,
                       size.value));
    known->second = size;
  }
}

/// With axes of size 1 expanded to their label's size.
Term Einsum::expanded(Term term) const {
  Dims shape;
  for (int label : term.labels)
    shape.push_back(sizeOf(label));
  if (!detail::sameValues(shape, term.x.shape()))
    term.x = broadcast(term.x, shape);
  return term;
}

Labels Einsum::impliedResult() const {
  Labels labels;
  for (int64_t axis = hiddenRank; axis-- > 0;)
    labels.push_back(firstHidden + int(axis));
  for (const auto &[label, count] : uses)
    if (count == 1 && label < firstHidden)
      labels.push_back(label);
  return labels;
}

/// Summed over the labels that are not kept.
Term Einsum::summedTo(Term term, const Labels &kept) const {
  std::vector<int64_t> axes;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (has(kept, term.labels[i]))
      left.push_back(term.labels[i]);
    else
      axes.push_back(int64_t(i));
  }
  if (axes.empty())
    return term;
  return {sum(term.x, axes), left};
}

Tensor Einsum::arranged(const Term &term, const Labels &order) const {
  std::vector<int64_t> permutation;
  for (int label : order)
    permutation.push_back(std::ranges::find(term.labels, label) -
                          term.labels.begin());
  return transpose(term.x, permutation);
}

// [batch, left, summed] times [batch, summed, right].
Term Einsum::joined(const Term &lhs, const Term &rhs,
                    const Labels &kept) const {
  Labels batch, left, right, summed;
  for (int label : lhs.labels) {
    if (!has(rhs.labels, label))
      left.push_back(label);
    else
      (has(kept, label) ? batch : summed).push_back(label);
  }
  for (int label : rhs.labels)
    if (!has(lhs.labels, label))
      right.push_back(label);
  auto together = [](Labels labels, const Labels &more) {
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
  };
  Labels all = together(together(batch, left), right);
  Dims shape;
  for (int label : all)
    shape.push_back(sizeOf(label));
  Tensor a = arranged(lhs, together(together(batch, left), summed));
  Tensor b = arranged(rhs, together(together(batch, summed), right));
  a = reshape(a, {sizeOf(batch), sizeOf(left), sizeOf(summed)});
  b = reshape(b, {sizeOf(batch), sizeOf(summed), sizeOf(right)});
  Tensor product = summed.empty() ? a * b : matmul(a, b);
  return {reshape(product, shape), all};
}

Tensor Einsum::record(std::span<const Tensor> operands) {
  std::string_view text = equation, result;
  size_t arrow = text.find("->");
  bool isImplied = arrow == std::string_view::npos;
  if (!isImplied) {
    result = text.substr(arrow + 2);
    text = text.substr(0, arrow);
  }
  std::vector<Term> terms;
  for (const Tensor &x : operands) {
    size_t comma = text.find(',');
    bool isLast = &x == &operands.back();
    if (isLast != (comma == std::string_view::npos))
      fail(fmt::format("there are not {} operands", operands.size()));
    terms.push_back(termOf(x, text.substr(0, comma)));
    learnSizes(terms.back());
    text = isLast ? std::string_view() : text.substr(comma + 1);
  }
  Labels wanted = isImplied ? impliedResult() : parse(result, hiddenRank);
  for (int label : wanted)
    if (!sizes.contains(label) || std::ranges::count(wanted, label) > 1)
      fail("a label of the result stands twice, or in no operand");

  Term whole;
  for (size_t i = 0; i < terms.size(); ++i) {
    // What the result or a later operand needs.
    Labels kept = wanted;
    for (size_t j = i + 1; j < terms.size(); ++j)
      kept.insert(kept.end(), terms[j].labels.begin(), terms[j].labels.end());
    Labels here = kept;
    here.insert(here.end(), whole.labels.begin(), whole.labels.end());
    Term term = summedTo(expanded(terms[i]), here);
    whole = i == 0 ? term : joined(whole, term, kept);
    whole = summedTo(whole, kept);
  }
  return arranged(whole, wanted);
}

} // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::source_location where) try {
  if (operands.empty())
    Composed("einsum", Arg(0, where)).fail("there is no operand");
  Composed call("einsum", Arg(operands[0], where));
  for (const Tensor &operand : operands)
    detail::checkNotEmpty(operand, where);
  return Einsum(call, equation).record(operands);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
