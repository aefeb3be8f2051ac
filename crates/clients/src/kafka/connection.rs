//! One connection to a broker: one request at a time.

use super::{Access, Address, Error, Kind};
use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::{
    messages::{ApiKey, ApiVersionsRequest, ApiVersionsResponse, RequestHeader, ResponseHeader},
    protocol::{Decodable, Encodable, HeaderVersion, StrBytes},
};
use rustls_pki_types::ServerName;
use std::{collections::HashMap, ops::RangeInclusive, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep_until},
};
use tokio_rustls::TlsConnector;

/// Largest answer, in bytes. That about a topic with 10,000 partitions has less than 1 MiB.
const ANSWER: u32 = 16 << 20;
/// The longest pause that a broker may ask for.
const PAUSE: Duration = Duration::from_secs(60);

/// Bytes to and from a broker.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A kind of request: its number, and the versions of it that this client speaks.
pub struct Api {
    pub key: ApiKey,
    pub versions: RangeInclusive<i16>,
}

/// A connection. A request that fails or is dropped leaves it unusable.
pub struct Connection {
    address: Address,
    stream: Box<dyn Stream>,
    /// The versions that the broker speaks, by the number of the API.
    versions: HashMap<i16, RangeInclusive<i16>>,
    correlation: i32,
    /// When the broker reads the next request, because the client exceeds its quota.
    not_before: Option<Instant>,
}

impl Connection {
    /// Connects, without a login.
    pub async fn open(address: &Address, access: &Access) -> Result<Connection, Error> {
        let failed = |e| Error::io(address, &e);
        let stream = TcpStream::connect((&*address.host, address.port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let stream: Box<dyn Stream> = match access.trust()? {
            None => Box::new(stream),
            Some(trust) => {
                let name = ServerName::try_from(address.host.clone())
                    .map_err(|e| Error::new(Kind::Connection, format!("{address}: {e}")))?;
                Box::new(TlsConnector::from(trust.config()).connect(name, stream).await.map_err(failed)?)
            }
        };
        let (versions, not_before) = (HashMap::new(), None);
        let mut connection =
            Connection { address: address.clone(), stream, versions, correlation: 0, not_before };
        connection.learn_versions().await?;
        Ok(connection)
    }

    /// Asks for the versions that the broker speaks. All brokers know version 0 of this request.
    async fn learn_versions(&mut self) -> Result<(), Error> {
        self.versions.insert(ApiKey::ApiVersions as i16, 0..=0);
        let api = Api { key: ApiKey::ApiVersions, versions: 0..=0 };
        let answer: ApiVersionsResponse = self.request(&api, &ApiVersionsRequest::default()).await?;
        if let Some(error) = Error::of_code("versions", answer.error_code, None) {
            return Err(self.at(&error));
        }
        let versions =
            answer.api_keys.iter().map(|known| (known.api_key, known.min_version..=known.max_version));
        self.versions = versions.collect();
        Ok(())
    }

    /// Sends a request, and returns the answer.
    pub async fn request<Q, A>(&mut self, api: &Api, request: &Q) -> Result<A, Error>
    where
        Q: Encodable + HeaderVersion,
        A: Decodable + HeaderVersion,
    {
        if let Some(time) = self.not_before.take() {
            sleep_until(time).await;
        }
        let version = self.version(api)?;
        self.correlation = self.correlation.wrapping_add(1);
        let packet =
            self.packet(api, version, request).map_err(|e| self.broken(Kind::Other, &e.to_string()))?;
        self.stream.write_all(&packet).await.map_err(|e| Error::io(&self.address, &e))?;
        self.stream.flush().await.map_err(|e| Error::io(&self.address, &e))?;
        let mut answer = self.read().await?;
        let mut decode = || -> Result<(i32, A), String> {
            let header = ResponseHeader::decode(&mut answer, A::header_version(version));
            let correlation = header.map_err(|e| e.to_string())?.correlation_id;
            Ok((correlation, A::decode(&mut answer, version).map_err(|e| e.to_string())?))
        };
        let (correlation, answer) =
            decode().map_err(|e| self.broken(Kind::Connection, &format!("no valid answer: {e}")))?;
        match correlation == self.correlation {
            true => Ok(answer),
            false => Err(self.broken(Kind::Connection, "an answer to another request")),
        }
    }

    /// Waits for `milliseconds` before the next request, as the broker has asked.
    pub fn pause(&mut self, milliseconds: i32) {
        let wait = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)).min(PAUSE);
        self.not_before = (!wait.is_zero()).then(|| Instant::now() + wait);
    }

    /// Adds the broker's address to an error.
    pub fn at(&self, error: &Error) -> Error {
        self.broken(error.kind, &error.reason)
    }

    fn broken(&self, kind: Kind, reason: &str) -> Error {
        Error::new(kind, format!("{}: {reason}", self.address))
    }

    /// Returns the newest version that both know.
    fn version(&self, api: &Api) -> Result<i16, Error> {
        let newest = self.versions.get(&(api.key as i16)).and_then(|theirs| {
            let newest = *theirs.end().min(api.versions.end());
            (newest >= *theirs.start().max(api.versions.start())).then_some(newest)
        });
        newest.ok_or_else(|| {
            let [first, last] = [api.versions.start(), api.versions.end()];
            self.broken(Kind::Other, &format!("it knows no {:?} of version {first} to {last}", api.key))
        })
    }

    fn packet<Q: Encodable + HeaderVersion>(
        &self,
        api: &Api,
        version: i16,
        request: &Q,
    ) -> Result<BytesMut, Box<dyn std::error::Error + Send + Sync>> {
        let header = RequestHeader::default()
            .with_request_api_key(api.key as i16)
            .with_request_api_version(version)
            .with_correlation_id(self.correlation)
            .with_client_id(Some(StrBytes::from_static_str("dunnage")));
        let mut packet = BytesMut::new();
        packet.put_i32(0);
        header.encode(&mut packet, Q::header_version(version))?;
        request.encode(&mut packet, version)?;
        let length = i32::try_from(packet.len() - 4)?;
        packet[..4].copy_from_slice(&length.to_be_bytes());
        Ok(packet)
    }

    async fn read(&mut self) -> Result<Bytes, Error> {
        let length = self.stream.read_u32().await.map_err(|e| Error::io(&self.address, &e))?;
        if length > ANSWER {
            return Err(
                self.broken(Kind::Connection, "the answer is not one of Kafka; is the port that of TLS?")
            );
        }
        // Grows with the bytes that arrive.
        let mut answer = Vec::new();
        let mut limited = (&mut self.stream).take(length.into());
        limited.read_to_end(&mut answer).await.map_err(|e| Error::io(&self.address, &e))?;
        match answer.len() == length as usize {
            true => Ok(answer.into()),
            false => Err(self.broken(Kind::Connection, "the broker closed the connection")),
        }
    }
}
