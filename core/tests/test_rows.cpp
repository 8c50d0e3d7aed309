// Models of single rows against plain formulas.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "check.hpp"
#include "localsvm/matrix.hpp"
#include "localsvm/mixture_rows.hpp"
#include "localsvm/region_rows.hpp"
#include "localsvm/row_joins.hpp"
#include "localsvm/row_models.hpp"
#include "localsvm/row_preparation.hpp"

namespace localsvm::testing {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

void knots_are_joined_by_lines() {
    const std::vector<double> knots{-1, 0, 2}, scores{5, 7, 3};
    const auto at = [&](double value) {
        return interpolate(knots.data(), scores.data(), 3, value);
    };
    CHECK_EQUAL(at(-4), 5);
    CHECK_EQUAL(at(-1), 5);
    CHECK_EQUAL(at(-0.5), 6);
    CHECK_EQUAL(at(0), 7);
    CHECK_EQUAL(at(1.5), 4);
    CHECK_EQUAL(at(2), 3);
    CHECK_EQUAL(at(9), 3);
    CHECK_EQUAL(interpolate(knots.data(), scores.data(), 1, 4), 5);
}

// Columns: a number that is flagged, a category of the levels 1 and 4, a plain number.
RowPreparation<double> small_preparation() {
    RowPreparation<double> made;
    made.n_cols = 3;
    made.has_codes = true;
    made.codes.numbers = {0, 2};
    made.codes.medians = {10, 20};
    made.codes.flagged = {0};
    made.codes.categories = {1};
    made.codes.levels = NumberLists{{0, 2}, {1, 4}};
    made.codes.has_missing = {1};
    made.linear =
        LinearMap<double>{7, true, std::vector<double>(7, 2.0), {0, 0, 0, 0, 0, 0, 1}};
    return made;
}

void columns_become_finite_numbers() {
    const RowPreparation<double> made = small_preparation();
    CHECK_EQUAL(made.n_coded(), 7);
    std::vector<double> work(7), out(7);
    const auto check_row = [&](std::vector<double> row, std::vector<double> expected) {
        made.apply(row.data(), work.data(), out.data());
        for (std::size_t j = 0; j < 7; ++j) CHECK_EQUAL(out[j], expected[j]);
    };
    // filled, filled, flag, level 1, level 4, missing level, rare
    check_row({3, 4, 5}, {6, 10, 0, 0, 2, 0, 1});
    check_row({missing, 1, missing}, {20, 40, 2, 2, 0, 0, 1});
    check_row({3, missing, 5}, {6, 10, 0, 0, 0, 2, 1});
    check_row({3, 7, 5}, {6, 10, 0, 0, 0, 0, 3});
}

void rows_are_divided_by_their_norm() {
    RowPreparation<double> made;
    made.n_cols = 2;
    made.unit_rows = true;
    made.linear = LinearMap<double>{2, false, {1, 1, 1, -1, 0, 2}, {0, 0, 5}};
    std::vector<double> work(2), out(3);
    const std::vector<double> row{3, 4}, nothing{0, 0};
    made.apply(row.data(), work.data(), out.data());
    CHECK_NEAR(out[0], 1.4, 1e-15);
    CHECK_NEAR(out[1], -0.2, 1e-15);
    CHECK_NEAR(out[2], 6.6, 1e-15);
    made.apply(nothing.data(), work.data(), out.data());
    CHECK_EQUAL(out[2], 5.0);
}

// Code of a row by plain formulas, for regions of both families.
std::vector<double> plain_weights(const std::vector<double>& squared,
                                  const RegionCode& code) {
    const RegionCoding coding = code.coding;
    std::vector<double> weights;
    double size = 0;
    for (const double value : squared) {
        if (coding == RegionCoding::softmax) {
            const double weight = std::exp(-code.tau * (value - squared[0]));
            weights.push_back(std::max(0.0, weight - code.cut));
            size += weights.back() * weights.back();
        } else {
            weights.push_back(1 / std::sqrt(value));
            size += weights.back();
        }
    }
    for (double& weight : weights)
        weight /= coding == RegionCoding::softmax ? std::sqrt(size) : size;
    return weights;
}

// Centres 0, 1, ..., 4 on a line; node s decides s x + 1, the rest -x.
void regions_are_blended() {
    RegionCode code{RegionCoding::softmax, 2, 0.7, 0.1, 1e-4, 1e-6, 1, {0, 1, 2, 3, 4}};
    const std::vector<double> coef{0, 1, 2, 3, 4, -1}, intercept{1, 1, 1, 1, 1, 0};
    for (const RegionCoding coding :
         {RegionCoding::softmax, RegionCoding::inverse_distance,
          RegionCoding::local_coordinates, RegionCoding::hard}) {
        code.coding = coding;
        code.n_nearest = coding == RegionCoding::hard ? 1 : 2;
        const RegionRows<double> model(code, coef, intercept);
        const double x = 2.25;
        double found = 0;
        model.start()->decide(&x, &found);
        std::vector<double> weights{1, 0};
        if (coding == RegionCoding::local_coordinates) {
            // (G + ridge) w = 1 with G of the differences -0.25 and 0.75.
            const double trace = 0.0625 + 0.5625, ridge = 1e-4;
            const double a = 0.0625 / trace + ridge, b = -0.1875 / trace,
                         d = 0.5625 / trace + ridge;
            weights = {(d - b) / (a + d - 2 * b), (a - b) / (a + d - 2 * b)};
        } else if (coding != RegionCoding::hard) {
            weights = plain_weights({0.0625, 0.5625}, code);
        }
        const double rest = 1 - weights[0] - weights[1];
        const double expected =
            weights[0] * (2 * x + 1) + weights[1] * (3 * x + 1) + rest * -x;
        CHECK_NEAR(found, expected, 1e-12);
    }
}

SharedModel<double> weighing(std::vector<double> coef, double intercept) {
    return std::make_shared<LinearRows<double>>(std::move(coef),
                                                std::vector<double>{intercept});
}

void sums_and_switches_ask_their_parts() {
    const RowPreparation<double> way = small_preparation();
    const SharedModel<double> own = weighing({1, 0, 2}, 3);
    const SharedModel<double> behind = weighing({1, 1, 1, 1, 1, 1, 1}, 0);
    const SumRows<double> sum(3, {way}, {{own, -1, 0.5}, {behind, 0, 2.0}}, {100});
    const std::vector<double> row{3, 4, 5};
    double found = 0;
    sum.start()->decide(row.data(), &found);
    CHECK_EQUAL(found, 100 + 0.5 * 16 + 2.0 * 19);

    const SharedModel<double> other = weighing(std::vector<double>(7, 0.0), -8);
    const auto switched = [&](double threshold) {
        double decision = 0;
        SwitchRows<double>(way, behind, other, threshold)
            .start()
            ->decide(row.data(), &decision);
        return decision;
    };
    CHECK_EQUAL(switched(18.9), 19.0);
    CHECK_EQUAL(switched(19.0), -8.0);
    CHECK_EQUAL(switched(std::numeric_limits<double>::infinity()), -8.0);
}

void the_type_of_rows_is_changed() {
    const auto narrow = std::make_shared<LinearRows<float>>(std::vector<double>{1, 1},
                                                            std::vector<double>{0});
    const ConvertedRows<double, float> model(narrow);
    const std::vector<double> row{1, 1e-12};
    double found = 0;
    model.start()->decide(row.data(), &found);
    CHECK_EQUAL(found, 1.0);
}

// Two components, one task: the shares of a softmax, the losses of hinges.
void mixtures_add_their_components() {
    const MixtureRows<double> model({{2}, {0, std::log(0.5)}}, 1, {1, -1, 2, 0.5},
                                    {0, 0, 0, -3});
    const double x = 0.4;
    std::vector<double> found(2);
    model.start()->decide(&x, found.data());
    const double first = 1 / (1 + std::exp(-0.8)), second = 0.5 * (1 - first);
    const double a = 0.8, b = -2.8;
    CHECK_NEAR(found[0], std::log(first * std::exp(-1 - a) + second), 1e-12);
    CHECK_NEAR(found[1],
               std::log(first * std::exp(-(1 - a)) + second * std::exp(-(1 - b))),
               1e-12);
}

void values_that_are_not_taken_are_found() {
    const SharedModel<double> model = weighing({1, 1}, 0);
    const auto place = [&](std::vector<double> values, bool takes_missing) {
        return decide_each(*model, DenseRows<double>(values.data(), 2, 2),
                           takes_missing, [](std::int64_t, const double*) {});
    };
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK_EQUAL(place({1, 2, 3, 4}, false), -1);
    CHECK_EQUAL(place({1, 2, missing, 4}, false), 2);
    CHECK_EQUAL(place({1, 2, missing, 4}, true), -1);
    CHECK_EQUAL(place({1, missing, 3, -infinity}, true), 3);
}

void the_first_of_the_best_classes_wins() {
    const std::vector<double> tie{1, 3, 3}, none{0}, some{0.5};
    CHECK_EQUAL(winning_class(tie.data(), 3), 1);
    CHECK_EQUAL(winning_class(none.data(), 1), 0);
    CHECK_EQUAL(winning_class(some.data(), 1), 1);
}

}  // namespace
}  // namespace localsvm::testing

int main() {
    using namespace localsvm::testing;
    knots_are_joined_by_lines();
    columns_become_finite_numbers();
    rows_are_divided_by_their_norm();
    regions_are_blended();
    sums_and_switches_ask_their_parts();
    the_type_of_rows_is_changed();
    mixtures_add_their_components();
    values_that_are_not_taken_are_found();
    the_first_of_the_best_classes_wins();
    return check::summary();
}
