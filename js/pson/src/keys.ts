/**
 * The order of keys in maps that were decoded before, as a trie. A device sends the same keys in the same order again and again, so the next key is
 * usually known: its bytes are compared and no text is created. A path has each key once, so the object need not be searched for the key. An encoder
 * has a trie, too, and copies the bytes of known keys. The trie is bounded. Unknown keys take the slow path.
 */
export class KnownKey {
  /** The first of the keys that were seen after this one. */
  child: KnownKey | null = null;
  /** The next of the keys that were seen after the same key. */
  sibling: KnownKey | null = null;
  /**
   * The first eight bytes of the item, or zeros: as one number they are copied faster. The number is never a NaN, whose bits might change, because it
   * begins with the header of a text.
   */
  readonly head: number;

  constructor(
    readonly key: string,
    /** The whole item, with its header. */
    readonly item: Uint8Array,
  ) {
    const view = new DataView(new ArrayBuffer(8 + item.length));
    new Uint8Array(view.buffer).set(item);
    this.head = view.getFloat64(0);
  }
}

/** The limits of the trie. */
const enum Most {
  /** The bytes of an item. */
  Item = 40,
  /** The entries of a map. */
  Entries = 64,
  /** The keys after one key. */
  Width = 16,
  Keys = 2048,
  /** The keys that are not found before all are forgotten. */
  Misses = 1 << 16,
}

export class KnownKeys {
  /** Keys in front of all first ones, by the number of entries; when encoding, by the length of the first key. */
  private roots: KnownKey[] = [];
  private count = 0;
  private misses = 0;

  /**
   * Returns what precedes the first key of a map with `entries` entries, or null if such a map is too large. An encoder passes the length of
   * the key.
   */
  root(entries: number): KnownKey | null {
    if (entries > Most.Entries) return null;
    return (this.roots[entries] ??= new KnownKey("", new Uint8Array(0)));
  }

  /**
   * Adds the key from `start` to `end` of `bytes`, which follows `parent`. Returns null if the trie is full, or if Object.prototype has a property
   * `key`, because an assignment to it might not create a property: `__proto__` changes the prototype.
   */
  add(parent: KnownKey, key: string, bytes: Uint8Array, start: number, end: number): KnownKey | null {
    if (this.count >= Most.Keys) {
      if (++this.misses < Most.Misses) return null;
      this.roots = [];
      this.count = this.misses = 0;
      return null;
    }
    if (end - start > Most.Item || key in Object.prototype) return null;
    let width = 0;
    for (let other = parent.child; other !== null; other = other.sibling) width++;
    if (width >= Most.Width) return null;
    const known = new KnownKey(key, new Uint8Array(bytes.subarray(start, end)));
    known.sibling = parent.child;
    parent.child = known;
    this.count++;
    return known;
  }
}
