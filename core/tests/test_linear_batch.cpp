// Many problems at once: the independent, the coupled and the coded form; threads.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "codes.hpp"
#include "localsvm/descent.hpp"
#include "localsvm/linear_batch.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/status.hpp"
#include "localsvm/weights.hpp"
#include "problem.hpp"
#include "reference.hpp"
#include "solver_checks.hpp"

namespace localsvm::testing {
namespace {

// 1 in the row's block, 1 / sqrt(lambda) in the global node, which is the last.
template <class T>
CodeStore<T> one_hot_codes(const Problem& problem, double lambda) {
    CodeStore<T> codes{{}, {}, 2, problem.n_blocks() + 1};
    for (const std::int64_t block : problem.block_of()) {
        codes.add(block, 1);
        codes.add(problem.n_blocks(), 1 / std::sqrt(lambda));
    }
    return codes;
}

// The rows of one block as a problem of their own.
Problem block_alone(const Problem& problem, std::int64_t block) {
    const std::int64_t first = problem.block_start[block];
    const std::int64_t count = problem.block_start[block + 1] - first;
    Problem part(Table(count, problem.table.n_cols));
    for (std::int64_t p = 0; p < count; ++p) {
        const std::int64_t i = problem.block_rows[first + p];
        std::copy_n(problem.table.row(i), problem.table.n_cols, part.table.row(p));
        part.labels[p] = problem.labels[i];
        part.bounds[p] = problem.bounds[i];
    }
    return part;
}

double distance(const double* a, const double* b, std::int64_t n) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return std::sqrt(sum);
}

// The primal is strongly convex, so the gap bounds the distance to the optimum.
double reach(const Certificate& certificate) {
    return std::sqrt(2 * std::max(0.0, certificate.primal - certificate.dual)) + 1e-9;
}

// w = sum_l v_l / lambda, and with w_l = w + v_l: w = sum_l w_l / (lambda + k)
// [Gu 2013, Eq. 12]. The last node is w, the others are v_l.
void check_coupling(const Run& run, const Problem& problem, double lambda) {
    const std::int64_t k = problem.n_blocks(), width = problem.width();
    const double* w = run.nodes.data() + k * width;
    for (std::int64_t j = 0; j < width; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += run.nodes[l * width + j];
        const double sum_of_pieces = sum + static_cast<double>(k) * w[j];
        CHECK_NEAR(w[j], sum / lambda, 1e-8);
        CHECK_NEAR(w[j], sum_of_pieces / (lambda + static_cast<double>(k)), 1e-8);
    }
}

// The nodes are the weights of the expansion, the global one over sqrt(lambda).
void check_coupled_nodes(const Run& run, const Machine& expanded, std::int64_t width,
                         double lambda) {
    std::vector<double> expected = weights_of(expanded, run.alpha.data());
    CHECK_EQUAL(run.nodes.size(), expected.size());
    for (std::size_t p = expected.size() - static_cast<std::size_t>(width);
         p < expected.size(); ++p)
        expected[p] /= std::sqrt(lambda);
    CHECK_AT_MOST(distance(run.nodes.data(), expected.data(),
                           static_cast<std::int64_t>(expected.size())),
                  1e-8);
}

void check_coupled(const Problem& problem, double lambda, Loss loss) {
    const DenseStore<double> store(problem.table);
    const Run run = run_coupled(store, problem, lambda, options_of(loss));
    const Machine expanded =
        expanded_machine(problem, coupled_codes(problem, lambda), loss);
    check_optimal(run.certificate(), expanded, run.alpha.data());
    check_coupling(run, problem, lambda);
    check_coupled_nodes(run, expanded, problem.width(), lambda);
}

void coupled_form_equals_the_expansion() {
    const Problem problem = random_problem({60, 4, 2, 4}, 21);
    for (const Loss loss : losses) {
        for (const double lambda : {0.1, 1.0, 50.0}) {
            check::context = name_of(loss) + ", lambda " + std::to_string(lambda);
            check_coupled(problem, lambda, loss);
        }
    }
}

void coded_form_equals_the_coupled_form() {
    const Problem problem = random_problem({60, 4, 2, 4}, 22);
    Problem ungrouped = problem;
    ungrouped.one_block();
    const DenseStore<double> store(problem.table);
    for (const Loss loss : losses) {
        for (const double lambda : {0.1, 5.0}) {
            check::context = name_of(loss) + ", lambda " + std::to_string(lambda);
            const CodeStore<double> codes = one_hot_codes<double>(problem, lambda);
            const Run coded =
                run_coded(store, ungrouped, codes.view(), options_of(loss));
            const Run coupled = run_coupled(store, problem, lambda, options_of(loss));
            const double primal = coupled.certificate().primal;
            CHECK_NEAR(coded.certificate().primal, primal, 2e-8 * primal);
            CHECK(coded.certificate().status == Status::converged);
        }
    }
}

void coded_form_equals_the_expansion() {
    const Problem problem = random_problem({60, 4}, 23);
    Numbers numbers(24);
    const CodeStore<double> codes = random_codes<double>(60, 5, numbers);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Machine expanded = expanded_machine(problem, codes.table(), loss);
        const Run dense = run_coded(DenseStore<double>(problem.table), problem,
                                    codes.view(), options_of(loss));
        check_optimal(dense.certificate(), expanded, dense.alpha.data());
        const std::vector<double> weights = weights_of(expanded, dense.alpha.data());
        CHECK_EQUAL(dense.nodes.size(), weights.size());
        CHECK_AT_MOST(distance(dense.nodes.data(), weights.data(), 5 * problem.width()),
                      1e-8);
        const Run sparse = run_coded(CsrStore<double, std::int32_t>(problem.table),
                                     problem, codes.view(), options_of(loss));
        const double primal = dense.certificate().primal;
        CHECK_NEAR(sparse.certificate().primal, primal, 2e-8 * primal);
    }
}

// With the duals of the other rows fixed, the first rows find their share of the
// solution; a prior stands for the others.
void a_prior_stands_for_other_rows() {
    constexpr std::int64_t n = 60, own = 35;
    const Problem problem = random_problem({n, 4}, 33);
    Numbers numbers(34);
    const CodeStore<double> codes = random_codes<double>(n, 5, numbers);
    const DenseStore<double> store(problem.table);
    const Problem part = problem.part(0, own), others = problem.part(own, n);
    const DenseStore<double> part_store(part.table), other_store(others.table);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        Options options = options_of(loss, 1e-10);
        const Run whole = run_coded(store, problem, codes.view(), options);
        std::vector<double> duals(whole.alpha.begin() + own, whole.alpha.end());
        for (std::int64_t i = 0; i < n - own; ++i)
            if (others.labels[i] != 1) duals[i] *= -1;
        options.prior.resize(whole.nodes.size());
        weigh_coded(BiasedRows<DenseRows<double>>{other_store.rows, others.bias},
                    codes.part(own, n).view(), duals.data(), 1, options.prior.data());
        const Run run = run_coded(part_store, part, codes.part(0, own).view(), options);
        CHECK(run.certificate().status == Status::converged);
        CHECK_AT_MOST(run.certificate().dual, run.certificate().primal);
        for (std::size_t j = 0; j < whole.nodes.size(); ++j)
            CHECK_NEAR(run.nodes[j] + options.prior[j], whole.nodes[j], 1e-4);
    }
}

void float_certificates_are_honest() {
    Problem problem = random_problem({60, 10, 2, 4, 5}, 25);
    const DenseStore<float> store(problem.table);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        const Options options = options_of(loss, 1e-4);
        const Run coupled = run_coupled(store, problem, 2.0, options);
        CHECK_AT_MOST(coupled.certificate().relative_gap(), 1e-4);
        check_honest(coupled.certificate(),
                     expanded_machine(problem, coupled_codes(problem, 2.0), loss),
                     coupled.alpha.data());
        const CodeStore<float> codes = one_hot_codes<float>(problem, 2.0);
        Problem ungrouped = problem;
        ungrouped.one_block();
        const Run coded = run_coded(store, ungrouped, codes.view(), options);
        CHECK_AT_MOST(coded.certificate().relative_gap(), 1e-4);
        check_honest(coded.certificate(),
                     expanded_machine(problem, codes.table(), loss),
                     coded.alpha.data());
    }
}

void check_independent(const Problem& problem, Loss loss) {
    const Options options = options_of(loss);
    const Run run =
        run_independent(DenseStore<double>(problem.table), problem, options);
    CHECK_EQUAL(static_cast<std::int64_t>(run.certificates.size()), problem.n_blocks());
    for (std::int64_t b = 0; b < problem.n_blocks(); ++b) {
        const Certificate& joint = run.certificates[static_cast<std::size_t>(b)];
        const Problem part = block_alone(problem, b);
        const Run alone =
            run_independent(DenseStore<double>(part.table), part, options);
        CHECK(joint.status == Status::converged);
        CHECK_NEAR(joint.primal, alone.certificate().primal, 2e-8 * joint.primal);
        CHECK_AT_MOST(distance(run.nodes.data() + b * problem.width(),
                               alone.nodes.data(), problem.width()),
                      reach(joint) + reach(alone.certificate()));
    }
}

void independent_form_equals_each_block_alone() {
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        check_independent(random_problem({90, 4, 2, 5}, 26), loss);
    }
}

void weak_coupling_is_independence() {
    const Problem problem = random_problem({60, 4, 2, 3}, 27);
    const DenseStore<double> store(problem.table);
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        double sum = 0;
        for (const Certificate& block :
             run_independent(store, problem, options_of(loss)).certificates)
            sum += block.primal;
        const Run coupled = run_coupled(store, problem, 1e9, options_of(loss));
        CHECK_NEAR(coupled.certificate().primal, sum, 1e-7 * sum);
    }
}

// Blocks 0, 2 and 5 of six have rows; block 2 has only one class.
Problem gappy_problem() {
    Problem problem = random_problem({60, 4}, 28);
    std::vector<std::int64_t> block_of;
    for (std::int64_t i = 0; i < 60; ++i) {
        block_of.push_back(i % 3 == 0 ? 0 : i % 3 == 1 ? 2 : 5);
        if (i % 3 == 1) problem.labels[i] = 0;
    }
    problem.group(block_of, 6);
    return problem;
}

void empty_blocks_and_blocks_of_one_class_are_solved() {
    const Problem problem = gappy_problem();
    for (const Loss loss : losses) {
        check::context = name_of(loss);
        check_independent(problem, loss);
        check_coupled(problem, 0.5, loss);
        const Run run = run_coupled(DenseStore<double>(problem.table), problem, 0.5,
                                    options_of(loss));
        for (const std::int64_t empty : {1, 3, 4})
            for (std::int64_t j = 0; j < problem.width(); ++j)
                CHECK_EQUAL(run.nodes[empty * problem.width() + j], 0.0);
    }
}

void rows_outside_the_blocks_take_no_part() {
    Problem problem = random_problem({40, 4, 2, 2}, 29);
    problem.block_start.pop_back();
    const Problem part = block_alone(problem, 0);
    Options options = options_of(Loss::hinge);
    options.start.assign(40, 0.25);
    const Run run = run_coupled(DenseStore<double>(problem.table), problem, 1, options);
    const Run alone =
        run_coupled(DenseStore<double>(part.table), part, 1, options_of(Loss::hinge));
    const double primal = alone.certificate().primal;
    CHECK_NEAR(run.certificate().primal, primal, 2e-8 * primal);
    for (std::int64_t i = 0; i < 40; ++i)
        if (problem.block_of()[i] < 0) CHECK_EQUAL(run.alpha[i], 0.25);
}

// Bit for bit: no tolerance.
void check_same(const Run& a, const Run& b) {
    CHECK(a.alpha == b.alpha);
    CHECK(a.nodes == b.nodes);
    CHECK_EQUAL(a.certificates.size(), b.certificates.size());
    for (std::size_t p = 0; p < a.certificates.size(); ++p) {
        CHECK_EQUAL(a.certificates[p].primal, b.certificates[p].primal);
        CHECK_EQUAL(a.certificates[p].dual, b.certificates[p].dual);
        CHECK_EQUAL(a.certificates[p].n_iter, b.certificates[p].n_iter);
    }
}

// Two blocks that share every third row, each place with a bound of its own: they are
// solved as copies of the rows would be, dense and sparse.
void blocks_may_share_rows() {
    const Problem problem = random_problem({40, 4}, 32);
    std::vector<std::int64_t> start{0}, row_of;
    for (const std::int64_t parity : {0, 1}) {
        for (std::int64_t i = 0; i < 40; ++i)
            if (i % 3 == 0 || i % 2 == parity) row_of.push_back(i);
        start.push_back(static_cast<std::int64_t>(row_of.size()));
    }
    const auto n_places = static_cast<std::int64_t>(row_of.size());
    Problem copies(Table(n_places, problem.table.n_cols));
    std::vector<std::int64_t> block_of;
    for (std::int64_t p = 0; p < n_places; ++p) {
        std::copy_n(problem.table.row(row_of[p]), copies.table.n_cols,
                    copies.table.row(p));
        copies.labels[p] = problem.labels[row_of[p]];
        copies.bounds[p] = 0.5 + 0.01 * static_cast<double>(p);
        block_of.push_back(p < start[1] ? 0 : 1);
    }
    copies.group(block_of, 2);
    const auto check_store = [&](const auto& store, const auto& copied) {
        const std::vector<double> norms = biased_squared_norms(store.rows, 0.0);
        const PickedRows picked(store.rows, row_of.data(), n_places, norms.data());
        const Options options = options_of(Loss::hinge);
        const Run run =
            run_batch(copies, options, 2, [&](const Batch& batch, StopFlag& stop) {
                return solve_independent(picked, batch, copies.blocks(),
                                         options.settings, options.watch, stop);
            });
        check_same(run, run_independent(copied, copies, options));
    };
    check::context = "dense";
    check_store(DenseStore<double>(problem.table), DenseStore<double>(copies.table));
    check::context = "sparse";
    check_store(CsrStore<double, std::int32_t>(problem.table),
                CsrStore<double, std::int32_t>(copies.table));
}

void one_vs_rest_counts_up_the_labels() {
    const Problem problem = random_problem({60, 4, 3, 1}, 30);
    for (const Loss loss : losses) {
        Options options = options_of(loss);
        options.n_problems = 3;
        const Run run =
            run_independent(DenseStore<double>(problem.table), problem, options);
        for (std::int32_t c = 0; c < 3; ++c) {
            check::context = name_of(loss) + ", class " + std::to_string(c);
            check_optimal(run.certificates[static_cast<std::size_t>(c)],
                          plain_machine(problem, loss, c),
                          run.alpha.data() + c * problem.n_rows());
        }
    }
}

template <class Solve>
void check_threads_do_not_matter(const Solve& solve) {
    Options options = options_of(Loss::hinge, 1e-4);
    options.n_problems = 4;
    const Run expected = solve(options);
    for (const int n_threads : {1, 2, 4}) {
        check::context = std::to_string(n_threads) + " threads";
        options.n_threads = n_threads;
        check_same(solve(options), expected);
    }
}

template <class T>
void threads_do_not_matter() {
    const Problem problem = random_problem({200, 10, 4, 5}, 31);
    Problem ungrouped = problem;
    ungrouped.one_block();
    const DenseStore<T> store(problem.table);
    const CodeStore<T> codes = one_hot_codes<T>(problem, 0.5);
    check_threads_do_not_matter([&](const Options& options) {
        return run_independent(store, problem, options);
    });
    check_threads_do_not_matter([&](const Options& options) {
        return run_coupled(store, problem, 0.5, options);
    });
    check_threads_do_not_matter([&](const Options& options) {
        return run_coded(store, ungrouped, codes.view(), options);
    });
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    coupled_form_equals_the_expansion();
    coded_form_equals_the_coupled_form();
    coded_form_equals_the_expansion();
    a_prior_stands_for_other_rows();
    float_certificates_are_honest();
    independent_form_equals_each_block_alone();
    weak_coupling_is_independence();
    empty_blocks_and_blocks_of_one_class_are_solved();
    rows_outside_the_blocks_take_no_part();
    blocks_may_share_rows();
    one_vs_rest_counts_up_the_labels();
    threads_do_not_matter<double>();
    threads_do_not_matter<float>();
    return check::summary();
}
