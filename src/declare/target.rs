//! The sizes of types and the rules for struct layout that a C compiler uses for a target machine.

use tbaa_types::{Context, DataLayout, LayoutError, Primitive, Type};

/// The properties of a machine and its C ABI that determine how types are laid out.
///
/// ```
/// use tbaa::declare::Target;
///
/// assert_eq!(Target::x86_64().pointer_size(), 8);
/// assert_eq!(Target::by_name("wasm32").unwrap().pointer_size(), 4);
/// // A target without a preset is made from a data layout string.
/// let target = Target::from_data_layout("e-m:e-p:32:32-i64:64".parse()?);
/// assert_eq!(target.pointer_size(), 4);
/// # Ok::<(), tbaa::types::DataLayoutError>(())
/// ```
///
/// The corresponding class of clang is `TargetInfo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub(super) data_layout: DataLayout,
    /// The size of a pointer and its alignment, in bytes.
    pub(super) pointer: (u64, u64),
    /// The size of `long`, in bytes.
    pub(super) long: u64,
    /// True if `int64_t` is `long long` even if `long` has 64 bits, as on Darwin.
    pub(super) int64_is_long_long: bool,
    /// True if `size_t` is `unsigned long` even where `unsigned int` has the same size.
    pub(super) size_is_long: bool,
    /// `long double`: its LLVM type, size and alignment.
    pub(super) long_double: (Primitive, u64, u64),
    pub(super) int128: bool,
    /// The size of `wchar_t`, in bytes.
    pub(super) wchar: u64,
    /// The largest alignment of a vector, in bytes.
    pub(super) vector_align: u64,
    pub(super) rules: LayoutRules,
}

/// The ABI that determines how structs are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LayoutRules {
    /// The System V ABI, which most other ABIs follow.
    SystemV {
        /// True if an unnamed bit-field affects the alignment of its struct, as in the ABI of Arm
        /// but not in Apple's.
        unnamed_bits_align: bool,
    },
    Microsoft {
        /// True for a 64-bit target.
        wide: bool,
    },
}

/// The value of `vector_align` if the alignment of vectors has no limit.
const NO_LIMIT: u64 = 1 << 28;

macro_rules! presets {
    ($($function:ident $name:literal, $triple:literal, $layout:literal;)*) => {
        /// The presets: the name for [`Target::by_name`], clang's target triple, the constructor.
        const PRESETS: &[(&str, &str, fn() -> Target)] = &[$(($name, $triple, Target::$function),)*];

        impl Target {
            $(
                #[doc = concat!("Returns `", $triple, "`.")]
                pub fn $function() -> Target {
                    // The layouts are those of clang 22; a test compares them with clang's.
                    Target::preset($triple, $layout)
                }
            )*
        }
    };
}

presets! {
    x86_64 "x86-64", "x86_64-linux-gnu",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
    aarch64 "aarch64", "aarch64-linux-gnu",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32";
    riscv64 "riscv64", "riscv64-linux-gnu",
        "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128";
    i686 "i686", "i686-linux-gnu",
        "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128";
    wasm32 "wasm32", "wasm32-unknown-unknown",
        "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20";
    windows_x86_64 "windows", "x86_64-pc-windows-msvc",
        "e-m:w-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
    apple_aarch64 "apple", "arm64-apple-macosx",
        "e-m:o-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-n32:64-S128-Fn32";
}

impl Target {
    /// Returns the names of the presets.
    pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
        PRESETS.iter().map(|&(name, ..)| name)
    }

    /// Returns the preset called `name`, one of [`Target::names`], or the preset for the triple
    /// `name`, such as `x86_64-unknown-linux-gnu`. The triple's machine, and whether it is for
    /// Windows or Apple, select the preset. Returns `None` if there is no such preset.
    pub fn by_name(name: &str) -> Option<Target> {
        let windows = name.contains("windows");
        let apple = name.contains("apple");
        // The types of these ABIs have other sizes than in the preset for the same machine.
        let others = "x32 ilp32 mingw windows-gnu cygwin uefi emscripten openbsd";
        let is_other_abi = others.split(' ').any(|abi| name.contains(abi))
            || name.contains("android") && name.contains("86");
        let machine = |triple| match str::split(triple, '-').next() {
            Some("arm64") => Some("aarch64"),
            Some("amd64") => Some("x86_64"),
            Some("i386" | "i486" | "i586") => Some("i686"),
            first => first,
        };
        let found = PRESETS.iter().find(|(preset, triple, _)| {
            *preset == name
                || *triple == name
                || name.contains('-')
                    && !is_other_abi
                    && machine(triple) == machine(name)
                    && (windows, apple) == (triple.contains("windows"), triple.contains("apple"))
        });
        found.map(|(.., make)| make())
    }

    /// Returns the preset for the machine that this program runs on, if there is one.
    pub fn host() -> Option<Target> {
        use std::env::consts::{ARCH, OS};
        match (ARCH, OS) {
            ("x86_64", "windows") => Some(Target::windows_x86_64()),
            ("aarch64", "macos" | "ios" | "tvos" | "watchos" | "visionos") => {
                Some(Target::apple_aarch64())
            }
            (_, "windows" | "macos" | "ios" | "tvos" | "watchos" | "visionos") => None,
            ("x86_64", _) => Some(Target::x86_64()),
            ("aarch64", _) => Some(Target::aarch64()),
            ("riscv64", _) => Some(Target::riscv64()),
            ("x86", _) => Some(Target::i686()),
            ("wasm32", _) => Some(Target::wasm32()),
            _ => None,
        }
    }

    fn preset(triple: &str, layout: &str) -> Target {
        // Parsing always succeeds: a test parses the string of each preset.
        let layout = layout.parse().unwrap_or_default();
        let mut target = Target::from_data_layout(layout);
        let unnamed_bits_align = triple.starts_with("aarch64");
        match target.rules {
            LayoutRules::Microsoft { .. } => {
                target.long_double = (Primitive::Double, 8, target.align(Primitive::Double));
            }
            LayoutRules::SystemV { .. } => {
                target.rules = LayoutRules::SystemV { unnamed_bits_align };
            }
        }
        match triple.split('-').next() {
            Some("x86_64") if target.rules == (LayoutRules::SystemV { unnamed_bits_align }) => {
                target.long_double = (Primitive::X86Fp80, 16, 16);
            }
            Some("i686") => {
                target.long_double = (Primitive::X86Fp80, 12, 4);
                target.size_is_long = false;
                target.int128 = false;
            }
            Some("aarch64") => target.vector_align = 16,
            Some("arm64") => {
                target.long_double = (Primitive::Double, 8, 8);
                target.vector_align = 16;
            }
            _ => {}
        }
        target
    }

    /// Returns a target for which only a data layout string is known. All other properties have
    /// usual values: `long` is as wide as a pointer, but has 4 to 8 bytes; `long double` has 16
    /// bytes; structs follow the System V ABI. If names are mangled as on Windows, `long` has 4
    /// bytes and structs follow the Microsoft ABI.
    pub fn from_data_layout(data_layout: DataLayout) -> Target {
        use tbaa_types::Mangling;
        let windows =
            matches!(data_layout.mangling, Some(Mangling::WinCoff | Mangling::WinCoffX86));
        let pointer = data_layout.pointer(0);
        let (size, align) = (u64::from(pointer.bits).div_ceil(8), pointer.abi);
        let rules = match windows {
            true => LayoutRules::Microsoft { wide: size == 8 },
            false => LayoutRules::SystemV { unnamed_bits_align: false },
        };
        Target {
            int64_is_long_long: data_layout.mangling == Some(Mangling::MachO),
            data_layout,
            pointer: (size, align),
            long: if windows { 4 } else { size.clamp(4, 8) },
            size_is_long: true,
            long_double: (Primitive::Fp128, 16, 16),
            int128: true,
            wchar: if windows { 2 } else { 4 },
            vector_align: NO_LIMIT,
            rules,
        }
    }

    /// Returns the target of a module, given its triple and its data layout. Returns `None` if no
    /// preset fits the triple and there is no data layout.
    pub fn of_module(triple: Option<&str>, data_layout: Option<DataLayout>) -> Option<Target> {
        let preset = triple.and_then(Target::by_name);
        match (preset, data_layout) {
            (Some(preset), Some(layout)) => Some(Target { data_layout: layout, ..preset }),
            (preset, layout) => preset.or(layout.map(Target::from_data_layout)),
        }
    }

    /// Returns the data layout.
    pub fn data_layout(&self) -> &DataLayout {
        &self.data_layout
    }

    /// Returns the size of a pointer, in bytes.
    pub fn pointer_size(&self) -> u64 {
        self.pointer.0
    }

    pub(super) fn is_microsoft(&self) -> bool {
        matches!(self.rules, LayoutRules::Microsoft { .. })
    }

    /// Returns the alignment of a floating-point type, in bytes.
    pub(super) fn align(&self, primitive: Primitive) -> u64 {
        let context = Context::new();
        let ty = context.primitive(primitive);
        self.measure(&context, ty).unwrap_or(1)
    }

    /// Returns the alignment of an integer that has `size` bytes, in bytes.
    pub(super) fn int_align(&self, size: u64) -> u64 {
        let mut context = Context::new();
        let bits = u32::try_from(size.saturating_mul(8)).unwrap_or(u32::MAX);
        let Ok(ty) = context.int(bits) else { return 1 };
        self.measure(&context, ty).unwrap_or(1)
    }

    fn measure(&self, context: &Context, ty: Type) -> Result<u64, LayoutError> {
        self.data_layout.layouts(context).abi_align(ty)
    }
}
