//! Describes the date, the machine and the compilers of a benchmark run.

use std::fs;
use std::path::Path;
use std::process::Command;

use tbaa_tests::process::text_of;

/// Returns a Markdown list of the date, the commit, the machine and the compilers.
pub(crate) fn describe(llvm: Option<&str>) -> String {
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str, separator: char| {
        let line = text.lines().find(|line| line.starts_with(key));
        let value = line.and_then(|line| line.split_once(separator)).map(|(_, value)| value.trim());
        value.unwrap_or("unknown").trim_matches('"').to_owned()
    };
    let print = |program: &str, arguments: &[&str]| {
        let here = env!("CARGO_MANIFEST_DIR");
        let printed = text_of(Command::new(program).args(arguments).current_dir(here));
        printed.map_or("unknown".to_owned(), |text| text.trim().to_owned())
    };
    let processor = value(&file("/proc/cpuinfo"), "model name", ':');
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = value(&file("/proc/meminfo"), "MemTotal", ':');
    let gigabytes = memory.trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 20;
    let load = file("/proc/loadavg");
    let lines = [
        format!("date: {}", print("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        format!("commit: {}", print("git", &["describe", "--always", "--dirty"])),
        format!("processor: {processor}, {cores} cores; {}", caches()),
        format!("memory: {gigabytes} GB"),
        format!(
            "system: {}, Linux {}",
            value(&file("/etc/os-release"), "PRETTY_NAME", '='),
            file("/proc/sys/kernel/osrelease").trim()
        ),
        format!("load when the run began: {}", load.split(' ').next().unwrap_or("unknown")),
        format!(
            "compilers: {}; {}",
            print("rustc", &["-V"]),
            llvm.map_or("no LLVM 22".to_owned(), |version| format!("LLVM {version}"))
        ),
    ];
    lines.map(|line| format!("- {line}\n")).concat()
}

/// Returns the sizes of the first core's data and unified caches.
fn caches() -> String {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let mut list = Vec::new();
    for index in 0.. {
        let read = |name| fs::read_to_string(folder.join(format!("index{index}")).join(name));
        let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else {
            break;
        };
        if kind.trim() != "Instruction" {
            list.push(format!("L{} {}", level.trim(), size.trim()));
        }
    }
    if list.is_empty() { "caches unknown".to_owned() } else { list.join(", ") }
}
