// The additive SVM: one table per column, solved exactly by Newton-CG.
//
// Model    f(x) = b + sum_k F_k[bin_k(x)].
// Code     z(x) of the bins of x, so that f(x) = w . z(x) + b: steps and indicators, see
//          step_code.hpp.
// Primal   P(w, b) = |w|^2 / 2 + r b^2 / 2 + sum_i c_i l(y_i f(x_i)), r = 1e-3,
//          l(m) = max(0, 1 - m)^2 or log(1 + exp(-m)).
// Dual     D(a) = -|sum_i a_i y_i z_i|^2 / 2 - (sum_i a_i y_i)^2 / (2 r)
//                 - sum_i c_i l*(-a_i / c_i). With a_i = -c_i l'(m_i), which is
//          feasible, the term of a row is c_i (l(m_i) - l'(m_i) m_i).
// Step     (R + Z' diag(c l'') Z) p = -grad P by conjugate gradients, with the blocks of
//          the columns as preconditioner, then the first of 1, 1/2, 1/4, ... that
//          lowers P enough [Nocedal 2006, algorithms 3.1, 7.1].
// Stop     P - D <= tol P.
//
// Z is never formed. Z p is one look-up per row and column in the tables of p; Z' v is
// a weighted histogram of each column and a cumulative sum over its bins. A product
// costs O(rows columns + bins). Every sum has one order, whatever the threads: rows in
// blocks of fixed size, histograms column by column.
//
// [Nocedal 2006] Numerical optimization, 2nd edition, Springer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "localsvm/bins.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/step_code.hpp"

namespace localsvm {

enum class AdditiveLoss : std::int32_t { squared_hinge = 0, logistic = 1 };

// weight: c_i of each row.
template <class Code>
struct AdditiveProblem {
    BinCodes<Code> rows;
    const std::int32_t* labels;
    const double* weight;
    AdditiveLoss loss;
};

struct AdditiveOptions {
    double tol = 1e-4;
    std::int64_t max_iter = 100;
};

namespace detail {

constexpr std::int64_t kRowBlock = 4096;
// Products of fewer entries are done before threads have started.
constexpr std::int64_t kEntriesPerThread = 1 << 19;

// Calls task(t) for t in [0, count), on threads if there are several.
template <class Task>
void for_each_part(std::int64_t count, int n_threads, const Task& task) {
    if (n_threads <= 1 || count <= 1) {
        for (std::int64_t t = 0; t < count; ++t) task(t);
        return;
    }
    StopFlag stop;
    run_tasks(count, n_threads, Watch{}, stop,
              [&](std::int64_t t, std::int64_t) { task(t); });
}

struct LossTerm {
    double value, slope, curvature;  // by the margin
};

inline LossTerm loss_at(AdditiveLoss loss, double margin) {
    if (loss == AdditiveLoss::squared_hinge) {
        const double lack = std::max(0.0, 1 - margin);
        return {lack * lack, -2 * lack, lack > 0 ? 2.0 : 0.0};
    }
    const double small = std::exp(-std::abs(margin));
    const double away = 1 / (1 + small);  // probability of the nearer class
    const double other = small * away;
    return {std::log1p(small) + std::max(0.0, -margin), margin > 0 ? -other : -away,
            away * other};
}

// One two-class task.
template <class Code>
class AdditiveSolver {
  public:
    // `coef`: start and result, the weights of the code and then the bias.
    AdditiveSolver(const AdditiveProblem<Code>& problem, const StepCode& code,
                   std::int32_t positive, double* coef, int n_threads)
        : problem_(problem),
          code_(code),
          positive_(positive),
          coef_(coef, coef + code.n_weights() + 1),
          result_(coef),
          n_threads_(static_cast<int>(std::min<std::int64_t>(
              n_threads,
              problem.rows.n_rows * problem.rows.n_cols / kEntriesPerThread))),
          decisions_(size(problem.rows.n_rows)),
          slope_(decisions_.size()),
          curvature_(decisions_.size()),
          product_(decisions_.size()),
          table_(size(code.n_bins())),
          penalty_(coef_.size(), 1.0) {
        penalty_.back() = kBiasPenalty;
    }

    Certificate solve(const AdditiveOptions& options, StopFlag& stop) {
        look_up(coef_, decisions_);
        Certificate found;
        Doubles gradient(coef_.size());
        while (true) {
            found.primal = measure(gradient, found.dual);
            found.status = ending(found, options, stop);
            if (found.status != Status::max_iter || found.n_iter == options.max_iter)
                break;
            const Doubles step = newton_step(gradient, found, options, stop);
            if (!search_line(step, gradient, found.primal)) {
                found.status = Status::stalled;
                break;
            }
            ++found.n_iter;
        }
        std::copy(coef_.begin(), coef_.end(), result_);
        return found;
    }

  private:
    static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

    // max_iter means: continue, if there is a step left.
    Status ending(const Certificate& found, const AdditiveOptions& options,
                  const StopFlag& stop) const {
        if (!std::isfinite(found.primal)) return Status::not_finite;
        if (found.relative_gap() <= options.tol) return Status::converged;
        const bool interrupted = stop.reason() == StopReason::interrupted;
        if (interrupted || (stop.raised() && found.n_iter > 0)) return Status::max_time;
        return Status::max_iter;
    }

    double sign(std::int64_t i) const {
        return problem_.labels[i] == positive_ ? 1.0 : -1.0;
    }

    template <class Task>
    void for_row_blocks(const Task& task) const {
        const std::int64_t n_rows = problem_.rows.n_rows;
        for_each_part((n_rows + kRowBlock - 1) / kRowBlock, n_threads_,
                      [&](std::int64_t b) {
                          task(b, b * kRowBlock, std::min(n_rows, (b + 1) * kRowBlock));
                      });
    }

    // out = Z weights + bias.
    void look_up(const Doubles& weights, Doubles& out) {
        code_.tables(weights.data(), table_.data());
        for_row_blocks([&](std::int64_t, std::int64_t first, std::int64_t last) {
            std::fill(out.begin() + first, out.begin() + last, weights.back());
            add_looked_up(
                problem_.rows, table_.data(),
                [this](std::int64_t k) { return code_.bin_start(k); }, first, last,
                out.data());
        });
    }

    // Calls gather(k, histogram of v in column k) for each column.
    template <class Gather>
    void for_histograms(const Doubles& v, const Gather& gather) const {
        for_each_part(code_.n_cols(), n_threads_, [&](std::int64_t k) {
            const Doubles histogram = weigh_bins(problem_.rows.column(k), v.data(),
                                                 problem_.rows.n_rows, code_.width(k));
            gather(k, histogram.data());
        });
    }

    // out = (Z' v, sum v).
    void transposed(const Doubles& v, Doubles& out) const {
        for_histograms(v, [&](std::int64_t k, const double* histogram) {
            code_.gather(k, histogram, out.data());
        });
        double sum = 0;
        for (const double value : v) sum += value;
        out.back() = sum;
    }

    // Slopes and curvatures of the rows, the gradient, P (returned) and D.
    double measure(Doubles& gradient, double& dual) {
        Doubles partial(size(problem_.rows.n_rows / kRowBlock + 1) * 2);
        for_row_blocks([&](std::int64_t b, std::int64_t first, std::int64_t last) {
            double primal_sum = 0, dual_sum = 0;
            for (std::int64_t i = first; i < last; ++i) {
                const double margin = sign(i) * decisions_[size(i)];
                const LossTerm term = loss_at(problem_.loss, margin);
                const double weight = problem_.weight[i];
                primal_sum += weight * term.value;
                dual_sum += weight * (term.value - term.slope * margin);
                slope_[size(i)] = sign(i) * weight * term.slope;
                curvature_[size(i)] = weight * term.curvature;
            }
            partial[size(2 * b)] = primal_sum;
            partial[size(2 * b + 1)] = dual_sum;
        });
        transposed(slope_, gradient);
        double primal = 0;
        dual = 0;
        for (std::size_t b = 0; b < partial.size(); b += 2) {
            primal += partial[b];
            dual += partial[b + 1];
        }
        for (std::size_t j = 0; j < gradient.size(); ++j) {
            dual -= gradient[j] * gradient[j] / (2 * penalty_[j]);
            primal += penalty_[j] * coef_[j] * coef_[j] / 2;
            gradient[j] += penalty_[j] * coef_[j];
        }
        return primal;
    }

    ColumnBlocks column_blocks() const {
        ColumnBlocks blocks(code_);
        for_histograms(curvature_, [&](std::int64_t k, const double* histogram) {
            blocks.set(k, histogram);
        });
        double sum = 0;
        for (const double value : curvature_) sum += value;
        blocks.finish(sum);
        return blocks;
    }

    // out = Hessian * p.
    void multiply(const Doubles& p, Doubles& out) {
        look_up(p, product_);
        for (std::size_t i = 0; i < product_.size(); ++i) product_[i] *= curvature_[i];
        transposed(product_, out);
        for (std::size_t j = 0; j < p.size(); ++j) out[j] += penalty_[j] * p[j];
    }

    // Conjugate gradients, as exact as the gap asks for.
    Doubles newton_step(const Doubles& gradient, const Certificate& found,
                        const AdditiveOptions& options, const StopFlag& stop) {
        const ColumnBlocks blocks = column_blocks();
        Doubles step(coef_.size()), residual(coef_.size()), scaled(coef_.size()),
            image(coef_.size());
        for (std::size_t j = 0; j < step.size(); ++j) residual[j] = -gradient[j];
        blocks.solve(residual, scaled);
        Doubles direction = scaled;
        double size_now = dot(residual, scaled);
        // The gap falls with the square of the residual: no closer than tol asks for.
        const double gap = found.relative_gap();
        const double enough = 0.3 * std::min(1.0, std::sqrt(options.tol / gap));
        const double forcing = std::max(enough, std::min(0.1, std::sqrt(gap)));
        const double target = forcing * forcing * size_now;
        const std::size_t most = 2 * step.size() + 10;
        for (std::size_t t = 0; t < most && size_now > target; ++t) {
            if (stop.raised() && t > 0) break;
            multiply(direction, image);
            const double rate = size_now / dot(direction, image);
            for (std::size_t j = 0; j < step.size(); ++j) {
                step[j] += rate * direction[j];
                residual[j] -= rate * image[j];
            }
            blocks.solve(residual, scaled);
            const double size_next = dot(residual, scaled);
            const double factor = size_next / size_now;
            for (std::size_t j = 0; j < step.size(); ++j)
                direction[j] = scaled[j] + factor * direction[j];
            size_now = size_next;
        }
        return step;
    }

    // P without the rows' part, and the rows' part, at coef + rate * step.
    double objective(double rate, const Doubles& step) const {
        Doubles partial(size(problem_.rows.n_rows / kRowBlock + 1));
        for_row_blocks([&](std::int64_t b, std::int64_t first, std::int64_t last) {
            double sum = 0;
            for (std::int64_t i = first; i < last; ++i) {
                const double moved = decisions_[size(i)] + rate * product_[size(i)];
                sum +=
                    problem_.weight[i] * loss_at(problem_.loss, sign(i) * moved).value;
            }
            partial[size(b)] = sum;
        });
        double primal = 0;
        for (const double sum : partial) primal += sum;
        for (std::size_t j = 0; j < coef_.size(); ++j) {
            const double moved = coef_[j] + rate * step[j];
            primal += penalty_[j] * moved * moved / 2;
        }
        return primal;
    }

    // Moves along the step; false if no length of it lowers P.
    bool search_line(const Doubles& step, const Doubles& gradient, double primal) {
        constexpr double share = 1e-4;
        constexpr int most_halvings = 30;
        look_up(step, product_);
        const double slope = dot(step, gradient);
        if (!(slope < 0)) return false;
        double rate = 1;
        for (int t = 0; t < most_halvings; ++t, rate /= 2) {
            const double reached = objective(rate, step);
            if (!(reached < primal) || reached > primal + share * rate * slope)
                continue;
            for (std::size_t j = 0; j < coef_.size(); ++j) coef_[j] += rate * step[j];
            for (std::size_t i = 0; i < decisions_.size(); ++i)
                decisions_[i] += rate * product_[i];
            return true;
        }
        return false;
    }

    const AdditiveProblem<Code>& problem_;
    const StepCode& code_;
    std::int32_t positive_;
    Doubles coef_;
    double* result_;
    int n_threads_;
    Doubles decisions_, slope_, curvature_, product_, table_, penalty_;
};

}  // namespace detail

// Solves the tasks "class first_positive + t against the rest". coef: tasks x (weights
// + 1), start and result. Certificates by task.
template <class Code>
std::vector<Certificate> solve_additive(
    const AdditiveProblem<Code>& problem, const detail::StepCode& code,
    std::int32_t first_positive, std::int64_t n_tasks, const AdditiveOptions& options,
    double* coef, int n_threads, const Watch& watch, StopFlag& stop) {
    std::vector<Certificate> found(static_cast<std::size_t>(n_tasks));
    const auto n_workers = count_workers(n_tasks, n_threads);
    const int n_inner = static_cast<int>(n_threads / n_workers);
    run_tasks(n_tasks, n_threads, watch, stop, [&](std::int64_t t, std::int64_t) {
        detail::AdditiveSolver<Code> solver(
            problem, code, first_positive + static_cast<std::int32_t>(t),
            coef + t * (code.n_weights() + 1), n_inner);
        found[static_cast<std::size_t>(t)] = solver.solve(options, stop);
    });
    return found;
}

}  // namespace localsvm
