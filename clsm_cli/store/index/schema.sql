-- The tables of the index, see database.py. It is derived: a change here raises SCHEMA_VERSION.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files (            -- signature of every file that the rows below come from
  id INTEGER PRIMARY KEY, path TEXT UNIQUE, kind TEXT,
  size INTEGER, mtime_ns INTEGER, sha256 TEXT,
  problems TEXT);               -- JSON: [[line, reason], ...]
CREATE TABLE places (           -- what many passages have in common
  id INTEGER PRIMARY KEY, file INTEGER, kind TEXT, stream TEXT,
  session TEXT, episode TEXT, document TEXT, path TEXT, origin TEXT);
CREATE INDEX places_file ON places (file);
CREATE INDEX places_session ON places (session) WHERE session <> '';
CREATE INDEX places_document ON places (document) WHERE document IS NOT NULL;
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, place INTEGER, key TEXT, part INTEGER,
  trust TEXT, speaker TEXT, role TEXT, time TEXT,
  day INTEGER,                  -- proleptic ordinal of the day of time
  line_start INTEGER, line_end INTEGER,
  line_offset INTEGER,          -- lines between the first of the block and of this part
  foreign_id TEXT, heading INTEGER, sources TEXT, text TEXT,
  length INTEGER,               -- terms
  embedded INTEGER,             -- digest of the text that is embedded; NULL: part of a dump
  current INTEGER,              -- 0: a closed block, a superseded statement
  previous INTEGER, next INTEGER, -- neighbours in the session or section
  grp INTEGER,                  -- first passage of its group, see refresh.py
  periods TEXT,                 -- JSON: [[first, until], ...] of the days it speaks of
  is_question INTEGER);
CREATE VIEW placed_passages AS SELECT p.*, l.file, l.kind, l.stream, l.session, l.episode, l.document,
  l.path, l.origin FROM passages p JOIN places l ON l.id = p.place;
CREATE INDEX passages_place ON passages (place);
CREATE INDEX passages_key ON passages (key);
CREATE INDEX passages_embedded ON passages (embedded);
CREATE INDEX passages_group ON passages (grp);
CREATE INDEX passages_day ON passages (day) WHERE day IS NOT NULL;
CREATE INDEX passages_closed ON passages (id) WHERE NOT current;
CREATE TABLE statement_sources (            -- which statements rest on a turn or block
  turn TEXT, passage INTEGER, PRIMARY KEY (turn, passage)) WITHOUT ROWID;
CREATE INDEX statement_sources_passage ON statement_sources (passage);
CREATE TABLE episodes (
  id TEXT, file INTEGER, session TEXT, document TEXT, previous TEXT, start TEXT, continues TEXT,
  recorded TEXT,                -- when the store got it
  PRIMARY KEY (id, file)) WITHOUT ROWID;
CREATE INDEX episodes_session ON episodes (session);
CREATE INDEX episodes_previous ON episodes (previous);
CREATE INDEX episodes_document ON episodes (document, recorded) WHERE document IS NOT NULL;
CREATE TABLE headings (id INTEGER PRIMARY KEY, text TEXT);  -- id: hash of the text
CREATE TABLE documents (id TEXT PRIMARY KEY, path TEXT) WITHOUT ROWID;
CREATE TABLE blocks (           -- where the current blocks of documents stand now
  document TEXT, key TEXT, line_start INTEGER, heading INTEGER,
  PRIMARY KEY (document, key)) WITHOUT ROWID;
CREATE TABLE postings (         -- see postings.py
  term TEXT, block INTEGER, data BLOB, PRIMARY KEY (term, block)) WITHOUT ROWID;
CREATE TABLE names (            -- what is mentioned, as it is written; id: hash of the rest
  id INTEGER PRIMARY KEY, node TEXT, label TEXT, kind TEXT);
CREATE INDEX names_node ON names (node);
CREATE TABLE mentions (
  passage INTEGER, name INTEGER, PRIMARY KEY (passage, name)) WITHOUT ROWID;
CREATE INDEX mentions_name ON mentions (name);
CREATE TABLE phrases (          -- candidates for names without marks; phrase: hash of its id
  phrase INTEGER, passage INTEGER, PRIMARY KEY (phrase, passage)) WITHOUT ROWID;
CREATE TABLE stated_aliases (           -- names that a text itself says are one
  passage INTEGER, name TEXT, alias TEXT, PRIMARY KEY (passage, name, alias)) WITHOUT ROWID;
CREATE TABLE records (          -- of the graph shards
  file INTEGER, id TEXT, type TEXT,
  line BLOB);                   -- JSON, by zlib
CREATE INDEX records_file ON records (file);
CREATE INDEX records_id ON records (id);
CREATE TABLE aliases (alias TEXT, node TEXT, PRIMARY KEY (alias, node)) WITHOUT ROWID;
CREATE INDEX aliases_node ON aliases (node);
CREATE TABLE nodes (            -- what memories are about; numbers: hashes of ids, see graph_queries.py
  number INTEGER PRIMARY KEY, id TEXT,
  label TEXT,                   -- NULL: it has no record, only others name it
  aliases TEXT, kind TEXT, stream TEXT, n INTEGER, last INTEGER, summary TEXT, embedded INTEGER);
CREATE INDEX nodes_embedded ON nodes (embedded) WHERE embedded IS NOT NULL;
CREATE TABLE links (            -- edges that a person set and nothing has ended, seen from either end
  edge INTEGER, node INTEGER, other INTEGER, type TEXT, weight REAL,
  PRIMARY KEY (edge, node)) WITHOUT ROWID;
CREATE INDEX links_node ON links (node);
CREATE TABLE turn_nodes (            -- which nodes a turn mentions, as its episode's record has it
  turn INTEGER, node INTEGER, episode INTEGER,
  PRIMARY KEY (turn, node, episode)) WITHOUT ROWID;
CREATE INDEX turn_nodes_node ON turn_nodes (node);
CREATE TABLE episode_stages (         -- episodes with a record
  episode TEXT PRIMARY KEY, consolidated INTEGER) WITHOUT ROWID;
CREATE TABLE clocks (           -- when a statement was true, and when it was believed
  key TEXT PRIMARY KEY, stream TEXT,
  valid_from TEXT, valid_until TEXT, recorded_at TEXT, superseded_at TEXT, withdrawn INTEGER)
  WITHOUT ROWID;
CREATE TABLE uses (             -- how often an id was recalled on a day, once decay has folded it
  id TEXT, day INTEGER, file INTEGER, n INTEGER, PRIMARY KEY (id, day, file)) WITHOUT ROWID;
CREATE TABLE archived (         -- what decay put aside, by machine; since: a day
  id TEXT, since INTEGER, file INTEGER, PRIMARY KEY (id, file)) WITHOUT ROWID;
CREATE TABLE archived_rows (           -- current passages that are archived, see hidden.py
  passages INTEGER, length INTEGER,
  rows BLOB);                   -- their ids, four bytes each; NULL: to be counted again
INSERT INTO archived_rows VALUES (0, 0, x'');
CREATE TABLE tombstones (       -- hashes of the ids that were forgotten
  hash TEXT, file INTEGER, PRIMARY KEY (hash, file)) WITHOUT ROWID;
CREATE TABLE vectors (          -- see vectors.py
  digest INTEGER PRIMARY KEY, row INTEGER, token INTEGER, tokens INTEGER, checksum INTEGER);
CREATE INDEX vectors_row ON vectors (row);

-- Counts that a recall needs are kept by triggers: exact at every commit, and no table is scanned.
CREATE TABLE totals (passages INTEGER, length INTEGER);  -- of current passages
INSERT INTO totals VALUES (0, 0);
CREATE TABLE speakers (name TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
CREATE TABLE waiting (digest INTEGER PRIMARY KEY);  -- texts without a vector
CREATE TRIGGER passage_inserted AFTER INSERT ON passages BEGIN
  UPDATE totals SET passages = passages + 1, length = length + NEW.length WHERE NEW.current;
  INSERT INTO speakers SELECT NEW.speaker, 1 WHERE NEW.speaker <> ''
    ON CONFLICT (name) DO UPDATE SET n = n + 1;
  INSERT OR IGNORE INTO waiting SELECT NEW.embedded WHERE NEW.embedded IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM vectors WHERE digest = NEW.embedded);
  UPDATE archived_rows SET rows = NULL WHERE EXISTS (SELECT 1 FROM archived WHERE id = NEW.key);
END;
CREATE TRIGGER passage_deleted AFTER DELETE ON passages BEGIN
  UPDATE totals SET passages = passages - 1, length = length - OLD.length WHERE OLD.current;
  UPDATE speakers SET n = n - 1 WHERE name = OLD.speaker;
  DELETE FROM speakers WHERE name = OLD.speaker AND n = 0;
  DELETE FROM waiting WHERE digest = OLD.embedded
    AND NOT EXISTS (SELECT 1 FROM passages WHERE embedded = OLD.embedded)
    AND NOT EXISTS (SELECT 1 FROM nodes WHERE embedded = OLD.embedded);
  DELETE FROM statement_sources WHERE passage = OLD.id;
  DELETE FROM stated_aliases WHERE passage = OLD.id;
  UPDATE archived_rows SET rows = NULL WHERE EXISTS (SELECT 1 FROM archived WHERE id = OLD.key);
END;
CREATE TRIGGER node_updated AFTER UPDATE OF embedded ON nodes
WHEN NEW.embedded IS NOT OLD.embedded BEGIN
  INSERT OR IGNORE INTO waiting SELECT NEW.embedded WHERE NEW.embedded IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM vectors WHERE digest = NEW.embedded);
  DELETE FROM waiting WHERE digest = OLD.embedded
    AND NOT EXISTS (SELECT 1 FROM passages WHERE embedded = OLD.embedded)
    AND NOT EXISTS (SELECT 1 FROM nodes WHERE embedded = OLD.embedded);
END;
CREATE TRIGGER passage_sources_inserted AFTER INSERT ON passages WHEN NEW.sources IS NOT NULL
AND (SELECT kind FROM places WHERE id = NEW.place) = 'statement' BEGIN
  INSERT OR IGNORE INTO statement_sources SELECT value, NEW.id FROM json_each(NEW.sources);
END;
CREATE TRIGGER passage_sources_updated AFTER UPDATE OF sources ON passages
WHEN NEW.sources IS NOT OLD.sources
AND (SELECT kind FROM places WHERE id = NEW.place) = 'statement' BEGIN
  DELETE FROM statement_sources WHERE passage = NEW.id;
  INSERT OR IGNORE INTO statement_sources SELECT value, NEW.id FROM json_each(coalesce(NEW.sources, '[]'));
END;
CREATE TRIGGER passage_current_updated AFTER UPDATE OF current ON passages
WHEN NEW.current <> OLD.current BEGIN
  UPDATE totals SET passages = passages + NEW.current - OLD.current,
    length = length + (NEW.current - OLD.current) * NEW.length;
  UPDATE archived_rows SET rows = NULL WHERE EXISTS (SELECT 1 FROM archived WHERE id = NEW.key);
END;
CREATE TRIGGER vector_inserted AFTER INSERT ON vectors BEGIN
  DELETE FROM waiting WHERE digest = NEW.digest;
END;
