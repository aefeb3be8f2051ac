// The local buffer: messages wait here for the CSE.

import Database from "better-sqlite3";

export class Buffered {
  constructor(path) {
    this.database = new Database(path);
    this.database.pragma("journal_mode = WAL");
    this.database.pragma("synchronous = NORMAL");
    this.database.exec(`CREATE TABLE messages (id INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, device TEXT NOT NULL,
      type TEXT NOT NULL, bytes INTEGER NOT NULL, json TEXT NOT NULL, forwarded INTEGER NOT NULL DEFAULT 0)`);
    this.database.exec("CREATE INDEX waiting ON messages (id) WHERE forwarded = 0");
    const insert = this.database.prepare(
      "INSERT INTO messages (received_at, device, type, bytes, json) VALUES (?, ?, ?, ?, ?)",
    );
    /// All of them in one transaction.
    this.store = this.database.transaction((readings) => {
      const now = Date.now();
      for (const { device, type, bytes, json } of readings) insert.run(now, device, type, bytes, json);
    });
  }

  count() {
    return this.database.prepare("SELECT count(*) AS count FROM messages").get().count;
  }

  latest(limit) {
    return this.database.prepare("SELECT * FROM messages ORDER BY id DESC LIMIT ?").all(limit);
  }

  /// The oldest that the CSE does not have yet.
  waiting(limit) {
    return this.database.prepare("SELECT * FROM messages WHERE forwarded = 0 ORDER BY id LIMIT ?").all(limit);
  }

  forwarded(id) {
    this.database.prepare("UPDATE messages SET forwarded = 1 WHERE id = ?").run(id);
  }

  close() {
    this.database.close();
  }
}
