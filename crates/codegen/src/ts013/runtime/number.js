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
