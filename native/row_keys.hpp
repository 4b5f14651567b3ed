// Rows as numbers, by which a warm start finds them again.
#pragma once

#include "lanes.hpp"

namespace kw::KW_ARCH {

// out_i = sum_k (x_ik ^ x_ik >> 32) m_k modulo 2^64. Small integers as floats differ in their high
// bits only, so those are folded onto the low ones.
inline void mix(Matrix<const std::uint64_t> bits, Vector<const std::uint64_t> multipliers,
                Vector<std::uint64_t> out) {
  using V = Lanes<std::uint64_t>;
  for (Size i = 0; i < bits.rows; ++i) {
    const std::uint64_t* const row = bits.row(i);
    V lanes{};
    Size k = 0;
    for (; k + kLanes<V> <= bits.columns; k += kLanes<V>) {
      const V x = load<V>(row + k);
      lanes = lanes + (x ^ (x >> 32)) * load<V>(multipliers.data + k);
    }
    std::uint64_t total = sum_of(lanes);
    for (; k < bits.columns; ++k) total += (row[k] ^ (row[k] >> 32)) * multipliers[k];
    out[i] = total;
  }
}

}  // namespace kw::KW_ARCH
