// The digits and decimal places of the shortest decimal of a float; null when it has more than 15 places or is too large.
function shortest(value) {
  var parts = Math.abs(value).toExponential().split("e"), digits = parts[0].replace(".", "");
  var places = digits.length - 1 - Number(parts[1]);
  for (; places < 0; places += 1) {
    digits += "0";
  }
  if (places > 0 && places <= 15) {
    // Where two decimals are equally near, engines differ, but not in toFixed, which takes the larger one.
    digits = Math.abs(value).toFixed(places).replace(".", "").replace(/^0+/, "");
  }
  return places <= 15 && (digits.length < 19 || digits.length === 19 && digits < "9223372036854775808")
    ? [digits, places] : null;
}

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

// The decimal digits of such a number.
function digitsOf(wide) {
  var pieces = [wide[0] >>> 16, wide[0] % 65536, wide[1] >>> 16, wide[1] % 65536], text = "", rest;
  function divided(n) {
    n += 65536 * rest;
    rest = n % 10;
    return (n - rest) / 10;
  }
  do {
    rest = 0;
    pieces = pieces.map(divided);
    text = rest + text;
  } while (pieces.some(Boolean));
  return text;
}

// A float in mode 1: a decimal, binary32 or binary64. The functions make a float from its fields, and tell whether binary32 holds it.
function readFloat(join, single) {
  var start = place, leaves = leaf || [], form, sign, places, wide, bits, before, value, found;
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
    found = !(form === 2 && single(value) || shortest(value));
  } else {
    sign = index(1, 2);
    places = index(2, 16);
    before = place;
    bits = takeBits(6, 0);
    wide = bits === 0 ? [0, 0] : bits === 63 ? takeWide(64, 0) : takeWide(bits - 1, 1);
    if (bits === 63 && wide[0] < POWERS[30]) {
      part = before;
      fail("malformed", "a number with more bits than it needs");
    }
    value = Number(digitsOf(wide) + "e-" + places);
    found = shortest(value);
    found = found && found[0] === digitsOf(wide) && found[1] === places;
    value = sign === 1 ? -value : value;
  }
  if (!found) {
    part = start;
    fail("malformed", "a float that has another, shorter form");
  }
  return value;
}
