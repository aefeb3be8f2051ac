// A value that both sides know: it takes no bits.
function known(codec) {
  return {
    known: true,
    write: function (value) {
      if (!allows(codec, value)) {
        codec.write(value);
      }
    }
  };
}
