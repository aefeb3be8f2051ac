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
      //+ if (coding) {
      //+   return readFloat(join, single, decimal);
      //+ }
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
