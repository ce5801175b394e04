/// SINTER_FOR_EACH: applies a macro to each of its arguments.
#pragma once

#define SINTER_PARENS ()
#define SINTER_EXPAND(...)                                                     \
  SINTER_EXPAND3(SINTER_EXPAND3(SINTER_EXPAND3(SINTER_EXPAND3(__VA_ARGS__))))
#define SINTER_EXPAND3(...)                                                    \
  SINTER_EXPAND2(SINTER_EXPAND2(SINTER_EXPAND2(SINTER_EXPAND2(__VA_ARGS__))))
#define SINTER_EXPAND2(...)                                                    \
  SINTER_EXPAND1(SINTER_EXPAND1(SINTER_EXPAND1(SINTER_EXPAND1(__VA_ARGS__))))
#define SINTER_EXPAND1(...) __VA_ARGS__

/// `macro(a) macro(b) ...` for up to 80 arguments; nothing for none.
#define SINTER_FOR_EACH(macro, ...)                                            \
  __VA_OPT__(SINTER_EXPAND(SINTER_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define SINTER_FOR_EACH_STEP(macro, first, ...)                                \
  macro(first)                                                                 \
      __VA_OPT__(SINTER_FOR_EACH_AGAIN SINTER_PARENS(macro, __VA_ARGS__))
#define SINTER_FOR_EACH_AGAIN() SINTER_FOR_EACH_STEP
