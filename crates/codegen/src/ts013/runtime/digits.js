// Text that holds a number: at least so many digits before the point, so many decimals behind it.
function digits(numbers, least, places) {
  function shown(n) {
    var text = String(Math.abs(n));
    while (text.length < least + places) {
      text = "0" + text;
    }
    if (places > 0) {
      text = text.slice(0, -places) + "." + text.slice(-places);
    }
    return n < 0 ? "-" + text : text;
  }
  return {
    read: function () {
      return counted(function () {
        return shown(numbers.read());
      });
    },
    write: function (value) {
      var n;
      typed(typeof value === "string", value, "text");
      n = /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value.replace(".", "")) : NaN;
      // Beyond 2^53 n is rounded, but no such number is in range.
      if (isNaN(n) || Math.abs(n) < 9007199254740992 && shown(n) !== value) {
        fail("range", show(value) + " is not a number like " + shown(numbers.min));
      }
      numbers.write(n, value, shown);
      countText(value);
    }
  };
}
