var bool = {
  read: function () {
    return takeIndex(2) === 1;
  },
  write: function (value) {
    typed(typeof value === "boolean", value, "a boolean");
    put(value ? 1 : 0, 1);
  }
};
