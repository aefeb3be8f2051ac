// What Google's conformance runner wants of glibc 2.38 and GCC 13, for machines whose libraries are older: preloaded, it stands in for them.
#include <cstdlib>
#include <ios>

namespace std {
void ios_base_library_init() { static ios_base::Init streams; }
}

extern "C" {
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }
}
