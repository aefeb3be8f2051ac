import { LayoutError } from "./error.js";
import { Float } from "./float.js";
import type { Node } from "./node.js";
import { Decimals, INTEGERS, type Notation, NumberTexts, type Quantum } from "./notation.js";
import { NumberNode, type NumberLeaves, Numbers, NumbersText } from "./number.js";
import { Pattern, type Segment, pieces } from "./pattern.js";
import { Bool, Choice, Constant, DEVICE, Known } from "./scalars.js";
import type { Leaf } from "./statistics.js";
import { Elements, type Field, Nullable, Properties, Union } from "./structure.js";
import { Text } from "./text.js";
import { TimeNotation } from "./time.js";
import { type Value, isObject } from "./values.js";
import { type Whole, whole } from "./whole.js";
import { NONE } from "./wire.js";

type Json = Value;
type Members = { [key: string]: Json };

/** The deepest nesting of arrays and objects in a message. */
const MAX_NESTING = 32;
/** The most nodes of a layout, and the most characters of a pattern: no plain message needs them. */
const MAX_NODES = 1 << 16;
const MAX_CHARACTERS = 1 << 16;

/** The nodes of a layout, with the leaves that may have statistics. */
export class Tree {
  readonly leaves: Leaf[] = [];
  readonly root: Node;
  /** Whether an array of the layout is a series. */
  hasSeries = false;
  private isInSeries = false;
  private next = 0;
  /** How deep in nullables and unions a node is. */
  private depth = 0;

  /**
   * Makes the nodes of a canonical text. `rounded` has the numbers of the nodes that a writer rounds, `dropped` those of the properties that it
   * may leave out, with their ranks.
   */
  constructor(
    layout: Json | undefined,
    private readonly rounded: ReadonlySet<number>,
    private readonly dropped: ReadonlyMap<number, number>,
  ) {
    this.root = this.node(layout, 0);
  }

  private leaf(count: Whole, isIndex = true): number {
    return count > 1 ? this.leaves.push({ count, every: 0, isIndex, isInSeries: this.isInSeries }) - 1 : NONE;
  }

  private opaque(): number {
    return this.leaf(2, false);
  }

  private node(json: Json | undefined, nesting: number): Node {
    const id = this.next++;
    if (id >= MAX_NODES) throw new LayoutError(`more than ${MAX_NODES} nodes`);
    if (json === "boolean") return new Bool(this.leaf(2));
    if (json === "known") return new Known(DEVICE);
    if (json === "float") return this.float();
    if (json === "any") throw modelled();
    const node = members(json, "a node");
    const [kind] = Object.keys(node);
    switch (kind) {
      case "constant":
        if (node.constant === undefined) throw fault("a constant without a value");
        return new Constant(node.constant);
      case "known":
        return new Known(text(node.known));
      case "number":
        return new NumberNode(this.number(node, this.rounded.has(id)));
      case "numbers": {
        const [separator, ...parts] = list(node.numbers);
        if (text(separator) === "" || parts.length === 0) throw fault("numbers without a separator or parts");
        return new NumbersText(text(separator), parts.map((part) => this.number(members(part, "a number"), false)));
      }
      case "choice": {
        const values = list(node.choice);
        if (values.length === 0) throw fault("a choice of nothing");
        return new Choice(this.leaf(values.length), values);
      }
      case "pattern":
        return this.pattern(list(node.pattern));
      case "text": {
        const [min, max] = bounds(node.text);
        if (max === null || node.time !== undefined) throw modelled();
        return new Text(min, max, this.opaque());
      }
      case "array":
      case "tuple":
        return this.elements(node, kind, nesting);
      case "object":
        return this.object(node, nesting);
      case "nullable": {
        const leaf = this.leaf(2);
        return new Nullable(leaf, this.deeper(node.nullable, nesting));
      }
      case "union": {
        const nodes = list(node.union);
        if (nodes.length === 0) throw fault("a union of nothing");
        const leaf = this.leaf(nodes.length);
        return new Union(leaf, nodes.map((one) => this.deeper(one, nesting)));
      }
      case "definition":
        throw modelled();
      default:
        throw fault(`no such node: ${JSON.stringify(json).slice(0, 80)}`);
    }
  }

  /** A node inside a nullable or a union, which are limited like arrays and objects so that a layout cannot overflow the stack. */
  private deeper(json: Json | undefined, nesting: number): Node {
    this.depth++;
    if (this.depth > 4 * MAX_NESTING) throw fault("types nested too deeply");
    const node = this.node(json, nesting);
    this.depth--;
    return node;
  }

  private float(): Float {
    const [form, sign, places] = [this.leaf(3), this.leaf(2), this.leaf(13)] as const;
    return new Float({ form, sign, places, content: this.opaque() });
  }

  private number(node: Members, rounds: boolean): Numbers {
    const [min, max, step] = list(node.number);
    const [first, last] = [integer(min), integer(max)];
    if (typeof step !== "number" || !Number.isSafeInteger(step) || step < 1 || first > last) throw fault("a number without values");
    const usual = node.usual === undefined ? null : (list(node.usual).map(integer) as [Whole, Whole]);
    if (usual !== null && (usual.length !== 2 || usual[0] > usual[1] || usual[0] < first || usual[1] > last)) throw fault("a usual range outside of the range");
    const numbers = new Numbers(first, last, step, usual, notation(node, step, rounds), { value: NONE, sign: NONE, sized: NONE });
    numbers.leaves = this.numberLeaves(numbers, node.every);
    return numbers;
  }

  private numberLeaves(numbers: Numbers, every: Json | undefined): NumberLeaves {
    const { count, usualCount } = numbers;
    if (count === 0) {
      const value = usualCount === 0 ? NONE : this.leaf(whole(BigInt(usualCount) + 1n));
      const sign = numbers.isSigned ? this.leaf(2) : NONE;
      return { value, sign, sized: this.opaque() };
    }
    if (every === undefined) return { value: this.leaf(count), sign: NONE, sized: NONE };
    if (typeof every !== "number" || !Number.isSafeInteger(every) || every < 1) throw fault("an amount of growth below 1");
    const steps = whole(2n * (BigInt(count) / BigInt(every) + 1n) + 1n);
    const { isInSeries } = this;
    this.leaves.push({ count: steps, every, isIndex: false, isInSeries }, { count: every, every: 0, isIndex: false, isInSeries });
    return { value: this.leaves.length - 2, sign: NONE, sized: NONE };
  }

  private pattern(list_: readonly Json[]): Pattern {
    const segments = list_.map((json): Segment => {
      const [chars, min, max] = list(json);
      const [least, most] = bounds([min!, max!]);
      if (most === null || text(chars) === "") throw fault("a segment without characters or bound");
      return { chars: Array.from(text(chars)), min: least, max: most };
    });
    if (segments.reduce((sum, { max }) => sum + max, 0) > MAX_CHARACTERS) throw fault(`a pattern of more than ${MAX_CHARACTERS} characters`);
    const counts = segments.map(({ min, max }) => this.leaf(max - min + 1));
    const all = pieces(segments);
    const leaves = all.map(({ segment, most }) => this.leaf(segments[segment]!.chars.length ** most));
    return new Pattern(segments, all, counts, leaves);
  }

  private elements(node: Members, kind: "array" | "tuple", nesting: number): Elements {
    if (nesting >= MAX_NESTING) throw fault(`arrays and objects are nested more than ${MAX_NESTING} deep`);
    const [min, max] = bounds(node[kind]);
    if (max === null) throw modelled();
    const leaf = this.leaf(max - min + 1);
    if (kind === "array") return new Elements(leaf, min, max, [], this.item(node, nesting), node.series === true);
    const items = list(node.items).map((item) => this.node(item, nesting + 1));
    return new Elements(leaf, min, max, items, node.rest === undefined ? null : this.node(node.rest, nesting + 1), false);
  }

  /** The item of an array, whose leaves are in a series if the array is one. */
  private item({ series, item }: Members, nesting: number): Node {
    if (series !== undefined && series !== true) throw fault("a series that is not true");
    const around = this.isInSeries;
    this.isInSeries ||= series === true;
    this.hasSeries ||= series === true;
    const node = this.node(item, nesting + 1);
    this.isInSeries = around;
    return node;
  }

  private object(node: Members, nesting: number): Properties {
    if (nesting >= MAX_NESTING) throw fault(`arrays and objects are nested more than ${MAX_NESTING} deep`);
    if (node.additional !== undefined) throw modelled();
    const names = new Set<string>();
    const fields = list(node.object).map((json): Field => {
      const [name, isRequired, inner] = list(json);
      if (typeof isRequired !== "boolean" || names.has(text(name))) throw fault("duplicate or malformed property");
      names.add(text(name));
      const leaf = isRequired ? NONE : this.leaf(2);
      const drop = isRequired ? 0 : (this.dropped.get(this.next) ?? 0);
      return { name: text(name), isRequired, leaf, node: this.node(inner, nesting + 1), drop };
    });
    return new Properties(fields);
  }
}

function notation(node: Members, step: number, rounds: boolean): Notation {
  if (node.as === "integer") return INTEGERS;
  const as = members(node.as, "a notation");
  if (as.time !== undefined) {
    const [written, epoch] = list(as.time);
    const start = integer(epoch);
    if (typeof start !== "number") throw fault("an epoch beyond all years");
    const time = new TimeNotation(text(written), start);
    return {
      noun: "a string that holds a time",
      isText: true,
      parse: (value) => time.parse(value as string),
      write: (n) => time.write(n),
      shown: (n) => JSON.stringify(time.write(n)),
      expected: (_, first) => `a time like ${JSON.stringify(time.write(first))}`,
      isTime: true,
    };
  }
  const decimal = as.decimal !== undefined;
  const [places, digits] = decimal ? [as.decimal] : list(as.text);
  const of = quantum(node.quantum, count(places, 18));
  return decimal ? new Decimals(count(places, 18), step, of, rounds) : new NumberTexts(count(places, 18), step, of, count(digits, 18));
}

function quantum(json: Json | undefined, least: number): Quantum | null {
  if (json === undefined) return null;
  const [mantissa, places, divisor = 1, offset = "0"] = list(json);
  const of = { mantissa: BigInt(integer(mantissa)), places: count(places, 18), divisor: BigInt(count(divisor, 2 ** 32 - 1)), offset: BigInt(integer(offset)) };
  if (of.mantissa < 1n || of.divisor < 1n || of.places < least) throw fault("a quantum that is not above 0");
  return of;
}

function fault(reason: string): LayoutError {
  return new LayoutError(`not an exported layout: ${reason}`);
}

function modelled(): LayoutError {
  return new LayoutError("a modelled layout, which this library does not read: bound its texts, arrays and objects");
}

function members(json: Json | undefined, what: string): Members {
  if (!isObject(json)) throw fault(`${what} must be an object`);
  return json as Members;
}

function list(json: Json | undefined): Json[] {
  if (!Array.isArray(json)) throw fault("expected an array");
  return json;
}

function text(json: Json | undefined): string {
  if (typeof json !== "string") throw fault("expected text");
  return json;
}

/** Reads an integer in text. */
function integer(json: Json | undefined): Whole {
  if (!/^-?[0-9]{1,20}$/.test(text(json))) throw fault("expected an integer");
  return whole(BigInt(json as string));
}

function count(json: Json | undefined, most: number): number {
  if (typeof json !== "number" || !Number.isInteger(json) || json < 0 || json > most) throw fault(`a number that is not from 0 to ${most}`);
  return json;
}

function bounds(json: Json | undefined): [min: number, max: number | null] {
  const [min, max] = list(json);
  const least = count(min, 2 ** 32 - 1);
  if (max === null) return [least, null];
  const most = count(max, 2 ** 32 - 1);
  if (most < least) throw fault("a largest count below the smallest");
  return [least, most];
}

/** Reads the numbers of the nodes that a writer may leave out, with their ranks. */
export function dropped(json: Json): Map<number, number> {
  const pairs = list(json).map((pair): [number, number] => {
    const [node, rank] = list(pair);
    return [count(node, MAX_NODES), count(rank, 255)];
  });
  return new Map(pairs);
}
