// Scaled numbers that are (base + count * mantissa) / unit, rounded half away from zero.
function quantum(counts, mantissa, unit, base) {
  function rounded(n, d) {
    var sum = Math.abs(n) + Math.floor(d / 2), magnitude = (sum - sum % d) / d;
    return n < 0 && magnitude > 0 ? -magnitude : magnitude;
  }
  function scaled(count) {
    return rounded(base + count * mantissa, unit);
  }
  return {
    min: scaled(counts.min),
    max: scaled(counts.max),
    read: function () {
      return scaled(counts.read());
    },
    write: function (n, value, shown) {
      var count = 0;
      if (n < this.min) {
        fail("range", show(value) + " is below the minimum " + shown(this.min));
      }
      if (n > this.max) {
        fail("range", show(value) + " is above the maximum " + shown(this.max));
      }
      count = rounded(n * unit - base, mantissa);
      // Where a count is about as large as a unit, rounding twice may lead to a neighbour.
      if (scaled(count) !== n) {
        count += scaled(count) < n ? 1 : -1;
      }
      if (scaled(count) !== n) {
        fail("range", show(value) + " is not a multiple of the sensor's unit");
      }
      counts.write(count, value, shown);
    }
  };
}
