/** What clsm uses of OpenClaw's plugin interface, 2026.7 to 2026.9. */

import type { Config } from "./clsm.js";

export interface Context {
  sessionKey?: string;
  sessionId?: string;
  trigger?: string;
  inputProvenance?: { kind?: string };
}

export interface Prompt {
  prependContext?: string;
  appendContext?: string;
  appendSystemContext?: string;
}

type Answer<T> = T | undefined | Promise<T | undefined>;

export interface Events {
  before_prompt_build(
    event: { prompt: string; currentUserMessage?: string },
    ctx: Context,
  ): Answer<Prompt>;
  heartbeat_prompt_contribution(event: object, ctx: Context): Answer<Prompt>;
  before_message_write(event: { message: unknown; sessionKey?: string }, ctx: Context): void;
  agent_end(event: object, ctx: Context): void | Promise<void>;
  before_compaction(event: object, ctx: Context): void | Promise<void>;
  after_compaction(event: object, ctx: Context): void;
  session_start(event: object, ctx: Context): void;
  gateway_stop(event: object, ctx: object): void | Promise<void>;
}

export interface Result {
  corpus: string;
  path: string;
  score: number;
  snippet: string;
  updatedAt?: string;
}

export interface Text {
  corpus: string;
  path: string;
  content: string;
  fromLine: number;
  lineCount: number;
}

export interface Corpus {
  search(asked: { query: string; maxResults?: number }): Promise<Result[]>;
  get(asked: { lookup: string; fromLine?: number; lineCount?: number }): Promise<Text | null>;
}

/** A memory in the answer of "clsm recall --json". */
export interface Memory {
  id: string;
  text: string;
  confidence: number;
  sources: { timestamp: string | null }[];
}

export interface Api {
  pluginConfig?: Config;
  logger: { warn(text: string): void };
  on<Name extends keyof Events>(
    name: Name,
    handler: Events[Name],
    options?: { timeoutMs?: number },
  ): void;
  registerMemoryCorpusSupplement?(corpus: Corpus): void;
}
