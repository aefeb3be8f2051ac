function matches(expression) {
  return function (value) {
    if (!expression.test(value)) {
      fail("range", show(value) + " does not match " + expression.source);
    }
  };
}
