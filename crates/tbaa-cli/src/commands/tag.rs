//! `tbaa tag`: adds tags to a module that has none.

use std::io::Write;
use std::path::{Path, PathBuf};

use tbaa::Oracle;
use tbaa_ir::{DebugInfo, Module};
use tbaa_lower::Lowering;
use tbaa_tag::{DECLARED_PROMISE, ELEMENTS_PROMISE, Options, PROMISE, TagError, Tags};
use tbaa_tag::{Untagged, UntaggedAccess, tag, tag_declared};

use super::lower::rules_of_spec;
use crate::convert::{InputArg, Origin};
use crate::files::read_file;
use crate::input::{Input, load_spec};
use crate::output::counted;
use crate::printable::printable;
use crate::render::Source;
use crate::report::{Context, Failure, Result, bail, note, write_output};

/// Gives the accesses of a module tags, from the places that its getelementptrs name.
///
/// This is for front ends that have no tags, or want to know what tags would buy them: see `tbaa worth --tag`.
/// Take the module before LLVM's passes. A load or store of a struct's member gets a tag whose base type is the
/// struct up to that member. All other accesses get none, and may alias everything. Standard error says what
/// the program must keep to, and how many accesses have no tag for which reason.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/tag.txt"))]
pub(crate) struct Tag {
    #[command(flatten)]
    pub(crate) input: InputArg,
    #[command(flatten)]
    pub(crate) tagging: Tagging,
    /// The file to write the module to; by default standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A front end's declarations about its types.
#[derive(clap::Args)]
pub(crate) struct Tagging {
    /// Give accesses the tags of the types that a spec declares, lowered as `tbaa lower` does:
    /// %struct.X, %class.X, %union.X and %X are the declared X.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["elements", "nominal", "union", "opaque"])]
    declare: Option<PathBuf>,
    /// Tag elements of arrays, and what plain pointers point to, by their scalar type.
    #[arg(long)]
    elements: bool,
    /// Tell this struct apart from others with the same members. May be given several times.
    #[arg(long, value_name = "TYPE")]
    nominal: Vec<String>,
    /// These structs share memory, as members of a union do. May be given several times.
    #[arg(long, value_name = "TYPE,TYPE...")]
    union: Vec<String>,
    /// Leave accesses through this struct without tags. May be given several times.
    #[arg(long, value_name = "TYPE")]
    opaque: Vec<String>,
    /// List accesses that get no tag, by their lines in the program, or else in the module; those to
    /// stack slots themselves are left out.
    #[arg(long)]
    list: bool,
}

impl Tagging {
    fn options(&self) -> Options {
        let options = if self.elements { Options::new().elements() } else { Options::new() };
        let options = self.nominal.iter().fold(options, |it, name| it.nominal(name));
        let options = self.opaque.iter().fold(options, |it, name| it.opaque(name));
        self.union.iter().fold(options, |it, names| it.union(names.split(',')))
    }

    /// Computes tags from the spec's declared types, and lowers them by [`rules_of_spec`]'s rule.
    fn declared(&self, spec: &Path, input: &Input, module: &Module<'_>) -> Result<Tags> {
        let (file, text) = read_file(spec)?;
        let built = load_spec(&file, &text)?;
        let Some(declared) = built.tagged() else {
            bail!("{file} declares no types with a layout; give it a `declare` section");
        };
        let types = declared.types().clone().into_tagged(declared.policy());
        let mut tags = tag_declared(module, types).map_err(|error| match &error {
            TagError::Layout { ty, .. } => {
                let is_it = |line: &&[u8]| {
                    let name = line.strip_prefix(b"%").unwrap_or(b"");
                    let name = name.strip_prefix(b"\"").unwrap_or(name).strip_prefix(ty.as_bytes());
                    name.is_some_and(|rest| rest.starts_with(b" =") || rest.starts_with(b"\" ="))
                };
                let line = module.text().split(|&byte| byte == b'\n').find(is_it);
                let at =
                    line.map_or(0, |line| line.as_ptr().addr() - module.text().as_ptr().addr());
                Failure::at(input.file(), module.text(), at, &error)
            }
            _ => Failure::unusable(format!("{}: {error}", input.file())),
        })?;
        let oracle = Oracle::new(&tags.graph, rules_of_spec(built.spec(), None));
        let mut lowering = Lowering::new(tbaa_lower::Options::new());
        lowering.lower(&oracle, tags.tags.iter().map(|tag| tag.tag)).context(file)?;
        // The copied graph has other ids: find each tag by the index of its node.
        let graph = lowering.graph().clone();
        tags.tags.retain_mut(|it| {
            let node = lowering.tag(it.tag).map(|tag| lowering.graph().tag_node(tag).index());
            let tag = node.and_then(|node| graph.tag_of(graph.nth_node(node)?));
            tag.map(|tag| it.tag = tag).is_some()
        });
        tags.graph = graph;
        Ok(tags)
    }

    /// Reads a module, adds tags, and prints notes. Returns the file name and the new text.
    pub(crate) fn tagged(&self, input: &InputArg) -> Result<(String, Vec<u8>)> {
        let input = Input::open_for_types(Origin::from(input).without_tags())?;
        let module = input.module()?;
        let (tags, promise) = match &self.declare {
            Some(spec) => (self.declared(spec, &input, module)?, DECLARED_PROMISE),
            None => (tag(module, &self.options()).context(input.file())?, PROMISE),
        };
        for name in &tags.unknown {
            note(format!("{} has no type %{name}", input.file()));
        }
        let (tagged, all) = (tags.tags.len(), tags.tags.len() + tags.untagged.len());
        note(format!("{tagged} of {} tagged", counted(all, "access")));
        for (why, count) in tags.reasons() {
            note(format!("{count:>7}  {why}"));
        }
        if self.list {
            let debug = DebugInfo::new(module);
            let source = Source::new(input.file(), module.text());
            for &UntaggedAccess { instruction, why } in &tags.untagged {
                if matches!(why, Untagged::Slot | Untagged::Tagged) {
                    continue;
                }
                let of = &module.instructions()[instruction];
                let (file, line) = match debug.location(of) {
                    Some(at) => (printable(at.file), at.line as usize),
                    None => (input.file().to_owned(), source.position(of.offset as usize).0),
                };
                note(format!("{file}:{line}: {why}"));
            }
        }
        note(format!("right for a program that keeps to this: {promise}"));
        if self.elements {
            note(format!("and to this: {ELEMENTS_PROMISE}"));
        }
        let new = tags.to_bytes(module).map_err(|error| input.wrong(&error))?;
        Ok((input.file().to_owned(), new))
    }
}

pub(super) fn run(args: &Tag, out: &mut dyn Write) -> Result {
    let (_, text) = args.tagging.tagged(&args.input)?;
    let spec = args.tagging.declare.iter();
    let inputs: Vec<_> = spec.chain([&args.input.path]).cloned().collect();
    match &args.output {
        Some(file) => write_output(file, &inputs, &text),
        None => Ok(out.write_all(&text)?),
    }
}
