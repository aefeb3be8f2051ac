/*
 * Container: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema container`: change the schema, not this file.
 *
 * slot 1, 52 to 60 bytes
 * layout e71d8dd3b3ed1c4d46e89ad3b0330c5d976c710f24c7d980fe184c4852dbb64a
 *
 * msisdn        28-54 bits  Number of the SIM, E.164 without the plus sign
 * iso6346          39 bits  Number of the container, ISO 6346. The last digit is carried as it is, whether or not it ch...
 * time             35 bits  Time of the measurement, UTC
 * rssi              7 bits  Received signal strength, as AT+CSQ has it: 0 to 31, 99 for unknown
 * cgi           31-70 bits  Cell global identity: country, network, area, cell; the last two in hexadecimal
 * ble-m              1 bit  Whether a Bluetooth mesh is in reach
 * bat-soc           7 bits  State of charge of the battery, %
 * acc              87 bits  Acceleration along x, y and z, mg: 16-bit counts of 0.7324443 mg
 * temperature      15 bits  Temperature of the air inside, °C
 * humidity         14 bits  Relative humidity inside, %
 * pressure         24 bits  Pressure of the air, hPa
 * door              2 bits  State of the door, as the device reports it
 * gnss               1 bit  Whether the position is a valid fix
 * latitude         21 bits  Latitude, degrees north, WGS 84
 * longitude        22 bits  Longitude, degrees east, WGS 84
 * altitude         20 bits  Altitude above sea level, m
 * speed            14 bits  Speed over ground, km/h
 * heading          16 bits  Course over ground, degrees from north
 * nsat              7 bits  Satellites used for the fix
 * hdop             10 bits  Horizontal dilution of precision
 */

var SLOT = 1;

var LAYOUT = object([
  ["msisdn", pattern([["123456789", 1, 1], ["0123456789", 6, 14]])],
  ["iso6346", pattern([["ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3, 3], ["JUZ", 1, 1], ["0123456789", 7, 7]])],
  ["time", time(number(0, 31557599999, 1), ["DD", "MM", "YY", " ", "hh", "mm", "ss", ".", "f"], 946684800, 1)],
  ["rssi", digits(number(0, 99, 1), 1, 0)],
  ["cgi", pattern([["0123456789", 3, 3], ["-", 1, 1], ["0123456789", 2, 3], ["-", 1, 1], ["0123456789ABCDEF", 1, 4], ["-", 1, 1], ["0123456789ABCDEF", 1, 7]])],
  ["ble-m", choice(["0", "1"])],
  ["bat-soc", digits(number(0, 100, 1), 1, 0)],
  ["acc", numbers(" ", [digits(number(-240000000, 240000000, 1), 1, 4), digits(number(-240000000, 240000000, 1), 1, 4), digits(number(-240000000, 240000000, 1), 1, 4)])],
  ["temperature", digits(number(-9999, 9999, 1), 1, 2)],
  ["humidity", digits(number(0, 10000, 1), 1, 2)],
  ["pressure", digits(number(3000000, 12000000, 1), 1, 4)],
  ["door", choice(["D", "O", "C", "T"])],
  ["gnss", choice(["0", "1"])],
  ["latitude", digits(number(-900000, 900000, 1), 1, 4)],
  ["longitude", digits(number(-1800000, 1800000, 1), 1, 4)],
  ["altitude", digits(number(-50000, 900000, 1), 1, 2)],
  ["speed", digits(number(0, 9999, 1), 1, 1)],
  ["heading", digits(number(0, 36000, 1), 1, 2)],
  ["nsat", digits(number(0, 99, 1), 2, 0)],
  ["hdop", digits(number(0, 999, 1), 1, 1)]
]);
