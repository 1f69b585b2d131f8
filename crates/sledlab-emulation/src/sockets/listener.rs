//! Where clients connect: a private Unix socket, or loopback TCP.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with, sockopt,
};
use sledlab_core::{Error, Result};

/// Clients that may wait to be accepted.
const BACKLOG: i32 = 128;

/// Where a server is to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// At a Unix socket of this path, which only its owner can use.
    Socket(PathBuf),
    /// At an address of this machine that other machines cannot reach; port 0 selects a free port.
    Tcp(SocketAddr),
}

/// The socket in its private directory.
const SOCKET_NAME: &str = "sledlab.sock";
/// Maximum bytes of the path of a Unix socket.
const MAX_PATH_BYTES: usize = 107;

/// A place where clients connect, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    pub socket: OwnedFd,
    place: ListenAddress,
    /// The directory that was made for the socket.
    folder: Option<PathBuf>,
}

impl Listener {
    /// Listens at `place`, or at a socket in a new directory that is private.
    ///
    /// # Errors
    /// Addresses that other machines can reach; sockets that are in use or cannot be made.
    pub fn open(place: Option<ListenAddress>) -> Result<Self> {
        match place {
            None => {
                let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
                let folder = create_private_folder(&socket_base_folder(runtime, std::env::temp_dir()))?;
                let path = folder.join(SOCKET_NAME);
                // The directory is removed where the socket cannot be made, too.
                let socket = bind_unix_socket(&path);
                if socket.is_err() {
                    let _ = fs::remove_dir(&folder);
                }
                Ok(Listener { socket: socket?, place: ListenAddress::Socket(path), folder: Some(folder) })
            }
            Some(ListenAddress::Socket(path)) => {
                let path =
                    std::path::absolute(&path).map_err(|error| listen_error(&path.display(), &error))?;
                remove_stale_socket(&path)?;
                Ok(Listener {
                    socket: bind_unix_socket(&path)?,
                    place: ListenAddress::Socket(path),
                    folder: None,
                })
            }
            Some(ListenAddress::Tcp(address)) => {
                let (socket, address) = bind_loopback(address)?;
                Ok(Listener { socket, place: ListenAddress::Tcp(address), folder: None })
            }
        }
    }

    /// The next client, if one waits.
    pub fn accept(&self) -> io::Result<Option<OwnedFd>> {
        loop {
            match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(client) => {
                    disable_nagle(&self.place, &client);
                    return Ok(Some(client));
                }
                // A client that has disconnected before it was accepted is skipped.
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The URI by which NBD clients find the server.
    pub fn uri(&self) -> String {
        match &self.place {
            ListenAddress::Tcp(address) => format!("nbd://{address}"),
            ListenAddress::Socket(path) => {
                let mut uri = "nbd+unix:///?socket=".to_owned();
                for &byte in path.as_os_str().as_encoded_bytes() {
                    match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                            uri.push(char::from(byte));
                        }
                        _ => uri.extend(format!("%{byte:02X}").chars()),
                    }
                }
                uri
            }
        }
    }

    /// The path of the Unix socket, if the server listens at one.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            ListenAddress::Socket(path) => Some(path),
            ListenAddress::Tcp(_) => None,
        }
    }

    /// Whether clients come over TCP.
    pub fn is_tcp(&self) -> bool {
        matches!(self.place, ListenAddress::Tcp(_))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Another program may have removed socket and directory; nothing depends on them.
        if let ListenAddress::Socket(path) = &self.place {
            let _ = fs::remove_file(path);
        }
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Turns off Nagle's algorithm for TCP: replies are small and are sent one by one.
fn disable_nagle(place: &ListenAddress, client: &OwnedFd) {
    if let ListenAddress::Tcp(_) = place {
        // If this fails, replies are late, and the report of lateness shows that.
        let _ = sockopt::set_tcp_nodelay(client, true);
    }
}

/// Returns the directory for a new socket directory: the runtime directory, the temporary directory or `/tmp`, the
/// first in which the path of a socket is not too long.
fn socket_base_folder(runtime: Option<PathBuf>, temporary: PathBuf) -> PathBuf {
    let max_base_bytes = MAX_PATH_BYTES - "/sledlab-0123456789abcdef/".len() - SOCKET_NAME.len();
    let is_usable = |path: &PathBuf| path.is_dir() && path.as_os_str().len() <= max_base_bytes;
    runtime.into_iter().chain([temporary]).find(is_usable).unwrap_or_else(|| "/tmp".into())
}

fn create_private_folder(base: &Path) -> Result<PathBuf> {
    for attempt in 0..100 {
        let folder = base.join(format!("sledlab-{:016x}", RandomState::new().hash_one(attempt)));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(listen_error(&folder.display(), &error)),
        }
    }
    Err(Error::user(format!("cannot create a directory for the socket in {}: no free name", base.display()))
        .with_remedy("set a path for the socket"))
}

/// Binds a Unix socket that only its owner can use, from the moment it is bound.
fn bind_unix_socket(path: &Path) -> Result<OwnedFd> {
    let address = SocketAddrUnix::new(path).map_err(|_| {
        Error::user(format!("the path of the socket is too long: {}", path.display())).with_remedy(format!(
            "Unix sockets have paths of at most {MAX_PATH_BYTES} bytes: choose a shorter one"
        ))
    })?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let open = || {
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // The file gets the mode that the socket has when it is bound.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        bind(&socket, &address)?;
        listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    open().map_err(|error: Errno| listen_error(&path.display(), &error.into()))
}

/// Removes the socket of a killed server, at which no process listens.
fn remove_stale_socket(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if metadata.file_type().is_socket() && UnixStream::connect(path).is_err_and(|error| is_refused(&error)) {
        return fs::remove_file(path).map_err(|error| listen_error(&path.display(), &error));
    }
    Err(Error::user(format!("{} already exists and is in use", path.display()))
        .with_remedy("choose another path for the socket, or stop the process that uses it"))
}

fn bind_loopback(address: SocketAddr) -> Result<(OwnedFd, SocketAddr)> {
    if !address.ip().is_loopback() {
        return Err(Error::user(format!(
            "{address} can be reached by other machines, and clients are not authenticated"
        ))
        .with_remedy("listen at 127.0.0.1 and forward the port: ssh -L 10809:127.0.0.1:10809 HOST"));
    }
    let open = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((OwnedFd::from(listener), address))
    };
    open().map_err(|error: io::Error| listen_error(&address, &error))
}

fn listen_error(place: &dyn std::fmt::Display, error: &io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "choose another one, or stop the process that uses it",
        io::ErrorKind::NotFound => "create the directory first",
        _ => "choose another path or address",
    };
    Error::user(format!("cannot listen at {place}: {error}")).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("an existing path").permissions().mode() & 0o777
    }

    #[test]
    fn too_long_directory_path_is_skipped() {
        let base = Path::new("/tmp").join(format!("{:016x}", RandomState::new().hash_one("long")));
        let long_base = base.join("a".repeat(100));
        fs::create_dir_all(&long_base).expect("a directory");
        assert_eq!(socket_base_folder(Some(base.join("none")), base.clone()), base);
        assert_eq!(socket_base_folder(Some(base.clone()), long_base.clone()), base);
        assert_eq!(socket_base_folder(Some(long_base.clone()), base.clone()), base);
        assert_eq!(socket_base_folder(None, long_base), Path::new("/tmp"));
        fs::remove_dir_all(&base).expect("the directory");
        let result = Listener::open(Some(ListenAddress::Socket("a".repeat(MAX_PATH_BYTES + 1).into())));
        assert!(result.unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn socket_is_private_and_removed_on_drop() {
        let listener = Listener::open(None).expect("a socket");
        let path = listener.path().expect("a path").to_path_buf();
        let folder = path.parent().expect("a directory").to_path_buf();
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        assert!(listener.accept().expect("no client").is_none());
        let _client = UnixStream::connect(&path).expect("a client");
        assert!(listener.accept().expect("a client").is_some());
        // A second server at the same place is refused, and does not remove the socket.
        let second_listener = Listener::open(Some(ListenAddress::Socket(path.clone())));
        assert!(second_listener.unwrap_err().to_string().contains("in use"));
        drop(listener);
        assert!(!path.exists() && !folder.exists());
    }

    #[test]
    fn stale_socket_is_replaced() {
        let folder = create_private_folder(&std::env::temp_dir()).expect("a directory");
        let path = folder.join("a b%.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
        let listener = Listener::open(Some(ListenAddress::Socket(path))).expect("an abandoned place");
        assert!(listener.uri().ends_with("a%20b%25.sock"), "{}", listener.uri());
        let file = folder.join("file");
        fs::write(&file, "precious").expect("a file");
        assert!(Listener::open(Some(ListenAddress::Socket(file.clone()))).is_err());
        assert!(file.exists());
        drop(listener);
        fs::remove_dir_all(folder).expect("an own directory");
    }

    #[test]
    fn non_loopback_address_is_rejected() {
        let listener =
            Listener::open(Some(ListenAddress::Tcp("127.0.0.1:0".parse().unwrap()))).expect("a port");
        assert!(listener.uri().starts_with("nbd://127.0.0.1:") && listener.is_tcp());
        let error = Listener::open(Some(ListenAddress::Tcp("0.0.0.0:0".parse().unwrap()))).unwrap_err();
        assert!(error.remedy().is_some_and(|remedy| remedy.contains("ssh -L")));
        let long_path = PathBuf::from(format!("/tmp/{}", "x".repeat(200)));
        assert!(Listener::open(Some(ListenAddress::Socket(long_path))).is_err());
    }
}
