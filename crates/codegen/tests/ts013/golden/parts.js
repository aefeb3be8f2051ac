/*
 * Parts: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.
 * Written by `dunnage generate ts013 --schema parts`: change the schema, not this file.
 *
 * slot 63, 5 to 188 bytes
 * layout 8bf892339ba4b16697612ba99b31800a5567ed46c9ee939b529d94e1e6080d09
 *
 * device                 0 bits
 * flag                    1 bit  a * / in a comment
 * float              10-67 bits
 * fraction           10-67 bits
 * note               5-646 bits
 * mac                   48 bits
 * greek               4-48 bits
 * wide                  53 bits
 * even                   4 bits
 * usual               3-24 bits
 * acc                   21 bits
 * micro                 28 bits
 * raw                   16 bits
 * half                   4 bits
 * clock                 49 bits
 * mode                   3 bits
 * version                0 bits
 * either             3-100 bits
 * tuple                4-7 bits
 * list[].__proto__    2-67 bits
 * list[].x/y~             1 bit
 */

var SLOT = 63;

var LAYOUT = object([
  ["device", known(pattern([["0123456789ABCDEF", 16, 16]]), "id")],
  ["flag", bool],
  ["float", float(-Infinity, Infinity)],
  ["fraction", optional(float(-1.5, 1e300))],
  ["note", optional(text(0, 20))],
  ["mac", optional(pattern([["0123456789abcdef", 2, 2], [":", 1, 1], ["0123456789abcdef", 2, 2], [":", 1, 1], ["0123456789abcdef", 2, 2], [":", 1, 1], ["0123456789abcdef", 2, 2], [":", 1, 1], ["0123456789abcdef", 2, 2], [":", 1, 1], ["0123456789abcdef", 2, 2]]))],
  ["greek", optional(pattern([["\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc\u03bd\u03be\u03bf\u03c0\u03c1\u03c2\u03c3\u03c4\u03c5\u03c6\u03c7\u03c8\u03c9\ud83d\ude00", 0, 9]]))],
  ["wide", optional(integer(number(0, 9007199254740991, 1)))],
  ["even", optional(integer(number(-10, 10, 2)))],
  ["usual", optional(integer(usual(number(-1000000, 1000000, 1), 0, 6, 1)))],
  ["acc", optional(numbers(" ", [digits(quantum(number(-32766, 32766, 1), 7324443, 1000, 0), 1, 4), digits(number(-9, 9, 1), 2, 0)]))],
  ["micro", optional(decimal(number(-90000000, 90000000, 1), 6))],
  ["raw", optional(decimal(quantum(number(0, 65535, 1), 175000, 65535, -2949075000), 3))],
  ["half", optional(decimal(number(-30, 30, 5), 1))],
  ["clock", optional(time(number(0, 315569519999999, 1), ["YYYY", "-", "MM", "-", "DD", "T", "hh", ":", "mm", ":", "ss", ".", "fff", "Z"], -62167219200, 3))],
  ["mode", optional(nullable(choice(["on", 2, 2.5, true, {"a": [1, -2.5]}])))],
  ["version", choice(JSON.parse("[{\"major\": 1, \"__proto__\": []}]"))],
  ["either", optional(nullable(union([
    text(0, 3),
    integer(number(-5, 5, 1))
  ])))],
  ["tuple", optional(array([bool, integer(number(0, 7, 1))], choice([null]), 1, 5))],
  ["list", optional(array([], object([
    ["__proto__", optional(text(0, 2))],
    ["x/y~", optional(nullable(bool))]
  ]), 0, 4))]
]);
