// Checks that print and count their failures, so that one run shows all of them.
#pragma once

#include <cmath>
#include <iostream>
#include <string>

namespace check {

inline int passed = 0;
inline int failed = 0;
inline std::string context;  // names the case at hand in the report of a failure

struct Place {
    const char* file;
    int line;
    const char* expression;
};

template <class... Values>
void report(bool ok, const Place& place, const Values&... values) {
    (ok ? passed : failed) += 1;
    if (ok) return;
    std::cerr.precision(17);
    std::cerr << place.file << ':' << place.line << ": " << place.expression;
    [[maybe_unused]] const char* separator = "\n    values: ";
    ((std::cerr << separator << values, separator = ", "), ...);
    if (!context.empty()) std::cerr << "\n    case: " << context;
    std::cerr << std::endl;
}

// False for a NaN.
inline bool near(double a, double b, double tolerance) {
    return a == b || std::abs(a - b) <= tolerance;
}

// The exit code of the process.
inline int summary() {
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 ? 0 : 1;
}

}  // namespace check

#define CHECK_PLACE(text) (check::Place{__FILE__, __LINE__, text})
#define CHECK(condition) check::report((condition), CHECK_PLACE(#condition))
#define CHECK_EQUAL(a, b) check::report((a) == (b), CHECK_PLACE(#a " == " #b), (a), (b))
#define CHECK_AT_MOST(a, b) \
    check::report((a) <= (b), CHECK_PLACE(#a " <= " #b), (a), (b))
#define CHECK_NEAR(a, b, tolerance)                                            \
    check::report(check::near((a), (b), (tolerance)),                          \
                  CHECK_PLACE(#a " near " #b " within " #tolerance), (a), (b), \
                  (tolerance))
