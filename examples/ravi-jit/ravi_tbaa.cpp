#include <ravi_llvmcodegen.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <tbaa.hpp>
#include <time.h>

namespace ravi {

// The structs. A member that compiled code never touches need not be declared.
using CallInfo_u = decltype(CallInfo::u);
using CallInfo_l = decltype(CallInfo::u.l);
using TKey_nk = decltype(TKey::nk);

#define M TBAA_MEMBER
#define RAVI_RECORDS(R)                                                                            \
    R(Value, TBAA_RECORD_FLAG_UNION, M(Value, gc, "struct GCObject *"), M(Value, p, "void *"),     \
      M(Value, b, "int"), M(Value, i, "long long"), M(Value, n, "double"))                         \
    R(TValue, 0, M(TValue, value_, "Value"), M(TValue, tt_, "short"))                              \
    R(TKey_nk, 0, M(TKey_nk, value_, "Value"), M(TKey_nk, tt_, "short"))                           \
    R(TKey, TBAA_RECORD_FLAG_UNION, M(TKey, nk, "TKey_nk"), M(TKey, tvk, "TValue"))                \
    R(Node, 0, M(Node, i_val, "TValue"), M(Node, i_key, "TKey"))                                   \
    R(Table, 0, M(Table, flags, "unsigned char"), M(Table, lsizenode, "unsigned char"),            \
      M(Table, sizearray, "unsigned int"), M(Table, array, "TValue *"),                            \
      M(Table, node, "Node *"), M(Table, metatable, "struct Table *"),                             \
      M(Table, hmask, "unsigned int"))                                                             \
    R(RaviArray, 0, M(RaviArray, len, "unsigned int"), M(RaviArray, data, "char *"))               \
    R(UpVal, 0, M(UpVal, v, "TValue *"))                                                           \
    R(Proto, 0, M(Proto, sizep, "int"), M(Proto, k, "TValue *"), M(Proto, code, "unsigned int *")) \
    R(LClosure, 0, M(LClosure, p, "Proto *"), M(LClosure, upvals, "UpVal *[1]"))                   \
    R(CallInfo_l, 0, M(CallInfo_l, base, "TValue *"),                                              \
      M(CallInfo_l, savedpc, "const unsigned int *"))                                              \
    R(CallInfo_u, TBAA_RECORD_FLAG_UNION, M(CallInfo_u, l, "CallInfo_l"))                          \
    R(CallInfo, 0, M(CallInfo, func, "TValue *"), M(CallInfo, top, "TValue *"),                    \
      M(CallInfo, u, "CallInfo_u"))                                                                \
    R(lua_State, 0, M(lua_State, top, "TValue *"), M(lua_State, ci, "CallInfo *"))

// Memory that is neither a slot nor a member: elements of Ravi's arrays, and variables of a
// compiled function whose address the runtime gets. Nothing else is ever there, so each is a
// region of its own; `*double` might alias a slot's number. A local is of any type.
static const struct {
    const char *name, *element;
    std::vector<Place> places;
} regions[] = {{"number element", "double", {P_element_n}},
               {"integer element", "long long", {P_element_i}},
               {"local", "", {P_local, P_local_int}}};

// What a function of the runtime touches, of all that compiled code accesses.
static const struct {
    const char *name;
    std::vector<std::string> touched;
} calls[] = {{"luaV_tonumber_", {"TValue", "*local"}},
             {"luaV_tointeger", {"TValue", "*local"}},
             {"luaV_tointeger_", {"TValue", "*local"}},
             {"luaV_forlimit", {"TValue", "*local"}},
             {"luaH_getstr", {"Table", "Node"}},
             {"pow", {"*int"}}}; // errno

static void must(tbaa_status status) {
    if (status == TBAA_STATUS_OK)
        return;
    fprintf(stderr, "tbaa: %s\n", tbaa::last_error().c_str());
    abort();
}

struct Tbaa::Types {
    tbaa::context context;
    tbaa::tagger tagger;
    std::vector<tbaa_tagged> places, called;

    Types(llvm::LLVMContext &llvm, const std::string &variant) {
        bool best = variant == "best", scalar = best || variant == "scalars";
        if (!scalar && variant != "lowered" && variant != "clang") {
            fprintf(stderr, "RAVI_TBAA: none, own, clang, lowered, scalars or best\n");
            abort();
        }
        tbaa_options options = tbaa_options_for_llvm();
        if (variant == "clang")
            options = {};
        must(tbaa::make(context, options));
#define RAVI_RECORD(T, flags, ...)                                                                 \
    {                                                                                              \
        static const tbaa_record_member members[] = {__VA_ARGS__};                                 \
        static const tbaa_record record = TBAA_RECORD(T, members, flags);                          \
        must(tbaa_declare(context.get(), &record));                                                \
    }
        RAVI_RECORDS(RAVI_RECORD)
#undef RAVI_RECORD
        std::vector<std::string> paths = {
#define RAVI_PLACE(id, path) path,
            RAVI_PLACES(RAVI_PLACE)
#undef RAVI_PLACE
        };
        if (scalar)
            for (const auto &own : regions) {
                must(tbaa_declare_region(context.get(), tbaa_cstr(own.name),
                                         tbaa_cstr(own.element)));
                for (Place place : own.places)
                    paths[place] = std::string("*") + own.name;
            }
        if (best) {
            tbaa_tag_options form = {};
            form.form = TBAA_TAG_FORM_LOWERED_SCOPES; // for calls
            must(tbaa_context_tag_options(context.get(), &form));
            for (Place constant : {P_cl_p, P_p_k, P_p_code, P_p_sizep})
                paths[constant] = "immutable " + paths[constant];
        }
        must(tbaa::places(context, paths, places));
        if (best)
            for (const auto &call : calls) {
                called.emplace_back();
                must(tbaa::call(context, call.touched, {}, called.back()));
            }
        must(tagger.make(llvm));
        // Nodes are made when they are first used, or here, as Ravi makes its own.
        tbaa_attachments nodes;
        for (const tbaa_tagged &place : places)
            must(tbaa_emit_tagged(tagger.get(), &place, TBAA_INSTRUCTION_KIND_LOAD, 0, &nodes));
    }
};

// What is written to the file $RAVI_TBAA_REPORT when the program ends.
static struct Report {
    long nanoseconds[Timed::Phases] = {}, tags = 0, generated[2] = {}, optimized[2] = {};
    const char *file = getenv("RAVI_TBAA_REPORT");

    ~Report() {
        FILE *out = file == nullptr ? nullptr : fopen(file, "a");
        if (out == nullptr)
            return;
        fprintf(out,
                "{\"compile\": %ld, \"generate\": %ld, \"tags\": %ld, "
                "\"emitted\": [%ld, %ld], \"left\": [%ld, %ld]}\n",
                nanoseconds[Timed::Compile], nanoseconds[Timed::Generate], tags, generated[0],
                generated[1], optimized[0], optimized[1]);
        fclose(out);
    }

    // Adds the loads of CallInfo.u.l.base, and all loads.
    void count(llvm::Module &module, long loads[2]) {
        if (file == nullptr)
            return;
        const llvm::DataLayout &layout = module.getDataLayout();
        for (llvm::Function &function : module)
            for (llvm::BasicBlock &block : function)
                for (llvm::Instruction &instruction : block)
                    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
                        llvm::Value *pointer = load->getPointerOperand();
                        llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
                        pointer = pointer->stripAndAccumulateConstantOffsets(layout, offset, false);
                        auto *type = llvm::dyn_cast<llvm::StructType>(Builder::pointee(pointer));
                        loads[0] += type != nullptr && type->getName() == "struct.CallInfo" &&
                                    offset == offsetof(CallInfo, u.l.base);
                        loads[1]++;
                    }
    }
} report;

Tbaa::Tbaa(llvm::LLVMContext &context) {
    const char *named = getenv("RAVI_TBAA");
    std::string variant = named == nullptr ? "lowered" : named;
    own_ = variant == "own";
    if (!own_ && variant != "none")
        types_.reset(new Types(context, variant));
}

Tbaa::~Tbaa() = default;

void Tbaa::tag(llvm::Instruction *access, llvm::MDNode *own, Place place) {
    report.tags++;
    if (types_ != nullptr)
        must(types_->tagger.tag(types_->places[place], access));
    else if (own_)
        access->setMetadata(llvm::LLVMContext::MD_tbaa, own);
}

void Tbaa::generated(llvm::Module &module) {
    report.count(module, report.generated);
    for (size_t i = 0; types_ != nullptr && i < types_->called.size(); i++)
        if (llvm::Function *function = module.getFunction(calls[i].name))
            for (llvm::User *user : function->users())
                if (auto *call = llvm::dyn_cast<llvm::CallInst>(user))
                    if (call->getCalledFunction() == function)
                        must(types_->tagger.tag(types_->called[i], call));
}

void Tbaa::optimized(llvm::Module &module) {
    report.count(module, report.optimized);
}

long Timed::now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

Timed::~Timed() { report.nanoseconds[phase_] += now() - start_; }

} // namespace ravi
