// Text of min to max code points: ASCII in 7 bits each, else UTF-8.
function text(min, max) {
  function isAscii(point) {
    return point < 0x80;
  }
  // A character of UTF-8, in its shortest form and no surrogate.
  function takePoint() {
    var first, bytes = [], more, good, point;
    part = place;
    first = take(8);
    more = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    while (bytes.length < more) {
      bytes.push(take(8));
    }
    point = bytes.reduce(function (sum, byte) {
      return sum * 0x40 + byte % 0x40;
    }, more === 0 ? first : first % (0x40 >> more));
    good = bytes.every(function (byte) {
      return byte >> 6 === 2;
    });
    if (!good || point < [0, 0x80, 0x800, 0x10000][more] || point > 0x10ffff || isSurrogate(point) ||
        more === 0 && first >= 0x80) {
      fail("malformed", "text that is not UTF-8");
    }
    return point;
  }
  function putPoint(point) {
    var more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3, shift;
    put(more === 0 ? point : [0, 0xc0, 0xe0, 0xf0][more] + (point >> 6 * more), 8);
    for (shift = 6 * (more - 1); shift >= 0; shift -= 6) {
      put(0x80 + (point >> shift) % 0x40, 8);
    }
  }
  return {
    read: function () {
      return counted(function () {
        var length = min + takeIndex(max - min + 1), points = [], start = place, wide;
        if (length === 0) {
          return "";
        }
        part = place;
        wide = take(1) === 1;
        while (points.length < length) {
          part = place;
          points.push(wide ? takePoint() : take(7));
        }
        if (wide && points.every(isAscii)) {
          part = start;
          fail("malformed", "ASCII text that is not written as such");
        }
        return points.map(character).join("");
      });
    },
    write: function (value) {
      var points, ascii;
      typed(typeof value === "string", value, "text");
      points = codePoints(value);
      if (points.length < min || points.length > max) {
        fail("range", show(value) + " has " + points.length + " characters, not " + min + " to " + max);
      }
      countText(value);
      putIndex(points.length - min, max - min + 1);
      if (points.length > 0) {
        ascii = points.every(isAscii);
        put(ascii ? 0 : 1, 1);
        points.forEach(ascii ? function (point) {
          put(point, 7);
        } : putPoint);
      }
    }
  };
}
