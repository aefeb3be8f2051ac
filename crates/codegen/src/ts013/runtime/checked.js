// Values of codec that obey further keywords, each a function that fails.
function checked(codec, keywords) {
  return {
    read: codec.read,
    write: function (value) {
      codec.write(value);
      if (!carrying) {
        keywords.forEach(function (keyword) {
          keyword(value);
        });
      }
    }
  };
}
