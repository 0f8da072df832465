/** The messages that OpenClaw wrote into its transcripts, told to clsm once a turn has ended. */

import { shared } from "./shared.js";

const MOST = 8 << 20;
const SESSIONS = 200;
const TIMEOUT = 20_000;
const PATIENCE = 120_000;

export class Written {
  /** @param {import("./clsm.js").Clsm} clsm */
  constructor(clsm) {
    this.clsm = clsm;
    /** @type {Map<string, string>} session key → rows that are not told yet, JSON, one a line */
    this.rows = shared("written");
    this.told = Promise.resolve();
    this.coming = 0;
  }

  /**
   * Remember a message. What is too much for a turn, and what waits longest when too many sessions
   * have not ended theirs, is left to the nightly catch-up.
   *
   * @param {string} session the key of its session
   * @param {unknown} message
   */
  add(session, message) {
    const rows = `${this.rows.get(session) ?? ""}${JSON.stringify(message)}\n`;
    if (rows.length > MOST) return;
    this.rows.set(session, rows);
    if (this.rows.size > SESSIONS) this.rows.delete(this.rows.keys().next().value ?? "");
  }

  /**
   * Write down what a session has said; one after the other, as clsm would let them wait anyway.
   * When nobody has more to say it is understood as well, so that the next recall need not.
   *
   * @param {string} session
   * @param {string | undefined} id its id in the transcript: the same turn read there is the same
   * @returns {Promise<void>} resolved when all that was said before is written down
   */
  flush(session, id) {
    const rows = this.rows.get(session);
    if (rows === undefined || id === undefined) return this.told;
    this.rows.delete(session);
    const options = ["--capture", "--format", "openclaw", "--session", id, "--", "-"];
    this.coming += 1;
    this.told = this.told.then(async () => {
      await this.clsm.run("ingest", options, { timeout: TIMEOUT, input: rows });
      this.coming -= 1;
      if (this.coming === 0) await this.clsm.run("ingest", [], { timeout: PATIENCE });
    });
    return this.told;
  }

  /** Resolved when nothing is on its way any more. */
  flushed() {
    return this.told;
  }
}
