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
  //+ if (coding) {
  //+   return takeBits(bits, 0);
  //+ }
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
  //+ if (coding) {
  //+   return takeCoded(count);
  //+ }
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
