// The text of segments in mode 1: the characters of each segment apart, as many at a time as have fewer than 2^32 values.
function readPieces(segments) {
  var leaves = leaf || [], nth = 0, runs;
  function index(count) {
    leaf = leaves[nth];
    nth += 1;
    return takeIndex(count);
  }
  // The text of the next piece, of so many characters.
  function piece(points, length) {
    var count = Math.round(Math.pow(points.length, length)), value = index(count), text = "";
    for (; length > 0; length -= 1) {
      text = character(points[value % points.length]) + text;
      value = Math.floor(value / points.length);
    }
    return text;
  }
  leaf = undefined;
  runs = segments.map(function (segment) {
    return segment.min + (segment.min < segment.max ? index(segment.max - segment.min + 1) : 0);
  });
  return segments.map(function (segment, i) {
    var points = segment.points, most = 1, values = points.length, after, text = "";
    if (points.length < 2) {
      while (text.length < runs[i] * character(points[0]).length) {
        text += character(points[0]);
      }
      return text;
    }
    while (values * points.length < 4294967296) {
      values *= points.length;
      most += 1;
    }
    for (after = 0; after < segment.max; after += most) {
      text += piece(points, Math.max(Math.min(runs[i] - after, most), 0));
    }
    return text;
  }).join("");
}
