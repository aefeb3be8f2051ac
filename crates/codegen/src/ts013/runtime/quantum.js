// Scaled numbers that are counts of mantissa / unit, rounded half away from zero.
function quantum(counts, mantissa, unit) {
  function rounded(n, d) {
    var sum = Math.abs(n) + Math.floor(d / 2), magnitude = (sum - sum % d) / d;
    return n < 0 ? -magnitude : magnitude;
  }
  function scaled(count) {
    return rounded(count * mantissa, unit);
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
      count = rounded(n * unit, mantissa);
      if (scaled(count) !== n) {
        fail("range", show(value) + " is not a multiple of the sensor's unit");
      }
      counts.write(count, value, shown);
    }
  };
}
