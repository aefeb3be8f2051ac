//! Why a connection ends.

use dunnage_clients::mqtt::reason::Refusal;

/// Why a connection ends.
pub enum End {
    /// The client has sent DISCONNECT.
    Left,
    /// The connection has broken off.
    Broken,
    /// The gateway ends the connection.
    Refused(Refusal),
    /// The gateway is stopping.
    Stopping,
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> End {
        End::Refused(refusal)
    }
}
