//! Imported disks as device files.

use sledlab_core::params::Params;
use toml::Value;

use super::ImportedDisk;
use crate::device::disk::params::{DiskParams, SEEK_TABLE, ZONES};
use crate::device::disk::zones::Zone;
use crate::device::disksim::printable;

/// Greatest width of a line of a list, in characters.
const WIDTH: usize = 116;

impl ImportedDisk {
    /// Returns the disk as a device file, with the unit and meaning of every parameter in a comment.
    pub fn to_toml(&self, file: &str) -> String {
        let (file, name) = (printable(file), printable(&self.name));
        let description = format!("disk {name} from {file}");
        let mut lines = vec![format!("# Imported from block {name} of {file}.")];
        lines.extend(self.remarks.iter().map(|remark| format!("# {}", printable(remark))));
        lines.extend([String::new(), "kind = \"disk\"".to_owned()]);
        lines.extend([format!("description = {}", Value::String(description)), String::new()]);
        let table = self.params.to_table();
        lines.extend(DiskParams::specs().iter().filter_map(|spec| {
            let setting = format!("{} = {}", spec.name, table.get(spec.name)?);
            let unit = if spec.unit.is_empty() { String::new() } else { format!("{}; ", spec.unit) };
            Some(format!("{setting:<43} # {unit}{}", spec.meaning))
        }));
        lines.push(String::new());
        let points: Vec<String> = self
            .params
            .seek_table
            .iter()
            .map(|(cylinders, ms)| format!("[{cylinders}, {}]", Value::Float(*ms)))
            .collect();
        lines.push(format!("{SEEK_TABLE} = [ # cylinders, ms"));
        lines.extend(wrap_items(&points, "  "));
        lines.extend(["]".to_owned(), String::new(), format!("{ZONES} = [")]);
        self.params.zones.iter().for_each(|zone| write_zone(zone, &mut lines));
        lines.push("]".to_owned());
        lines.join("\n") + "\n"
    }
}

fn write_zone(zone: &Zone, lines: &mut Vec<String>) {
    let shape = zone.shape.to_table();
    let numbers: Vec<String> = shape.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let remapped = if zone.remapped.is_empty() {
        String::new()
    } else {
        let pairs: Vec<String> = zone.remapped.iter().map(|(from, to)| format!("[{from}, {to}]")).collect();
        format!(", remapped = [{}]", pairs.join(", "))
    };
    let row = format!("  {{ {}{remapped}", numbers.join(", "));
    if zone.slipped.is_empty() {
        lines.push(row + " },");
        return;
    }
    lines.push(row + ", slipped = [");
    let sectors: Vec<String> = zone.slipped.iter().map(u64::to_string).collect();
    lines.extend(wrap_items(&sectors, "      "));
    lines.push("  ] },".to_owned());
}

/// Items of a list on as few lines as they need.
fn wrap_items(items: &[String], indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.len() + item.len() + 2 <= WIDTH => {
                line.push(' ');
                line.push_str(item);
                line.push(',');
            }
            _ => lines.push(format!("{indent}{item},")),
        }
    }
    lines
}
