// Prepares the globals of a codec: no clock, no randomness, no time zone, no work after the call. Returns what the engine needs.
(function (global) {
  "use strict";
  const promised = Promise.prototype;
  for (const name of ["Promise", "WeakRef", "FinalizationRegistry", "queueMicrotask", "performance", "navigator", "gc", "Atomics", "SharedArrayBuffer"]) {
    delete global[name];
  }
  const hide = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  // Some codecs invent an ID with it; without the function, they would fail.
  hide(Math, "random", () => 0.5);
  // Their setters would keep a value from one message to the next.
  delete Error.stackTraceLimit;
  delete Error.prepareStackTrace;
  const quiet = function () {};
  hide(global, "console", { log: quiet, info: quiet, warn: quiet, error: quiet, debug: quiet });

  // The only time of a codec is that of its message, in UTC.
  const Native = Date, proto = Native.prototype, parseNative = Native.parse;
  let now = 0;
  // With a Z, a text without a time zone is UTC. A text with one becomes invalid.
  function parse(text) {
    const utc = parseNative(String(text) + "Z");
    return utc === utc ? utc : parseNative(text);
  }
  function time(given) {
    if (given.length === 0) return now;
    if (given.length > 1) return Native.UTC(...given);
    const [only] = given;
    if (only instanceof Native) return only.getTime();
    const primitive = typeof only === "object" && only !== null ? only.valueOf() : only;
    return typeof primitive === "string" ? parse(primitive) : Number(primitive);
  }
  function UtcDate(...given) {
    if (new.target === undefined) return new Native(now).toString();
    return Reflect.construct(Native, [time(given)], new.target);
  }
  Object.defineProperty(UtcDate, "name", { value: "Date", configurable: true });
  Object.defineProperty(UtcDate, "length", { value: 7, configurable: true });
  Object.defineProperty(UtcDate, "prototype", { value: proto, writable: false });
  hide(UtcDate, "UTC", Native.UTC);
  hide(UtcDate, "parse", parse);
  hide(UtcDate, "now", () => now);
  hide(proto, "constructor", UtcDate);
  for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
    hide(proto, "get" + part, proto["getUTC" + part]);
    if (part !== "Day") hide(proto, "set" + part, proto["setUTC" + part]);
  }
  const parts = (date) => proto.toUTCString.call(date).split(" ");
  const text = (write) => function () {
    return Number.isNaN(proto.getTime.call(this)) ? "Invalid Date" : write(this);
  };
  const day = (date) => { const [week, number, month, year] = parts(date); return `${week.slice(0, 3)} ${month} ${number} ${year}`; };
  const clock = (date) => `${parts(date)[4]} GMT+0000 (UTC)`;
  const localDay = (date) => `${date.getMonth() + 1}/${date.getDate()}/${date.getFullYear()}`;
  const localClock = (date) => {
    const two = (number) => String(number).padStart(2, "0");
    const hours = date.getHours();
    return `${hours % 12 || 12}:${two(date.getMinutes())}:${two(date.getSeconds())} ${hours < 12 ? "AM" : "PM"}`;
  };
  hide(proto, "setYear", function (year) { return this.setUTCFullYear(year >= 0 && year <= 99 ? 1900 + Math.trunc(year) : year); });
  hide(proto, "getTimezoneOffset", function () { return proto.getTime.call(this) * 0; });
  hide(proto, "getYear", function () { return this.getFullYear() - 1900; });
  hide(proto, "toString", text((date) => `${day(date)} ${clock(date)}`));
  hide(proto, "toDateString", text(day));
  hide(proto, "toTimeString", text(clock));
  hide(proto, "toLocaleString", text((date) => `${localDay(date)}, ${localClock(date)}`));
  hide(proto, "toLocaleDateString", text(localDay));
  hide(proto, "toLocaleTimeString", text(localClock));
  hide(global, "Date", UtcDate);

  // All built-in objects, from the globals and from syntax that creates some.
  function builtIns() {
    const seen = new Set();
    const visit = (value) => {
      if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) return;
      seen.add(value);
      visit(Object.getPrototypeOf(value));
      for (const key of Reflect.ownKeys(value)) {
        const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key);
        visit(held), visit(get), visit(set);
      }
    };
    visit(global);
    visit(promised);
    if (typeof Iterator === "function" && [].values().map) [[].values().map(quiet), Iterator.from({ next: quiet })].forEach(visit);
    [function* () {}, async function () {}, async function* () {}, [][Symbol.iterator](), ""[Symbol.iterator](),
      new Map().entries(), new Set().values(), "".matchAll(/a/g)].forEach(visit);
    seen.delete(global);
    return seen;
  }

  // Makes every built-in object constant. An object that inherits from one may still have a property of the same name, which
  // non-writable properties of the prototype would prevent.
  function freeze() {
    for (const object of [Object.prototype, Array.prototype, Function.prototype, Error.prototype,
      ...[RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError].map((error) => error.prototype)]) {
      for (const key of Reflect.ownKeys(object)) {
        const property = Object.getOwnPropertyDescriptor(object, key);
        if (!("value" in property) || !property.configurable || key === Symbol.iterator) continue;
        const { value } = property;
        Object.defineProperty(object, key, {
          get() { return value; },
          set(own) {
            if (this === object) throw new TypeError(`the built-in property ${String(key)} is constant`);
            Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
          },
          enumerable: false,
          configurable: false,
        });
      }
    }
    builtIns().forEach(Object.freeze);
    const { ownKeys, deleteProperty, getPrototypeOf } = Reflect, own = getPrototypeOf(global), known = new Set(ownKeys(global));
    known.forEach((key) => Object.defineProperty(global, key, { writable: false, configurable: false }));
    // Deletes the globals of a message, and returns whether the others are as now.
    return () => {
      const keys = ownKeys(global);
      return (keys.length === known.size || keys.every((key) => known.has(key) || deleteProperty(global, key))) &&
        getPrototypeOf(global) === own;
    };
  }

  // Returns a function that says whether all built-in objects still are as now.
  function remember() {
    const objects = [...builtIns()];
    const properties = () => objects.flatMap((object) => Reflect.ownKeys(object).flatMap((key) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
      return [key, value, get, set];
    }));
    const before = properties(), { is } = Object;
    return () => {
      const after = properties();
      return before.length === after.length && before.every((value, index) => is(value, after[index]));
    };
  }

  // What JSON has for an object that is neither plain nor an array.
  function plain(object) {
    if (object instanceof Map || object instanceof Set) throw new TypeError("a Map or Set has no form in JSON");
    if (ArrayBuffer.isView(object)) return Array.from(object);
    if (typeof object.toJSON === "function") return object.toJSON();
    if (object instanceof Number || object instanceof String || object instanceof Boolean) return object.valueOf();
    return object;
  }
  // What errors, warnings and thrown values say, whatever they are: these texts must not be the reason why a message is lost.
  const { stringify } = JSON, { isArray } = Array, string = String, NativeError = Error;
  function said(value, length) {
    try {
      if (value === null || typeof value !== "object") return string(value).slice(0, length).toWellFormed();
      const { message } = value;
      return (typeof message === "string" ? message : string(stringify(value))).slice(0, length).toWellFormed();
    } catch {
      return "a value without a text";
    }
  }
  // At most `count` texts of errors or warnings: an array, or a single one.
  function texts(value, count, length) {
    const list = isArray(value) ? value : [value], found = [];
    for (let index = 0; index < list.length && index < 1024 && found.length < count; index++) {
      const item = list[index];
      if (item === undefined || item === null || item === false || typeof item === "function" || typeof item === "symbol") continue;
      const text = said(item, length);
      if (text !== "") found[found.length] = text;
    }
    return found;
  }
  // A thrown value. Codecs throw texts, too, which stand for themselves.
  function thrown(value, length) {
    if (typeof value === "string") return said(value, length);
    try {
      if (value instanceof NativeError) return string(value).slice(0, length).toWellFormed();
    } catch {}
    return "the codec threw " + said(value, length);
  }
  return {
    setNow(time) { now = time; },
    date: (time) => new Native(time),
    isDate: (value) => value instanceof Native,
    plain, freeze, remember, texts, thrown,
    // The codec's file runs as a function, which it could reach as arguments.callee.
    seal: (made) => { Object.freeze(made.prototype); return Object.freeze(made); },
    objectPrototype: Object.prototype,
    // The codec may replace the global.
    string: String,
  };
})(globalThis);
