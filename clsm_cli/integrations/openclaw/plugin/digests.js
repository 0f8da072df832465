/** What a session starts with; it stays as it is for a while, so that a cached prompt stays valid. */

import { digest } from "./clsm.js";
import { shared } from "./shared.js";

const TOKENS = "1500";
const HOUR = 3_600_000;
const MOST = 200;

export class Digests {
  /**
   * @param {import("./clsm.js").Clsm} clsm
   * @param {() => number} now milliseconds since 1970
   */
  constructor(clsm, now = Date.now) {
    this.clsm = clsm;
    this.now = now;
    /** @type {Map<string, { text: Promise<string>, made: number }>} */
    this.made = shared("digests");
    /** @type {Map<string, string>} session key → id, of sessions that were compacted */
    this.compacted = shared("compacted");
  }

  /**
   * The digest of a session.
   *
   * @param {string} session
   */
  async of(session) {
    const known = this.made.get(session);
    if (known !== undefined && this.now() - known.made < HOUR) return known.text;
    const text = digest(this.clsm, TOKENS, this.compacted.get(session));
    this.forget(session); // a Map keeps the order of adding: the oldest is first
    this.made.set(session, { text, made: this.now() });
    if (this.made.size > MOST) this.forget(this.made.keys().next().value ?? "");
    if ((await text) === "") this.forget(session); // it failed, or there is nothing yet
    return text;
  }

  /**
   * Let the next turn of a session that was compacted have one with what came out of it so far.
   *
   * @param {string} session
   * @param {string | undefined} id its id in the transcript
   */
  compact(session, id) {
    this.forget(session);
    this.compacted.delete(session);
    if (id !== undefined) this.compacted.set(session, id);
    if (this.compacted.size > MOST) {
      this.compacted.delete(this.compacted.keys().next().value ?? "");
    }
  }

  /**
   * Let the next turn of a session have a new one.
   *
   * @param {string} session
   */
  forget(session) {
    this.made.delete(session);
  }
}
