-- Container: messages as rows of PostgreSQL.

CREATE TABLE IF NOT EXISTS "container" (
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
    "msisdn" text,
    "iso6346" text,
    "time" timestamp with time zone,
    "rssi" smallint,
    "cgi" text,
    "ble-m" text,
    "bat-soc" smallint,
    "acc" text,
    "temperature" numeric(4,2),
    "humidity" numeric(5,2),
    "pressure" numeric(8,4),
    "door" text,
    "gnss" text,
    "latitude" numeric(6,4),
    "longitude" numeric(7,4),
    "altitude" numeric(6,2),
    "speed" numeric(4,1),
    "heading" numeric(5,2),
    "nsat" smallint,
    "hdop" numeric(3,1),
    CONSTRAINT "ble-m_in_533a2f9c" CHECK ("ble-m" IN ('0', '1')),
    CONSTRAINT "door_in_2b7086cb" CHECK ("door" IN ('D', 'O', 'C', 'T')),
    CONSTRAINT "gnss_in_533a2f9c" CHECK ("gnss" IN ('0', '1')),
    PRIMARY KEY ("_name", "_received_at")
) PARTITION BY RANGE ("_received_at");
CREATE INDEX IF NOT EXISTS "container_device_time" ON "container" ("_device", "_received_at");
COMMENT ON COLUMN "container"."_name" IS 'stable ID of the message: the same however often it is delivered';
COMMENT ON COLUMN "container"."_device" IS 'ID of the device';
COMMENT ON COLUMN "container"."_device_name" IS 'name of the device in the register';
COMMENT ON COLUMN "container"."_tags" IS 'tags of the device in the register';
COMMENT ON COLUMN "container"."_received_at" IS 'when the gateway received the message';
COMMENT ON COLUMN "container"."_sent_at" IS 'when the device sent it, as its provider says';
COMMENT ON COLUMN "container"."_link" IS 'link that carried it';
COMMENT ON COLUMN "container"."_bytes" IS 'length as it arrived, in bytes';
COMMENT ON COLUMN "container"."_origin" IS 'what the input knows about its arrival';
COMMENT ON COLUMN "container"."_rest" IS 'fields without a column';
COMMENT ON COLUMN "container"."msisdn" IS 'Number of the SIM, E.164 without the plus sign';
COMMENT ON COLUMN "container"."iso6346" IS 'Number of the container, ISO 6346. The last digit is carried as it is, whether or not it checks';
COMMENT ON COLUMN "container"."time" IS 'Time of the measurement, UTC';
COMMENT ON COLUMN "container"."rssi" IS 'Received signal strength, as AT+CSQ has it: 0 to 31, 99 for unknown';
COMMENT ON COLUMN "container"."cgi" IS 'Cell global identity: country, network, area, cell; the last two in hexadecimal';
COMMENT ON COLUMN "container"."ble-m" IS 'Whether a Bluetooth mesh is in reach';
COMMENT ON COLUMN "container"."bat-soc" IS 'State of charge of the battery, %';
COMMENT ON COLUMN "container"."acc" IS 'Acceleration along x, y and z, mg: 16-bit counts of 0.7324443 mg';
COMMENT ON COLUMN "container"."temperature" IS 'Temperature of the air inside, °C';
COMMENT ON COLUMN "container"."humidity" IS 'Relative humidity inside, %';
COMMENT ON COLUMN "container"."pressure" IS 'Pressure of the air, hPa';
COMMENT ON COLUMN "container"."door" IS 'State of the door, as the device reports it';
COMMENT ON COLUMN "container"."gnss" IS 'Whether the position is a valid fix';
COMMENT ON COLUMN "container"."latitude" IS 'Latitude, degrees north, WGS 84 (°)';
COMMENT ON COLUMN "container"."longitude" IS 'Longitude, degrees east, WGS 84 (°)';
COMMENT ON COLUMN "container"."altitude" IS 'Altitude above sea level, m';
COMMENT ON COLUMN "container"."speed" IS 'Speed over ground, km/h';
COMMENT ON COLUMN "container"."heading" IS 'Course over ground, degrees from north (°)';
COMMENT ON COLUMN "container"."nsat" IS 'Satellites used for the fix';
COMMENT ON COLUMN "container"."hdop" IS 'Horizontal dilution of precision';

-- The partitions of this month and the next 12. Run it again before they end, unless the output has create = true.
DO $$
DECLARE first timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
BEGIN
    FOR n IN 0..12 LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF "container" FOR VALUES FROM (%L) TO (%L)',
            'container_' || to_char(first + n * INTERVAL '1 month', 'YYYYMM01'),
            (first + n * INTERVAL '1 month') AT TIME ZONE 'UTC', (first + (n + 1) * INTERVAL '1 month') AT TIME ZONE 'UTC');
    END LOOP;
END $$;
