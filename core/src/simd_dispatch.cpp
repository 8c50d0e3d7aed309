#include "localsvm/simd.hpp"

#define LOCALSVM_DECLARE_ISA(isa)                  \
    namespace isa {                                \
    extern const VectorLoops<float> float_loops;   \
    extern const VectorLoops<double> double_loops; \
    }

namespace localsvm {

LOCALSVM_DECLARE_ISA(baseline)
#ifdef LOCALSVM_X86
LOCALSVM_DECLARE_ISA(avx2)
LOCALSVM_DECLARE_ISA(avx512)
#endif

namespace {

template <class T>
struct Choice {
    const VectorLoops<T>* baseline;
    const VectorLoops<T>* avx2;
    const VectorLoops<T>* avx512;
};

template <class T>
const VectorLoops<T>& best(const Choice<T>& choice) {
#ifdef LOCALSVM_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return *choice.avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return *choice.avx2;
#endif
    return *choice.baseline;
}

}  // namespace

#ifdef LOCALSVM_X86
#define LOCALSVM_CHOICE(loops) {&baseline::loops, &avx2::loops, &avx512::loops}
#else
#define LOCALSVM_CHOICE(loops) {&baseline::loops, nullptr, nullptr}
#endif

template <>
const VectorLoops<float>& vector_loops<float>() {
    static const VectorLoops<float>& loops =
        best(Choice<float> LOCALSVM_CHOICE(float_loops));
    return loops;
}

template <>
const VectorLoops<double>& vector_loops<double>() {
    static const VectorLoops<double>& loops =
        best(Choice<double> LOCALSVM_CHOICE(double_loops));
    return loops;
}

}  // namespace localsvm
