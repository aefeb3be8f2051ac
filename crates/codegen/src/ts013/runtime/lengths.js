function lengths(min, max) {
  return function (value) {
    var length = codePoints(value).length;
    if (length < min || length > max) {
      fail("range", show(value) + " has " + length + " characters, not " + min + " to " + max);
    }
  };
}
