// All leaves for one instruction set, KW_ARCH. Compiled once per set, so nothing here may leave a
// symbol that another set could pick up: every function stands in its namespace.
#include "active_set.hpp"
#include "adatron.hpp"
#include "box.hpp"
#include "contraction.hpp"
#include "energy.hpp"
#include "gauss.hpp"
#include "l1.hpp"
#include "landmarks.hpp"
#include "lines.hpp"
#include "pairs.hpp"
#include "row_keys.hpp"
#include "rows.hpp"
#include "sigmoids.hpp"
#include "square.hpp"
#include "stored.hpp"
#include "table.hpp"

#define KW_STRING(name) #name
#define KW_NAME(name) KW_STRING(name)

namespace kw::KW_ARCH {

template <class S, class T>
constexpr RowLeaves<S, T> row_leaves() {
  return {.scaled_rows = scaled_rows<S, T>,
          .shifted_rows = shifted_rows<S, T>,
          .centred_rows = centred_rows<S, T>};
}

template <class T>
constexpr MatrixLeaves<T> matrix_leaves() {
  return {.exp_of_minus_rows = exp_of_minus_rows<T>,
          .transpose = transpose<T>,
          .other_side = other_side<T>,
          .gauss = exp_tiles<Gauss, T>,
          .laplace = exp_tiles<Laplace, T>,
          .l1_distances = l1_distances<T>,
          .add_products = add_products<T>,
          .contract = contract<T>,
          .whole_terms = whole_terms<T>,
          .gather = gather<T, Matrix<const T>>,
          .gather_wide = gather<double, Matrix<const T>>,
          .swap_columns = swap_columns<T>,
          .add_rows = add_rows<Matrix<const T>>,
          .solve_some = solve_some<T>,
          .solve_stored = solve_stored<Matrix<const T>>,
          .heights_on_lines = heights_on_lines<T>,
          .solve_pairs = solve_pairs<T>,
          .sweep = sweep<T>,
          .sweep_to_margin = sweep_to_margin<T>};
}

extern const Table table;
constinit const Table table{.level = KW_NAME(KW_ARCH),
                            .rows_ff = row_leaves<float, float>(),
                            .rows_fd = row_leaves<float, double>(),
                            .rows_df = row_leaves<double, float>(),
                            .rows_dd = row_leaves<double, double>(),
                            .singles = matrix_leaves<float>(),
                            .doubles = matrix_leaves<double>(),
                            .word_squares = {.fill_by_singles = fill_square<float, Word>,
                                             .fill_by_doubles = fill_square<double, Word>,
                                             .squeeze = squeeze_square<Word>,
                                             .solve = solve_square<Word>},
                            .double_squares = {.fill_by_singles = nullptr,
                                               .fill_by_doubles = fill_square<double, double>,
                                               .squeeze = squeeze_square<double>,
                                               .solve = solve_square<double>},
                            .add_mutual_products = add_mutual_products,
                            .project_to_sum = project_to_sum,
                            .repair = repair,
                            .first_point = first_point,
                            .reach = reach,
                            .intercept = intercept,
                            .kkt_violation = kkt_violation,
                            .duality_gap = duality_gap,
                            .snap = snap,
                            .certify = certify,
                            .newton_system = newton_system,
                            .centre = centre,
                            .walk = walk,
                            .residuals = residuals,
                            .squared_gaps = squared_gaps,
                            .mix = mix,
                            .fit_sigmoids = fit_sigmoids,
                            .limited_distances = limited_distances,
                            .limited_contraction = limited_contraction};

}  // namespace kw::KW_ARCH
