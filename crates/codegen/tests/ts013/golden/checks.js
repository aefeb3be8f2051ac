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

var bool = {
  read: function () {
    return takeIndex(2) === 1;
  },
  write: function (value) {
    typed(typeof value === "boolean", value, "a boolean");
    put(value ? 1 : 0, 1);
  }
};

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

// Text that holds a number: at least so many digits before the point, so many decimals behind it.
function digits(numbers, least, places) {
  function shown(n) {
    var text = String(Math.abs(n));
    while (text.length < least + places) {
      text = "0" + text;
    }
    if (places > 0) {
      text = text.slice(0, -places) + "." + text.slice(-places);
    }
    return n < 0 ? "-" + text : text;
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
      n = /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value.replace(".", "")) : NaN;
      // Beyond 2^53 n is rounded, but no such number is in range.
      if (isNaN(n) || Math.abs(n) < 9007199254740992 && shown(n) !== value) {
        fail("range", show(value) + " is not a number like " + shown(numbers.min));
      }
      numbers.write(n, value, shown);
      countText(value);
    }
  };
}

// Text that holds several numbers, each a codec of text. It counts as one text.
function numbers(separator, items) {
  return {
    read: function () {
      var before = parts;
      return counted(function () {
        var text = items.map(function (item) {
          return item.read();
        }).join(separator);
        parts = before;
        return text;
      });
    },
    write: function (value) {
      var texts, before = parts;
      typed(typeof value === "string", value, "text");
      texts = value.split(separator);
      if (texts.length !== items.length) {
        fail("range", show(value) + " holds " + texts.length + " numbers, not " + items.length);
      }
      items.forEach(function (item, i) {
        item.write(texts[i]);
      });
      parts = before;
      countText(value);
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

// Floats: decimal, binary32 or binary64, by arithmetic alone.
function float(min, max) {
  // value * 2^exponent, without rounding where the result is a float.
  function scale(value, exponent) {
    for (; exponent >= 32; exponent -= 32) {
      value *= 4294967296;
    }
    for (; exponent <= -32; exponent += 32) {
      value /= 4294967296;
    }
    return exponent < 0 ? value / POWERS[-exponent] : value * POWERS[exponent];
  }
  // The float with those fields, of which the exponent has so many bits, and the fraction too.
  function join(sign, exponent, fraction, exponentBits, fractionBits) {
    var bias = POWERS[exponentBits - 1] - 1, value;
    if (exponent === POWERS[exponentBits] - 1) {
      fail("range", "an infinity or no number");
    }
    value = exponent === 0 ? scale(fraction, 1 - bias - fractionBits)
      : scale(fraction + POWERS[fractionBits], exponent - bias - fractionBits);
    return sign === 1 ? -value : value;
  }
  // The fields of value: sign, exponent, fraction, which is not whole when they do not hold it; null when it is too large.
  function split(value, exponentBits, fractionBits) {
    var bias = POWERS[exponentBits - 1] - 1, magnitude = Math.abs(value), exponent = 0;
    var sign = value < 0 || value === 0 && 1 / value < 0 ? 1 : 0;
    if (magnitude === 0) {
      return [sign, 0, 0];
    }
    for (; magnitude >= 2; exponent += 1) {
      magnitude /= 2;
    }
    for (; magnitude < 1; exponent -= 1) {
      magnitude *= 2;
    }
    if (exponent > bias) {
      return null;
    }
    if (exponent < 1 - bias) {
      return [sign, 0, scale(magnitude, exponent - 1 + bias + fractionBits)];
    }
    return [sign, exponent + bias, scale(magnitude - 1, fractionBits)];
  }
  function single(value) {
    var fields = split(value, 8, 23);
    return fields !== null && whole(fields[2]) ? fields : null;
  }
  // The bits of a whole number, none for 0.
  function size(n) {
    var bits = 0;
    while (POWERS[bits] <= n) {
      bits += 1;
    }
    return bits;
  }
  // [m, places] of the shortest decimal of value, m / 10^places; null when it has more than 12 places or m is not below 2^48.
  function decimal(value) {
    var places = 0, power = 1, m;
    for (; places <= 12; places += 1) {
      m = Math.round(Math.abs(value) * power);
      if (m >= POWERS[48]) {
        return null;
      }
      if (m / power === Math.abs(value)) {
        return [m, places];
      }
      power *= 10;
    }
    return null;
  }
  // The form with the fewest bits: "short", "long", "single" or "double".
  function form(value) {
    var parts = decimal(value), bits = parts && size(parts[0]), short = parts && parts[1] < 8 && bits < 32;
    if (single(value) && !(parts && bits <= (short ? 25 : 20))) {
      return "single";
    }
    return short ? "short" : parts ? "long" : "double";
  }
  function takeShort() {
    var sign = take(1), places = take(3), bits = take(5), m = 0;
    if (bits > 0) {
      m = POWERS[bits - 1] + take(bits - 1);
    }
    return takeDecimal(sign, places, m);
  }
  function takeLong() {
    var sign = take(1), places = take(4), bits, m = 0;
    if (places > 12) {
      part = place - 4;
      fail("range", places + " places of a float");
    }
    bits = take(6);
    if (bits > 48) {
      take(bits === 63 ? 12 : bits - 49);
      take(bits === 63 ? 52 : 48);
      fail("malformed", "a decimal with more digits than any");
    }
    if (bits > 0) {
      m = POWERS[bits - 1] + take(bits - 1);
    }
    return takeDecimal(sign, places, m);
  }
  function takeDecimal(sign, places, m) {
    var value = m / Number("1e" + places), parts = decimal(value);
    if (!parts || parts[0] !== m || parts[1] !== places) {
      fail("malformed", "a decimal that is not the shortest of its float");
    }
    return sign === 1 ? -value : value;
  }
  function takeSingle() {
    var sign = take(1), exponent = take(8);
    return join(sign, exponent, take(23), 8, 23);
  }
  function takeDouble() {
    var sign = take(1), exponent = take(11), high = take(20);
    return join(sign, exponent, high * 4294967296 + take(32), 11, 52);
  }
  function putDecimal(value, short) {
    var parts = decimal(value), bits = size(parts[0]);
    put(short ? 0 : 6, short ? 1 : 3);
    put(value < 0 || value === 0 && 1 / value < 0 ? 1 : 0, 1);
    put(parts[1], short ? 3 : 4);
    put(bits, short ? 5 : 6);
    if (bits > 0) {
      put(parts[0] - POWERS[bits - 1], bits - 1);
    }
  }
  return {
    read: function () {
      var kind, value;
      part = place;
      kind = take(1) === 0 ? "short" : take(1) === 0 ? "single" : take(1) === 0 ? "long" : "double";
      value = { short: takeShort, single: takeSingle, long: takeLong, double: takeDouble }[kind]();
      if (form(value) !== kind) {
        fail("malformed", "a float that has another, shorter form");
      }
      return value;
    },
    write: function (value) {
      var fields, kind;
      typed(typeof value === "number", value, "a number");
      if (!isFinite(value)) {
        fail("range", String(value) + " is not a finite number");
      }
      if (!carrying && value < min) {
        fail("range", show(value) + " is below the minimum " + min);
      }
      if (!carrying && value > max) {
        fail("range", show(value) + " is above the maximum " + max);
      }
      kind = form(value);
      if (kind === "short" || kind === "long") {
        putDecimal(value, kind === "short");
      } else if (kind === "single") {
        fields = single(value);
        put(2, 2);
        put(fields[0], 1);
        put(fields[1], 8);
        put(fields[2], 23);
      } else {
        fields = split(value, 11, 52);
        put(7, 3);
        put(fields[0], 1);
        put(fields[1], 11);
        put(Math.floor(fields[2] / 4294967296), 20);
        put(fields[2] % 4294967296, 32);
      }
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

// The text of the device that both sides know by its name: it takes no bits.
function known(codec, name) {
  return {
    known: name,
    write: function (value) {
      if (!allows(codec, value)) {
        codec.write(value);
      }
      countText(value);
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

// The first of the codecs that has bits for the value.
function union(codecs) {
  function first(value) {
    var i = 0;
    while (i < codecs.length && !allows(codecs[i], value, true)) {
      i += 1;
    }
    return i;
  }
  return {
    read: function () {
      var start = place, index = takeIndex(codecs.length), value = codecs[index].read();
      if (first(value) < index) {
        part = start;
        fail("malformed", "a value that an earlier type carries");
      }
      return value;
    },
    write: function (value) {
      var index = first(value), mode = carrying;
      if (index === codecs.length || !carrying && !codecs.some(function (codec) {
        return allows(codec, value);
      })) {
        fail("range", show(value) + " is of none of the types");
      }
      putIndex(index, codecs.length);
      carrying = true;
      codecs[index].write(value);
      carrying = mode;
    }
  };
}

// Values of codec that obey further keywords, each a function that fails.
function checked(codec, keywords) {
  return {
    read: codec.read,
    write: function (value) {
      codec.write(value);
      if (!carrying) {
        keywords.forEach(function (keyword) {
          keyword(value);
        });
      }
    }
  };
}

function matches(expression) {
  return function (value) {
    if (!expression.test(value)) {
      fail("range", show(value) + " does not match " + expression.source);
    }
  };
}

function lengths(min, max) {
  return function (value) {
    var length = codePoints(value).length;
    if (length < min || length > max) {
      fail("range", show(value) + " has " + length + " characters, not " + min + " to " + max);
    }
  };
}

// Text of the known formats.
function isDay(text) {
  var n = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return n !== null && isDate(Number(n[1]), Number(n[2]), Number(n[3]));
}

// A leap second is the last of a day in UTC.
function isClock(text) {
  var n = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text), east;
  if (n === null || n[1] > 23 || n[2] > 59 || n[3] > 60 || n[5] > 23 || n[6] > 59) {
    return false;
  }
  east = n[4] ? (60 * n[5] + Number(n[6])) * (n[4] === "-" ? -1 : 1) : 0;
  return n[3] < 60 || (60 * n[1] + Number(n[2]) - east + 1440) % 1440 === 1439;
}

function isIpv4(text) {
  var parts = text.split(".");
  return parts.length === 4 && parts.every(function (part) {
    return /^(?:0|[1-9]\d{0,2})$/.test(part) && part < 256;
  });
}

function isIpv6(text) {
  var halves = text.replace(/(^|:)([\d.]+\.\d+)$/, function (_, colon, quad) {
    return isIpv4(quad) ? colon + "0:0" : "-";
  }).split("::");
  var groups = halves.reduce(function (all, half) {
    return all.concat(half === "" ? [] : half.split(":"));
  }, []);
  return halves.length < 3 && (halves.length === 2 ? groups.length < 8 : groups.length === 8) && groups.every(function (group) {
    return /^[\dA-Fa-f]{1,4}$/.test(group);
  });
}

var FORMATS = {
  "date-time": function (text) {
    return isDay(text.slice(0, 10)) && /^[Tt]$/.test(text.charAt(10)) && isClock(text.slice(11));
  },
  "date": isDay,
  "time": isClock,
  "duration": function (text) {
    return /^P(?:\d+W|(?=\d|T\d)(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/.test(text);
  },
  "uuid": function (text) {
    return /^[\dA-Fa-f]{8}-(?:[\dA-Fa-f]{4}-){3}[\dA-Fa-f]{12}$/.test(text);
  },
  "ipv4": isIpv4,
  "ipv6": isIpv6
};

function format(name) {
  return function (value) {
    if (!FORMATS[name](value)) {
      fail("range", show(value) + " is not of the format " + name);
    }
  };
}

// Keywords that only say which values are valid.
function count(codecs, value) {
  return codecs.filter(function (codec) {
    return allows(codec, value);
  }).length;
}

function allOf(codecs) {
  return function (value) {
    codecs.forEach(function (codec) {
      if (!allows(codec, value)) {
        codec.write(value);
      }
    });
  };
}

function anyOf(codecs) {
  return function (value) {
    if (count(codecs, value) === 0) {
      fail("range", show(value) + " is allowed by none of anyOf");
    }
  };
}

function oneOf(codecs) {
  return function (value) {
    var n = count(codecs, value);
    if (n !== 1) {
      fail("range", show(value) + " is allowed by " + n + " of oneOf, not by one");
    }
  };
}

function not(codec) {
  return function (value) {
    if (allows(codec, value)) {
      fail("range", show(value) + " is what not excludes");
    }
  };
}

// if, then, else; null for a branch that is not there.
function when(test, then, otherwise) {
  return function (value) {
    var branch = allows(test, value) ? then : otherwise;
    if (branch) {
      allOf([branch])(value);
    }
  };
}

// Whether two values are equal, whatever the order of keys.
function equal(a, b) {
  var keys;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return a === b;
  }
  keys = Object.keys(a);
  return isArray(a) === isArray(b) && keys.length === Object.keys(b).length && keys.every(function (key) {
    return has(b, key) && equal(a[key], b[key]);
  });
}

function unique(value) {
  value.forEach(function (a, i) {
    if (value.slice(0, i).some(function (b) { return equal(a, b); })) {
      fail("range", "duplicate element " + i);
    }
  });
}

function contains(codec, min, max) {
  return function (value) {
    var n = value.filter(function (item) {
      return allows(codec, item);
    }).length;
    if (n < min || n > max) {
      fail("range", n + " elements as contains asks for, not " + min + " to " + max);
    }
  };
}

function properties(min, max) {
  return function (value) {
    var n = Object.keys(value).length;
    if (n < min || n > max) {
      fail("range", n + " properties, not " + min + " to " + max);
    }
  };
}

function propertyNames(codec) {
  return function (value) {
    Object.keys(value).forEach(allOf([codec]));
  };
}

function dependentRequired(name, others) {
  return function (value) {
    others.forEach(function (other) {
      if (has(value, name) && !has(value, other)) {
        fail("range", "property " + show(other) + " is missing, which " + show(name) + " asks for");
      }
    });
  };
}

function dependentSchemas(name, codec) {
  return function (value) {
    if (has(value, name)) {
      allOf([codec])(value);
    }
  };
}

function absent(names) {
  return function (value) {
    names.forEach(function (name) {
      if (has(value, name)) {
        fail("range", "property " + show(name) + " may not be there");
      }
    });
  };
}

// A codec of anything, for checking alone.
var anything = { write: function () {} };

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
