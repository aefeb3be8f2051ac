function integer(numbers) {
  return {
    read: numbers.read,
    write: function (value) {
      typed(typeof value === "number", value, "a number");
      notNegativeZero(value);
      if (!whole(value)) {
        fail("range", show(value) + " is not a whole number");
      }
      numbers.write(value, value, String);
    }
  };
}
