// The text of the device that both sides know by its name: it takes no bits.
function known(codec, name) {
  return {
    known: name,
    write: function (value) {
      if (!allows(codec, value)) {
        codec.write(value);
      }
      countText(value);
    }
  };
}
