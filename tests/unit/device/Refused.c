// Shared objects that are no images of kernels, each for one reason. What runs
// ends the process.

__attribute__((unused)) static void end(void) {
  __asm__ volatile("syscall" : : "a"(231), "D"(99) : "rcx", "r11", "memory");
}

#ifdef HAS_CONSTRUCTOR
__attribute__((constructor)) static void begin(void) { end(); }
#endif

#ifdef HAS_DESTRUCTOR
__attribute__((destructor)) static void finish(void) { end(); }
#endif

#ifdef HAS_RELOCATION
extern const int values[2];
const int values[2] = {1, 2};
extern const int *const pointers[1];
const int *const pointers[1] = {values};
#endif

#ifdef HAS_UNDEFINED
extern int missing(void);
int calls(void) { return missing(); }
#endif

#ifdef HAS_THREAD_LOCAL
__thread int own;
int *address(void) { return &own; }
#endif

#ifdef HAS_RESOLVER
static void (*resolve(void))(void) {
  end();
  return 0;
}
void chosen(void) __attribute__((ifunc("resolve")));
#endif

void kernel(void) {}
