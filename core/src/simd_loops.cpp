// Compiled once per instruction set, with LOCALSVM_ISA naming the set.
//
// Include only headers without inline functions that are compiled here: the linker keeps
// one copy of such a function, which may be the one with AVX-512 instructions.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "localsvm/simd.hpp"
#include "simd_exponentials.hpp"
#include "simd_lanes.hpp"

namespace localsvm {
namespace LOCALSVM_ISA {

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

// The last vector of a row, with zeros where the previous vectors have been already.
template <class T>
struct Tail {
    static constexpr std::size_t lanes = Lanes<T>::count;

    explicit Tail(std::size_t n) : start(n >= lanes ? n - lanes : 0) {
        const std::size_t done = n / lanes * lanes;
        for (std::size_t l = 0; l < lanes; ++l)
            keep[l] = start + l >= done && start + l < n ? T(1) : T(0);
    }
    std::size_t start;
    Vector<T> keep;
};

// Products are summed in double: large ones may nearly cancel in a kernel matrix.
// Squared differences have one sign and need no more than their own type.
struct Dot {
    template <class T>
    using Sum = double;
    template <class V>
    static V term(V x, V z) {
        return x * z;
    }
};
struct SquaredDistance {
    template <class T>
    using Sum = T;
    template <class V>
    static V term(V x, V z) {
        return (x - z) * (x - z);
    }
};

template <class T>
struct WordOf;
template <>
struct WordOf<float> {
    typedef std::uint32_t Word;
};
template <>
struct WordOf<double> {
    typedef std::uint64_t Word;
};

// |v|, of one number or of a vector: all bits but the sign.
template <class T, class V>
inline V magnitude(V v) {
    typedef typename WordOf<T>::Word Word;
    constexpr Word all_but_sign = ~Word(0) >> 1;
    typedef Word Words __attribute__((vector_size(sizeof(V))));
    Words words;
    std::memcpy(&words, &v, sizeof words);
    words &= all_but_sign;
    std::memcpy(&v, &words, sizeof words);
    return v;
}

struct AbsoluteDistance {
    template <class T>
    using Sum = T;
    template <class V>
    static V term(V x, V z) {
        if constexpr (std::is_floating_point_v<V>)
            return x > z ? x - z : z - x;
        else
            return magnitude<std::remove_cvref_t<decltype(x[0])>>(x - z);
    }
};

// Count rows at once, so that each vector of x is loaded once for all of them.
template <class Product, std::size_t Count, class T, class W>
inline void compare_some(const T* x, const T* const* rows, std::size_t n,
                         const Tail<W>& tail, T* out) {
    constexpr std::size_t lanes = Lanes<W>::count;
    Vector<W> sums[Count] = {};
    std::size_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        const Vector<W> part = load<W>(x + j);
        for (std::size_t r = 0; r < Count; ++r)
            sums[r] += Product::term(part, load<W>(rows[r] + j));
    }
    if (j < n && n >= lanes) {
        const Vector<W> part = load<W>(x + tail.start) * tail.keep;
        for (std::size_t r = 0; r < Count; ++r)
            sums[r] += Product::term(part, load<W>(rows[r] + tail.start) * tail.keep);
        j = n;
    }
    for (std::size_t r = 0; r < Count; ++r) {
        W sum = total<W>(sums[r]);
        for (std::size_t rest = j; rest < n; ++rest)
            sum +=
                Product::term(static_cast<W>(x[rest]), static_cast<W>(rows[r][rest]));
        out[r] = static_cast<T>(sum);
    }
}

template <class Product, class T>
void compare(const T* x, const T* const* rows, std::size_t count, std::size_t n,
             T* out) {
    const Tail<typename Product::template Sum<T>> tail(n);
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4)
        compare_some<Product, 4>(x, rows + r, n, tail, out + r);
    for (; r < count; ++r) compare_some<Product, 1>(x, rows + r, n, tail, out + r);
}

// Entries of a panel from p on, in the type of the sums.
template <class W, class T>
inline Wide<W> load_wide(const T* p) {
    if constexpr (sizeof(T) == sizeof(W)) {
        Wide<W> v;
        std::memcpy(&v, p, sizeof v);
        return v;
    } else {
        typedef T Half __attribute__((vector_size(wide_bytes / 2)));
        Half half;
        std::memcpy(&half, p, sizeof half);
        return __builtin_convertvector(half, Wide<W>);
    }
}
template <class T, class W>
inline void store_wide(Wide<W> v, T* p) {
    if constexpr (sizeof(T) == sizeof(W)) {
        std::memcpy(p, &v, sizeof v);
    } else {
        typedef T Half __attribute__((vector_size(wide_bytes / 2)));
        const Half half = __builtin_convertvector(v, Half);
        std::memcpy(p, &half, sizeof half);
    }
}

// Count rows with a whole panel. The sums stay in registers; an entry of a row is spread
// over the lanes once, a vector of the panel is loaded once for all rows.
template <class Product, std::size_t Count, class T>
inline void panel_some(const T* const* x, const T* panel, std::size_t n, T* out) {
    using W = typename Product::template Sum<T>;
    constexpr std::size_t lanes = WideLanes<W>::count;
    constexpr std::size_t parts = panel_width<T> / lanes;
    Wide<W> sums[Count][parts] = {};
    for (std::size_t j = 0; j < n; ++j) {
        Wide<W> column[parts];
        for (std::size_t p = 0; p < parts; ++p)
            column[p] = load_wide<W>(panel + j * panel_width<T> + p * lanes);
        for (std::size_t r = 0; r < Count; ++r) {
            const Wide<W> entry = static_cast<W>(x[r][j]) - Wide<W>{};
            for (std::size_t p = 0; p < parts; ++p)
                sums[r][p] += Product::term(entry, column[p]);
        }
    }
    for (std::size_t r = 0; r < Count; ++r)
        for (std::size_t p = 0; p < parts; ++p)
            store_wide<T, W>(sums[r][p], out + r * panel_width<T> + p * lanes);
}

// Count rows at a time, the rest by halves.
template <class Product, std::size_t Count, class T>
void panel_rows(const T* const* x, std::size_t count, const T* panel, std::size_t n,
                T* out) {
    std::size_t r = 0;
    for (; r + Count <= count; r += Count)
        panel_some<Product, Count>(x + r, panel, n, out + r * panel_width<T>);
    if constexpr (Count > 1)
        panel_rows<Product, Count / 2>(x + r, count - r, panel, n,
                                       out + r * panel_width<T>);
}

template <class Product, class T>
void compare_panel(const T* const* x, std::size_t count, const T* panel, std::size_t n,
                   T* out) {
    using W = typename Product::template Sum<T>;
    constexpr std::size_t at_once = panel_sums * WideLanes<W>::count / panel_width<T>;
    panel_rows<Product, at_once>(x, count, panel, n, out);
}

typedef std::int64_t Indices __attribute__((vector_size(32)));

template <class T>
Extreme move(double step, const T* plus, const T* minus, const double* up,
             double* gradient, std::size_t n) {
    constexpr std::size_t lanes = Lanes<double>::count;
    Vector<double> lowest = Vector<double>{} + std::numeric_limits<double>::infinity();
    Indices where = Indices{} - 1;
    Indices here = {0, 1, 2, 3};
    for (std::size_t j = 0; j < n;
         j += lanes, here += static_cast<std::int64_t>(lanes)) {
        const Vector<double> moved =
            load<double>(gradient + j) +
            step * (load<double>(plus + j) - load<double>(minus + j));
        std::memcpy(gradient + j, &moved, sizeof moved);
        const Vector<double> value = moved + load<double>(up + j);
        const Indices better = value < lowest;
        lowest = better ? value : lowest;
        where = better ? here : where;
    }
    Extreme result{lowest[0], where[0]};
    for (std::size_t l = 1; l < lanes; ++l)
        if (lowest[l] < result.value) result = {lowest[l], where[l]};
    return result;
}

// Gains are compared as fractions, crosswise: a division costs more than the rest.
template <class T>
Partner find_partner(double lowest, double corner, const T* row, const T* diagonal,
                     const double* gradient, const double* low, std::size_t n) {
    constexpr std::size_t lanes = Lanes<double>::count;
    const Vector<double> zero = {};
    const Vector<double> flattest = zero + 1e-12;
    Vector<double> gain = zero, cost = zero + 1.0;
    Vector<double> highest = zero - std::numeric_limits<double>::infinity();
    Indices where = Indices{} - 1;
    Indices here = {0, 1, 2, 3};
    for (std::size_t j = 0; j < n;
         j += lanes, here += static_cast<std::int64_t>(lanes)) {
        const Vector<double> value = load<double>(gradient + j) + load<double>(low + j);
        highest = value > highest ? value : highest;
        const Vector<double> difference = value - lowest;
        const Vector<double> excess = difference > zero ? difference : zero;
        const Vector<double> bend =
            corner + load<double>(diagonal + j) - 2.0 * load<double>(row + j);
        const Vector<double> curvature = bend > flattest ? bend : flattest;
        const Vector<double> squared = excess * excess;
        const Indices better = squared * cost > gain * curvature;
        gain = better ? squared : gain;
        cost = better ? curvature : cost;
        where = better ? here : where;
    }
    Partner result{where[0], highest[0]};
    std::size_t best = 0;
    for (std::size_t l = 1; l < lanes; ++l) {
        if (gain[l] * cost[best] > gain[best] * cost[l]) {
            best = l;
            result.index = where[l];
        }
        if (highest[l] > result.highest) result.highest = highest[l];
    }
    return result;
}

template <class T>
constexpr VectorLoops<T> loops_of{dot<T, T>,
                                  dot<T, double>,
                                  axpy<T, T>,
                                  axpy<T, double>,
                                  dot_mix<T>,
                                  axpy_mix<T>,
                                  compare<Dot, T>,
                                  compare<SquaredDistance, T>,
                                  compare<AbsoluteDistance, T>,
                                  compare_panel<Dot, T>,
                                  compare_panel<SquaredDistance, T>,
                                  compare_panel<AbsoluteDistance, T>,
                                  exponentials<T>,
                                  octaves<T>,
                                  powers<T>,
                                  move<T>,
                                  find_partner<T>};

extern const VectorLoops<float> float_loops;
extern const VectorLoops<double> double_loops;
constinit const VectorLoops<float> float_loops = loops_of<float>;
constinit const VectorLoops<double> double_loops = loops_of<double>;

}  // namespace LOCALSVM_ISA
}  // namespace localsvm
