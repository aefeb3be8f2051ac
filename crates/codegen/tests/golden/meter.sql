-- Meter: messages as rows of PostgreSQL.

CREATE TABLE IF NOT EXISTS "meter" (
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
    "meter" text,
    "time" timestamp with time zone,
    "status" text,
    "energy__import" numeric(10,3),
    "energy__export" numeric(10,3),
    "frequency" numeric(4,2),
    "phases" jsonb,
    "tariff" smallint,
    "temperature" smallint,
    "firmware" text,
    CONSTRAINT "status_in_65e16473" CHECK ("status" IN ('ok', 'tamper', 'fault', 'disconnected')),
    PRIMARY KEY ("_name")
);
CREATE INDEX IF NOT EXISTS "meter_device_time" ON "meter" ("_device", "_received_at");
CREATE INDEX IF NOT EXISTS "meter_time" ON "meter" USING brin ("_received_at");
COMMENT ON COLUMN "meter"."_name" IS 'stable ID of the message: the same however often it is delivered';
COMMENT ON COLUMN "meter"."_device" IS 'ID of the device';
COMMENT ON COLUMN "meter"."_device_name" IS 'name of the device in the register';
COMMENT ON COLUMN "meter"."_tags" IS 'tags of the device in the register';
COMMENT ON COLUMN "meter"."_received_at" IS 'when the gateway received the message';
COMMENT ON COLUMN "meter"."_sent_at" IS 'when the device sent it, as its provider says';
COMMENT ON COLUMN "meter"."_link" IS 'link that carried it';
COMMENT ON COLUMN "meter"."_bytes" IS 'length as it arrived, in bytes';
COMMENT ON COLUMN "meter"."_origin" IS 'what the input knows about its arrival';
COMMENT ON COLUMN "meter"."_rest" IS 'fields without a column';
COMMENT ON COLUMN "meter"."meter" IS 'Identifier of the device: manufacturer and serial number';
COMMENT ON COLUMN "meter"."time" IS 'Time of the reading, UTC';
COMMENT ON COLUMN "meter"."status" IS 'State of the meter';
COMMENT ON COLUMN "meter"."energy__import" IS 'Taken from the network, kWh';
COMMENT ON COLUMN "meter"."energy__export" IS 'Given to the network, kWh';
COMMENT ON COLUMN "meter"."frequency" IS 'Frequency of the network, Hz';
COMMENT ON COLUMN "meter"."phases" IS 'Phases in their order';
COMMENT ON COLUMN "meter"."tariff" IS 'Active tariff';
COMMENT ON COLUMN "meter"."temperature" IS 'Temperature inside, °C';
COMMENT ON COLUMN "meter"."firmware" IS 'Version of the firmware';
