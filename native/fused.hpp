// Kernels exp(-distance) by tiles that are used where they are made: multiplied with coefficients and
// added up, or stored as words. Nothing of the size of a kernel matrix in floating point is written.
#pragma once

#include "gauss.hpp"
#include "l1.hpp"

namespace kw::KW_ARCH {

inline constexpr Size kLeftBytes = 1 << 18;  // of the left rows that meet all columns at a time

// A tile is made of a group of kTileRows left rows and a panel of columns. Both are packed line by
// line: one line per feature, then one with what a row contributes alone (its square or its sum), then
// the codes of categories.

template <Size width, class T>
void pack_lines(Matrix<const T> rows, const std::int64_t* which, Size count, Size lines, T* packed) {
  for (Size a = 0; a < width; ++a) {
    const T* const row = rows.row(which[std::min(a, count - 1)]);
    for (Size k = 0; k < lines; ++k) packed[k * width + a] = row[k];
  }
}

// sums[a][v] = sum_k add(group[k][a], panel[k][v]), as `sum_tile` of rows that are not packed.
template <class T, class Add>
KW_INLINE void sum_group(const T* group, const T* panel, Size d, Tile<T>& tile, Add add) {
  using V = Lanes<T>;
  V sums[kTileRows][kTileVectors] = {};
  for (Size k = 0; k < d; ++k) {
    V columns[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      columns[v] = load<V>(panel + k * Tile<T>::width + v * kLanes<V>);
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a) {
      const V x = splat<V>(group[k * kTileRows + a]);
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[a][v] = add(sums[a][v], x, columns[v]);
    }
  }
#pragma GCC unroll 8
  for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) tile.sums[a][v] = sums[a][v];
}

// |x - z|^2 of rows (x, |x|^2, 1); see gauss.hpp, also for rows that are far from the centre.
struct Squared {
  static constexpr Size after_lines = 1;  // numbers of a row that are not packed: the last one

  template <class T>
  static bool has_far(const T* group, Size d) {
    bool far = false;
    for (Size a = 0; a < kTileRows; ++a) far = far || group[d * kTileRows + a] > kLeastSquare<T>;
    return far;
  }

  template <class T>
  KW_INLINE static void distances_of(const T* group, const T* panel, Size d, Values, bool far,
                                     Tile<T>& tile) {
    using V = Lanes<T>;
    const T* const own = group + d * kTileRows;
    const T* const others = panel + d * Tile<T>::width;
    sum_group<T>(group, panel, d, tile, AddProduct{});
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v)
        tile.sums[a][v] =
            squared_distances<V>(own[a], load<V>(others + v * kLanes<V>), tile.sums[a][v]);
    if (far) sharpen(group, panel, d, tile);
  }

  // Make distances that are mostly rounding anew, from the differences.
  template <class T>
  [[gnu::noinline]] static void sharpen(const T* group, const T* panel, Size d, Tile<T>& tile) {
    using V = Lanes<T>;
    const auto unclear = [&](int a, int v) {
      const V squares = load<V>(panel + d * Tile<T>::width + v * kLanes<V>);
      const V both = splat<V>(group[d * kTileRows + a]) + squares;
      return less(if_far(both, tile.sums[a][v]), splat<V>(kClose));
    };
    unsigned blurred = 0;
    for (int a = 0; a < kTileRows; ++a)
      for (int v = 0; v < kTileVectors; ++v) blurred |= Operations<V>::bits(unclear(a, v));
    if (blurred == 0) return;
    Tile<T> sharp;
    sum_group<T>(group, panel, d, sharp, AddSquare{});
    for (int a = 0; a < kTileRows; ++a)
      for (int v = 0; v < kTileVectors; ++v)
        tile.sums[a][v] = select(unclear(a, v), sharp.sums[a][v], tile.sums[a][v]);
  }
};

// sum_k |x_k - z_k| of rows (x, sum of x, codes), and the weights of the categories whose codes
// differ; see l1.hpp.
struct Absolute {
  static constexpr Size after_lines = 0;

  template <class T>
  static bool has_far(const T*, Size) {
    return false;
  }

  template <class T>
  KW_INLINE static void distances_of(const T* group, const T* panel, Size d, Values weights, bool,
                                     Tile<T>& tile) {
    using V = Lanes<T>;
    sum_group<T>(group, panel, std::min(d, kSummedFeatures), tile, AddMaximum{});
    for (Size k = kSummedFeatures; k < d; k += kSummedFeatures) {
      Tile<T> part;
      sum_group<T>(group + k * kTileRows, panel + k * Tile<T>::width,
                   std::min(d - k, kSummedFeatures), part, AddMaximum{});
      for (int a = 0; a < kTileRows; ++a)
        for (int v = 0; v < kTileVectors; ++v) tile.sums[a][v] += part.sums[a][v];
    }
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const V sums = load<V>(panel + d * Tile<T>::width + v * kLanes<V>);
        const V maxima = tile.sums[a][v];
        tile.sums[a][v] = (maxima - splat<V>(group[d * kTileRows + a])) + (maxima - sums);
      }
    for (Size k = 0; k < weights.size; ++k) {
      const Size line = d + 1 + k;
      const V weight = splat<V>(T(weights[k]));
      for (int v = 0; v < kTileVectors; ++v) {
        const V codes = load<V>(panel + line * Tile<T>::width + v * kLanes<V>);
        for (int a = 0; a < kTileRows; ++a)
          tile.sums[a][v] +=
              select(equal(splat<V>(group[line * kTileRows + a]), codes), V{}, weight);
      }
    }
  }
};

// Packed left rows, as many as stay in the second-level cache.
template <class Kind, class T>
class Groups {
 public:
  // `weights` are those of the categories.
  Groups(Matrix<const T> rows, Values weights, Workspace& work)
      : rows_(rows),
        weights_(weights),
        lines_(rows.columns - Kind::after_lines),
        d_(lines_ - 1 - weights.size),
        most_(std::max<Size>(1, kLeftBytes / (lines_ * kTileRows * Size(sizeof(T))))),
        packed_(work.take<T>(most_ * lines_ * kTileRows)),
        panel_(work.take<T>(lines_ * Tile<T>::width)),
        far_(work.take<bool>(most_)) {}

  Size most_rows() const { return most_ * kTileRows; }

  void pack(const std::int64_t* which, Size count) {
    count_ = 0;
    for (Size i = 0; i < count; i += kTileRows, ++count_) {
      T* const group = packed_ + count_ * lines_ * kTileRows;
      pack_lines<kTileRows>(rows_, which + i, std::min<Size>(kTileRows, count - i), lines_, group);
      far_[count_] = Kind::has_far(group, d_);
    }
  }

  // Call `use(group, tile)` with the kernel of each group from `first` on and some columns.
  template <class Use>
  KW_INLINE void meet(const std::int64_t* columns, Size count, Size first, Use use) {
    using V = Lanes<T>;
    pack_lines<Tile<T>::width>(rows_, columns, count, lines_, panel_);
    for (Size g = first; g < count_; ++g) {
      Tile<T> tile;
      Kind::distances_of(packed_ + g * lines_ * kTileRows, panel_, d_, weights_, far_[g], tile);
#pragma GCC unroll 8
      for (int a = 0; a < kTileRows; ++a)
#pragma GCC unroll 4
        for (int v = 0; v < kTileVectors; ++v) tile.sums[a][v] = kernel_of<V>(tile.sums[a][v]);
      use(g, tile);
    }
  }

 private:
  Matrix<const T> rows_;
  Values weights_;
  Size lines_, d_, most_, count_ = 0;
  T *packed_, *panel_;
  bool* far_;
};

// sums[j] += sum_a change[a] tile[a][j]: over the rows of a tile in its own type, then in double. Over
// more rows in float the sum would round too much.
template <class T>
KW_INLINE void add_tile(const Tile<T>& tile, const T* change, double* sums) {
  using V = Lanes<T>;
  using Wide = Lanes<double>;
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v) {
    V total{};
#pragma GCC unroll 8
    for (int a = 0; a < kTileRows; ++a) total = total + splat<V>(change[a]) * tile.sums[a][v];
    T numbers[kLanes<V>];
    store<V>(numbers, total);
#pragma GCC unroll 4
    for (Size k = 0; k < kLanes<V>; k += kLanes<Wide>) {
      double* const at = sums + v * kLanes<V> + k;
      store<Wide>(at, load<Wide>(at) + load_wide<Wide>(numbers + k));
    }
  }
}

// out[c] += sum_i change[i] k(left_i, c) for the columns c.
template <class Kind, class T>
void add_products_of(Matrix<const T> rows, Values weights, Indices left, Values change,
                     Indices columns, Vector<double> out, Workspace& work) {
  constexpr Size width = Tile<T>::width;
  const Borrowed borrowed(work);
  Groups<Kind, T> groups(rows, weights, work);
  T* const by = work.take<T>(groups.most_rows());
  alignas(64) double sums[width];
  for (Size i = 0; i < left.size; i += groups.most_rows()) {
    const Size count = std::min(groups.most_rows(), left.size - i);
    groups.pack(left.data + i, count);
    for (Size a = 0; a < count + kTileRows && a < groups.most_rows(); ++a)
      by[a] = a < count ? T(change[i + a]) : T(0);
    for (Size j = 0; j < columns.size; j += width) {
      const Size some = std::min(width, columns.size - j);
      std::fill_n(sums, width, 0.0);
      groups.meet(columns.data + j, some, 0, [&](Size g, const Tile<T>& tile) {
        add_tile<T>(tile, by + g * kTileRows, sums);
      });
      for (Size a = 0; a < some; ++a) out[columns[j + a]] += sums[a];
    }
  }
}

// What a tile below the diagonal adds: by its rows to the sums of its columns, as `add_tile`, and by its
// columns to those of its rows, of which `across` has a vector each.
KW_INLINE void add_both_ways(const Tile<double>& tile, const double* by_rows,
                             const double* by_columns, double* sums, double* across) {
  using V = Lanes<double>;
  add_tile<double>(tile, by_rows, sums);
#pragma GCC unroll 8
  for (int a = 0; a < kTileRows; ++a) {
    V total = load<V>(across + a * kLanes<V>);
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v)
      total = total + load<V>(by_columns + v * kLanes<V>) * tile.sums[a][v];
    store<V>(across + a * kLanes<V>, total);
  }
}

// Set what stands on the diagonal and beyond it to zero: row a of the tile meets the diagonal at
// column `diagonal` + a.
inline void keep_below(Tile<double>& tile, Size diagonal) {
  using V = Lanes<double>;
  for (int a = 0; a < kTileRows; ++a)
    for (int v = 0; v < kTileVectors; ++v)
      for (Size k = 0; k < kLanes<V>; ++k)
        if (v * kLanes<V> + k >= diagonal + a) tile.sums[a][v][k] = 0;
}

// out[i] += sum_j change[j] k(i, j) for all i and j of `which`, as far as i or j is in [first, last)
// and none is beyond: every kernel value is made once and used twice. k(i, i) = 1.
template <class Kind>
void add_mutual_products_of(Matrix<const double> rows, Values weights, Indices which, Values change,
                            Size first, Size last, Vector<double> out, Workspace& work) {
  constexpr Size width = Tile<double>::width, lanes = kLanes<Lanes<double>>;
  const Borrowed borrowed(work);
  Groups<Kind, double> groups(rows, weights, work);
  const Size most = groups.most_rows();
  double* const by = work.take<double>(most);
  double* const across = work.take<double>(most * lanes);
  alignas(64) double sums[width], by_columns[width];
  for (Size i = first; i < last; i += most) {
    const Size count = std::min(most, last - i);
    groups.pack(which.data + i, count);
    for (Size a = 0; a < most; ++a) by[a] = a < count ? change[i + a] : 0.0;
    std::fill_n(across, most * lanes, 0.0);
    for (Size j = 0; j < i + count; j += width) {
      const Size some = std::min(width, i + count - j);
      const Size before = std::max<Size>(0, j - i) / kTileRows;  // groups that end before the panel
      std::fill_n(sums, width, 0.0);
      for (Size k = 0; k < width; ++k) by_columns[k] = k < some ? change[j + k] : 0.0;
      groups.meet(which.data + j, some, before, [&](Size g, Tile<double>& tile) {
        const Size at = g * kTileRows, diagonal = i + at - j;
        if (diagonal < width) keep_below(tile, diagonal);
        add_both_ways(tile, by + at, by_columns, sums, across + at * lanes);
      });
      for (Size k = 0; k < some; ++k) out[which[j + k]] += sums[k];
    }
    for (Size a = 0; a < count; ++a)
      out[which[i + a]] += change[i + a] + sum_of(load<Lanes<double>>(across + a * lanes));
  }
}

inline void add_mutual_products(bool squared, Matrix<const double> rows, Values weights,
                                Indices which, Values change, Size first, Size last,
                                Vector<double> out, Workspace& work) {
  if (squared)
    add_mutual_products_of<Squared>(rows, weights, which, change, first, last, out, work);
  else
    add_mutual_products_of<Absolute>(rows, weights, which, change, first, last, out, work);
}

template <class T>
void add_products(bool squared, Matrix<const T> rows, Values weights, Indices left, Values change,
                  Indices columns, Vector<double> out, Workspace& work) {
  if (squared)
    add_products_of<Squared, T>(rows, weights, left, change, columns, out, work);
  else
    add_products_of<Absolute, T>(rows, weights, left, change, columns, out, work);
}

}  // namespace kw::KW_ARCH
