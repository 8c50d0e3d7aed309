// Exponentials and powers of many numbers at once.
//
// Compiled once per instruction set, with LOCALSVM_ISA naming the set: only
// simd_loops.cpp includes it.
#pragma once

#include <cstddef>
#include <cstdint>  // IWYU pragma: keep
#include <cstring>

#include "simd_lanes.hpp"

namespace localsvm {
namespace LOCALSVM_ISA {

template <class T>
struct Exponent;
template <>
struct Exponent<float> {
    typedef std::uint32_t Bits __attribute__((vector_size(wide_bytes)));
    static constexpr int mantissa = 23;
    static constexpr float to_integer = 12582912.0f;  // 1.5 * 2^23
    static constexpr float lowest = -87.0f;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr int terms = 7;
};
template <>
struct Exponent<double> {
    typedef std::uint64_t Bits __attribute__((vector_size(wide_bytes)));
    static constexpr int mantissa = 52;
    static constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double lowest = -708.0;
    static constexpr double ln2_high = 0.693145751953125,
                            ln2_low = 1.42860682030941723212e-6;
    static constexpr int terms = 13;
};

// exp(x) for x <= 0: 2^m e^r with |r| <= ln(2) / 2, e^r by its series to one unit in
// the last place. Below the smallest normal number it is zero.
template <class T>
inline Wide<T> exp_of(Wide<T> x) {
    using E = Exponent<T>;
    using Bits = typename E::Bits;
    const Wide<T> zero = {};
    const Wide<T> floor = zero + E::lowest;
    const Wide<T> bounded = x < floor ? floor : x;
    const Wide<T> shifted = bounded * T(1.4426950408889634) + E::to_integer;
    const Wide<T> m = shifted - E::to_integer;
    const Wide<T> r = (bounded - m * E::ln2_high) - m * E::ln2_low;
    Wide<T> series = zero + T(1);
    for (int term = E::terms; term > 0; --term)
        series = series * r * (T(1) / T(term)) + T(1);
    Bits bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    Bits scale = bits << E::mantissa;
    Bits series_bits;
    std::memcpy(&series_bits, &series, sizeof series_bits);
    scale += series_bits;  // adds m to the exponent
    Wide<T> result;
    std::memcpy(&result, &scale, sizeof result);
    return x < floor ? zero : result;
}

// Calls f on each vector of v; the last is filled up with zeros.
template <class T, class F>
inline void for_each_vector(T* v, std::size_t n, F f) {
    constexpr std::size_t lanes = WideLanes<T>::count;
    std::size_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        Wide<T> part;
        std::memcpy(&part, v + j, sizeof part);
        part = f(part);
        std::memcpy(v + j, &part, sizeof part);
    }
    if (j == n) return;
    Wide<T> last = {};
    std::memcpy(&last, v + j, (n - j) * sizeof(T));
    last = f(last);
    std::memcpy(v + j, &last, (n - j) * sizeof(T));
}

template <class T>
void exponentials(T a, T* v, std::size_t n) {
    for_each_vector(v, n, [a](Wide<T> x) { return exp_of<T>(a * x); });
}

template <class T>
void octaves(T a, T* v, std::size_t n) {
    constexpr int count = 7;
    constexpr T share = T(1) / T(count);
    static_assert(share * T(count) == T(1), "a row has the value 1 with itself");
    for_each_vector(v, n, [a](Wide<T> x) {
        Wide<T> power = exp_of<T>(a * x);
        Wide<T> sum = power;
        for (int s = 1; s < count; ++s) {
            power *= power;
            sum += power;
        }
        return share * sum;
    });
}

template <class T>
void powers(T a, T b, int degree, T* v, std::size_t n) {
    for_each_vector(v, n, [=](Wide<T> x) {
        Wide<T> factor = a * x + b;
        Wide<T> result = Wide<T>{} + T(1);
        for (int rest = degree; rest > 0; rest /= 2) {
            if (rest % 2) result *= factor;
            factor *= factor;
        }
        return result;
    });
}

}  // namespace LOCALSVM_ISA
}  // namespace localsvm
