//! The client's side of SCRAM (RFC 5802, RFC 7677), without channel binding. Like Kafka's own client, it takes user and password as they
//! are, without SASLprep.

use super::{Error, Kind, access::Mechanism};
use base64::{Engine, prelude::BASE64_STANDARD};
use ring::{
    digest, hmac, pbkdf2,
    rand::{SecureRandom, SystemRandom},
};
use std::num::NonZeroU32;

/// The iterations that a server may ask for: Kafka's least, and a limit on the time that it can take.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;

/// A login in progress.
pub struct Scram {
    hash: Hash,
    /// `n=USER,r=NONCE`.
    first: String,
    nonce: String,
    /// What the server's last message must prove.
    server: Option<Vec<u8>>,
}

#[derive(Clone, Copy)]
struct Hash {
    digest: &'static digest::Algorithm,
    hmac: hmac::Algorithm,
    pbkdf2: pbkdf2::Algorithm,
}

impl Hash {
    fn of(mechanism: Mechanism) -> Hash {
        match mechanism {
            Mechanism::ScramSha512 => {
                Hash { digest: &digest::SHA512, hmac: hmac::HMAC_SHA512, pbkdf2: pbkdf2::PBKDF2_HMAC_SHA512 }
            }
            Mechanism::ScramSha256 | Mechanism::Plain => {
                Hash { digest: &digest::SHA256, hmac: hmac::HMAC_SHA256, pbkdf2: pbkdf2::PBKDF2_HMAC_SHA256 }
            }
        }
    }

    fn sign(self, key: &[u8], text: &[u8]) -> hmac::Tag {
        hmac::sign(&hmac::Key::new(self.hmac, key), text)
    }
}

impl Scram {
    /// Begins a login with a new nonce.
    pub fn new(mechanism: Mechanism, user: &str) -> Result<Scram, Error> {
        let mut nonce = [0; 24];
        let random = SystemRandom::new().fill(&mut nonce);
        random.map_err(|_| Error::new(Kind::Other, "the system has no random numbers"))?;
        Ok(Scram::with(mechanism, user, BASE64_STANDARD.encode(nonce)))
    }

    fn with(mechanism: Mechanism, user: &str, nonce: String) -> Scram {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        Scram { hash: Hash::of(mechanism), first: format!("n={user},r={nonce}"), nonce, server: None }
    }

    /// Returns the client's first message.
    pub fn first(&self) -> String {
        format!("n,,{}", self.first)
    }

    /// Returns the client's answer to the server's first message.
    pub fn proof(&mut self, server: &[u8], password: &str) -> Result<String, String> {
        let server = std::str::from_utf8(server).map_err(|_| "the server's message is not text")?;
        let value = |key: &str| server.split(',').find_map(|part| part.strip_prefix(key));
        let (nonce, salt, iterations) = (value("r="), value("s="), value("i="));
        let nonce = nonce.filter(|nonce| nonce.len() > self.nonce.len() && nonce.starts_with(&self.nonce));
        let nonce = nonce.ok_or("the server's nonce does not continue the client's")?;
        let salt =
            salt.and_then(|salt| BASE64_STANDARD.decode(salt).ok()).ok_or("the server sent no salt")?;
        let iterations = iterations.and_then(|text| text.parse().ok()).filter(|n| ITERATIONS.contains(n));
        let iterations = iterations.and_then(NonZeroU32::new).ok_or_else(|| {
            format!("the server must ask for {} to {} iterations", ITERATIONS.start(), ITERATIONS.end())
        })?;
        let mut salted = vec![0; self.hash.digest.output_len()];
        pbkdf2::derive(self.hash.pbkdf2, iterations, &salt, password.as_bytes(), &mut salted);
        // `biws` is `n,,` in base64.
        let last = format!("c=biws,r={nonce}");
        let all = format!("{},{server},{last}", self.first);
        let client = self.hash.sign(&salted, b"Client Key");
        let stored = digest::digest(self.hash.digest, client.as_ref());
        let signature = self.hash.sign(stored.as_ref(), all.as_bytes());
        let proof: Vec<u8> = client.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        let key = self.hash.sign(&salted, b"Server Key");
        self.server = Some(self.hash.sign(key.as_ref(), all.as_bytes()).as_ref().to_vec());
        Ok(format!("{last},p={}", BASE64_STANDARD.encode(proof)))
    }

    /// Checks the server's last message, which proves that it knows the password, too.
    pub fn verify(&self, server: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(server).unwrap_or_default();
        let proof = text.split(',').find_map(|part| part.strip_prefix("v="));
        let proof = proof.and_then(|proof| BASE64_STANDARD.decode(proof).ok());
        match proof.is_some() && proof == self.server {
            true => Ok(()),
            false => Err("the server does not prove that it knows the password".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    fn scram() -> Scram {
        Scram::with(Mechanism::ScramSha256, "user", NONCE.into())
    }

    #[test]
    fn the_example_of_rfc_7677() {
        let mut scram = scram();
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        assert_eq!(
            scram.proof(SERVER.as_bytes(), "pencil").unwrap(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(scram.verify(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), Ok(()));
        assert!(scram.verify(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=").is_err());
        assert!(scram.verify(b"").is_err());
    }

    #[test]
    fn a_server_cannot_choose_the_nonce_or_its_work() {
        for server in [
            SERVER.replace(NONCE, "other"),
            format!("r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
            SERVER.replace("i=4096", "i=1"),
            SERVER.replace("i=4096", "i=4000000000"),
            SERVER.replace("s=W22ZaJ0SNY7soEsUEjb6gQ==", "s=%"),
            String::new(),
        ] {
            assert!(scram().proof(server.as_bytes(), "pencil").is_err(), "{server}");
        }
        assert!(scram().verify(b"v=").is_err());
        assert_eq!(Scram::with(Mechanism::ScramSha512, "a=b,c", "n".into()).first(), "n,,n=a=3Db=2Cc,r=n");
    }
}
