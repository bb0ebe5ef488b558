-- Times are ms UTC. IDs sort by their bytes, whatever the collation of the database.

-- Processes that serve this installation. One that was not seen for a while is ended by another one, and never
-- continues (beats.ts).
create table nodes (
  id int generated always as identity primary key,
  key text not null unique, -- in node.json of its data directory
  name text not null,
  version text not null,
  -- False for commands that only read and change: they get no slots.
  handles_mail boolean not null,
  seen_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- No event that it writes later has this place or a lower one.
  passed bigint not null,
  -- The changes of settings up to here are in its memory.
  configuration_version bigint not null
) with (fillfactor = 50);
create index nodes_live on nodes (id) where ended_at is null;

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

-- Which node handles the keys of a slot (slot-owner.ts).
create table slots (
  slot smallint primary key,
  node_id int
);
insert into slots (slot) select generate_series(0, 255);

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

create table organizations (
  id text collate "C" primary key,
  name text not null unique,
  plan text not null,
  created_at bigint not null
);

-- Several organizations may claim a name; the first to prove it owns it.
create table domains (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  name text not null,
  status text not null,
  created_at bigint not null,
  verified_at bigint,
  last_checked_at bigint,
  return_path_host text not null,
  track_opens boolean not null,
  track_clicks boolean not null,
  track_unsubscribe boolean not null,
  tracking_host text,
  findings text not null, -- JSON
  proved_by text, -- dkim, txt
  missing_since bigint, -- since when DNS lacks the proof
  reason text, -- of `failed`: mismatch, proof_lost, claimed
  next_check_at bigint -- null = only on request
);
create unique index domains_of_organization_by_name on domains (organization_id, name);
create unique index domains_owned on domains (name) where status = 'verified';
create index domains_by_name on domains (name, id);
create index domains_of_organization on domains (organization_id, id);
create index domains_by_return_path_host on domains (return_path_host, id);
create index domains_by_tracking_host on domains (tracking_host) where tracking_host is not null;
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_in_trouble on domains (missing_since) where missing_since is not null;

create table dkim_keys (
  domain_id text not null references domains (id) on delete cascade,
  selector text not null,
  algorithm text not null,
  state text not null,
  public_key text not null,
  private_key bytea not null, -- PEM, encrypted
  created_at bigint not null,
  primary key (domain_id, selector)
);

create table api_keys (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  domain_id text not null,
  name text not null,
  mode text not null,
  permissions text not null, -- JSON
  prefix text not null,
  secret_hash bytea not null unique,
  created_at bigint not null,
  last_used_at bigint,
  expires_at bigint,
  revoked_at bigint,
  rotated_to text,
  allowed_networks text -- JSON; null = from anywhere
);
create index api_keys_of_organization on api_keys (organization_id, id);
create index api_keys_of_domain on api_keys (domain_id);

-- Sign-in of the operator: of tokens only the SHA-256 is stored, of the password an argon2id hash.
create table login_links (
  token_hash bytea primary key,
  created_at bigint not null,
  expires_at bigint not null
);
create index login_links_by_end on login_links (expires_at);

create table sessions (
  id text collate "C" primary key,
  token_hash bytea not null unique,
  created_at bigint not null,
  last_seen_at bigint not null,
  ends_at bigint not null,
  ip_address text,
  user_agent text not null
);
create index sessions_by_end on sessions (ends_at);

create table operator_password (
  one int primary key check (one = 1),
  hash text not null,
  set_at bigint not null
);

-- Where clicks are not redirected to: a host with all below it, or a URL with all that begins with it.
create table blocked_links (
  id text collate "C" primary key,
  kind text not null, -- host, url
  value text not null unique,
  reason text not null,
  created_at bigint not null
);

-- Responses for repeated requests.
create table idempotency (
  organization_id text not null,
  key_hash bytea not null,
  request_hash bytea not null,
  status int not null,
  body bytea not null,
  created_at bigint not null,
  primary key (organization_id, key_hash)
);
create index idempotency_by_age on idempotency (created_at);

-- MTA-STS policies of recipient domains (RFC 8461), as fetched.
create table mta_sts_policies (
  domain text primary key,
  policy_id text not null,
  policy text not null, -- JSON
  expires_at bigint not null,
  refresh_at bigint not null,
  used_at bigint not null
);
create index mta_sts_policies_due on mta_sts_policies (refresh_at);

-- TLS sessions with recipient domains by UTC day, until they are reported (RFC 8460). '' is nothing.
create table tls_sessions (
  day bigint not null,
  domain text not null,
  policy text not null,
  host text not null,
  address text not null,
  source text not null,
  failure text not null,
  sessions bigint not null,
  primary key (day, domain, policy, host, address, source, failure)
);

-- Management actions, in the order of commit. An entry is written in the transaction of its change.
create table audit_log (
  number bigint generated always as identity primary key,
  id text collate "C" not null unique,
  organization_id text, -- null = the whole installation
  at bigint not null,
  actor_type text not null,
  actor_id text not null,
  actor_name text not null,
  action text not null,
  resource_id text,
  created_id text,
  fields text not null, -- names, as JSON
  ip_address text,
  outcome text not null,
  request_id text not null
);
create index audit_log_of_organization on audit_log (organization_id, number);
create index audit_log_of_actor on audit_log (organization_id, actor_id, number);
create index audit_log_of_resource on audit_log (organization_id, resource_id, number);
create index audit_log_by_time on audit_log (at);

create table secrets (
  name text primary key,
  value bytea not null -- encrypted
);

-- Something encrypted with the installation's key, to recognise the key.
create table seal (
  one int primary key check (one = 1),
  proof bytea not null
);

-- What an organization has used of the limits of its plan that are not counted from records: by month, by day, or in
-- all (period ''). Written in the transactions of what they count. A row for each lane, so that lanes do not wait for
-- each other; their sum counts.
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  lane_id int not null,
  used bigint not null,
  primary key (organization_id, name, period, lane_id)
);
create index usage_by_period on usage (name, period) where period <> '';

create table suppressions (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null, -- '' = the whole organization
  email text not null,
  reason text not null,
  message_id text,
  created_at bigint not null,
  evidence text,
  mode text not null
);
create unique index suppressions_by_address on suppressions (organization_id, email, domain_id, mode);
create index suppressions_of_organization on suppressions (organization_id, id);
create index suppressions_by_reason on suppressions (organization_id, reason, id);

create table templates (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  alias text,
  name text not null,
  version int not null, -- the current one
  created_at bigint not null,
  updated_at bigint not null,
  mode text not null
);
create unique index templates_by_alias on templates (organization_id, alias, mode) where alias is not null;
create index templates_of_organization on templates (organization_id, id);

create table template_versions (
  template_id text not null references templates (id) on delete cascade,
  version int not null,
  created_at bigint not null,
  subject text,
  variables text not null, -- JSON
  html text,
  text text,
  primary key (template_id, version)
);

-- External addresses of forward routes, and whether their owners want the mail. No row: nobody was asked yet.
create table forward_targets (
  organization_id text not null,
  address text not null, -- folded
  status text not null, -- pending, confirmed, stopped
  changed_at bigint not null,
  asked_at bigint, -- the last confirmation mail
  asked_day text not null default '', -- UTC
  asked_count int not null default 0, -- on that day
  primary key (organization_id, address)
);
create index forward_targets_by_address on forward_targets (address, asked_day);
create index forward_targets_pending on forward_targets (asked_at) where status = 'pending';

create table webhooks (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  url text not null,
  events text not null, -- JSON
  format text not null,
  status text not null,
  description text,
  disabled_reason text,
  created_at bigint not null,
  updated_at bigint not null,
  last_success_at bigint,
  last_failure_at bigint,
  consecutive_failures int not null default 0,
  failing_since bigint,
  secret bytea not null, -- both encrypted
  previous_secret bytea,
  previous_expires_at bigint,
  mode text not null,
  domain_id text, -- null = events of every domain of the organization
  removing boolean not null default false
);
create index webhooks_of_organization on webhooks (organization_id, id);

create table inbound_routes (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  name text not null,
  match_type text not null,
  match_value text,
  action text not null,
  config text not null, -- JSON
  authentication text not null,
  enabled boolean not null,
  priority int not null,
  secret bytea not null, -- encrypted
  created_at bigint not null,
  removing boolean not null default false
);
create index inbound_routes_of_organization on inbound_routes (organization_id, id);

-- Mail. Records of accepted mail and of what became of it are only added, never changed: an update of a row with
-- several indexes costs ten times an insert. What changes is in the queues, which are small.

create table messages (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null,
  key_id text,
  mode text not null,
  source text not null,
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

-- What remains of deliveries that retention removed while their recipients may still unsubscribe.
create table unsubscribables (
  delivery_id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null,
  message_id text not null,
  sender text not null,
  email text not null,
  sent_at bigint not null,
  is_reported boolean not null default false
);
create index unsubscribables_by_time on unsubscribables (sent_at);

-- Queues. A row waits from `due_at` on unless a worker has it, and is deleted when the delivery is final. `due_at` null:
-- on hold after a restore. The lease sets `worker` and leaves `due_at`, so that no index entry changes.
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

-- Workers that may hold rows of a queue. An index on the queues' column would have to change with each lease.
create table workers (
  queue text not null,
  worker text not null,
  node_id int not null references nodes (id),
  primary key (queue, worker)
);

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
  not_forwarded text, -- JSON
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

create table quality_alerts (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text collate "C" not null, -- stays when the domain is removed
  domain text not null,
  metric text collate "C" not null,
  value double precision not null,
  threshold double precision not null,
  window_hours double precision not null,
  sent bigint not null,
  affected bigint not null,
  state text not null,
  triggered_at bigint not null,
  resolved_at bigint
);
create unique index quality_alerts_firing on quality_alerts (domain_id, metric) where state = 'firing';
create index quality_alerts_of_domain on quality_alerts (domain_id, id);

-- The backup that this database was restored from, if any.
create table restored (
  one int primary key check (one = 1),
  restored_at bigint not null,
  made_at bigint not null -- of the backup
);
