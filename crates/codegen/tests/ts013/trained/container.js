/*
 * Container: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema container`: change the schema, not this file.
 *
 * slot 1, 52 to 60 bytes
 * layout 3899ff1564e867e1311174157fd70f3e7aa397ccc138e90183d5bf57480ad30d
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

var TABLES = [
  [-3,3,1,0,254,2,1],
  [0,1,1,0,254,3,1],
  [-137736776,30,1,0,254,26,1],
  [-3,3,1,0,254,17,1],
  [-442,13,1,0,254,14,1],
  [0,0,1,0,254,1,1],
  [-865915,21,1,0,254,24,1],
  [-4,5,1,0,254,7,1],
  [0,0,255,0,1],
  [0,0,255,2,1],
  [0,2,1,0,254,1,1],
  [-25,10,1,0,255],
  [0,0,1,0,254,10,1],
  [0,0,1,0,254,16,1],
  [-58047,18,1,0,254,28,1],
  [0,0,255,0,1],
  [-32,7,1,0,254,2,1],
  [-38374725,28,1,0,254,28,1],
  [-28706460,28,1,0,254,28,1],
  [-28955491,28,1,0,254,28,1],
  [-4685,14,1,0,254,14,1],
  [-1092,13,1,0,254,12,1],
  [-1264652,23,1,0,254,21,1],
  [0,0,255,2,1],
  [0,0,1,0,255],
  [-878470,21,1,0,254,20,1],
  [-9740,21,1,0,254,21,1],
  [-10586,16,1,0,254,20,1],
  [-230,9,1,0,254,14,1],
  [-3829,14,1,0,254,15,1],
  [-2,3,1,0,254,7,1],
  [-2,4,1,0,254,10,1]
];

var LAYOUT = object([
  ["msisdn", at([0, 1, 2, 3], pattern([["123456789", 1, 1], ["0123456789", 6, 14]]))],
  ["iso6346", at([4, 5, 6], pattern([["ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3, 3], ["JUZ", 1, 1], ["0123456789", 7, 7]]))],
  ["time", time(number(0, 31557599999, 1), ["DD", "MM", "YY", " ", "hh", "mm", "ss", ".", "f"], 946684800, 1)],
  ["rssi", digits(at(7, number(0, 99, 1)), 1, 0)],
  ["cgi", at([8, 9, 10, 11, 12, 13, 14], pattern([["0123456789", 3, 3], ["-", 1, 1], ["0123456789", 2, 3], ["-", 1, 1], ["0123456789ABCDEF", 1, 4], ["-", 1, 1], ["0123456789ABCDEF", 1, 7]]))],
  ["ble-m", at(15, choice(["0", "1"]))],
  ["bat-soc", digits(at(16, number(0, 100, 1)), 1, 0)],
  ["acc", numbers(" ", [digits(at(17, number(-240000000, 240000000, 1)), 1, 4), digits(at(18, number(-240000000, 240000000, 1)), 1, 4), digits(at(19, number(-240000000, 240000000, 1)), 1, 4)])],
  ["temperature", digits(at(20, number(-9999, 9999, 1)), 1, 2)],
  ["humidity", digits(at(21, number(0, 10000, 1)), 1, 2)],
  ["pressure", digits(at(22, number(3000000, 12000000, 1)), 1, 4)],
  ["door", at(23, choice(["D", "O", "C", "T"]))],
  ["gnss", at(24, choice(["0", "1"]))],
  ["latitude", digits(at(25, number(-900000, 900000, 1)), 1, 4)],
  ["longitude", digits(at(26, number(-1800000, 1800000, 1)), 1, 4)],
  ["altitude", digits(at(27, number(-50000, 900000, 1)), 1, 2)],
  ["speed", digits(at(28, number(0, 9999, 1)), 1, 1)],
  ["heading", digits(at(29, number(0, 36000, 1)), 1, 2)],
  ["nsat", digits(at(30, number(0, 99, 1)), 2, 0)],
  ["hdop", digits(at(31, number(0, 999, 1)), 1, 1)]
]);
