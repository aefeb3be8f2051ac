-- Weather: messages as rows of PostgreSQL.

CREATE TABLE IF NOT EXISTS "weather" (
    "_name" text NOT NULL,
    "_device" text NOT NULL,
    "_device_name" text,
    "_tags" jsonb,
    "_received_at" timestamp with time zone NOT NULL,
    "_sent_at" timestamp with time zone,
    "_link" text,
    "_bytes" integer,
    "_origin" jsonb,
    "_rest" jsonb,
    "_message" jsonb,
    "station" text,
    "time" timestamp with time zone,
    "temperature" double precision,
    "humidity" smallint,
    "pressure" double precision,
    "wind__speed" double precision,
    "wind__gust" double precision,
    "wind__direction" smallint,
    "rain" double precision,
    "solar" smallint,
    "battery" double precision,
    PRIMARY KEY ("_name", "_received_at")
);
SELECT create_hypertable('"weather"', '_received_at', chunk_time_interval => INTERVAL '7 days', if_not_exists => TRUE);
ALTER TABLE "weather" SET (timescaledb.compress, timescaledb.compress_segmentby = '"_device"', timescaledb.compress_orderby = '"_received_at"');
SELECT add_compression_policy('"weather"', INTERVAL '14 days', if_not_exists => TRUE);
SELECT add_retention_policy('"weather"', INTERVAL '365 days', if_not_exists => TRUE);
CREATE INDEX IF NOT EXISTS "weather_device_time" ON "weather" ("_device", "_received_at");
COMMENT ON COLUMN "weather"."_name" IS 'stable ID of the message: the same however often it is delivered';
COMMENT ON COLUMN "weather"."_device" IS 'ID of the device';
COMMENT ON COLUMN "weather"."_device_name" IS 'name of the device in the register';
COMMENT ON COLUMN "weather"."_tags" IS 'tags of the device in the register';
COMMENT ON COLUMN "weather"."_received_at" IS 'when the gateway received the message';
COMMENT ON COLUMN "weather"."_sent_at" IS 'when the device sent it, as its provider says';
COMMENT ON COLUMN "weather"."_link" IS 'link that carried it';
COMMENT ON COLUMN "weather"."_bytes" IS 'length as it arrived, in bytes';
COMMENT ON COLUMN "weather"."_origin" IS 'what the input knows about its arrival';
COMMENT ON COLUMN "weather"."_rest" IS 'fields without a column';
COMMENT ON COLUMN "weather"."_message" IS 'the whole message';
COMMENT ON COLUMN "weather"."station" IS 'WIGOS local identifier of the station';
COMMENT ON COLUMN "weather"."time" IS 'End of the interval, UTC';
COMMENT ON COLUMN "weather"."temperature" IS 'Temperature of the air, °C';
COMMENT ON COLUMN "weather"."humidity" IS 'Relative humidity, %';
COMMENT ON COLUMN "weather"."pressure" IS 'Pressure at the station, hPa';
COMMENT ON COLUMN "weather"."wind__speed" IS 'Mean speed, m/s';
COMMENT ON COLUMN "weather"."wind__gust" IS 'Highest speed, m/s';
COMMENT ON COLUMN "weather"."wind__direction" IS 'Where it comes from, degrees (°)';
COMMENT ON COLUMN "weather"."rain" IS 'Precipitation in the interval, mm: tips of the bucket';
COMMENT ON COLUMN "weather"."solar" IS 'Global radiation, W/m²';
COMMENT ON COLUMN "weather"."battery" IS 'Voltage of the battery, V';
