//! Memory used by a process, and memory available to it, as reported by Linux.

use std::fs::read_to_string;
use std::path::Path;

/// Returns the memory available on the machine and in the control group of this process, in bytes.
pub(super) fn machine_memory() -> Option<u64> {
    let machine = field(&read_file("/proc/meminfo")?, "MemAvailable:");
    machine.into_iter().chain(cgroup_memory()).min()
}

fn read_file(path: impl AsRef<Path>) -> Option<String> {
    read_to_string(path).ok()
}

/// Returns the number of KiB after a name, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns a value, in bytes, from the kernel's status of this process.
pub(super) fn process_memory(name: &str) -> Option<u64> {
    field(&read_file("/proc/self/status")?, name)
}

/// Returns the memory left by the limit of the control group, version 1 or 2; cached files of the group can be dropped.
fn cgroup_memory() -> Option<u64> {
    let groups = read_file("/proc/self/cgroup")?;
    let group_folder =
        |line: &str| line.strip_prefix("0::/").map(|path| Path::new("/sys/fs/cgroup").join(path));
    let folders = groups
        .lines()
        .filter_map(group_folder)
        .chain([Path::new("/sys/fs/cgroup").to_owned(), Path::new("/sys/fs/cgroup/memory").to_owned()]);
    folders.filter_map(|folder| cgroup_folder_memory(&folder)).min()
}

fn cgroup_folder_memory(folder: &Path) -> Option<u64> {
    let read_number = |names: [&str; 2]| {
        names.into_iter().find_map(|name| read_file(folder.join(name))?.trim().parse::<u64>().ok())
    };
    let limit = read_number(["memory.max", "memory.limit_in_bytes"])?;
    let used_bytes = read_number(["memory.current", "memory.usage_in_bytes"])?;
    let stat = read_file(folder.join("memory.stat")).unwrap_or_default();
    let cached_bytes = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok());
    Some(limit.saturating_sub(used_bytes.saturating_sub(cached_bytes.unwrap_or(0))))
}

/// Returns the bytes left by the limit of this process's address space (`ulimit -v`).
pub(super) fn remaining_address_space() -> Option<u64> {
    let limit = address_limit(&read_file("/proc/self/limits")?)?;
    Some(limit.saturating_sub(process_memory("VmSize:")?))
}

fn address_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_files_are_parsed() {
        assert_eq!(field("MemTotal: 9 kB\nMemAvailable:   123 kB\n", "MemAvailable:"), Some(123 * 1024));
        assert_eq!(field("MemTotal: 9 kB\n", "MemAvailable:"), None);
        let limits_text =
            |soft: &str| format!("Limit  Soft  Hard  Units\nMax address space  {soft}  unlimited  bytes\n");
        assert_eq!(address_limit(&limits_text("4096")), Some(4096));
        assert_eq!(address_limit(&limits_text("unlimited")), None);
    }

    #[test]
    fn cgroup_memory_includes_its_cache() {
        let folder = std::env::temp_dir().join(format!("sledlab-group-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 400\ninactive_file 200\n");
        assert_eq!(cgroup_folder_memory(&folder), None);
        write("memory.max", "1000\n");
        assert_eq!(cgroup_folder_memory(&folder), Some(500));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
