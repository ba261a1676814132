//! `tbaa types`: prints the struct types of modules, grouped into classes of equal types.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use indexmap::IndexMap;
use serde::Serialize;
use tbaa::types::{
    Context, DataLayout, DataLayoutError, Equality, Layouts, Type, TypeClasses, TypeKind,
};
use tbaa_ir::Sizes;

use crate::convert::{FlagsArg, Origin};
use crate::input::{Content, Input};
use crate::output::{TextOrJson, write_json};
use crate::printable::printable;
use crate::report::{Failure, Result, note, warn};

/// Prints the struct types of modules, in classes of equal ones.
///
/// Names do not count: %struct.Point and %struct.Point.0 are in one class if they have the same body. Opaque
/// structs are equal if their names are, without a suffix like .0. For each class it prints the definition
/// of its first type, the size in bytes by the file's data layout, and the names in each file.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/types.txt"))]
pub(crate) struct Types {
    /// .ll, .bc, C or C++ files, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// When two types are equal.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) equality: EqualityArg,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TextOrJson,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum EqualityArg {
    #[default]
    Structural,
    Unfolding,
}

pub(super) struct FileTypes {
    pub(super) file: String,
    pub(super) context: Context,
    layout: DataLayout,
    /// The numbers of the structs that have a number, such as `%0`, instead of a name.
    numbers: HashMap<Type, u64>,
}

impl FileTypes {
    pub(super) fn of(input: &Input) -> Result<FileTypes> {
        let file = input.file().to_owned();
        let mut context = Context::new();
        let (mut layout, mut numbers) = (DataLayout::default(), HashMap::new());
        if let Content::Module(module) = &input.content {
            let at = |offset, error: &dyn Display| Failure::at(&file, input.text(), offset, error);
            let names = module.read_types(&mut context);
            let names = names.map_err(|error| at(error.offset, &error.kind))?;
            numbers = names.numbers().map(|(number, ty)| (ty, number)).collect();
            if let Some((text, offset)) = module.data_layout() {
                let parsed = String::from_utf8_lossy(text).parse();
                layout = parsed.map_err(|error: DataLayoutError| at(offset, &error))?;
            }
        }
        Ok(FileTypes { file, context, layout, numbers })
    }

    fn name(&self, ty: Type) -> String {
        match self.numbers.get(&ty) {
            Some(number) => format!("%{number}"),
            None => self.context.display(ty).to_string(),
        }
    }
}

#[derive(Serialize)]
struct Class {
    /// The body in the definition of the class's first type.
    body: String,
    /// The size in bytes; `None` if the type has no fixed size, such as an opaque struct.
    size: Option<u64>,
    align: Option<u64>,
    types: Vec<Named>,
}

/// The name of types in a class, and the files that have a type of this name.
#[derive(Serialize)]
struct Named {
    name: String,
    files: Vec<String>,
}

pub(super) fn run(args: &Types, out: &mut dyn Write) -> Result {
    let mut globals = Globals::default();
    let mut open = |input| open(args.flags.among(input, args.inputs.iter()), &mut globals);
    let files: Vec<FileTypes> =
        args.inputs.iter().map(|input| open(input)).collect::<Result<_, _>>()?;
    let contexts: Vec<&Context> = files.iter().map(|file| &file.context).collect();
    let equality = match args.equality {
        EqualityArg::Structural => Equality::Structural,
        EqualityArg::Unfolding => Equality::Unfolding,
    };
    let classes = TypeClasses::new(&contexts, equality);
    if !classes.is_exact() {
        note("these types are too much alike to be compared in full: some classes may be one");
    }
    let mut found: IndexMap<usize, Class> = IndexMap::new();
    // The index of each name in the `types` of its class. A search would be slow in a large class.
    let mut named: HashMap<(usize, String), usize> = HashMap::new();
    for file in &files {
        let mut layouts = file.layout.layouts(&file.context);
        for ty in file.context.structs() {
            let at = classes.class_of(ty);
            let types = &mut found.entry(at).or_insert_with(|| class(file, &mut layouts, ty)).types;
            let index = *named.entry((at, file.name(ty))).or_insert_with_key(|(_, name)| {
                types.push(Named { name: name.clone(), files: Vec::new() });
                types.len() - 1
            });
            types[index].files.push(file.file.clone());
        }
    }
    let found: Vec<Class> = found.into_values().collect();
    if found.is_empty() {
        note(
            "no input has struct types: LLVM drops those that no instruction uses, and optimisation \
             leaves few; for C or C++ give clang -O0 after `--`",
        );
    }
    match args.format {
        TextOrJson::Text => write(&found, out)?,
        TextOrJson::Json => write_json(&found, out)?,
    }
    Ok(())
}

fn open(origin: Origin<'_>, globals: &mut Globals) -> Result<FileTypes> {
    let input = Input::open_for_types(origin)?;
    globals.add(&input);
    FileTypes::of(&input)
}

fn class(file: &FileTypes, layouts: &mut Layouts<'_>, ty: Type) -> Class {
    let definition = file.context.definition(ty).to_string();
    let body = definition.split_once(" = type ").map_or("", |(_, body)| body).to_owned();
    let fixed = layouts.alloc_size(ty).ok().filter(|size| !size.scalable);
    let (size, align) = (fixed.map(|size| size.min), layouts.abi_align(ty).ok());
    Class { body, size, align, types: Vec::new() }
}

fn write(classes: &[Class], out: &mut dyn Write) -> io::Result<()> {
    for (at, class) in classes.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", class.body)?;
        match (class.size, class.align) {
            (Some(size), Some(align)) => writeln!(out, "  ; size {size}, align {align}")?,
            _ => writeln!(out)?,
        }
        for Named { name, files } in &class.types {
            match files.len() - 1 {
                0..=2 => writeln!(out, "  {name}: {}", files.join(" "))?,
                more => writeln!(out, "  {name}: {} and {more} more", files[0])?,
            }
        }
    }
    Ok(())
}

/// For each scalar variable that is not local: its type in the first file with it, and that file.
#[derive(Default)]
pub(super) struct Globals(HashMap<Vec<u8>, (String, String)>);

impl Globals {
    /// Adds a module's variables. Warns of each whose type differs from that in the first module.
    /// Compares only scalar types, because clang derives others from the initial values.
    pub(super) fn add(&mut self, input: &Input) {
        let Content::Module(module) = &input.content else { return };
        let sizes = Sizes::new(module);
        let scalar = |ty: &[u8]| -> Option<Type> {
            let ty = sizes.opaque(sizes.ty(ty)?);
            let is_scalar = |kind: TypeKind<'_>| {
                use TypeKind::{Int, Pointer, Primitive};
                matches!(kind, Primitive(_) | Int(_) | Pointer { .. })
            };
            sizes.with_kind(ty, is_scalar).then_some(ty)
        };
        let globals = module.globals(&sizes).into_iter().filter(|global| !global.1.local);
        let globals =
            globals.filter_map(|(name, global)| Some((name, sizes.written(scalar(global.ty)?))));
        let mut globals: Vec<(&[u8], String)> = globals.collect();
        globals.sort_unstable();
        let mut clashes = Vec::new();
        for (name, ty) in globals {
            let new = || (ty.clone(), input.file().to_owned());
            let (other, file) = self.0.entry(name.to_owned()).or_insert_with(new);
            if *other != ty {
                let (name, here) = (printable(name), input.file());
                clashes.push(format!(
                    "@{name} is {other} in {file}, and {ty} in {here}: what one file stores, the other \
                     reads as another type; declare the variable once, in a header of both"
                ));
            }
        }
        warn(&clashes, |text| (None, text.clone()));
    }
}
