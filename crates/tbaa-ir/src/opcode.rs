//! The instructions of LLVM's assembly language.

macro_rules! opcodes {
    ($($variant:ident $word:literal,)*) => {
        /// The opcode of an instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Opcode {
            /// `load`.
            Load,
            /// `store`.
            Store,
            /// `call`, `invoke` or `callbr`. A module lists calls of `llvm.memcpy`, `llvm.memmove`
            /// and `llvm.memset`, and all calls with a tag.
            Call,
            /// `atomicrmw`.
            AtomicRmw,
            /// `cmpxchg`.
            CmpXchg,
            /// `va_arg`.
            VaArg,
            $(#[doc = concat!("`", $word, "`.")] $variant,)*
            /// A module lists every instruction that does not access memory by itself as `Other`. A
            /// function uses it only for opcodes that this version does not know.
            Other,
        }

        /// The words of instructions that do not access memory by themselves, sorted, with their
        /// opcodes. Source: LLVM's `Instruction.def`, and `unwind`, `free` and `malloc` of LLVM 2
        /// and 3.
        const OTHERS: &[(&str, Opcode)] = &[$(($word, Opcode::$variant),)*];
    };
}

opcodes! {
    Add "add",
    AddrSpaceCast "addrspacecast",
    Alloca "alloca",
    And "and",
    AShr "ashr",
    BitCast "bitcast",
    Br "br",
    CatchPad "catchpad",
    CatchRet "catchret",
    CatchSwitch "catchswitch",
    CleanupPad "cleanuppad",
    CleanupRet "cleanupret",
    ExtractElement "extractelement",
    ExtractValue "extractvalue",
    FAdd "fadd",
    FCmp "fcmp",
    FDiv "fdiv",
    Fence "fence",
    FMul "fmul",
    FNeg "fneg",
    FPExt "fpext",
    FPToSI "fptosi",
    FPToUI "fptoui",
    FPTrunc "fptrunc",
    Free "free",
    Freeze "freeze",
    FRem "frem",
    FSub "fsub",
    GetElementPtr "getelementptr",
    ICmp "icmp",
    IndirectBr "indirectbr",
    InsertElement "insertelement",
    InsertValue "insertvalue",
    IntToPtr "inttoptr",
    LandingPad "landingpad",
    LShr "lshr",
    Malloc "malloc",
    Mul "mul",
    Or "or",
    Phi "phi",
    PtrToAddr "ptrtoaddr",
    PtrToInt "ptrtoint",
    Resume "resume",
    Ret "ret",
    SDiv "sdiv",
    Select "select",
    SExt "sext",
    Shl "shl",
    ShuffleVector "shufflevector",
    SIToFP "sitofp",
    SRem "srem",
    Sub "sub",
    Switch "switch",
    Trunc "trunc",
    UDiv "udiv",
    UIToFP "uitofp",
    Unreachable "unreachable",
    Unwind "unwind",
    URem "urem",
    Xor "xor",
    ZExt "zext",
}

impl Opcode {
    /// Returns the opcode for the word of an instruction that is no access, such as
    /// `getelementptr`.
    pub(super) fn of_other(word: &[u8]) -> Option<Opcode> {
        let at = OTHERS.binary_search_by_key(&word, |(other, _)| other.as_bytes()).ok()?;
        Some(OTHERS[at].1)
    }

    /// Returns the word that the instruction begins with; for `invoke` it is `call`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Opcode::Load => "load",
            Opcode::Store => "store",
            Opcode::Call => "call",
            Opcode::AtomicRmw => "atomicrmw",
            Opcode::CmpXchg => "cmpxchg",
            Opcode::VaArg => "va_arg",
            _ => OTHERS.iter().find(|it| it.1 == self).map_or("", |it| it.0),
        }
    }

    /// Returns whether the instruction accesses memory by itself. A module lists such instructions
    /// even without a tag.
    #[must_use]
    pub fn accesses_memory(self) -> bool {
        use Opcode::{AtomicRmw, CmpXchg, Load, Store, VaArg};
        matches!(self, Load | Store | AtomicRmw | CmpXchg | VaArg)
    }

    /// Returns whether the instruction converts one value to another type.
    ///
    /// LLVM: `Instruction::isCast`.
    #[must_use]
    pub fn is_cast(self) -> bool {
        use Opcode::{
            AddrSpaceCast, BitCast, FPExt, FPToSI, FPToUI, FPTrunc, IntToPtr, PtrToAddr, PtrToInt,
            SExt, SIToFP, Trunc, UIToFP, ZExt,
        };
        matches!(
            self,
            AddrSpaceCast
                | BitCast
                | FPExt
                | FPToSI
                | FPToUI
                | FPTrunc
                | IntToPtr
                | PtrToAddr
                | PtrToInt
                | SExt
                | SIToFP
                | Trunc
                | UIToFP
                | ZExt
        )
    }

    /// Returns whether a pointer cast yields the same address: `bitcast`, and `addrspacecast`,
    /// which may change the address's bits but not the object.
    #[must_use]
    pub fn is_pointer_cast(self) -> bool {
        matches!(self, Opcode::BitCast | Opcode::AddrSpaceCast)
    }

    /// Returns whether the instruction has two operands of one type, and the second is written
    /// without it.
    ///
    /// LLVM: `BinaryOperator`, `CmpInst`.
    #[must_use]
    pub fn is_binary(self) -> bool {
        use Opcode::{
            AShr, Add, And, FAdd, FCmp, FDiv, FMul, FRem, FSub, ICmp, LShr, Mul, Or, SDiv, SRem,
            Shl, Sub, UDiv, URem, Xor,
        };
        matches!(
            self,
            AShr | Add
                | And
                | FAdd
                | FCmp
                | FDiv
                | FMul
                | FRem
                | FSub
                | ICmp
                | LShr
                | Mul
                | Or
                | SDiv
                | SRem
                | Shl
                | Sub
                | UDiv
                | URem
                | Xor
        )
    }

    /// Returns whether equal operands always give equal results, independent of memory and
    /// position.
    #[must_use]
    pub fn is_pure(self) -> bool {
        use Opcode::{
            ExtractElement, ExtractValue, FNeg, GetElementPtr, InsertElement, InsertValue, Select,
            ShuffleVector,
        };
        self.is_binary()
            || self.is_cast()
            || matches!(
                self,
                ExtractElement
                    | ExtractValue
                    | FNeg
                    | GetElementPtr
                    | InsertElement
                    | InsertValue
                    | Select
                    | ShuffleVector
            )
    }

    /// Returns whether the instruction ends a block. `invoke` and `callbr` do too, but have the
    /// opcode of a call.
    ///
    /// LLVM: `Instruction::isTerminator`; and `unwind` of LLVM 2.
    #[must_use]
    pub fn is_terminator(self) -> bool {
        use Opcode::{
            Br, CatchRet, CatchSwitch, CleanupRet, IndirectBr, Resume, Ret, Switch, Unreachable,
            Unwind,
        };
        matches!(
            self,
            Br | CatchRet
                | CatchSwitch
                | CleanupRet
                | IndirectBr
                | Resume
                | Ret
                | Switch
                | Unreachable
                | Unwind
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_sorted() {
        assert!(super::OTHERS.is_sorted_by_key(|(word, _)| word));
    }
}
