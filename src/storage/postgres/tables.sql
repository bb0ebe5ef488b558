-- What only PostgreSQL has, behind schema.sql: tables of mail, columns, and rows. Times are ms UTC.

-- The installation and its nodes

-- Which installation this is, and in which database of which server. A copy in another one does not serve.
create table instance (
  one int primary key check (one = 1),
  id text not null, -- stays when the installation moves; in backups
  system_identifier text not null, -- of the server
  database_oid bigint not null,
  state text not null, -- serving; filling: `postrider migrate` writes into it; moved: to a data directory
  adoptions int not null default 0 -- how often the operator accepted that the database is a copy or went back
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
  handles_mail boolean not null, -- false for commands that only read and change: they get no slots
  follows boolean not null default false, -- reads events as they happen: all nodes beat more often (cluster.ts)
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  draining_at timestamptz, -- since when it claims nothing more and others take its slots
  ended_at timestamptz,
  is_forgotten boolean not null default false, -- ended, and no longer in lists
  under_way int not null default 0, -- attempts at the last beat
  passed bigint not null, -- no event that it writes later has this place or a lower one
  configuration_version bigint not null, -- the changes of settings up to here are in its memory
  placement text -- which nodes have which sending addresses, as it has it in its config (storage/roles/nodes.ts)
) with (fillfactor = 50);
create index nodes_live on nodes (id) where ended_at is null;
create index nodes_shown on nodes (name, id) where handles_mail and not is_forgotten;

-- Connections that write (write-lane.ts). Fill factor: each group updates its row in place.
create table lanes (
  id int generated always as identity primary key,
  node_id int not null references nodes (id),
  seat int, -- of a live lane that writes events (places.ts)
  group_no bigint not null default 0,
  written_to bigint not null default 0,
  ended_at timestamptz
) with (fillfactor = 50);
create unique index lanes_by_seat on lanes (seat) where ended_at is null;
create index lanes_of_node on lanes (node_id) where ended_at is null;

-- Which node handles the keys of a slot (slot-owner.ts). From 256 on: of mail that only some nodes have the addresses
-- for (storage/slots.ts).
create table slots (
  slot smallint primary key,
  node_id int
);
insert into slots (slot) select generate_series(0, 767);

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

-- What an organization has used of the limits of its plan that are not counted from records: by month, by day, or in
-- all (period ''). Written in the transactions of what they count. A row for each lane, so that lanes do not wait for
-- each other; their sum counts. Lane 0 has the sums of those that have ended (ended-nodes.ts).
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  lane_id int not null,
  used bigint not null,
  primary key (organization_id, name, period, lane_id)
);
create index usage_by_period on usage (name, period) where period <> '';
create index usage_of_lanes on usage (lane_id) where lane_id <> 0;

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

-- Suppressed addresses by their beginning and that of their domain, in the order of bytes.
create index suppressions_by_beginning on suppressions (organization_id, (email collate "C"));
create index suppressions_by_host on suppressions (organization_id, (split_part(email, '@', 2) collate "C"));

-- Destinations of domains whose mail shares limits with that of other domains, or that are not their own.
create table destinations (
  domain text collate "C" primary key,
  destination text collate "C" not null,
  noted_at timestamptz not null default clock_timestamp()
);
create index destinations_noted on destinations (noted_at);

-- Mail. Records of accepted mail and of what became of it are only added, never changed: an update of a row with
-- several indexes costs ten times an insert. What changes is in the queues, which are small.

-- Refuses the statement that calls it as a serialization failure: the transaction runs again and reads what another
-- one wrote meanwhile.
create function collide() returns bytea language plpgsql as $$
begin
  raise exception 'another transaction was first' using errcode = 'serialization_failure';
end
$$;

create table messages (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null,
  key_id text,
  mode text not null,
  source text not null,
  stream text not null default 'transactional',
  sender text not null,
  sender_address text not null, -- folded
  recipients text not null, -- [to, cc, bcc, reply_to] as submitted, JSON
  subject text not null,
  tags text not null, -- JSON
  metadata text not null, -- JSON
  template_id text,
  size_bytes bigint not null,
  message_id_header text not null,
  created_at bigint not null,
  scheduled_at bigint,
  expires_at bigint,
  require_tls boolean not null,
  unsubscribe boolean not null,
  track_opens boolean not null,
  track_clicks boolean not null,
  stored_bytes bigint not null, -- what it counts in usage
  folded_subject text, -- in lower case, if lower() does not fold it; null = it does
  words tsvector not null -- search-words.ts
);
-- With what a recount of the stored bytes adds up.
create index messages_of_organization on messages (organization_id, id) include (stored_bytes);
-- New entries wait in a list, which Store.maintain empties every second and every search reads whole. Without it an
-- entry of a common word writes all that the word already has: 11 kB of WAL for a message instead of 1 kB.
create index messages_by_word on messages using gin (words) with (gin_pending_list_limit = 65536); -- 64 MB

-- Parts of the full text of an organization (search-ranges.ts).
create table search_ranges (
  organization_id text not null,
  prefix text collate "C" not null, -- of the IDs of its messages
  primary key (organization_id, prefix)
);

create table message_tags (
  organization_id text not null,
  tag text not null,
  message_id text collate "C" not null,
  primary key (organization_id, tag, message_id)
);

-- Messages of which a delivery ended other than delivered, by that status; `partial` if the message has several
-- recipients. For lists by status, which check each message found: the mark of a past status stays.
create table message_marks (
  organization_id text not null,
  mark text not null,
  message_id text collate "C" not null,
  primary key (organization_id, mark, message_id)
);

-- Packed contents (mail/content.ts, mail/inbound-content.ts).
create table contents (
  owner_id text collate "C" not null, -- of a message, or of the first inbound message of a mail
  kind text not null, -- content, raw, parsed
  content bytea not null,
  primary key (owner_id, kind)
);
alter table contents alter column content set storage external;

-- Large contents are written before their owner. Until then they stand here.
create table coming_contents (
  owner_id text collate "C" primary key,
  lane_id int not null -- in lanes
);

-- Contents that were removed before retention removes their message.
create table removed_contents (
  message_id text collate "C" primary key,
  removed_at bigint not null,
  reason text not null -- request, erasure, stream
);

-- Messages whose stream removes their content some time after the last delivery ended. `due_at`: when to look next.
create table content_redactions (
  message_id text collate "C" primary key,
  after_ms bigint not null,
  due_at bigint not null
);
create index content_redactions_due on content_redactions (due_at);

-- Deliveries

-- A delivery as it was accepted. Its state is that of its last outcome; while it waits, also that of its queue.
create table deliveries (
  id text collate "C" primary key,
  organization_id text not null,
  message_id text collate "C" not null,
  position int not null,
  email text not null,
  address text not null, -- folded
  type text not null,
  queue text not null,
  status text not null,
  attempts int not null,
  last_attempt_at bigint,
  delivered_at bigint,
  smtp_response text,
  bounce_type text,
  bounce_code text
);
create unique index deliveries_of_message on deliveries (message_id, position);
create index deliveries_by_address on deliveries (organization_id, address, message_id);

-- Queues. A row waits from `due_at` on unless a worker has it, and is deleted when the delivery is final. `due_at`
-- null: on hold after a restore. The lease sets `worker` and leaves `due_at`, so that no index entry changes.
create table delivery_queue (
  id text collate "C" primary key, -- of the delivery
  organization_id text not null,
  message_id text collate "C" not null,
  slot smallint not null, -- storage/slots.ts
  key text collate "C" not null, -- Delivery.queue
  due_at bigint,
  held_due_at bigint, -- while on hold: when it was due
  attempts int not null, -- begun
  recorded int not null default 0, -- of these
  worker text,
  attempted_at bigint, -- begin of the last attempt
  recorded_at bigint, -- begin of the last recorded attempt
  seq int not null default 0, -- of its last outcome
  accepted_at bigint not null,
  status text not null, -- scheduled, queued, deferred
  expires_at bigint,
  is_only_recipient boolean not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index delivery_queue_due on delivery_queue (slot, key, due_at) where due_at is not null;
create index delivery_queue_held on delivery_queue (held_due_at, id) where due_at is null;
create index delivery_queue_of_message on delivery_queue (message_id);
create index delivery_queue_open on delivery_queue (organization_id, status, message_id);
create index delivery_queue_expiring on delivery_queue (expires_at) where expires_at is not null;

-- Workers that may hold rows of a queue. An index on the queues' column would have to change with each lease.
create table workers (
  queue text not null,
  worker text not null,
  node_id int not null references nodes (id),
  primary key (queue, worker)
);

-- The state of a delivery after an attempt, a late report or a cancellation; the last row counts.
create table delivery_outcomes (
  delivery_id text collate "C" not null,
  seq int not null, -- from 1
  organization_id text not null,
  status text not null,
  attempts int not null,
  last_attempt_at bigint,
  delivered_at bigint,
  smtp_response text,
  bounce_type text,
  bounce_code text,
  mx_host text,
  tls text,
  soft_bounce_reported boolean not null,
  attempt text, -- model/delivery.ts Attempt as JSON; null = not an attempt
  primary key (delivery_id, seq)
);

-- Late reports about deliveries.
create table reports (
  delivery_id text collate "C" not null,
  digest bytea not null,
  number bigint generated always as identity,
  organization_id text not null,
  kind text not null,
  received_at bigint not null,
  reporter text,
  status text,
  diagnostic text,
  cause text, -- JSON
  feedback_type text,
  primary key (delivery_id, digest)
);

-- Opens and clicks of a delivery.
create table engagement (
  delivery_id text collate "C" primary key,
  organization_id text not null,
  opens int not null default 0,
  clicks int not null default 0,
  machine_opens int not null default 0,
  machine_clicks int not null default 0,
  unsubscribed_at bigint -- by a link of its own
);

-- Events and webhooks

-- `place` is the order in which followers see events (places.ts); IDs are made before the event is written.
create table events (
  id text collate "C" primary key,
  place bigint not null,
  organization_id text not null,
  domain_id text,
  message_id text collate "C",
  type text not null,
  mode text not null,
  created_at bigint not null,
  kind bigint not null, -- in event_kinds
  body text not null
);
create index events_of_organization on events (organization_id, place);
create index events_of_message on events (message_id, place) where message_id is not null;
create index events_of_kind on events (kind, place);
create index events_by_time on events (organization_id, created_at, place);

-- What occurs among the events of an organization (event-kinds.ts).
create table event_kinds (
  organization_id text not null,
  kind bigint not null,
  type text not null,
  mode text not null,
  domain_id text,
  primary key (organization_id, kind)
);

-- A webhook that is removed stays until the last of its deliveries is deleted, in steps.
alter table webhooks add column removing boolean not null default false;

-- Events whose webhook deliveries are still to be written, since they are too many for one transaction. `targets`: the
-- webhooks that were subscribed, `next`: the place in it where writing continues.
create table fan_out_targets (
  organization_id text not null,
  digest text not null, -- SHA-256 of `targets`
  targets text not null, -- JSON
  primary key (organization_id, digest)
);

create table fan_outs (
  organization_id text not null,
  place bigint not null, -- of the event
  event_id text collate "C" not null,
  targets_digest text not null,
  next int not null default 0,
  primary key (organization_id, place, event_id)
);

create table webhook_deliveries (
  id text collate "C" primary key,
  organization_id text not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  type text not null,
  created_at bigint not null,
  failed boolean not null default false -- the last attempt was the last one, and failed
);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_at, id);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, created_at, id) where failed;
create index webhook_deliveries_of_event on webhook_deliveries (event_id, id);

create table webhook_queue (
  id text collate "C" primary key, -- of the webhook delivery
  organization_id text not null,
  slot smallint not null,
  key text collate "C" not null, -- the webhook
  due_at bigint,
  held_due_at bigint,
  attempts int not null default 0,
  recorded int not null default 0,
  worker text,
  attempted_at bigint,
  recorded_at bigint,
  accepted_at bigint not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index webhook_queue_due on webhook_queue (slot, key, due_at) where due_at is not null;
create index webhook_queue_held on webhook_queue (held_due_at, id) where due_at is null;

create table webhook_attempts (
  delivery_id text collate "C" not null,
  number int not null,
  at bigint not null,
  duration_ms bigint not null,
  status_code int,
  error text,
  response_excerpt text,
  primary key (delivery_id, number)
);

-- Inbound mail

-- As in webhooks.
alter table inbound_routes add column removing boolean not null default false;

create table inbound_messages (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null,
  route_id text not null, -- stays when the route is removed; '' = none
  action text not null,
  received_at bigint not null,
  return_path text not null,
  sender text not null,
  recipients text not null, -- of the envelope, JSON
  subject text not null,
  message_id_header text not null,
  size_bytes bigint not null,
  sender_ip text not null,
  helo text not null,
  tls text,
  spf text not null,
  dkim text not null,
  dmarc text not null,
  arc text not null,
  parse_error text,
  forwarded_as text,
  not_forwarded text, -- [{"email","reason"}]: targets that the mail was not forwarded to, JSON; null = none
  content_id text collate "C" not null, -- in contents: the first message of the mail
  delivery_status text -- of its newest delivery; null = none
);
create index inbound_messages_of_organization on inbound_messages (organization_id, id) include (size_bytes);
create index inbound_messages_of_domain on inbound_messages (domain_id, id);
create index inbound_messages_of_route on inbound_messages (route_id, id);
create index inbound_messages_by_status on inbound_messages (organization_id, delivery_status, id)
  where delivery_status is not null;
create index inbound_messages_of_content on inbound_messages (content_id);

create table inbound_addresses (
  organization_id text not null,
  field text not null, -- from, to
  address text not null, -- folded
  message_id text collate "C" not null,
  primary key (organization_id, field, address, message_id)
);
create index inbound_addresses_of_message on inbound_addresses (message_id);

create table inbound_deliveries (
  id text collate "C" primary key,
  message_id text collate "C" not null,
  route_id text collate "C" not null,
  status text not null,
  number bigint generated always as identity,
  created_at bigint not null
);
create index inbound_deliveries_of_message on inbound_deliveries (message_id, number);
create index inbound_deliveries_open on inbound_deliveries (route_id, id) where status = 'pending';

create table inbound_queue (
  id text collate "C" primary key, -- of the inbound delivery
  organization_id text not null,
  slot smallint not null,
  key text collate "C" not null, -- the route
  due_at bigint,
  held_due_at bigint,
  attempts int not null default 0,
  recorded int not null default 0,
  worker text,
  attempted_at bigint,
  recorded_at bigint,
  accepted_at bigint not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index inbound_queue_due on inbound_queue (slot, key, due_at) where due_at is not null;
create index inbound_queue_held on inbound_queue (held_due_at, id) where due_at is null;

create table inbound_attempts (
  delivery_id text collate "C" not null,
  number int not null,
  at bigint not null,
  duration_ms bigint not null,
  status_code int,
  error text,
  response_excerpt text,
  primary key (delivery_id, number)
);

-- Statistics

-- Counters of mail: a row for each hour, and one for each day (hour = 24), of a domain, and of each of its tags
-- (tag = '' counts everything).
create table stats (
  day int not null, -- since 1970-01-01 UTC
  hour int not null,
  organization_id text not null,
  tag text not null,
  mode text not null,
  domain_id text not null,
  lane_id int not null,
  accepted bigint not null,
  delivered bigint not null,
  deferred bigint not null,
  hard_bounced bigint not null,
  soft_bounced bigint not null,
  late_bounced bigint not null, -- of the bounced: had counted as delivered before
  opened bigint not null,
  unique_opened bigint not null,
  clicked bigint not null,
  unique_clicked bigint not null,
  machine_opened bigint not null,
  machine_clicked bigint not null,
  unsubscribed bigint not null,
  complained bigint not null,
  suppressed bigint not null,
  primary key (organization_id, day, hour, tag, mode, domain_id, lane_id)
);
create index stats_of_lanes on stats (lane_id) where lane_id <> 0;

-- Outcomes of the live mail of a domain, in two widths of time (storage/outcome-widths.ts).
create table quality_counts (
  width_ms int not null,
  domain_id text collate "C" not null,
  start bigint not null,
  lane_id int not null,
  delivered bigint not null,
  bounced bigint not null,
  hard_bounced bigint not null,
  late_bounced bigint not null,
  complained bigint not null,
  primary key (width_ms, domain_id, start, lane_id)
);
create index quality_counts_of_lanes on quality_counts (lane_id) where lane_id <> 0;
