// The leaves as pointers to functions: one table per instruction set, of which import picks one.
#pragma once

#include "views.hpp"
#include "workspace.hpp"

namespace kw {

// Leaves that read rows of S and write rows of T.
template <class S, class T>
struct RowLeaves {
  double (*scaled_rows)(Matrix<const S>, Values centre, Values root, Matrix<T> out);
  double (*shifted_rows)(Matrix<const S>, Values centre, Values scales, Matrix<T> out);
  RowSizes (*centred_rows)(Matrix<const S>, Values centre, Values scales, bool squares,
                           Matrix<T> out);
};

template <class T>
using ExpTiles = void (*)(Matrix<const T> left, Matrix<const T> other, Values weights, bool far,
                          Matrix<T> out, Size first, Size last, Size stop, Workspace&);

// Leaves on matrices of one type of numbers.
template <class T>
struct MatrixLeaves {
  void (*exp_of_minus_rows)(Matrix<T>);
  void (*transpose)(Matrix<const T>, Matrix<T>);
  void (*other_side)(Matrix<const T>, Matrix<T>);
  ExpTiles<T> gauss, laplace;
  void (*l1_distances)(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, Workspace&);
  void (*add_products)(bool squared, Matrix<const T> rows, Values weights, Indices left,
                       Values change, Indices columns, Vector<double> out, Workspace&);
  void (*contract)(Matrix<const T> K, Size start, Matrix<const T> left, Matrix<const T> right,
                   Size d, Size categories, bool squares, Vector<double> mixed,
                   Vector<double> ends, Workspace&);
  void (*whole_terms)(Matrix<const T> rows, Size categories, bool squares, Values mixed,
                      Values ends, Vector<double> out);
  void (*gather)(Matrix<const T>, Indices rows, Indices columns, Matrix<T> out);
  void (*gather_wide)(Matrix<const T>, Indices rows, Indices columns, Matrix<double> out);
  void (*swap_columns)(Matrix<T>, Indices, Indices);
  void (*add_rows)(Matrix<const T>, Indices rows, Values change, Vector<double> out);
  Steps (*solve_some)(Matrix<const T>, Vector<const T> diag, Vector<double> b,
                      Vector<double> gradient, const Bounds&, Indices some, bool copies,
                      double tol, std::int64_t limit, Workspace&);
  Steps (*solve_stored)(Matrix<const T>, Vector<double> b, Vector<double> g, Values p,
                        const Bounds&, bool known, double tol, std::int64_t max_steps,
                        double most_swept, double total, Certificate&, Workspace&);
  void (*heights_on_lines)(Matrix<const double> X, Indices columns, const Lines&, Matrix<T> out);
  Size (*solve_pairs)(Matrix<const T>, const Pairs&, Size first, Size last, Workspace&);
  Epochs (*sweep)(Matrix<const T>, Vector<double> b, Vector<double> g, Values lo, Values hi,
                  double total, double nu, double rho, double eta, double tol,
                  std::int64_t max_epochs);
  Epochs (*sweep_to_margin)(Matrix<const T>, Vector<double> b, Values p, Values lo, Values hi,
                            double eta, double tol, std::int64_t max_epochs);
};

// Leaves on the square of a working set, which is stored as S.
template <class S>
struct SquareLeaves {
  void (*fill_by_singles)(bool squared, Matrix<const float> rows, Values weights, Indices which,
                          Size first, Size last, Matrix<S> K, Workspace&);
  void (*fill_by_doubles)(bool squared, Matrix<const double> rows, Values weights, Indices which,
                          Size first, Size last, Matrix<S> K, Workspace&);
  void (*squeeze)(Matrix<S> K, Indices kept, Workspace&);
  Steps (*solve)(Matrix<const S> K, Vector<double> b, Vector<double> g, const Bounds&, double tol,
                 std::int64_t max_steps, double most_swept, Workspace&);
};

struct Table {
  const char* level;
  RowLeaves<float, float> rows_ff;
  RowLeaves<float, double> rows_fd;
  RowLeaves<double, float> rows_df;
  RowLeaves<double, double> rows_dd;
  MatrixLeaves<float> singles;
  MatrixLeaves<double> doubles;
  SquareLeaves<Word> word_squares;
  SquareLeaves<double> double_squares;

  void (*add_mutual_products)(bool squared, Matrix<const double> rows, Values weights, Indices which,
                              Values change, Size first, Size last, Vector<double> out, Workspace&);

  bool (*project_to_sum)(Values, Values lo, Values hi, double total, Vector<double> out);
  bool (*repair)(Values, Values lo, Values hi, double total, Vector<double> out, Workspace&);
  bool (*first_point)(Values lo, Values hi, double total, Vector<double> out);
  Reach (*reach)(Values b, Values gradient, const Bounds&);
  double (*intercept)(Values b, Values gradient, const Bounds&);
  double (*kkt_violation)(Values b, Values residual, const Bounds&);
  double (*duality_gap)(Values b, Values gradient, Values pull, Values p, const Bounds&,
                        double constant, Workspace&);
  void (*snap)(Vector<double> b, const Bounds&);
  Certificate (*certify)(Values b, Values gradient, Values p, const Bounds&, double total,
                         Workspace&);

  void (*newton_system)(Matrix<const double>, Values gradient, Indices free, double ridge,
                        Matrix<double> block, Vector<double> slope, Workspace&);
  void (*centre)(Vector<double> step);
  double (*walk)(Matrix<const double>, Vector<double> b, Values lo, Values hi,
                 Vector<double> gradient, Indices free, Values step, Workspace&);
  double (*residuals)(Values b, Values lo, Values hi, Values gradient, Vector<const bool> free,
                      Vector<double> held);

  void (*squared_gaps)(Matrix<const double> Xt, Matrix<const std::int64_t> order, Indices classes,
                       Values weights, Values factors, Matrix<double> out, Workspace&);
  void (*mix)(Matrix<const std::uint64_t> bits, Vector<const std::uint64_t> multipliers,
              Vector<std::uint64_t> out);
  void (*fit_sigmoids)(Matrix<const double> F, Matrix<const double> T, Matrix<const double> W,
                       double mean, double precision, bool fixed, double enough,
                       std::int64_t max_steps, Vector<double> slope, Vector<double> intercept,
                       Workspace&);

  void (*limited_distances)(Matrix<const float> left, Matrix<const float> right,
                            Vector<const float> scales, Vector<const float> limits,
                            Matrix<float> out);
  void (*limited_contraction)(Matrix<const float> S, Matrix<const float> left,
                              Matrix<const float> right, Vector<const float> limits,
                              Vector<double> out);
};

#if defined(KW_LEVELS_X86)
namespace v2 {
extern const Table table;
}
namespace v3 {
extern const Table table;
}
namespace v4 {
extern const Table table;
}
#else
namespace baseline {
extern const Table table;
}
#endif

}  // namespace kw
