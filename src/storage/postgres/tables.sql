-- What only PostgreSQL has, behind schema.sql: tables, columns, and rows. Times are ms UTC.

-- The installation and its nodes

-- Which installation this is, and in which database of which server. A copy in another one does not serve.
create table instance (
  one int primary key check (one = 1),
  id text not null, -- stays when the installation moves; in backups
  system_identifier text not null, -- of the server
  database_oid bigint not null,
  state text not null, -- serving; filling: `postrider migrate` writes into it; moved: to a data directory
  adoptions int not null default 0, -- how often the operator accepted that the database is a copy or went back
  position_offset bigint not null default 0 -- added to transactions for events.position, so that it never goes back
);

-- Processes that serve this installation. One that was not seen for a while is ended by another one, and never
-- continues (cluster.ts).
create table nodes (
  id int generated always as identity primary key,
  key text not null unique, -- in node.json of its data directory
  name text not null,
  hostname text not null default '',
  version text not null,
  schema int not null default 0, -- steps that its version has; narrow ones wait for it (migrate.ts)
  key_name text not null default '', -- identifies the key that encrypts, without revealing it
  handles_mail boolean not null, -- false for commands that only read and change
  follows boolean not null default false, -- reads events as they happen: others notify it of them
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  draining_at timestamptz, -- since when it claims nothing more
  handed_over boolean not null default false, -- drains, and has no attempt in progress any more
  ended_at timestamptz,
  is_restarted boolean not null default false, -- ended by the next process with its data directory
  is_forgotten boolean not null default false, -- ended, and no longer in lists
  under_way int not null default 0, -- attempts at the last beat
  configuration_version bigint not null, -- the changes of settings up to here are in its memory
  placement text, -- which nodes have which sending addresses, as it has it in its config (storage/roles/nodes.ts)
  settings text -- JSON: keyed digests of the settings that all nodes must have; null = a command, or an older version
) with (fillfactor = 50);
create index nodes_live on nodes (id) where ended_at is null;
create index nodes_shown on nodes (name, id) where handles_mail and not is_forgotten;

-- Connections that write (write-lane.ts). Fill factor: each group updates its row in place.
create table lanes (
  id int generated always as identity primary key,
  node_id int not null references nodes (id),
  group_no bigint not null default 0,
  ended_at timestamptz
) with (fillfactor = 50);
create index lanes_of_node on lanes (node_id) where ended_at is null;

-- What one node does at a time (leases.ts), by this server's clock.
create table leases (
  name text primary key,
  node_id int not null references nodes (id),
  until timestamptz not null
) with (fillfactor = 50);

-- Counts the changes of settings. A change locks the row first, so that changes of settings are serial.
create table configuration (
  one int primary key check (one = 1),
  version bigint not null
);
insert into configuration (one, version) values (1, 0);

-- Which settings a version changed: what nodes read again.
create table configuration_changes (
  version bigint not null,
  kind text not null,
  record_id text not null
);
create index configuration_changes_by_version on configuration_changes (version);

-- The certificate from an authority, for all nodes. The version counts its changes.
create table certificates (
  one int primary key check (one = 1),
  version bigint not null,
  certificate bytea, -- PEM of key and chain, encrypted
  progress text -- of its renewal, JSON
);
insert into certificates (one, version) values (1, 0);

-- Answers to an authority's challenges (RFC 8555 8.3), which every node gives.
create table challenges (
  token text primary key,
  answer text not null,
  ends_at timestamptz not null
);
create index challenges_by_end on challenges (ends_at);

-- Organizations, users and keys

insert into users (id, name, operator, created_at)
  values ('usr_00000000000000000000000000', 'Operator', true, floor(extract(epoch from now()))::bigint * 1000);

-- Requests of keys with a limit, of each node in its current window (rates.ts). Unlogged: nothing is lost that counts.
create unlogged table rates (
  id text collate "C" not null, -- of the key
  node_id int not null,
  ends_at bigint not null,
  used int not null,
  primary key (id, node_id)
) with (fillfactor = 50);
create index rates_of_nodes on rates (node_id);

-- When the next one of a rate is due if they come evenly (GCRA).
create unlogged table due_rates (
  name text primary key,
  due_at bigint not null
);
create index due_rates_by_time on due_rates (due_at);

-- Recipients and destinations

-- Suppressed addresses by their beginning and that of their domain, behind the last @, in the order of bytes.
create index suppressions_by_beginning on suppressions (organization_id, (email collate "C"));
create index suppressions_by_host on suppressions
  (organization_id, (substr(email, length(rtrim(email, replace(email, '@', ''))) + 1) collate "C"));

-- Mail

-- Numbers of rows, in blocks that each node takes (numbers.ts).
create sequence numbers increment 50000;

-- The full text (search-words.ts), beside the messages, so that a change of their status does not touch its index. New
-- entries of the index wait in a list, which Store.maintain empties every second and every search reads whole. Without it
-- an entry of a common word writes all that the word already has: 11 kB of WAL for a message instead of 1 kB.
create table message_words (
  message_number bigint primary key,
  words tsvector not null,
  folded_subject text -- without case; null: it has only ASCII
);
create index messages_by_word on message_words using gin (words) with (gin_pending_list_limit = 65536); -- 64 MB

-- Parts of the full text of an organization (search-ranges.ts).
create table search_ranges (
  organization_id text not null,
  prefix text collate "C" not null, -- of the numbers of its messages, in base 32
  primary key (organization_id, prefix)
);

-- Packed already.
alter table message_contents alter column content set storage external;
alter table content_parts alter column bytes set storage external;
alter table inbound_raws alter column parsed set storage external;
alter table inbound_raws alter column raw set storage external;

-- Leases change rows in place. They leave `next_attempt_at`, so that no index entry changes.
alter table deliveries set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
alter table webhook_deliveries set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
alter table inbound_deliveries set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index claims_of_worker on claims (worker);
create index claims_of_writer on claims (writer);

-- Events and webhooks

-- Order of events, before `number`: the transaction that wrote it.
alter table events add column position bigint not null default pg_current_xact_id()::text::bigint;
create index events_of_organization on events (organization_id, position, number);
create index events_of_kind on events (kind, position, number);
create index events_by_time on events (organization_id, created_at, number);
create index events_of_message on events (message_id, position, number) where message_id is not null;

-- Counters

alter table usage set (fillfactor = 50);
create index usage_of_writers on usage (writer) where writer <> 0;
alter table quality_counts set (fillfactor = 50);
create index quality_counts_of_writers on quality_counts (writer) where writer <> 0;
alter table stats set (fillfactor = 50);
create index stats_of_writers on stats (writer) where writer <> 0;
