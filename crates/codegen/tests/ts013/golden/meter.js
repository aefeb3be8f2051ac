/*
 * Meter: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema meter`: change the schema, not this file.
 *
 * slot 1, 23 to 110 bytes
 * layout c592a75bbde6dab103b788389043cdc71dd50a8d7a662c3b901e6f0cd52c45f2
 *
 * meter                 48 bits  Identifier of the device: manufacturer and serial number
 * time                  38 bits  Time of the reading, UTC
 * status                 2 bits  State of the meter
 * energy.import         34 bits  Registers
 * energy.export         34 bits  Given to the network, kWh
 * frequency             11 bits  Frequency of the network, Hz
 * phases[].voltage      13 bits  Phases in their order
 * phases[].current      15 bits  A
 * phases[].power        18 bits  Active power, W; negative when it is given to the network
 * phases[].factor        8 bits  Power factor
 * tariff                 3 bits  Active tariff
 * temperature            7 bits  Temperature inside, °C
 * firmware          12-517 bits  Version of the firmware
 */

var SLOT = 1;

var LAYOUT = object([
  ["meter", pattern([["ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3, 3], ["0123456789", 10, 10]])],
  ["time", time(number(0, 251824463999, 1), ["YYYY", "-", "MM", "-", "DD", "T", "hh", ":", "mm", ":", "ss", "Z"], 1577836800, 0)],
  ["status", choice(["ok", "tamper", "fault", "disconnected"])],
  ["energy", object([
    ["import", decimal(number(0, 9999999999, 1), 3)],
    ["export", optional(decimal(number(0, 9999999999, 1), 3))]
  ])],
  ["frequency", optional(decimal(number(4500, 6500, 1), 2))],
  ["phases", array([], object([
    ["voltage", decimal(number(0, 5000, 1), 1)],
    ["current", decimal(number(0, 20000, 1), 2)],
    ["power", integer(number(-100000, 100000, 1))],
    ["factor", optional(decimal(number(-100, 100, 1), 2))]
  ]), 1, 3)],
  ["tariff", optional(integer(number(1, 8, 1)))],
  ["temperature", optional(nullable(integer(number(-40, 85, 1))))],
  ["firmware", optional(text(1, 16))]
]);
