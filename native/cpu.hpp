// Which of the x86-64 levels this processor, and the system on it, can run.
//
// Not __builtin_cpu_supports: it needs symbols of libgcc or compiler-rt that some linkers lack.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

namespace kw {

inline int x86_level() {
  unsigned a, b, c, d, basic, b7, low, high;
  if (!__get_cpuid(1, &a, &b, &basic, &d)) return 1;
  const unsigned second = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
  if ((basic & second) != second) return 1;
  const unsigned third = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE;
  if ((basic & third) != third) return 2;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));  // which registers the system saves
  if ((low & 0x6) != 0x6 || !__get_cpuid_count(7, 0, &a, &b7, &c, &d)) return 2;
  const unsigned avx2_bmi = 1u << 5 | 1u << 3 | 1u << 8;
  if ((b7 & avx2_bmi) != avx2_bmi) return 2;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & 1u << 5)) return 2;  // LZCNT
  const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // F DQ CD BW VL
  return (b7 & avx512) == avx512 && (low & 0xe6) == 0xe6 ? 4 : 3;
}

}  // namespace kw
#endif
