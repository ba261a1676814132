// libtbaa for C++11: handles that free themselves, and a tagger for llvm::Instruction.
// No function throws; each returns the status of the C function that it calls.
//
//     tbaa::context types;
//     tbaa::tagger tagger;
//     tbaa::make(types);                                     // for LLVM, including unions
//     tbaa_declare(types.get(), &record);
//     tbaa::place(types, "CallInfo.base", base);
//     tagger.make(llvm_context);
//     tagger.tag(base, builder.CreateLoad(...));
#ifndef TBAA_HPP
#define TBAA_HPP

#include <initializer_list>
#include <memory>
#include <string>
#include <tbaa.h>
#include <vector>

namespace tbaa {

namespace detail {
struct freed {
    void operator()(tbaa_context *it) const { tbaa_context_free(it); }
    void operator()(tbaa_emitter *it) const { tbaa_emitter_free(it); }
};
} // namespace detail

using context = std::unique_ptr<tbaa_context, detail::freed>;
using emitter = std::unique_ptr<tbaa_emitter, detail::freed>;

// Returns a view of `text`, which must outlive it.
inline tbaa_str str(const std::string &text) {
    tbaa_str made;
    made.data = text.data();
    made.len = text.size();
    return made;
}

// Returns the message of the last error on this thread.
inline std::string last_error() {
    tbaa_str why = tbaa_last_error();
    return std::string(why.data, why.len);
}

// Calls tbaa_context_new, by default for tags that go to LLVM, including unions.
inline tbaa_status make(context &made, tbaa_options options = tbaa_options_for_llvm()) {
    tbaa_context *it = nullptr;
    tbaa_status status = tbaa_context_new(&options, &it);
    made.reset(it);
    return status;
}

// Calls tbaa_places.
inline tbaa_status places(context &types, const std::vector<std::string> &paths,
                          std::vector<tbaa_tagged> &found) {
    std::vector<tbaa_str> texts;
    for (const std::string &path : paths)
        texts.push_back(str(path));
    std::vector<tbaa_tagged> made(paths.size());
    tbaa_status status = tbaa_places(types.get(), texts.data(), texts.size(), made.data());
    if (status == TBAA_STATUS_OK)
        found.swap(made);
    return status;
}

inline tbaa_status place(context &types, const std::string &path, tbaa_tagged &found) {
    tbaa_str text = str(path);
    return tbaa_places(types.get(), &text, 1, &found);
}

// Calls tbaa_call_touching.
inline tbaa_status call(context &types, const std::vector<std::string> &touched,
                        const std::vector<std::string> &memory, tbaa_tagged &found) {
    std::vector<tbaa_str> texts, types_of;
    for (const std::string &path : touched)
        texts.push_back(str(path));
    for (const std::string &type : memory)
        types_of.push_back(str(type));
    return tbaa_call_touching(types.get(), texts.data(), texts.size(), types_of.data(),
                              types_of.size(), &found);
}

} // namespace tbaa

// The class `tagger` exists if LLVM's headers are included before this one.
#ifdef LLVM_IR_INSTRUCTION_H
#include <llvm/IR/LLVMContext.h>
#include <tbaa-llvm.h>

namespace tbaa {

// Makes nodes in one LLVM context and attaches them.
class tagger {
public:
    // The tagger must be destroyed before the context.
    tbaa_status make(llvm::LLVMContext &context) {
        tbaa_sink sink = tbaa_llvm_sink(llvm::wrap(&context));
        tbaa_emitter *it = nullptr;
        tbaa_status status = tbaa_emitter_new(&sink, &it);
        emitter_.reset(it);
        return status;
    }

    // Calls tbaa_llvm_tag.
    tbaa_status tag(const tbaa_tagged &place, llvm::Value *instruction) {
        return tbaa_llvm_tag(emitter_.get(), &place, llvm::wrap(instruction));
    }

    tbaa_emitter *get() const { return emitter_.get(); }

private:
    emitter emitter_;
};

} // namespace tbaa
#endif

#endif // TBAA_HPP
