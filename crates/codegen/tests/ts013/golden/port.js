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

// The port of the message that is read: its slot, which is in front of its bytes while they are read and written.
var port;

function decode(bytes) {
  var i;
  begin();
  if (port !== SLOT) {
    fail("range", "port " + port + ", not " + SLOT);
  }
  message.push(SLOT);
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
  return message.slice(1);
}

// What action makes of the input's member, or an error: "kind: reason at byte 3" when decoding, "at /pointer" when encoding.
function attempt(input, member, action, result, where) {
  try {
    port = input.fPort;
    return result(action(input[member]));
  } catch (error) {
    return {
      warnings: warnings,
      errors: [error && error.kind ? error.kind + ": " + error.reason + where(error) : "type: " + error]
    };
  }
}

function atByte(error) {
  error.offset = Math.max(error.offset - 1, 0);
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
  ["temperature", decimal(number(-400, 850, 1), 1)],
  ["door", bool]
]);
