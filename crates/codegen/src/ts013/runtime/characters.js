function isSurrogate(point) {
  return point >= 0xd800 && point <= 0xdfff;
}

// The code points of text.
function codePoints(text) {
  var points = [], i, unit, next;
  for (i = 0; i < text.length; i += 1) {
    unit = text.charCodeAt(i);
    if (isSurrogate(unit)) {
      next = text.charCodeAt(i + 1);
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) {
        fail("malformed", "half of a surrogate pair in text");
      }
      unit = 0x10000 + (unit - 0xd800) * 0x400 + next - 0xdc00;
      i += 1;
    }
    points.push(unit);
  }
  return points;
}

function character(point) {
  if (point < 0x10000) {
    return String.fromCharCode(point);
  }
  point -= 0x10000;
  return String.fromCharCode(0xd800 + (point >> 10), 0xdc00 + point % 0x400);
}
