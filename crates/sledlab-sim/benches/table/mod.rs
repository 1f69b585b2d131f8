//! The table that benchmarks print and save.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

/// A row of the table: name, value, unit and target.
pub struct Row {
    label: String,
    value: f64,
    unit: &'static str,
    target: String,
}

/// Returns a row of the table.
pub fn row(label: impl Into<String>, value: f64, unit: &'static str, target: impl Into<String>) -> Row {
    Row { label: label.into(), value, unit, target: target.into() }
}

/// Returns the median of the values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|model| model.trim_matches([':', ' ', '\t']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} logical cores, one thread used", model.unwrap_or("unknown processor"))
}

/// Prints the rows.
pub fn print(rows: &[Row]) {
    println!("{}", machine());
    for Row { label, value, unit, target } in rows {
        let target = if target.is_empty() { String::new() } else { format!("(target {target})") };
        println!("{label:<44} {value:>12.2} {unit} {target}");
    }
}

/// Prints the rows and writes them to a file in the folder `validation/benches`.
pub fn print_and_save(name: &str, rows: &[Row]) {
    print(rows);
    let to_json =
        |row: &Row| json!({ "what": row.label, "value": row.value, "unit": row.unit, "target": row.target });
    save(name, &rows.iter().map(to_json).collect::<Vec<_>>());
}

/// Writes rows of any type, and the machine on which they were measured, to a file in the folder `validation/benches`.
pub fn save(name: &str, rows: &[Value]) {
    let text = json!({ "machine": machine(), "rows": rows });
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/benches").join(name);
    let result = fs::File::create(file).and_then(|file| {
        let mut file = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut file, &text)?;
        writeln!(file)
    });
    match result {
        Ok(()) => println!("written to validation/benches/{name}"),
        Err(error) => println!("cannot write validation/benches/{name}: {error}"),
    }
}
