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
