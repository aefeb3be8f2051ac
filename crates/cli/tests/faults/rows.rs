//! The faults of the table, one per row.

mod buffer;
mod chirpstack;
mod coap;
mod cse;
mod database;
mod deltas;
mod gateway;
mod log;
mod machine;
mod messages;
mod mqtt;
mod objects;
mod points;
mod publications;
mod stream;
mod webhook;

use crate::row::Scenario;

/// Rows that only the long form runs, because they take 7 to 20 seconds in the short one. Other rows have the same faults. Kafka has no other row.
pub const LONG: &[&str] =
    &["cse_slow", "both_killed", "kafka_writer_killed", "kafka_killed", "deltas_device_restarted"];

/// Every row, in the order of the table.
pub const ALL: &[Scenario] = &[
    Scenario { name: "gateway_killed", title: "kill -9 of the gateway under load", measure: gateway::killed },
    Scenario { name: "cse_killed", title: "CSE killed (-9) and restarted", measure: cse::killed },
    Scenario { name: "cse_slow", title: "CSE slow, then silent", measure: cse::slow },
    Scenario {
        name: "cse_false_failures",
        title: "CSE reports failure after it accepted a message",
        measure: cse::false_failures,
    },
    Scenario { name: "nats_killed", title: "NATS server killed under load", measure: stream::killed },
    Scenario { name: "disk_full", title: "disk full", measure: machine::disk_full },
    Scenario { name: "buffer_damaged", title: "damaged database: interior pages", measure: buffer::damaged },
    Scenario {
        name: "messages_destroyed",
        title: "damaged database: a page of messages destroyed",
        measure: buffer::destroyed,
    },
    Scenario { name: "clock_jump", title: "clock jumps", measure: machine::clock_jump },
    Scenario { name: "malformed", title: "1 % malformed messages", measure: messages::malformed },
    Scenario {
        name: "both_killed",
        title: "gateway killed while the CSE restarts",
        measure: gateway::killed_with_the_cse,
    },
    Scenario {
        name: "mqtt_killed",
        title: "MQTT QoS 1: kill -9 of the gateway under load",
        measure: mqtt::killed,
    },
    Scenario {
        name: "broker_restarted",
        title: "MQTT broker restarted under load",
        measure: mqtt::broker_restarted,
    },
    Scenario {
        name: "chirpstack_killed",
        title: "ChirpStack over MQTT QoS 1: kill -9 of the gateway under load",
        measure: chirpstack::killed,
    },
    Scenario {
        name: "coap_killed",
        title: "CoAP CON: kill -9 of the gateway under load",
        measure: coap::killed,
    },
    Scenario { name: "coap_lossy", title: "CoAP CON: 30 % of the datagrams lost", measure: coap::lossy },
    Scenario {
        name: "callbacks_repeated",
        title: "webhook: every callback repeated, also after 503",
        measure: webhook::repeated,
    },
    Scenario {
        name: "database_writer_killed",
        title: "PostgreSQL: kill -9 of the gateway under load",
        measure: database::gateway_killed,
    },
    Scenario {
        name: "database_killed",
        title: "PostgreSQL: kill -9 of the server under load",
        measure: database::server_killed,
    },
    Scenario {
        name: "database_both_killed",
        title: "PostgreSQL: kill -9 of both under load",
        measure: database::both_killed,
    },
    Scenario {
        name: "database_replayed",
        title: "PostgreSQL: kill -9 of the gateway during a replay after all rows were lost",
        measure: database::replayed,
    },
    Scenario {
        name: "objects_writer_killed",
        title: "S3: kill -9 of the gateway under load",
        measure: objects::gateway_killed,
    },
    Scenario {
        name: "objects_away",
        title: "S3: the store away while messages wait",
        measure: objects::away,
    },
    Scenario {
        name: "points_both_killed",
        title: "InfluxDB: kill -9 of the gateway and the server under load",
        measure: points::both_killed,
    },
    Scenario {
        name: "publisher_killed",
        title: "output to MQTT: kill -9 of the gateway under load",
        measure: publications::gateway_killed,
    },
    Scenario {
        name: "kafka_writer_killed",
        title: "Kafka: kill -9 of the gateway under load",
        measure: log::gateway_killed,
    },
    Scenario { name: "kafka_killed", title: "Kafka: kill -9 of the broker under load", measure: log::killed },
    Scenario {
        name: "deltas_killed",
        title: "deltas: kill -9 of the gateway under load",
        measure: deltas::killed,
    },
    Scenario {
        name: "deltas_restored",
        title: "deltas: buffer restored from a back-up",
        measure: deltas::restored,
    },
    Scenario {
        name: "deltas_device_restarted",
        title: "deltas: devices restarted",
        measure: deltas::device_restarted,
    },
    Scenario {
        name: "deltas_evicted",
        title: "deltas: references dropped by retention",
        measure: deltas::evicted,
    },
];
