// Parts of a codec by themselves.

import { engines } from "./engines.js";
import { source } from "./golden.js";

/** Writes a value with the codec that the expression makes, and reads it back; or the kind of the error. */
const HARNESS = `
  function there(codec, values) {
    return values.map(function (value) {
      begin();
      try {
        codec.write(value);
        place = 0;
        return [message.slice(), codec.read()];
      } catch (error) {
        return error.kind;
      }
    });
  }
  function back(codec, messages) {
    return messages.map(function (bytes) {
      begin();
      message = bytes;
      try {
        return codec.read();
      } catch (error) {
        return error.kind;
      }
    });
  }`;

export const runtimes = engines.map((make) => {
  const codec = make(source("parts") + HARNESS);
  const run = (name, expression, values) => {
    // -0 does not survive JSON.
    const literal = `[${values.map((value) => (Object.is(value, -0) ? "-0" : JSON.stringify(value))).join(",")}]`;
    return JSON.parse(codec.evaluate(`JSON.stringify(${name}(${expression}, ${literal}))`));
  };
  return {
    engine: codec.engine,
    evaluate: codec.evaluate,
    there: (expression, values) => run("there", expression, values),
    back: (expression, messages) => run("back", expression, messages),
  };
});
