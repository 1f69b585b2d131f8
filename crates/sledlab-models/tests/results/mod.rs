//! Results of tests for the page on validation: JSON in the folder that `SLEDLAB_RESULTS` names.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Writes the result of a test to `rust/<test>.json`; does nothing where no folder is named.
pub fn write_result(test: &str, result: &Value) {
    let Some(results) = std::env::var_os("SLEDLAB_RESULTS") else { return };
    let folder = Path::new(&results).join("rust");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{test}.json")), format!("{result:#}\n")).unwrap();
}
