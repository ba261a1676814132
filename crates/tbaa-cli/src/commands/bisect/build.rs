//! Rebuilds a program of several modules, with the commands that `tbaa cc --record` recorded.
//! Changed modules are compiled and linked again, and the results overwrite the original files.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Form;
use crate::commands::cc::record::{Step, steps};
use crate::commands::cc::runtime;
use crate::output::counted;
use crate::report::{Context, Failure, Result, bail};
use crate::scratch::Folder;
use crate::tools::installed;

pub(super) struct Build {
    modules: Vec<Step>,
    links: Vec<Link>,
    archives: Vec<Archive>,
    /// For each module, its object's form and whether each instruction has its tags in the object;
    /// `None` for a module that is not built yet.
    made: Vec<Option<(Form, Vec<bool>)>>,
    /// The folder with copies of the files that a build overwrites. Dropping it restores the files.
    folder: Folder,
}

struct Link {
    step: Step,
    inputs: Vec<PathBuf>,
}

/// An archive that has objects of modules, with the indices of these modules.
type Archive = (PathBuf, Vec<usize>);

impl Build {
    pub(super) fn open(folder: &Path) -> Result<Build> {
        let (modules, links): (Vec<_>, Vec<_>) =
            steps(folder)?.into_iter().partition(|step| step.module.is_some());
        if modules.is_empty() || links.is_empty() {
            bail!(
                "{} records no program: {} and {} are there; build again from the start",
                folder.display(),
                counted(modules.len(), "module"),
                counted(links.len(), "linked file"),
            );
        }
        let script = folder.join("restore.sh");
        if script.exists() {
            bail!(
                "an earlier search was killed before it put the program's files back: run `sh {}` \
                 first, or remove it and build again",
                script.display()
            );
        }
        let links: Vec<_> = links.into_iter().map(Link::new).collect();
        let (made, folder) = (vec![None; modules.len()], Folder::new()?);
        let mut build = Build { modules, links, archives: Vec::new(), made, folder };
        let links = build.links.iter_mut().map(|link| &mut link.step);
        build.modules.iter_mut().chain(links).for_each(|step| step.output = real(&step.output));
        build.find_archives()?;
        for (number, Step { output, .. }) in build.modules.iter().enumerate() {
            let is_linked = build.links.iter().any(|link| link.inputs.contains(output));
            if !is_linked && !build.archives.iter().any(|archive| archive.1.contains(&number)) {
                bail!(
                    "no recorded link reads {}, neither itself nor as the only member of that name in an archive \
                     `.a` (not a thin one): link it so by `tbaa cc`, or remove it if the program does without it",
                    output.display()
                );
            }
        }
        let outputs = build.modules.iter().chain(build.links.iter().map(|link| &link.step));
        let mut files: Vec<_> = outputs.map(|step| step.output.clone()).collect();
        files.extend(build.archives.iter().map(|(path, _)| path.clone()));
        for file in files {
            build.folder.keep(&file).context(cannot_use(&file))?;
        }
        build.folder.script(&script).context(cannot_use(&script))?;
        Ok(build)
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().filter_map(|step| step.module.as_deref())
    }

    /// Finds the linked archives, and compares contents to find the modules' objects in them.
    fn find_archives(&mut self) -> Result {
        let inputs = self.links.iter().flat_map(|link| &link.inputs);
        let archives = inputs.filter(|path| path.extension() == Some(OsStr::new("a")));
        for path in archives.cloned().collect::<BTreeSet<_>>() {
            let bytes = fs::read(&path).context(cannot_use(&path))?;
            let listed = archiver().arg("t").arg(&path).output().context(cannot_use(&path))?.stdout;
            let mut modules = Vec::new();
            for (number, step) in self.modules.iter().enumerate() {
                let object = fs::read(&step.output).context(cannot_use(&step.output))?;
                let name = step.output.file_name().map(OsStr::as_encoded_bytes);
                let members = listed.split(|&byte| byte == b'\n').map(Some);
                let is_one = members.filter(|member| *member == name).count() == 1;
                if is_one && memchr::memmem::find(&bytes, &object).is_some() {
                    modules.push(number);
                }
            }
            if !modules.is_empty() {
                self.archives.push((path, modules));
            }
        }
        Ok(())
    }

    /// Builds the program. `wanted` says for each module which instructions keep their tags.
    /// `write` writes the module with a given index, with only these tags, to a file.
    pub(super) fn make(
        &mut self,
        wanted: &[Vec<bool>],
        form: Form,
        mut write: impl FnMut(usize, &[bool], &Path) -> Result,
    ) -> Result {
        let mut changed: HashSet<PathBuf> = HashSet::new();
        for (number, keep) in wanted.iter().enumerate() {
            let made = (form, keep.clone());
            // Modules with checks are always written: `write` also collects what is not checked.
            if form != Form::Checked && self.made[number].as_ref() == Some(&made) {
                continue;
            }
            let copy = self.folder.file("copy.ll");
            write(number, keep, &copy)?;
            let step = &self.modules[number];
            run(step, [copy.as_os_str(), OsStr::new("-o"), step.output.as_os_str()])?;
            self.made[number] = Some(made);
            changed.insert(step.output.clone());
        }
        for (path, modules) in &self.archives {
            let objects = modules.iter().map(|&number| &self.modules[number].output);
            let objects: Vec<_> = objects.filter(|object| changed.contains(*object)).collect();
            if objects.is_empty() {
                continue;
            }
            let mut command = archiver();
            command.arg("r").arg(path).args(objects);
            finish(command, "change an archive")?;
            changed.insert(path.clone());
        }
        for link in &self.links {
            if link.inputs.iter().any(|input| changed.contains(input)) {
                let arguments: Vec<_> = link.step.arguments.iter().map(OsString::from).collect();
                let runtime = match form == Form::Checked {
                    true => runtime(&arguments, &self.folder, OsStr::new(&link.step.program))?,
                    false => Vec::new(),
                };
                run(&link.step, runtime.iter().map(OsString::as_os_str))?;
                changed.insert(link.step.output.clone());
            }
        }
        Ok(())
    }
}

fn archiver() -> Command {
    Command::new(installed("llvm-ar").unwrap_or_else(|| "ar".to_owned()))
}

/// Returns the canonical path of a file: `../lib/a.a` and `lib/a.a` may be one file.
fn real(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

fn cannot_use(file: &Path) -> String {
    format!("cannot use {}", file.display())
}

fn run<'a>(step: &Step, more: impl IntoIterator<Item = &'a OsStr>) -> Result {
    let mut command = Command::new(&step.program);
    command.args(&step.arguments).args(more).current_dir(&step.folder);
    finish(command, &format!("make {}", step.output.display()))
}

fn finish(mut command: Command, what: &str) -> Result {
    let program: OsString = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.context(format_args!("cannot run {}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::unusable(format!("{} cannot {what}: {message}", program.display())))
}

impl Link {
    /// Finds the files that the step reads: arguments, words of `-Wl,`, and `-l` files in `-L`.
    fn new(step: Step) -> Link {
        let at = |path: &str| step.folder.join(path);
        // Returns the values of a flag, which are joined to the flag or follow it.
        let values = |flag: &str| -> Vec<String> {
            let next = step.arguments.iter().skip(1).map(Some).chain([None]);
            let value = |(word, next): (&String, Option<&String>)| match word.strip_prefix(flag)? {
                "" => next.cloned(),
                value => Some(value.to_owned()),
            };
            step.arguments.iter().zip(next).filter_map(value).collect()
        };
        let mut files: Vec<PathBuf> = step.arguments.iter().map(|argument| at(argument)).collect();
        let lists = step.arguments.iter().filter_map(|argument| argument.strip_prefix("-Wl,"));
        files.extend(lists.flat_map(|list| list.split(',')).map(at));
        let folders = values("-L");
        for name in values("-l") {
            let file = name.strip_prefix(':').map_or_else(|| format!("lib{name}.a"), str::to_owned);
            let names = [format!("lib{name}.so"), file];
            let in_folder = |folder: &String| names.each_ref().map(|name| at(folder).join(name));
            files.extend(folders.iter().flat_map(in_folder));
        }
        files.retain(|file| file.is_file());
        let inputs = files.iter().map(|file| real(file)).collect();
        Link { step, inputs }
    }
}
