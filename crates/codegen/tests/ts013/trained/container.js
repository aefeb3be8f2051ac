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
  if (coding) {
    return takeBits(bits, 0);
  }
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
  if (coding) {
    return takeCoded(count);
  }
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

// The range coder of messages in mode 1. TABLES has what is likely of each leaf: 0 when nothing is known, a table [start, width, share,
// width, share, ...], or { by: leaf, from: the first value of each class but the first, of: what is likely in each class }.
var coding = false; // whether the message at hand is in mode 1
var leaf; // the leaf of the next index, a list of leaves for several ones, or undefined
var every; // the amount by which the next number grows
var last = []; // the last value of each leaf
var low = 0; // the lower end of the interval, of 32 bits
var range = 0; // its size
var above = 0; // the next four bytes minus the lower end
var unknown = 0; // those of their bits that are behind the message
var ahead = 0; // the first byte behind them
var unit = 0; // the size of one of the equal parts at hand

while (POWERS.length < 63) {
  POWERS.push(2 * POWERS[POWERS.length - 1]);
}

function loadByte() {
  var there = ahead < message.length;
  above = (above * 256 + (there ? message[ahead] : 0)) % 4294967296;
  unknown = (unknown * 256 + (there ? 0 : 255)) % 4294967296;
  ahead += 1;
  place = 8 * Math.min(ahead - 4, message.length);
}

function beginCoding() {
  leaf = undefined;
  every = undefined;
  last = [];
  low = 0;
  range = 4294967295;
  above = 0;
  unknown = 0;
  for (ahead = 1; ahead < 5;) {
    loadByte();
  }
}

function cutOff() {
  part = 8 * message.length;
  fail("truncated", "the message ends before its layout does");
}

// The last bytes are the fewest behind which every number is in the interval.
function endCoding() {
  var start = ahead - 4, left = Math.max(message.length - start, 0), bytes = -1, size, first;
  do {
    bytes += 1;
    size = POWERS[32 - 8 * bytes];
    first = Math.ceil(low / size) * size;
  } while (bytes < 2 && first + size > low + range);
  if (left < bytes) {
    cutOff();
  }
  if (left > bytes) {
    part = 8 * (start + bytes);
    fail("malformed", left - bytes + " bytes behind the message");
  }
  if (above !== first - low) {
    part = place;
    fail("malformed", "the last bytes are not those of this message");
  }
  coding = false;
  place = 8 * message.length;
}

// Which of the 2^bits equal parts of the interval comes.
function divide(bits) {
  var found;
  unit = Math.floor(range / POWERS[bits]);
  found = Math.floor(above / unit);
  if (found >= POWERS[bits]) {
    part = place;
    fail("malformed", "a number beyond the range of the coder");
  }
  return found;
}

// Goes on with so many of the parts, from the first one on.
function narrow(first, count) {
  if (above + unknown >= unit * (first + count)) {
    cutOff();
  }
  above -= unit * first;
  low = (low + unit * first) % 4294967296;
  range = unit * count;
  while (range < 16777216) {
    low = low % 16777216 * 256;
    range *= 256;
    loadByte();
  }
}

// start plus the next bits as a number, at most 62 of them. Where the sum is above 2^53, it is rounded, but not to less than that.
function takeBits(bits, start) {
  var now, found;
  while (bits > 0) {
    now = Math.min(bits, 16);
    bits -= now;
    found = divide(now);
    narrow(found, 1);
    start += found * POWERS[bits];
  }
  return start;
}

function takeValue(table) {
  var found = divide(8), start = table[0], first = 0, i = 1;
  while (found >= first + table[i + 1]) {
    first += table[i + 1];
    start += POWERS[table[i]];
    i += 2;
  }
  narrow(first, table[i + 1]);
  return takeBits(table[i], start);
}

function takeLeaf(at, count) {
  var likely = TABLES[at], value;
  function isReached(from) {
    return from <= (last[likely.by] || 0);
  }
  while (likely && likely.of) {
    likely = likely.of[likely.from.filter(isReached).length];
  }
  part = place;
  value = likely ? takeValue(likely) : takeBits(width(count), 0);
  if (value < 0 || value >= count) {
    fail("range", "index " + value + " out of " + count);
  }
  last[at] = value;
  return value;
}

function takeCoded(count) {
  var at = leaf, amount = every, start = place, value;
  leaf = undefined;
  every = undefined;
  if (count < 2) {
    return 0;
  }
  if (!amount) {
    return takeLeaf(at, count);
  }
  value = takeLeaf(at, Math.floor((count - 1) / amount) + 1) * amount;
  value += takeLeaf(at + 1, amount);
  if (value >= count) {
    part = start;
    fail("range", "index " + value + " out of " + count);
  }
  return value;
}

// The codec whose first index is that leaf.
function at(which, codec, amount) {
  var result = Object.create(codec);
  result.read = function () {
    leaf = which;
    every = amount;
    return codec.read();
  };
  return result;
}

// The optional codec whose presence is that leaf.
function presence(which, codec) {
  codec.presence = which;
  return codec;
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
        if (coding) {
          return readPieces(segments);
        }
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

// The text of segments in mode 1: the characters of each segment apart, as many at a time as have fewer than 2^32 values.
function readPieces(segments) {
  var leaves = leaf || [], nth = 0, runs;
  function index(count) {
    leaf = leaves[nth];
    nth += 1;
    return takeIndex(count);
  }
  // The text of the next piece, of so many characters.
  function piece(points, length) {
    var count = Math.round(Math.pow(points.length, length)), value = index(count), text = "";
    for (; length > 0; length -= 1) {
      text = character(points[value % points.length]) + text;
      value = Math.floor(value / points.length);
    }
    return text;
  }
  leaf = undefined;
  runs = segments.map(function (segment) {
    return segment.min + (segment.min < segment.max ? index(segment.max - segment.min + 1) : 0);
  });
  return segments.map(function (segment, i) {
    var points = segment.points, most = 1, values = points.length, after, text = "";
    if (points.length < 2) {
      while (text.length < runs[i] * character(points[0]).length) {
        text += character(points[0]);
      }
      return text;
    }
    while (values * points.length < 4294967296) {
      values *= points.length;
      most += 1;
    }
    for (after = 0; after < segment.max; after += most) {
      text += piece(points, Math.max(Math.min(runs[i] - after, most), 0));
    }
    return text;
  }).join("");
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
        leaf = codec.presence;
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

function begin() {
  message = [];
  place = 0;
  part = 0;
  path = [];
  parts = 1;
  warnings = [];
  carrying = false;
  coding = false;
}

// The message behind the slot byte.
function readLayout() {
  var data, end;
  if (coding) {
    beginCoding();
  }
  data = LAYOUT.read();
  if (coding) {
    endCoding();
  }
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
  // A delta needs the message that it refers to, which the gateway has.
  if (i >> 6 === 2) {
    return { dunnage: "delta" };
  }
  if (i >> 6 === 1) {
    coding = true;
    i -= 64;
  }
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
