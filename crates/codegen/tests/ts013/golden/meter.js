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

// The message that is read or written.
var message = []; // its bytes
var place = 0; // the next bit
var part = 0; // the first bit of the part at hand
var path = []; // the keys and indexes that lead to the value at hand
var parts = 1; // the values so far, with the message itself
var warnings = [];
var carrying = false; // whether only bits count, not what else the schema says

var POWERS = [1]; // of 2, up to 53
while (POWERS.length < 54) {
  POWERS.push(2 * POWERS[POWERS.length - 1]);
}

function fail(kind, reason) {
  throw { kind: kind, reason: reason, pointer: pointer(), offset: Math.floor(part / 8) };
}

function pointer() {
  return path.map(function (key) {
    return "/" + String(key).replace(/~/g, "~0").replace(/\//g, "~1");
  }).join("");
}

// A value in an error, as JSON, not too long.
function show(value) {
  var text;
  try {
    text = String(typeof value === "number" ? value : JSON.stringify(value));
  } catch (_) {
    text = typeof value;
  }
  return text.length > 40 ? text.slice(0, 40) + "..." : text;
}

// The next bits as a number, at most 53 of them.
function take(bits) {
  var value = 0, room, n;
  if (place + bits > 8 * message.length) {
    part = 8 * message.length;
    fail("truncated", "the message ends before its layout does");
  }
  while (bits > 0) {
    room = 8 - place % 8;
    n = Math.min(room, bits);
    value = value * POWERS[n] + (message[(place - place % 8) / 8] >> (room - n)) % POWERS[n];
    place += n;
    bits -= n;
  }
  return value;
}

// Appends the lowest bits of value, at most 53 of them.
function put(value, bits) {
  var room, n, high;
  while (bits > 0) {
    if (place % 8 === 0) {
      message.push(0);
    }
    room = 8 - place % 8;
    n = Math.min(room, bits);
    bits -= n;
    high = Math.floor(value / POWERS[bits]);
    value -= high * POWERS[bits];
    message[message.length - 1] += high * POWERS[room - n];
    place += n;
  }
}

// The bits of an index out of count.
function width(count) {
  var bits = 0;
  while (POWERS[bits] < count) {
    bits += 1;
  }
  return bits;
}

function takeIndex(count) {
  var value;
  part = place;
  value = take(width(count));
  if (value >= count) {
    fail("range", "index " + value + " out of " + count);
  }
  return value;
}

function putIndex(value, count) {
  put(value, width(count));
}

// Whether a codec can write value; with bits, whether it has bits for it. Nothing is written.
function allows(codec, value, bits) {
  var written = message.slice(), before = place, depth = path.length, count = parts, mode = carrying, allowed = true;
  carrying = Boolean(bits);
  try {
    codec.write(value);
  } catch (error) {
    if (!error || !error.kind) {
      throw error;
    }
    allowed = false;
  }
  message = written;
  place = before;
  path.length = depth;
  parts = count;
  carrying = mode;
  return allowed;
}

function typed(is, value, noun) {
  if (!is) {
    fail("type", show(value) + " is not " + noun);
  }
}

function whole(value) {
  return typeof value === "number" && Math.floor(value) === value;
}

function isArray(value) {
  return Object.prototype.toString.call(value) === "[object Array]";
}

function has(object, key) {
  return Object.prototype.hasOwnProperty.call(object, key) && object[key] !== undefined;
}

function countValues(values) {
  parts += values;
  if (parts > 1048576) {
    fail("limit", "more than 1048576 values");
  }
}

// Counts text, a value or a key: 32 bytes of UTF-8 as one more value.
function countText(text) {
  var bytes = text.length, i, unit;
  for (i = 0; i < text.length; i += 1) {
    unit = text.charCodeAt(i);
    // A surrogate pair takes four bytes, two for each half.
    bytes += unit < 0x80 ? 0 : unit < 0x800 || unit >> 11 === 0x1b ? 1 : 2;
  }
  countValues(Math.floor(bytes / 32));
}

// The text that read returns, counted. An error has the offset of its first bit.
function counted(read) {
  var start = place, text = read();
  part = start;
  countText(text);
  return text;
}

function deep(key, action) {
  var result;
  countValues(1);
  path.push(key);
  result = action();
  path.pop();
  return result;
}

// The whole numbers min, min + step, ... max. The text of n in errors is shown(n).
function number(min, max, step) {
  var count = (max - min) / step + 1;
  return {
    min: min,
    max: max,
    read: function () {
      return min + step * takeIndex(count);
    },
    write: function (n, value, shown) {
      if (n < min) {
        fail("range", show(value) + " is below the minimum " + shown(min));
      }
      if (n > max) {
        fail("range", show(value) + " is above the maximum " + shown(max));
      }
      if (n % step !== 0) {
        fail("range", show(value) + " is not a multiple of " + shown(step));
      }
      putIndex((n - min) / step, count);
    }
  };
}

function notNegativeZero(value) {
  if (value === 0 && 1 / value < 0) {
    fail("range", "-0 would lose its sign");
  }
}

function integer(numbers) {
  return {
    read: numbers.read,
    write: function (value) {
      typed(typeof value === "number", value, "a number");
      notNegativeZero(value);
      if (!whole(value)) {
        fail("range", show(value) + " is not a whole number");
      }
      numbers.write(value, value, String);
    }
  };
}

// Numbers with so many decimals, as integers of the last one.
function decimal(numbers, places) {
  var unit = Number("1e" + places);
  function shown(n) {
    return String(n / unit);
  }
  return {
    read: function () {
      return numbers.read() / unit;
    },
    write: function (value) {
      var n;
      typed(typeof value === "number", value, "a number");
      notNegativeZero(value);
      n = Math.round(value * unit);
      if (isFinite(n) && n / unit !== value) {
        fail("range", show(value) + " has more than " + places + " decimals");
      }
      numbers.write(n, value, shown);
    }
  };
}

// The days of the Gregorian calendar from 1970-01-01 to the day, by integers; years begin in March.
function daysTo(year, month, day) {
  var y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) +
    Math.floor((153 * m + 2) / 5) + day - 719469;
}

function isDate(year, month, day) {
  return month >= 1 && month <= 12 && day >= 1 &&
    day <= daysTo(month === 12 ? year + 1 : year, month % 12 + 1, 1) - daysTo(year, month, 1);
}

// Year, month and day from the days since 1970-01-01.
function dateOf(days) {
  var d = days + 719468, era = Math.floor(d / 146097), y, m;
  d -= 146097 * era;
  y = Math.floor((d - Math.floor(d / 1460) + Math.floor(d / 36524) - Math.floor(d / 146096)) / 365);
  d -= 365 * y + Math.floor(y / 4) - Math.floor(y / 100);
  m = Math.floor((5 * d + 2) / 153);
  d -= Math.floor((153 * m + 2) / 5);
  return { Y: 400 * era + y + (m < 10 ? 0 : 1), M: m < 10 ? m + 3 : m - 9, D: d + 1 };
}

// Text that holds a time, in units of 10^-places s since the epoch, which is in seconds since 1970-01-01.
function time(numbers, notation, epoch, places) {
  var unit = Number("1e" + places);
  function padded(n, length) {
    var text = String(n);
    while (text.length < length) {
      text = "0" + text;
    }
    return text;
  }
  function shown(n) {
    var seconds = (n - n % unit) / unit + epoch, day = Math.floor(seconds / 86400), now = dateOf(day);
    seconds -= 86400 * day;
    now.h = Math.floor(seconds / 3600);
    now.m = Math.floor(seconds / 60) % 60;
    now.s = seconds % 60;
    now.f = n % unit;
    return notation.map(function (piece) {
      if (piece === "YY") {
        return padded(now.Y - 2000, 2);
      }
      return has(now, piece.charAt(0)) ? padded(now[piece.charAt(0)], piece.length) : piece;
    }).join("");
  }
  // The units since the epoch; NaN when the text is no such time.
  function scan(text) {
    var now = { f: 0 }, at = 0, real = true;
    notation.forEach(function (piece) {
      var letter = piece.charAt(0), found = text.slice(at, at + piece.length);
      at += piece.length;
      if (/[YMDhmsf]/.test(letter)) {
        real = real && found.length === piece.length && /^[0-9]+$/.test(found);
        now[letter] = Number(found) + (piece === "YY" ? 2000 : 0);
      } else {
        real = real && found === piece;
      }
    });
    if (!real || at !== text.length || now.h > 23 || now.m > 59 || now.s > 59 || !isDate(now.Y, now.M, now.D)) {
      return NaN;
    }
    return (86400 * daysTo(now.Y, now.M, now.D) + 3600 * now.h + 60 * now.m + now.s - epoch) * unit + now.f;
  }
  return {
    read: function () {
      return counted(function () {
        return shown(numbers.read());
      });
    },
    write: function (value) {
      var n;
      typed(typeof value === "string", value, "text");
      n = scan(value);
      if (isNaN(n)) {
        fail("range", show(value) + " is not a time like " + shown(numbers.min));
      }
      numbers.write(n, value, shown);
      countText(value);
    }
  };
}

function isSurrogate(point) {
  return point >= 0xd800 && point <= 0xdfff;
}

// The code points of text.
function codePoints(text) {
  var points = [], i, unit, next;
  for (i = 0; i < text.length; i += 1) {
    unit = text.charCodeAt(i);
    if (isSurrogate(unit)) {
      next = text.charCodeAt(i + 1);
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) {
        fail("malformed", "half of a surrogate pair in text");
      }
      unit = 0x10000 + (unit - 0xd800) * 0x400 + next - 0xdc00;
      i += 1;
    }
    points.push(unit);
  }
  return points;
}

function character(point) {
  if (point < 0x10000) {
    return String.fromCharCode(point);
  }
  point -= 0x10000;
  return String.fromCharCode(0xd800 + (point >> 10), 0xdc00 + point % 0x400);
}

// Text of min to max code points: ASCII in 7 bits each, else UTF-8.
function text(min, max) {
  function isAscii(point) {
    return point < 0x80;
  }
  // A character of UTF-8, in its shortest form and no surrogate.
  function takePoint() {
    var first, bytes = [], more, good, point;
    part = place;
    first = take(8);
    more = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    while (bytes.length < more) {
      bytes.push(take(8));
    }
    point = bytes.reduce(function (sum, byte) {
      return sum * 0x40 + byte % 0x40;
    }, more === 0 ? first : first % (0x40 >> more));
    good = bytes.every(function (byte) {
      return byte >> 6 === 2;
    });
    if (!good || point < [0, 0x80, 0x800, 0x10000][more] || point > 0x10ffff || isSurrogate(point) ||
        more === 0 && first >= 0x80) {
      fail("malformed", "text that is not UTF-8");
    }
    return point;
  }
  function putPoint(point) {
    var more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3, shift;
    put(more === 0 ? point : [0, 0xc0, 0xe0, 0xf0][more] + (point >> 6 * more), 8);
    for (shift = 6 * (more - 1); shift >= 0; shift -= 6) {
      put(0x80 + (point >> shift) % 0x40, 8);
    }
  }
  return {
    read: function () {
      return counted(function () {
        var length = min + takeIndex(max - min + 1), points = [], start = place, wide;
        if (length === 0) {
          return "";
        }
        part = place;
        wide = take(1) === 1;
        while (points.length < length) {
          part = place;
          points.push(wide ? takePoint() : take(7));
        }
        if (wide && points.every(isAscii)) {
          part = start;
          fail("malformed", "ASCII text that is not written as such");
        }
        return points.map(character).join("");
      });
    },
    write: function (value) {
      var points, ascii;
      typed(typeof value === "string", value, "text");
      points = codePoints(value);
      if (points.length < min || points.length > max) {
        fail("range", show(value) + " has " + points.length + " characters, not " + min + " to " + max);
      }
      countText(value);
      putIndex(points.length - min, max - min + 1);
      if (points.length > 0) {
        ascii = points.every(isAscii);
        put(ascii ? 0 : 1, 1);
        points.forEach(ascii ? function (point) {
          put(point, 7);
        } : putPoint);
      }
    }
  };
}

// Cuts the runs of indexes, pairs of an index and its number of values, into groups below 2^32.
function inGroups(sizes, group) {
  var run = [], product = 1;
  sizes.forEach(function (size) {
    if (product * size >= 4294967296) {
      group(run, product);
      run = [];
      product = 1;
    }
    run.push(size);
    product *= size;
  });
  group(run, product);
}

// The text of segments in mode 0.
function readGroups(segments) {
  var points = [], sizes = [], indexes = [];
  segments.forEach(function (segment) {
    var n = segment.min + takeIndex(segment.max - segment.min + 1);
    for (; n > 0; n -= 1) {
      points.push(segment.points);
      sizes.push(segment.points.length);
    }
  });
  inGroups(sizes, function (run, product) {
    var value = takeIndex(product), group = [];
    run.reverse().forEach(function (size) {
      group.unshift(value % size);
      value = (value - value % size) / size;
    });
    indexes = indexes.concat(group);
  });
  return indexes.map(function (index, i) {
    return character(points[i][index]);
  }).join("");
}

// Text of segments: [characters, fewest, most].
function pattern(segments) {
  segments = segments.map(function (segment) {
    return { points: codePoints(segment[0]), min: segment[1], max: segment[2] };
  });
  function refuse(value) {
    fail("range", show(value) + " is not in the pattern");
  }
  return {
    read: function () {
      return counted(function () {
        return readGroups(segments);
      });
    },
    write: function (value) {
      var points, at = 0, sizes = [], indexes = [];
      typed(typeof value === "string", value, "text");
      points = codePoints(value);
      segments.forEach(function (segment) {
        var n = 0, index;
        while (n < segment.max && at < points.length) {
          index = segment.points.indexOf(points[at]);
          if (index < 0) {
            break;
          }
          indexes.push(index);
          sizes.push(segment.points.length);
          at += 1;
          n += 1;
        }
        if (n < segment.min) {
          refuse(value);
        }
        putIndex(n - segment.min, segment.max - segment.min + 1);
      });
      if (at < points.length) {
        refuse(value);
      }
      inGroups(sizes, function (run, product) {
        putIndex(run.reduce(function (sum, size) {
          return sum * size + indexes.shift();
        }, 0), product);
      });
      countText(value);
    }
  };
}

// Sets a property even where the key is __proto__.
function define(object, key, value) {
  return Object.defineProperty(object, key, {
    value: value, enumerable: true, configurable: true, writable: true
  });
}

function optional(codec) {
  return { read: codec.read, write: codec.write, optional: true };
}

// An object of fields: [key, codec]. Others, of a codec, may be there where one is only checked.
function object(fields, others) {
  var keys = fields.map(function (field) {
    return field[0];
  });
  return {
    read: function () {
      return fields.reduce(function (result, field) {
        var codec = field[1];
        if (codec.known) {
          warnings.push(field[0] + " is not in the message: it is the " + codec.known + " of the device");
        } else if (!codec.optional || takeIndex(2) === 1) {
          part = place;
          countText(field[0]);
          part = place;
          define(result, field[0], deep(field[0], codec.read));
        }
        return result;
      }, {});
    },
    write: function (value) {
      typed(typeof value === "object" && value !== null && !isArray(value), value, "an object");
      fields.forEach(function (field) {
        var key = field[0], codec = field[1], present = has(value, key);
        if (codec.optional) {
          put(present ? 1 : 0, 1);
        } else if (!present && !codec.known) {
          fail("range", "property " + show(key) + " is missing");
        }
        if (present) {
          countText(key);
          deep(key, function () {
            codec.write(value[key]);
          });
        }
      });
      Object.keys(value).forEach(function (key) {
        if (value[key] !== undefined && keys.indexOf(key) < 0) {
          if (!others) {
            fail("type", "unknown property " + show(key));
          }
          deep(key, function () {
            others.write(value[key]);
          });
        }
      });
    }
  };
}

// Whether two values are the same: keys in any order, -0 not 0.
function same(a, b) {
  var keys;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return a === b && (a !== 0 || 1 / a === 1 / b);
  }
  keys = Object.keys(a);
  return isArray(a) === isArray(b) && keys.length === Object.keys(b).length && keys.every(function (key) {
    return has(b, key) && same(a[key], b[key]);
  });
}

// A fresh value, which the caller may change.
function copy(value) {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (isArray(value)) {
    return value.map(copy);
  }
  return Object.keys(value).reduce(function (result, key) {
    return define(result, key, copy(value[key]));
  }, {});
}

// Counts the parts of a value that the schema contains.
function countKnown(value) {
  if (typeof value === "string") {
    countText(value);
  } else if (value !== null && typeof value === "object") {
    Object.keys(value).forEach(function (key) {
      countValues(1);
      if (!isArray(value)) {
        countText(key);
      }
      countKnown(value[key]);
    });
  }
}

// One of the values; a constant is one of one.
function choice(values) {
  return {
    read: function () {
      var value = values[takeIndex(values.length)];
      part = place;
      countKnown(value);
      return copy(value);
    },
    write: function (value) {
      var index = 0;
      while (index < values.length && !same(values[index], value)) {
        index += 1;
      }
      if (index === values.length) {
        fail("range", show(value) + " is not one of " + values.map(show).join(", "));
      }
      countKnown(value);
      putIndex(index, values.length);
    }
  };
}

// null or a value.
function nullable(codec) {
  return {
    read: function () {
      var start = place, value;
      if (takeIndex(2) === 0) {
        return null;
      }
      value = codec.read();
      if (value === null) {
        part = start;
        fail("malformed", "null as something else");
      }
      return value;
    },
    write: function (value) {
      put(value === null ? 0 : 1, 1);
      if (value !== null) {
        codec.write(value);
      }
    }
  };
}

// An array of min to max elements; items are the codecs of the first ones, rest that of the others.
function array(items, rest, min, max) {
  function codec(i) {
    return i < items.length ? items[i] : rest;
  }
  return {
    read: function () {
      var length = min + takeIndex(max - min + 1), values = [];
      while (values.length < length) {
        part = place;
        values.push(deep(values.length, codec(values.length).read));
      }
      return values;
    },
    write: function (value) {
      var i;
      typed(isArray(value), value, "an array");
      if (value.length < min || value.length > max) {
        fail("range", "an array of " + value.length + ", not " + min + " to " + max);
      }
      putIndex(value.length - min, max - min + 1);
      for (i = 0; i < value.length; i += 1) {
        deep(i, function () {
          codec(i).write(value[i]);
        });
      }
    }
  };
}

function begin() {
  message = [];
  place = 0;
  part = 0;
  path = [];
  parts = 1;
  warnings = [];
  carrying = false;
}

// The message behind the slot byte.
function readLayout() {
  var data, end;
  data = LAYOUT.read();
  part = place;
  if (take((8 - place % 8) % 8) !== 0) {
    fail("malformed", "fill bits that are not 0");
  }
  part = place;
  end = place / 8;
  if (end < message.length) {
    fail("malformed", message.length - end + " bytes behind the message");
  }
  // What reads can still break what the schema says of the values.
  part = 0;
  parts = 1;
  message = [SLOT];
  place = 8;
  LAYOUT.write(data);
  return data;
}

function decode(bytes) {
  var i;
  begin();
  typed(typeof bytes === "object" && bytes !== null && whole(bytes.length), bytes, "bytes");
  if (bytes.length > 1048576) {
    fail("limit", "more than 1048576 bytes");
  }
  for (i = 0; i < bytes.length; i += 1) {
    typed(whole(bytes[i]) && bytes[i] >= 0 && bytes[i] < 256, bytes[i], "a byte");
    message.push(bytes[i]);
  }
  i = take(8);
  if (i >= 64 || i === 0) {
    fail("malformed", i === 0 ? "slot 0" : "mode " + (i >> 6) + ", which is reserved");
  }
  if (i !== SLOT) {
    fail("range", "slot " + i + ", not " + SLOT);
  }
  return readLayout();
}

function encode(data) {
  begin();
  put(SLOT, 8);
  LAYOUT.write(data);
  return message;
}

// What action makes of the input's member, or an error: "kind: reason at byte 3" when decoding, "at /pointer" when encoding.
function attempt(input, member, action, result, where) {
  try {
    return result(action(input[member]));
  } catch (error) {
    return {
      warnings: warnings,
      errors: [error && error.kind ? error.kind + ": " + error.reason + where(error) : "type: " + error]
    };
  }
}

function atByte(error) {
  return " at byte " + error.offset + (error.pointer ? ", " + error.pointer : "");
}

function atPointer(error) {
  return error.pointer ? " at " + error.pointer : "";
}

function decodeUplink(input) {
  return attempt(input, "bytes", decode, function (data) {
    return { data: data, warnings: warnings, errors: [] };
  }, atByte);
}

function decodeDownlink(input) {
  return decodeUplink(input);
}

function encodeDownlink(input) {
  return attempt(input, "data", encode, function (bytes) {
    return { bytes: bytes, fPort: SLOT, warnings: warnings, errors: [] };
  }, atPointer);
}

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
