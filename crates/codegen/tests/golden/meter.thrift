// Numbers follow the order of the schema's properties: add new ones at the end.

struct TemperatureOrNull {
  1: optional i8 value,
}

struct Phases {
  // V
  // Times 10, 0 to 5000.
  1: required i16 voltage,
  // A
  // Times 100, 0 to 20000.
  2: required i16 current,
  // Active power, W; negative when it is given to the network
  // -100000 to 100000.
  3: required i32 power,
  // Power factor
  // Times 100, -100 to 100.
  4: optional i8 factor,
}

struct Energy {
  // Taken from the network, kWh
  // Times 1000, 0 to 9999999999.
  1: required i64 import_,
  // Given to the network, kWh
  // Times 1000, 0 to 9999999999.
  2: optional i64 export,
}

enum Status {
  OK = 0,
  TAMPER = 1,
  FAULT = 2,
  DISCONNECTED = 3,
}

struct Meter {
  // Identifier of the device: manufacturer and serial number
  1: required string meter,
  // Time of the reading, UTC
  // Seconds since 1577836800 s after 1970-01-01T00:00:00Z, as text YYYY-MM-DDThh:mm:ssZ.
  2: required i64 time,
  // State of the meter
  // One of ok, tamper, fault, disconnected.
  3: required Status status,
  // Registers
  4: required Energy energy,
  // Frequency of the network, Hz
  // Times 100, 4500 to 6500.
  5: optional i16 frequency,
  // Phases in their order
  6: required list<Phases> phases,
  // Active tariff
  // 1 to 8.
  7: optional i8 tariff,
  // Temperature inside, °C
  // -40 to 85.
  8: optional TemperatureOrNull temperature,
  // Version of the firmware
  9: optional string firmware,
}
