// Compiled once per instruction set, with LOCALSVM_ISA naming the set.
#include <cstring>

#include "localsvm/simd.hpp"

namespace localsvm {
namespace LOCALSVM_ISA {

// Vectors of the compiler (GCC, Clang): `lanes` numbers that are added lane by lane, so
// a sum has one order without -ffast-math. Wider than the machine's, they are split.
template <class T>
struct Lanes {
    static constexpr std::size_t count = 32 / sizeof(T);
    typedef T Vector __attribute__((vector_size(32)));
};
template <class T>
using Vector = typename Lanes<T>::Vector;

template <class W, class X>
inline Vector<W> load(const X* x) {
    if constexpr (sizeof(X) == sizeof(W)) {
        Vector<W> v;
        std::memcpy(&v, x, sizeof v);
        return v;
    } else {
        typedef X Half __attribute__((vector_size(32 / 2)));
        Half half;
        std::memcpy(&half, x, sizeof half);
        return __builtin_convertvector(half, Vector<W>);
    }
}

template <class T>
inline T total(Vector<T> v) {
    T sum = 0;
    for (std::size_t l = 0; l < Lanes<T>::count; ++l) sum += v[l];
    return sum;
}

template <class X, class W>
W dot(const X* x, const W* w, std::size_t n) {
    constexpr std::size_t lanes = Lanes<W>::count;
    Vector<W> sums[4] = {};
    std::size_t j = 0;
    for (; j + 4 * lanes <= n; j += 4 * lanes)
        for (std::size_t r = 0; r < 4; ++r)
            sums[r] += load<W>(x + j + r * lanes) * load<W>(w + j + r * lanes);
    for (; j + lanes <= n; j += lanes) sums[0] += load<W>(x + j) * load<W>(w + j);
    W sum = total<W>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; j < n; ++j) sum += static_cast<W>(x[j]) * w[j];
    return sum;
}

template <class X, class W>
void axpy(W a, const X* x, W* w, std::size_t n) {
    constexpr std::size_t lanes = Lanes<W>::count;
    std::size_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        const Vector<W> moved = load<W>(w + j) + a * load<W>(x + j);
        std::memcpy(w + j, &moved, sizeof moved);
    }
    for (; j < n; ++j) w[j] += a * static_cast<W>(x[j]);
}

// x . (sum_s c[s] w[s]) over Count vectors from j on.
template <std::size_t Count, class T>
inline Vector<T> dot_mix_part(const T* x, const T* const* w, const T* c, std::size_t m,
                              std::size_t j) {
    constexpr std::size_t lanes = Lanes<T>::count;
    Vector<T> mixed[Count] = {};
    for (std::size_t s = 0; s < m; ++s)
        for (std::size_t r = 0; r < Count; ++r)
            mixed[r] += c[s] * load<T>(w[s] + j + r * lanes);
    Vector<T> sum = {};
    for (std::size_t r = 0; r < Count; ++r)
        sum += mixed[r] * load<T>(x + j + r * lanes);
    return sum;
}

template <class T>
T dot_mix(const T* x, const T* const* w, const T* c, std::size_t m, std::size_t n) {
    constexpr std::size_t lanes = Lanes<T>::count;
    Vector<T> sums = {};
    std::size_t j = 0;
    for (; j + 4 * lanes <= n; j += 4 * lanes) sums += dot_mix_part<4>(x, w, c, m, j);
    for (; j + lanes <= n; j += lanes) sums += dot_mix_part<1>(x, w, c, m, j);
    T sum = total<T>(sums);
    for (; j < n; ++j) {
        T mixed = 0;
        for (std::size_t s = 0; s < m; ++s) mixed += c[s] * w[s][j];
        sum += mixed * x[j];
    }
    return sum;
}

template <class T>
void axpy_mix(T a, const T* x, T* const* w, const T* c, std::size_t m, std::size_t n) {
    for (std::size_t s = 0; s < m; ++s) axpy<T, T>(a * c[s], x, w[s], n);
}

extern const VectorLoops<float> float_loops;
extern const VectorLoops<double> double_loops;
const VectorLoops<float> float_loops{dot<float, float>,  dot<float, double>,
                                     axpy<float, float>, axpy<float, double>,
                                     dot_mix<float>,     axpy_mix<float>};
const VectorLoops<double> double_loops{dot<double, double>,  dot<double, double>,
                                       axpy<double, double>, axpy<double, double>,
                                       dot_mix<double>,      axpy_mix<double>};

}  // namespace LOCALSVM_ISA
}  // namespace localsvm
