//! The opcodes of LLVM's assembly language.

macro_rules! opcodes {
    ($($variant:ident $word:literal $class:ident,)*) => {
        /// The opcode of an instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Opcode {
            /// `call`, `invoke` or `callbr`. `Module::instructions` lists it if it calls
            /// `llvm.memcpy`, `llvm.memmove` or `llvm.memset`, or has a TBAA attachment.
            Call,
            $(#[doc = concat!("`", $word, "`.")] $variant,)*
            /// In `Module::instructions`: an instruction that is not an access or a call, but has a
            /// TBAA attachment. In `Function::instructions`: an opcode that is not in this enum.
            #[default]
            Other,
        }

        /// The words of all instructions except calls, sorted, with their opcodes. They are those
        /// of LLVM's `Instruction.def`, and `unwind`, `free` and `malloc` from LLVM 2 and 3.
        const WORDS: &[(&str, Opcode)] = &[$(($word, Opcode::$variant),)*];

        impl Opcode {
            fn class(self) -> Class {
                match self {
                    $(Opcode::$variant => Class::$class,)*
                    _ => Class::Other,
                }
            }
        }
    };
}

opcodes! {
    Add "add" Binary, AddrSpaceCast "addrspacecast" Cast, Alloca "alloca" Other, And "and" Binary,
    AShr "ashr" Binary, AtomicRmw "atomicrmw" Access, BitCast "bitcast" Cast, Br "br" End,
    CatchPad "catchpad" Other, CatchRet "catchret" End, CatchSwitch "catchswitch" End,
    CleanupPad "cleanuppad" Other, CleanupRet "cleanupret" End, CmpXchg "cmpxchg" Access,
    ExtractElement "extractelement" Pure, ExtractValue "extractvalue" Pure, FAdd "fadd" Binary,
    FCmp "fcmp" Binary, FDiv "fdiv" Binary, Fence "fence" Other, FMul "fmul" Binary,
    FNeg "fneg" Pure, FPExt "fpext" Cast, FPToSI "fptosi" Cast, FPToUI "fptoui" Cast,
    FPTrunc "fptrunc" Cast, Free "free" Other, Freeze "freeze" Other, FRem "frem" Binary,
    FSub "fsub" Binary, GetElementPtr "getelementptr" Pure, ICmp "icmp" Binary,
    IndirectBr "indirectbr" End, InsertElement "insertelement" Pure, InsertValue "insertvalue" Pure,
    IntToPtr "inttoptr" Cast, LandingPad "landingpad" Other, Load "load" Access, LShr "lshr" Binary,
    Malloc "malloc" Other, Mul "mul" Binary, Or "or" Binary, Phi "phi" Other,
    PtrToAddr "ptrtoaddr" Cast, PtrToInt "ptrtoint" Cast, Resume "resume" End, Ret "ret" End,
    SDiv "sdiv" Binary, Select "select" Pure, SExt "sext" Cast, Shl "shl" Binary,
    ShuffleVector "shufflevector" Pure, SIToFP "sitofp" Cast, SRem "srem" Binary,
    Store "store" Access, Sub "sub" Binary, Switch "switch" End, Trunc "trunc" Cast,
    UDiv "udiv" Binary, UIToFP "uitofp" Cast, Unreachable "unreachable" End, Unwind "unwind" End,
    URem "urem" Binary, VaArg "va_arg" Access, Xor "xor" Binary, ZExt "zext" Cast,
}

#[derive(PartialEq, Eq)]
enum Class {
    Access,
    /// Instructions with two operands of one type.
    Binary,
    Cast,
    /// Other instructions whose results depend only on their operands.
    Pure,
    End,
    Other,
}

impl Opcode {
    /// Returns the opcode for a word such as `add`; `None` for calls, accesses and unknown words.
    pub(super) fn of_other(word: &[u8]) -> Option<Opcode> {
        let at = WORDS.binary_search_by_key(&word, |(other, _)| other.as_bytes()).ok()?;
        Some(WORDS[at].1).filter(|opcode| !opcode.accesses_memory())
    }

    /// Returns the opcode's word: `call` for all of [`Opcode::Call`], and `""` for `Other`.
    pub fn word(self) -> &'static str {
        match self {
            Opcode::Call => "call",
            _ => WORDS.iter().find(|(_, opcode)| *opcode == self).map_or("", |(word, _)| word),
        }
    }

    /// Returns whether the instruction accesses memory and is not a call. `Module::instructions`
    /// lists such instructions even without a tag.
    pub fn accesses_memory(self) -> bool {
        self.class() == Class::Access
    }

    /// Returns whether the instruction converts a value, like LLVM's `Instruction::isCast`.
    pub fn is_cast(self) -> bool {
        self.class() == Class::Cast
    }

    /// Returns whether the instruction is a `bitcast` or an `addrspacecast`. These keep the object
    /// that a pointer points to.
    pub fn is_pointer_cast(self) -> bool {
        matches!(self, Opcode::BitCast | Opcode::AddrSpaceCast)
    }

    /// Returns whether the instruction has two operands of one type, so that the text states the
    /// type only once. In LLVM: `BinaryOperator` and `CmpInst`.
    pub fn is_binary(self) -> bool {
        self.class() == Class::Binary
    }

    /// Returns whether equal operands give equal results, at any place and for any memory contents.
    pub fn is_pure(self) -> bool {
        matches!(self.class(), Class::Binary | Class::Cast | Class::Pure)
    }

    /// Returns whether the instruction ends a block, like LLVM's `Instruction::isTerminator`.
    /// `invoke` and `callbr` also end a block, but have the opcode of a call.
    pub fn is_terminator(self) -> bool {
        self.class() == Class::End
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_sorted() {
        assert!(super::WORDS.is_sorted_by_key(|(word, _)| word));
    }
}
