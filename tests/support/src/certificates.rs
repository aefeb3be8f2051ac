//! Certificates for servers on 127.0.0.1.

use std::{path::Path, process::Command};

/// Makes an authority, `ca.pem`, and a certificate of it for 127.0.0.1, `server.pem` with `server.key`, in `folder`.
pub fn make(folder: &Path) {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=authority -keyout ca.key -out ca.pem && \
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out server.csr && \
        printf 'subjectAltName=IP:127.0.0.1\\n' > names && \
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile names -out server.pem";
    let made = Command::new("sh").arg("-c").arg(script).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
