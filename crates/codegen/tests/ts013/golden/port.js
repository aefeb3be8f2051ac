/*
 * Port: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema port`: change the schema, not this file.
 *
 * port 12, 2 to 2 bytes
 * layout 304b107003f2096582ccfa82f6621868ebd35a9900b61c67df276d201cb6d9cc
 *
 * temperature      11 bits
 * door               1 bit
 */

var SLOT = 12;

var LAYOUT = object([
  ["temperature", decimal(number(-400, 850, 1), 1)],
  ["door", bool]
]);
