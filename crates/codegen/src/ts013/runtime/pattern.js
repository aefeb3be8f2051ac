// Cuts the runs of indexes, pairs of an index and its number of values, into groups below 2^32.
function inGroups(sizes, group) {
  var run = [], product = 1;
  sizes.forEach(function (size) {
    if (product * size >= 4294967296) {
      group(run, product);
      run = [];
      product = 1;
    }
    run.push(size);
    product *= size;
  });
  group(run, product);
}

// The text of segments in mode 0.
function readGroups(segments) {
  var points = [], sizes = [], indexes = [];
  segments.forEach(function (segment) {
    var n = segment.min + takeIndex(segment.max - segment.min + 1);
    for (; n > 0; n -= 1) {
      points.push(segment.points);
      sizes.push(segment.points.length);
    }
  });
  inGroups(sizes, function (run, product) {
    var value = takeIndex(product), group = [];
    run.reverse().forEach(function (size) {
      group.unshift(value % size);
      value = (value - value % size) / size;
    });
    indexes = indexes.concat(group);
  });
  return indexes.map(function (index, i) {
    return character(points[i][index]);
  }).join("");
}

// Text of segments: [characters, fewest, most].
function pattern(segments) {
  segments = segments.map(function (segment) {
    return { points: codePoints(segment[0]), min: segment[1], max: segment[2] };
  });
  function refuse(value) {
    fail("range", show(value) + " is not in the pattern");
  }
  return {
    read: function () {
      return counted(function () {
        //+ if (coding) {
        //+   return readPieces(segments);
        //+ }
        return readGroups(segments);
      });
    },
    write: function (value) {
      var points, at = 0, sizes = [], indexes = [];
      typed(typeof value === "string", value, "text");
      points = codePoints(value);
      segments.forEach(function (segment) {
        var n = 0, index;
        while (n < segment.max && at < points.length) {
          index = segment.points.indexOf(points[at]);
          if (index < 0) {
            break;
          }
          indexes.push(index);
          sizes.push(segment.points.length);
          at += 1;
          n += 1;
        }
        if (n < segment.min) {
          refuse(value);
        }
        putIndex(n - segment.min, segment.max - segment.min + 1);
      });
      if (at < points.length) {
        refuse(value);
      }
      inGroups(sizes, function (run, product) {
        putIndex(run.reduce(function (sum, size) {
          return sum * size + indexes.shift();
        }, 0), product);
      });
      countText(value);
    }
  };
}
