/*
 * Checks: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema checks`: change the schema, not this file.
 *
 * slot 62, 4 to 801 bytes
 * layout 1117adaa93ca0b62f699445d1afa0ad29d09dae5ee63f56000820cbba224890a
 *
 * device           0 bits
 * fraction     10-67 bits
 * either       3-100 bits
 * word         4-293 bits
 * moment      43-1127 bits
 * uuid        129-1154 bits
 * ipv4            32 bits
 * ipv6        16-1448 bits
 * day             23 bits
 * hour        18-774 bits
 * span        19-1288 bits
 * short         4-48 bits
 * set[]            4 bits
 * range.low        4 bits
 * range.high       4 bits
 * range.unit        1 bit
 */

var SLOT = 62;

var LAYOUT = object([
  ["device", known(pattern([["0123456789ABCDEF", 16, 16]]), "id")],
  ["fraction", float(-1.5, 1e300)],
  ["either", optional(nullable(union([
    text(0, 3),
    integer(number(-5, 5, 1))
  ])))],
  ["word", optional(checked(text(0, 9), [matches(/^(?:ok|(?:\u00e9){1,}|(?:[]|[\ud83d][\ude00-\ude02]))$/)]))],
  ["moment", optional(checked(union([pattern([["0123456789", 4, 4], ["-", 1, 1], ["01", 1, 1], ["0123456789", 1, 1], ["-", 1, 1], ["0123", 1, 1], ["0123456789", 1, 1], ["T", 1, 1], ["012", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["012345", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["0123456", 1, 1], ["0123456789", 1, 1], ["Z", 1, 1]]), pattern([["0123456789", 4, 4], ["-", 1, 1], ["01", 1, 1], ["0123456789", 1, 1], ["-", 1, 1], ["0123", 1, 1], ["0123456789", 1, 1], ["T", 1, 1], ["012", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["012345", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["0123456", 1, 1], ["0123456789", 1, 1], [".", 1, 1], ["0123456789", 3, 3], ["Z", 1, 1]]), text(20, 35)]), [format("date-time")]))],
  ["uuid", optional(checked(union([pattern([["0123456789abcdef", 8, 8], ["-", 1, 1], ["0123456789abcdef", 4, 4], ["-", 1, 1], ["0123456789abcdef", 4, 4], ["-", 1, 1], ["0123456789abcdef", 4, 4], ["-", 1, 1], ["0123456789abcdef", 12, 12]]), text(36, 36)]), [format("uuid")]))],
  ["ipv4", optional(checked(numbers(".", [digits(number(0, 255, 1), 1, 0), digits(number(0, 255, 1), 1, 0), digits(number(0, 255, 1), 1, 0), digits(number(0, 255, 1), 1, 0)]), [format("ipv4")]))],
  ["ipv6", optional(checked(union([pattern([["0123456789:abcdef", 2, 39]]), text(2, 45)]), [format("ipv6")]))],
  ["day", optional(checked(pattern([["0123456789", 4, 4], ["-", 1, 1], ["01", 1, 1], ["0123456789", 1, 1], ["-", 1, 1], ["0123", 1, 1], ["0123456789", 1, 1]]), [format("date")]))],
  ["hour", optional(checked(union([pattern([["012", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["012345", 1, 1], ["0123456789", 1, 1], [":", 1, 1], ["0123456", 1, 1], ["0123456789", 1, 1], ["Z", 1, 1]]), text(9, 24)]), [format("time")]))],
  ["span", optional(checked(union([pattern([["0123456789DHMPSTWY", 3, 32]]), text(3, 40)]), [format("duration")]))],
  ["short", optional(checked(pattern([["abcdefghijklmnopqrstuvwxyz", 0, 9]]), [lengths(2, 4)]))],
  ["set", optional(checked(array([], checked(integer(number(0, 9, 1)), [not(choice([5]))]), 0, 4), [unique, contains(nullable(union([
    float(7.0, Infinity),
    object([], anything),
    array([], anything, 0, Infinity),
    text(0, Infinity),
    bool
  ])), 1, Infinity)]))],
  ["range", optional(checked(object([
    ["low", optional(integer(number(0, 9, 1)))],
    ["high", optional(integer(number(0, 9, 1)))],
    ["unit", optional(choice(["m", "km"]))]
  ]), [when(nullable(union([
    object([
      ["unit", choice(["km"])]
    ], anything),
    array([], anything, 0, Infinity),
    text(0, Infinity),
    float(-Infinity, Infinity),
    bool
  ])), nullable(union([
    object([
      ["low", optional(nullable(union([
        float(-Infinity, 3.0),
        object([], anything),
        array([], anything, 0, Infinity),
        text(0, Infinity),
        bool
      ])))]
    ], anything),
    array([], anything, 0, Infinity),
    text(0, Infinity),
    float(-Infinity, Infinity),
    bool
  ])), null), properties(1, Infinity), propertyNames(nullable(union([
    text(0, 4),
    object([], anything),
    array([], anything, 0, Infinity),
    float(-Infinity, Infinity),
    bool
  ]))), dependentRequired("high", ["low"])]))]
]);
