//! Names of devices in formats that name them.

use sledlab_core::hash::Map;

use super::output::Output;
use crate::continuation::Continuation;

/// How a format names devices.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameForm {
    /// The name of a file without blanks: `device-3` for the device 3.
    File,
    /// Name of a host and number of a disk: `sledlab,3` for the device 3.
    HostAndDisk,
}

/// Writes the names of devices.
pub(super) struct DeviceNames {
    names: Continuation,
    form: NameForm,
    /// Written names, by number.
    names_by_number: Map<u16, Vec<u8>>,
}

impl DeviceNames {
    /// Writes the names that the devices have in a trace.
    pub(super) fn new(names: Option<&Continuation>, form: NameForm) -> Self {
        DeviceNames { names: names.cloned().unwrap_or_default(), form, names_by_number: Map::default() }
    }

    /// Appends the name of a device to a line.
    pub(super) fn append(&mut self, output: &mut Output, device: u16) {
        let (names, form) = (&self.names, self.form);
        let written_name =
            self.names_by_number.entry(device).or_insert_with(|| form.name(&names.name(device)));
        output.text().extend_from_slice(written_name);
    }
}

impl NameForm {
    fn name(self, name: &[u8]) -> Vec<u8> {
        let is_number = name.iter().all(u8::is_ascii_digit);
        match self {
            NameForm::File if is_number => [b"device-", name].concat(),
            NameForm::File => replace(name, |byte| byte.is_ascii_whitespace()),
            NameForm::HostAndDisk if is_number => [b"sledlab,", name].concat(),
            NameForm::HostAndDisk => {
                let host = replace(name, |byte| byte.is_ascii_whitespace() || byte == b',');
                let border = host.iter().rposition(|byte| *byte == b'_');
                match border.map(|border| (&host[..border], &host[border + 1..])) {
                    Some((host, disk))
                        if !host.is_empty() && !disk.is_empty() && disk.iter().all(u8::is_ascii_digit) =>
                    {
                        [host, b",", disk].concat()
                    }
                    _ => [&host[..], b",0"].concat(),
                }
            }
        }
    }
}

fn replace(name: &[u8], is_replaced: impl Fn(u8) -> bool) -> Vec<u8> {
    name.iter().map(|byte| if is_replaced(*byte) { b'_' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_form_of_the_format() {
        let name = |form: NameForm, name: &str| String::from_utf8(form.name(name.as_bytes())).unwrap();
        let both = |text: &str| (name(NameForm::File, text), name(NameForm::HostAndDisk, text));
        let expected = |file: &str, disk: &str| (file.to_owned(), disk.to_owned());
        assert_eq!(both("3"), expected("device-3", "sledlab,3"));
        assert_eq!(both("usr_0"), expected("usr_0", "usr,0"));
        assert_eq!(both("8,16"), expected("8,16", "8,16"));
        assert_eq!(both("/mnt/my data/f.0"), expected("/mnt/my_data/f.0", "/mnt/my_data/f.0,0"));
    }
}
