/**
 * The order of keys in maps that were decoded before, as a trie. A device sends the same keys in the same order again and again. So the next
 * key is usually known: its bytes are compared, no text is made, and since a path has each key once, no key needs to be looked for in the
 * object. The trie is bounded. Keys that it does not know take the slow way.
 */
export class KnownKey {
  /** The first of the keys that were seen after this one. */
  child: KnownKey | null = null;
  /** The next of the keys that were seen after the same key. */
  sibling: KnownKey | null = null;

  constructor(
    readonly key: string,
    /** The whole item, with its header. */
    readonly item: Uint8Array,
    /** Whether an assignment might not create a property: Object.prototype has one of this name. */
    readonly inherited: boolean,
  ) {}
}

/** The longest item, the largest map, and the most keys after one key that are kept. */
const LONGEST = 40;
const LARGEST = 64;
const WIDEST = 16;
/** The number of keys that are kept, and of keys that are not found before all are forgotten. */
const CAPACITY = 2048;
const PATIENCE = 1 << 16;

export class KnownKeys {
  /** Keys in front of all first ones, by the number of entries. */
  private roots: KnownKey[] = [];
  private count = 0;
  private misses = 0;

  /** Returns what precedes the first key of a map with `entries` entries, or null if such a map is too large. */
  root(entries: number): KnownKey | null {
    if (entries > LARGEST) return null;
    return (this.roots[entries] ??= new KnownKey("", new Uint8Array(0), false));
  }

  /** Adds the key from `start` to `end` of `bytes`, which follows `parent`. Returns null if there is no space. */
  add(parent: KnownKey, key: string, bytes: Uint8Array, start: number, end: number): KnownKey | null {
    if (this.count >= CAPACITY) {
      if (++this.misses < PATIENCE) return null;
      this.roots = [];
      this.count = this.misses = 0;
      return null;
    }
    if (end - start > LONGEST) return null;
    let width = 0;
    for (let other = parent.child; other !== null; other = other.sibling) width++;
    if (width >= WIDEST) return null;
    const item = new Uint8Array(end - start);
    for (let i = start; i < end; i++) item[i - start] = bytes[i]!;
    const known = new KnownKey(key, item, isInherited(key));
    known.sibling = parent.child;
    parent.child = known;
    this.count++;
    return known;
  }
}

/** Whether Object.prototype has a property `key`, so that assigning it does not always create one: `__proto__` changes the prototype. */
export function isInherited(key: string): boolean {
  return key in Object.prototype;
}
