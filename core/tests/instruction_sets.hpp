// The vector loops of every instruction set that this CPU has.
#pragma once

#include <vector>

#include "localsvm/simd.hpp"

namespace localsvm {

#define DECLARE_LOOPS(isa)                         \
    namespace isa {                                \
    extern const VectorLoops<float> float_loops;   \
    extern const VectorLoops<double> double_loops; \
    }

DECLARE_LOOPS(baseline)
#ifdef LOCALSVM_X86
DECLARE_LOOPS(avx2)
DECLARE_LOOPS(avx512)
#endif

namespace testing {

template <class T>
struct InstructionSet {
    const char* name;
    const VectorLoops<T>* loops;
};

template <class T>
const VectorLoops<T>* pick(const VectorLoops<float>& narrow,
                           const VectorLoops<double>& wide) {
    if constexpr (sizeof(T) == sizeof(float))
        return &narrow;
    else
        return &wide;
}

template <class T>
std::vector<InstructionSet<T>> instruction_sets() {
    std::vector<InstructionSet<T>> sets{
        {"baseline", pick<T>(baseline::float_loops, baseline::double_loops)},
        {"chosen", &vector_loops<T>()}};
#ifdef LOCALSVM_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets.push_back({"avx2", pick<T>(avx2::float_loops, avx2::double_loops)});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        sets.push_back({"avx512", pick<T>(avx512::float_loops, avx512::double_loops)});
#endif
    return sets;
}

}  // namespace testing
}  // namespace localsvm
