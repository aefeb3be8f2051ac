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
