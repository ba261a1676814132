// Ravi's calls of LLVM 11 and older, for LLVM 12 to 14: a builder that takes types from pointers.
#ifndef RAVI_LLVM14_H
#define RAVI_LLVM14_H

namespace ravi {

struct Builder : llvm::IRBuilder<> {
    using llvm::IRBuilder<>::IRBuilder;
    using llvm::IRBuilder<>::CreateCall;

    static llvm::Type *pointee(llvm::Value *pointer) {
        return pointer->getType()->getPointerElementType();
    }
    llvm::LoadInst *CreateLoad(llvm::Value *pointer, const llvm::Twine &name = "") {
        return IRBuilder::CreateLoad(pointee(pointer), pointer, name);
    }
    llvm::Value *CreateGEP(llvm::Value *pointer, llvm::ArrayRef<llvm::Value *> indices) {
        return IRBuilder::CreateGEP(pointee(pointer), pointer, indices);
    }
    llvm::Value *CreateInBoundsGEP(llvm::Value *pointer, llvm::ArrayRef<llvm::Value *> indices,
                                   const llvm::Twine &name = "") {
        return IRBuilder::CreateInBoundsGEP(pointee(pointer), pointer, indices, name);
    }
    llvm::CallInst *CreateCall(llvm::Value *callee, llvm::ArrayRef<llvm::Value *> arguments = {},
                               const llvm::Twine &name = "") {
        auto *type = llvm::cast<llvm::FunctionType>(pointee(callee));
        return IRBuilder::CreateCall(type, callee, arguments, name);
    }
};

} // namespace ravi
#endif
