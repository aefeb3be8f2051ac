// Text that holds a time, in units of 10^-places s since the epoch, which is in seconds since 1970-01-01.
function time(numbers, notation, epoch, places) {
  var unit = Number("1e" + places);
  function padded(n, length) {
    var text = String(n);
    while (text.length < length) {
      text = "0" + text;
    }
    return text;
  }
  function shown(n) {
    var seconds = (n - n % unit) / unit + epoch, day = Math.floor(seconds / 86400), now = dateOf(day);
    seconds -= 86400 * day;
    now.h = Math.floor(seconds / 3600);
    now.m = Math.floor(seconds / 60) % 60;
    now.s = seconds % 60;
    now.f = n % unit;
    return notation.map(function (piece) {
      if (piece === "YY") {
        return padded(now.Y - 2000, 2);
      }
      return has(now, piece.charAt(0)) ? padded(now[piece.charAt(0)], piece.length) : piece;
    }).join("");
  }
  // The units since the epoch; NaN when the text is no such time.
  function scan(text) {
    var now = { f: 0 }, at = 0, real = true;
    notation.forEach(function (piece) {
      var letter = piece.charAt(0), found = text.slice(at, at + piece.length);
      at += piece.length;
      if (/[YMDhmsf]/.test(letter)) {
        real = real && found.length === piece.length && /^[0-9]+$/.test(found);
        now[letter] = Number(found) + (piece === "YY" ? 2000 : 0);
      } else {
        real = real && found === piece;
      }
    });
    if (!real || at !== text.length || now.h > 23 || now.m > 59 || now.s > 59 || !isDate(now.Y, now.M, now.D)) {
      return NaN;
    }
    return (86400 * daysTo(now.Y, now.M, now.D) + 3600 * now.h + 60 * now.m + now.s - epoch) * unit + now.f;
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
      n = scan(value);
      if (isNaN(n)) {
        fail("range", show(value) + " is not a time like " + shown(numbers.min));
      }
      numbers.write(n, value, shown);
      countText(value);
    }
  };
}
