// What Ravi tells LLVM of the types of its loads and stores.
#ifndef RAVI_TBAA_H
#define RAVI_TBAA_H

#include <memory>

namespace llvm {
class Instruction;
class LLVMContext;
class MDNode;
class Module;
} // namespace llvm

// The places that compiled code accesses: a name, and a path through the declared structs.
#define RAVI_PLACES(X)                                                                             \
    X(L_ci, "lua_State.ci")                                                                        \
    X(L_top, "lua_State.top")                                                                      \
    X(ci_func, "CallInfo.func")                                                                    \
    X(ci_top, "CallInfo.top")                                                                      \
    X(ci_base, "CallInfo.u.l.base")                                                                \
    X(ci_savedpc, "CallInfo.u.l.savedpc")                                                          \
    X(value, "TValue.value_")                                                                      \
    X(value_gc, "TValue.value_.gc")                                                                \
    X(value_n, "TValue.value_.n")                                                                  \
    X(value_i, "TValue.value_.i")                                                                  \
    X(value_b, "TValue.value_.b")                                                                  \
    X(value_tt, "TValue.tt_")                                                                      \
    X(key_gc, "Node.i_key.nk.value_.gc")                                                           \
    X(key_tt, "Node.i_key.nk.tt_")                                                                 \
    X(cl_p, "LClosure.p")                                                                          \
    X(cl_upvals, "LClosure.upvals[*]")                                                             \
    X(p_k, "Proto.k")                                                                              \
    X(p_code, "Proto.code")                                                                        \
    X(p_sizep, "Proto.sizep")                                                                      \
    X(uv_v, "UpVal.v")                                                                             \
    X(t_flags, "Table.flags")                                                                      \
    X(t_lsizenode, "Table.lsizenode")                                                              \
    X(t_sizearray, "Table.sizearray")                                                              \
    X(t_array, "Table.array")                                                                      \
    X(t_node, "Table.node")                                                                        \
    X(t_metatable, "Table.metatable")                                                              \
    X(t_hmask, "Table.hmask")                                                                      \
    X(array_data, "RaviArray.data")                                                                \
    X(array_len, "RaviArray.len")                                                                  \
    X(element_n, "*double")                                                                        \
    X(element_i, "*long long")                                                                     \
    X(local, "*long long")                                                                         \
    X(local_int, "*long long")

namespace ravi {

enum Place {
#define RAVI_PLACE(id, path) P_##id,
    RAVI_PLACES(RAVI_PLACE)
#undef RAVI_PLACE
};

// Attaches the tags that $RAVI_TBAA names; see docs/ravi.md for the choices.
class Tbaa {
public:
    explicit Tbaa(llvm::LLVMContext &context);
    ~Tbaa();
    // Tags an access to a place; `own` is the tag that Ravi made by hand.
    void tag(llvm::Instruction *access, llvm::MDNode *own, Place place);
    // Tags calls of what is known of the runtime, and counts loads before the optimiser.
    void generated(llvm::Module &module);
    // Counts loads after the optimiser.
    void optimized(llvm::Module &module);

private:
    struct Types;
    std::unique_ptr<Types> types_; // none if Ravi's own tags are attached, or no tags
    bool own_ = false;
};

// Adds the processor time of its scope to a sum that is reported when the program ends.
class Timed {
public:
    enum Phase { Compile, Generate, Phases };
    explicit Timed(Phase phase) : phase_(phase), start_(now()) {}
    ~Timed();
    Timed(const Timed &) = delete;

private:
    static long now(); // nanoseconds
    Phase phase_;
    long start_;
};

} // namespace ravi
#endif
