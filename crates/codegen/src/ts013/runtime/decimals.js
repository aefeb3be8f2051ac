// The next bits of mode 1 behind the number low, at most 64 in all: as the upper and the lower 32 bits.
function takeWide(bits, low) {
  var high = 0, now;
  while (bits > 0) {
    now = Math.min(bits, 16);
    bits -= now;
    low = takeBits(now, low * POWERS[now]);
    high = high * POWERS[now] + Math.floor(low / 4294967296);
    low %= 4294967296;
  }
  return [high, low];
}

// A float in mode 1: a decimal, binary32 or binary64. The functions make a float from its fields, tell whether binary32 holds it, and
// find its decimal.
function readFloat(join, single, decimal) {
  var start = place, leaves = leaf || [], form, sign, places, wide, bits, before, value, parts, found;
  function index(nth, count) {
    leaf = leaves[nth];
    return takeIndex(count);
  }
  form = index(0, 3);
  if (form > 0) {
    wide = takeWide(32 * form, 0);
    part = start;
    value = form === 1 ? join(wide[1] >>> 31, wide[1] >>> 23 & 255, wide[1] % POWERS[23], 8, 23)
      : join(wide[0] >>> 31, wide[0] >>> 20 & 2047, wide[0] % POWERS[20] * 4294967296 + wide[1], 11, 52);
    found = !(form === 2 && single(value) || decimal(value));
  } else {
    sign = index(1, 2);
    places = index(2, 13);
    before = place;
    bits = takeBits(6, 0);
    wide = bits === 0 ? [0, 0] : bits === 63 ? takeWide(64, 0) : takeWide(bits - 1, 1);
    if (bits === 63 && wide[0] < POWERS[30]) {
      part = before;
      fail("malformed", "a number with more bits than it needs");
    }
    value = (wide[0] * 4294967296 + wide[1]) / Number("1e" + places);
    parts = decimal(value);
    found = bits <= 48 && parts && parts[1] === places && parts[0] === wide[0] * 4294967296 + wide[1];
    value = sign === 1 ? -value : value;
  }
  if (!found) {
    part = start;
    fail("malformed", "a float that has another, shorter form");
  }
  return value;
}
