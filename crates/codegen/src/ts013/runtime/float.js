// Binary floats, by arithmetic alone.
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
  return {
    read: function () {
      var wide, sign, exponent, high, value;
      part = place;
      wide = take(1) === 1;
      sign = take(1);
      if (!wide) {
        exponent = take(8);
        return join(sign, exponent, take(23), 8, 23);
      }
      exponent = take(11);
      high = take(20);
      value = join(sign, exponent, high * 4294967296 + take(32), 11, 52);
      if (single(value)) {
        fail("malformed", "a binary64 that binary32 holds");
      }
      return value;
    },
    write: function (value) {
      var fields;
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
      fields = single(value);
      if (fields) {
        put(0, 1);
        put(fields[0], 1);
        put(fields[1], 8);
        put(fields[2], 23);
      } else {
        fields = split(value, 11, 52);
        put(1, 1);
        put(fields[0], 1);
        put(fields[1], 11);
        put(Math.floor(fields[2] / 4294967296), 20);
        put(fields[2] % 4294967296, 32);
      }
    }
  };
}
