// The additive SVM against the same problem with its code formed, and bins against
// plain loops.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "localsvm/additive.hpp"
#include "localsvm/bins.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/parallel.hpp"
#include "localsvm/status.hpp"
#include "localsvm/step_code.hpp"
#include "problem.hpp"

namespace localsvm::testing {
namespace {

using detail::Doubles;

// Columns of ordered bins with and without indicators, and of indicators alone.
const std::vector<std::int32_t> kBins{6, 3, 4, 2}, kOrdered{5, 2, 0, 1};

template <class Code>
struct Binned {
    std::int64_t n_rows;
    std::vector<Code> codes;
    std::vector<std::int32_t> labels;
    Doubles weight;

    Binned(std::int64_t n_rows, std::int32_t n_classes, Numbers& numbers)
        : n_rows(n_rows) {
        for (const std::int32_t width : kBins)
            for (std::int64_t i = 0; i < n_rows; ++i)
                codes.push_back(static_cast<Code>(numbers.below(width)));
        for (std::int64_t i = 0; i < n_rows; ++i) {
            const bool follows = numbers.chance(60);
            labels.push_back(static_cast<std::int32_t>(
                follows ? codes[static_cast<std::size_t>(i)] % n_classes
                        : numbers.below(n_classes)));
            weight.push_back(numbers.chance(10) ? 0.0 : 1.5 + numbers.next());
        }
    }
    BinCodes<Code> rows() const {
        return {codes.data(), n_rows, static_cast<std::int64_t>(kBins.size())};
    }
    detail::StepCode code() const {
        return detail::step_code(rows(), kBins.data(), kOrdered.data(), weight.data());
    }
    AdditiveProblem<Code> problem(AdditiveLoss loss) const {
        return {rows(), labels.data(), weight.data(), loss};
    }
    // The code of a row as the opening comment of additive.hpp defines it, and a one.
    Doubles formed(std::int64_t i) const {
        const double scale = 1 / std::sqrt(static_cast<double>(kBins.size()));
        Doubles row;
        for (std::size_t k = 0; k < kBins.size(); ++k) {
            const std::int32_t bin = rows().column(static_cast<std::int64_t>(k))[i];
            for (std::int32_t j = 0; j + 1 < kOrdered[k]; ++j) {
                const double sign = bin >= kOrdered[k] ? 0 : bin > j ? 1 : -1;
                row.push_back(sign * scale / std::sqrt(kOrdered[k] - 1.0));
            }
            for (std::int32_t j = kOrdered[k]; j < kBins[k]; ++j)
                row.push_back(bin == j ? scale : 0.0);
        }
        row.push_back(1.0);
        return row;
    }
};

struct Objectives {
    double primal = 0, dual = 0;
    Doubles gradient;
};

// In a plain loop over the formed code.
template <class Code>
Objectives objectives_of(const Binned<Code>& data, AdditiveLoss loss,
                         std::int32_t positive, const double* coef) {
    Objectives found;
    Doubles image;
    std::size_t width = 0;
    for (std::int64_t i = 0; i < data.n_rows; ++i) {
        const Doubles z = data.formed(i);
        width = z.size();
        image.resize(width);
        const auto at = static_cast<std::size_t>(i);
        const double y = data.labels[at] == positive ? 1 : -1;
        double margin = 0;
        for (std::size_t j = 0; j < width; ++j) margin += y * z[j] * coef[j];
        const double c = data.weight[at];
        double value, alpha, conjugate = 0;
        if (loss == AdditiveLoss::squared_hinge) {
            const double lack = std::max(0.0, 1 - margin);
            value = lack * lack;
            alpha = 2 * c * lack;
            if (c > 0) conjugate = alpha * alpha / (4 * c) - alpha;
        } else {
            value = std::log(1 + std::exp(-margin));
            const double share = 1 / (1 + std::exp(margin));
            alpha = c * share;
            conjugate =
                c * (share * std::log(share) + (1 - share) * std::log(1 - share));
        }
        found.primal += c * value;
        found.dual -= conjugate;
        for (std::size_t j = 0; j < width; ++j) image[j] += alpha * y * z[j];
    }
    for (std::size_t j = 0; j < width; ++j) {
        const double penalty = j + 1 == width ? 1e-3 : 1.0;
        found.primal += penalty * coef[j] * coef[j] / 2;
        found.dual -= image[j] * image[j] / (2 * penalty);
        found.gradient.push_back(penalty * coef[j] - image[j]);
    }
    return found;
}

template <class Code>
std::vector<Certificate> solve(const Binned<Code>& data, AdditiveLoss loss,
                               std::int64_t n_tasks, Doubles& coef, int n_threads,
                               std::int64_t max_iter = 100) {
    const detail::StepCode code = data.code();
    coef.resize(static_cast<std::size_t>(n_tasks * (code.n_weights() + 1)));
    StopFlag stop;
    return solve_additive(data.problem(loss), code, n_tasks == 1 ? 1 : 0, n_tasks,
                          AdditiveOptions{1e-10, max_iter}, coef.data(), n_threads,
                          Watch{}, stop);
}

template <class Code>
void solutions_are_optimal(const char* type) {
    Numbers numbers(51);
    for (const auto loss : {AdditiveLoss::squared_hinge, AdditiveLoss::logistic}) {
        for (const std::int64_t n_tasks : {1, 3}) {
            check::context = std::string(type) + ", " + std::to_string(n_tasks) +
                             " tasks, loss " + std::to_string(static_cast<int>(loss));
            const Binned<Code> data(300, n_tasks == 1 ? 2 : 3, numbers);
            Doubles coef;
            const auto found = solve(data, loss, n_tasks, coef, 1);
            const auto width = coef.size() / static_cast<std::size_t>(n_tasks);
            for (std::size_t t = 0; t < found.size(); ++t) {
                const auto positive = static_cast<std::int32_t>(n_tasks == 1 ? 1 : t);
                const Objectives own =
                    objectives_of(data, loss, positive, coef.data() + t * width);
                CHECK(found[t].status == Status::converged);
                CHECK_NEAR(found[t].primal, own.primal, 1e-9 * own.primal);
                CHECK_NEAR(found[t].dual, own.dual, 1e-9 * own.primal);
                CHECK_AT_MOST(own.primal - own.dual, 2e-10 * own.primal);
                for (const double slope : own.gradient)
                    CHECK_AT_MOST(std::abs(slope), 1e-3);
            }
        }
    }
}

// A certificate holds before the optimum as well, and starts are used.
void stopped_solves_have_certificates() {
    check::context = "";
    Numbers numbers(52);
    const Binned<std::uint8_t> data(500, 2, numbers);
    Doubles coef;
    for (const std::int64_t steps : {0, 1, 2}) {
        coef.clear();
        const auto found =
            solve(data, AdditiveLoss::logistic, 1, coef, 1, steps).front();
        const Objectives own =
            objectives_of(data, AdditiveLoss::logistic, 1, coef.data());
        CHECK(found.status == Status::max_iter);
        CHECK_EQUAL(found.n_iter, steps);
        CHECK_NEAR(found.primal, own.primal, 1e-9 * own.primal);
        CHECK_NEAR(found.dual, own.dual, 1e-9 * std::abs(own.dual));
    }
    solve(data, AdditiveLoss::logistic, 1, coef, 1);
    const auto again = solve(data, AdditiveLoss::logistic, 1, coef, 1).front();
    CHECK_EQUAL(again.n_iter, 0);
    CHECK(again.status == Status::converged);
}

void an_interrupt_ends_a_solve() {
    Numbers numbers(53);
    const Binned<std::uint8_t> data(500, 2, numbers);
    const detail::StepCode code = data.code();
    Doubles coef(static_cast<std::size_t>(code.n_weights() + 1));
    for (const auto reason : {StopReason::interrupted, StopReason::out_of_time}) {
        StopFlag stop;
        stop.raise(reason);
        const auto found =
            solve_additive(data.problem(AdditiveLoss::logistic), code, 1, 1,
                           AdditiveOptions{}, coef.data(), 1, Watch{}, stop)
                .front();
        CHECK(found.status == Status::max_time);
        CHECK_EQUAL(found.n_iter, reason == StopReason::interrupted ? 0 : 1);
    }
}

// Several blocks of rows, and enough entries for two threads.
void threads_do_not_change_the_bits() {
    check::context = "";
    Numbers numbers(54);
    const Binned<std::uint16_t> data(300'000, 2, numbers);
    Doubles alone, together;
    solve(data, AdditiveLoss::squared_hinge, 1, alone, 1, 2);
    solve(data, AdditiveLoss::squared_hinge, 1, together, 2, 2);
    CHECK(alone == together);
    alone.clear();
    together.clear();
    solve(data, AdditiveLoss::squared_hinge, 2, alone, 1, 1);
    solve(data, AdditiveLoss::squared_hinge, 2, together, 4, 1);
    CHECK(alone == together);
}

void columns_without_variety_have_no_effect() {
    Numbers numbers(55);
    Binned<std::uint8_t> data(50, 2, numbers);
    std::fill(data.codes.begin(), data.codes.end(), std::uint8_t{1});
    Doubles coef;
    const auto found = solve(data, AdditiveLoss::squared_hinge, 1, coef, 1).front();
    CHECK(found.status == Status::converged);
    for (const double value : coef) CHECK(std::isfinite(value));
}

// One number column, one category column.
const std::vector<std::uint8_t> kIsCategory{0, 1};
const std::vector<std::int32_t> kCutBins{4, 5}, kCutBin{1, 2, 2, 0, 1};
const std::vector<std::int64_t> kStart{0, 2, 5};
const Doubles kCuts{-0.5, 0.25, 3, 7, 8};

ColumnCuts cuts() {
    return {kIsCategory.data(), kCutBins.data(), kStart.data(),
            kCuts.data(),       kCutBin.data(),  2};
}

template <class T>
void values_find_their_bins() {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> values{T(-0.5), 3,   T(-0.4), 7,  T(0.25), 8, 9,
                                T(7.5),  nan, nan,     -9, T(-1),   1, 3};
    const std::vector<std::uint8_t> expected{0, 1, 1, 2, 3, 0, 2, 2, 0, 1, 3, 4, 3, 2};
    const DenseRows<T> rows(values.data(), 7, 2);
    std::vector<std::uint8_t> codes(14);
    encode_rows(rows, cuts(), 0, 3, codes.data());
    encode_rows(rows, cuts(), 3, 7, codes.data());
    CHECK(codes == expected);

    const Doubles bias{1, -1};
    Doubles table;
    for (int j = 0; j < 18; ++j) table.push_back(j * j);
    Doubles out(14);
    decide_binned(rows, cuts(), table.data(), bias.data(), 2, 9, 0, 7, out.data());
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t p = 0; p < 2; ++p)
            CHECK_EQUAL(out[2 * i + p], bias[p] + table[9 * p + codes[i]] +
                                            table[9 * p + 4 + codes[7 + i]]);
}

void histograms_agree_with_a_plain_loop() {
    Numbers numbers(56);
    for (const std::int64_t n_rows : {0, 1, 3, 4, 103}) {
        std::vector<std::uint16_t> codes;
        Doubles v, expected(7);
        for (std::int64_t i = 0; i < n_rows; ++i) {
            codes.push_back(static_cast<std::uint16_t>(numbers.below(7)));
            v.push_back(numbers.next());
            expected[codes.back()] += v.back();
        }
        CHECK(weigh_bins(codes.data(), v.data(), n_rows, 7) == expected);
    }
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    solutions_are_optimal<std::uint8_t>("8 bits");
    solutions_are_optimal<std::uint16_t>("16 bits");
    stopped_solves_have_certificates();
    an_interrupt_ends_a_solve();
    threads_do_not_change_the_bits();
    columns_without_variety_have_no_effect();
    values_find_their_bins<float>();
    values_find_their_bins<double>();
    histograms_agree_with_a_plain_loop();
    return check::summary();
}
