//! The login of a connection (KIP-43, KIP-152).

use super::{
    Access, Address, Error, Kind,
    access::{Login, Mechanism},
    connection::{Api, Connection},
    scram::Scram,
};
use bytes::Bytes;
use kafka_protocol::{
    messages::{
        ApiKey, SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest,
        SaslHandshakeResponse,
    },
    protocol::StrBytes,
};

const HANDSHAKE: Api = Api { key: ApiKey::SaslHandshake, versions: 1..=1 };
const AUTHENTICATE: Api = Api { key: ApiKey::SaslAuthenticate, versions: 0..=2 };

/// Connects, and logs in if that is needed. No error has the password.
pub async fn connect(address: &Address, access: &Access) -> Result<Connection, Error> {
    let login = access.login(address)?;
    let mut connection = Connection::open(address, access).await?;
    if let Some(login) = login {
        authenticate(&mut connection, login).await?;
    }
    Ok(connection)
}

async fn authenticate(connection: &mut Connection, login: &Login) -> Result<(), Error> {
    let name = login.mechanism.name();
    let request = SaslHandshakeRequest::default().with_mechanism(StrBytes::from_static_str(name));
    let answer: SaslHandshakeResponse = connection.request(&HANDSHAKE, &request).await?;
    let offered: Vec<&str> = answer.mechanisms.iter().map(|name| &**name).collect();
    let offered = format!("the broker offers {}", offered.join(", "));
    if let Some(error) = Error::of_code(name, answer.error_code, Some(&offered)) {
        return Err(connection.at(&error));
    }
    let password = login.password.text();
    match login.mechanism {
        Mechanism::Plain => {
            let text = format!("\0{}\0{password}", login.user);
            step(connection, name, text).await.map(drop)
        }
        Mechanism::ScramSha256 | Mechanism::ScramSha512 => {
            let mut scram = Scram::new(login.mechanism, &login.user)?;
            let first = step(connection, name, scram.first()).await?;
            // It hashes the password thousands of times.
            let (proof, scram) = tokio::task::spawn_blocking(move || (scram.proof(&first, &password), scram))
                .await
                .map_err(|e| Error::new(Kind::Other, e.to_string()))?;
            let proof = proof.map_err(|why| denied(connection, name, &why))?;
            let last = step(connection, name, proof).await?;
            scram.verify(&last).map_err(|why| denied(connection, name, &why))
        }
    }
}

fn denied(connection: &Connection, name: &str, why: &str) -> Error {
    connection.at(&Error::new(Kind::Denied, format!("{name}: {why}")))
}

/// Sends a message of the mechanism `name`, and returns the broker's.
async fn step(connection: &mut Connection, name: &str, message: String) -> Result<Bytes, Error> {
    let request = SaslAuthenticateRequest::default().with_auth_bytes(message.into());
    let answer: SaslAuthenticateResponse = connection.request(&AUTHENTICATE, &request).await?;
    match Error::of_code(name, answer.error_code, answer.error_message.as_deref()) {
        Some(error) => Err(connection.at(&error)),
        None => Ok(answer.auth_bytes),
    }
}
