create table organizations (
  id text primary key,
  name text not null unique,
  plan text not null,
  created_at integer not null
) strict, without rowid;

create table domains (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null unique,
  status text not null,
  created_at integer not null,
  verified_at integer,
  last_checked_at integer,
  return_path_host text not null,
  track_opens integer not null,
  track_clicks integer not null,
  track_unsubscribe integer not null,
  tracking_host text,
  findings text not null
) strict, without rowid;
create index domains_of_organization on domains (organization_id, id);
create index domains_by_return_path_host on domains (return_path_host);

create table dkim_keys (
  domain_id text not null references domains (id) on delete cascade,
  selector text not null,
  algorithm text not null,
  state text not null,
  public_key text not null,
  private_key blob not null, -- PEM, sealed (seal.ts)
  created_at integer not null,
  primary key (domain_id, selector)
) strict, without rowid;

create table api_keys (
  id text primary key,
  organization_id text not null references organizations (id),
  domain_id text not null,
  name text not null,
  mode text not null,
  permissions text not null,
  prefix text not null,
  secret_hash blob not null unique,
  created_at integer not null,
  last_used_at integer,
  expires_at integer,
  revoked_at integer,
  rotated_to text
) strict, without rowid;
create index api_keys_of_organization on api_keys (organization_id, id);
create index api_keys_of_domain on api_keys (domain_id);

-- How the operator of the appliance gets in. Of every token only the SHA-256 is kept, of the password an argon2id hash.
create table login_links (
  token_hash blob primary key,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index login_links_by_end on login_links (expires_at);

create table sessions (
  id text primary key,
  token_hash blob not null unique,
  created_at integer not null,
  last_seen_at integer not null,
  ends_at integer not null,
  ip_address text,
  user_agent text not null
) strict, without rowid;
create index sessions_by_end on sessions (ends_at);

create table operator_password (
  number integer primary key check (number = 1),
  hash text not null,
  set_at integer not null
) strict;

create table suppressions (
  id text primary key,
  organization_id text not null,
  domain_id text not null, -- '' = the whole organization
  email text not null,
  reason text not null,
  message_id text,
  created_at integer not null,
  evidence text
) strict, without rowid;
create unique index suppressions_by_address on suppressions (organization_id, email, domain_id);
create index suppressions_of_organization on suppressions (organization_id, id);
create index suppressions_by_reason on suppressions (organization_id, reason, id);

create table templates (
  id text primary key,
  organization_id text not null references organizations (id),
  alias text,
  name text not null,
  version integer not null, -- the one that stands
  created_at integer not null,
  updated_at integer not null
) strict, without rowid;
create unique index templates_by_alias on templates (organization_id, alias) where alias is not null;
create index templates_of_organization on templates (organization_id, id);

-- All versions with the one that stands. With row ids, because texts are long; lists read what is before them.
create table template_versions (
  template_id text not null references templates (id) on delete cascade,
  version integer not null,
  created_at integer not null,
  subject text,
  variables text not null, -- JSON
  html text,
  text text,
  unique (template_id, version)
) strict;

-- `number` counts up in the order of commit: lists and the event feed walk it, nobody outside sees it.
create table messages (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text not null,
  domain_id text not null,
  key_id text,
  mode text not null,
  source text not null,
  status text not null,
  sender text not null,
  sender_address text not null,
  recipients text not null, -- {"to","cc","bcc","reply_to"} as they were sent in
  subject text not null,
  tags text not null,
  metadata text not null,
  template_id text,
  size_bytes integer not null,
  message_id_header text not null,
  created_at integer not null,
  scheduled_at integer,
  expires_at integer,
  require_tls integer not null,
  unsubscribe integer not null,
  track_opens integer not null,
  track_clicks integer not null
) strict;
create index messages_of_organization on messages (organization_id, number);
create index messages_by_status on messages (organization_id, status, number);
create index messages_expiring on messages (expires_at)
  where expires_at is not null and status in ('scheduled', 'queued', 'deferred');

create table message_tags (
  organization_id text not null,
  tag text not null,
  message_number integer not null,
  primary key (organization_id, tag, message_number)
) strict, without rowid;

create table message_contents (
  message_number integer primary key references messages (number) on delete cascade,
  content blob not null
) strict;

-- Contents longer than a part. Writing or removing one at once would take long (large-contents.ts, retention.ts).
create table large_contents (
  number integer primary key autoincrement,
  kind text not null, -- content: of message_contents; parsed, raw: of inbound_raws; coming: nobody's yet; gone: any more
  owner integer, -- their key, where somebody's
  unique (kind, owner)
) strict;

-- What follows upon the first part, which stands with the owner.
create table content_parts (
  content integer not null, -- large_contents
  part integer not null, -- from 1
  bytes blob not null,
  unique (content, part)
) strict;

create table deliveries (
  number integer primary key,
  id text not null unique,
  message_number integer not null references messages (number) on delete cascade,
  position integer not null,
  email text not null,
  address text not null, -- folded, for look-ups
  type text not null,
  destination text not null,
  status text not null,
  attempts integer not null,
  last_attempt_at integer,
  next_attempt_at integer,
  worker text, -- who holds the lease; next_attempt_at is then its end
  delivered_at integer,
  smtp_response text,
  bounce_type text,
  bounce_code text,
  mx_host text,
  tls text,
  opens integer not null default 0,
  clicks integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  unsubscribed_at integer, -- by a link of its own
  soft_bounce_told integer not null default 0
) strict;
create unique index deliveries_of_message on deliveries (message_number, position);
create index deliveries_by_address on deliveries (address, message_number);
create index deliveries_due on deliveries (destination, next_attempt_at) where next_attempt_at is not null;
create index deliveries_leased on deliveries (worker) where worker is not null;
create index deliveries_deferred on deliveries (next_attempt_at) where status = 'deferred' and worker is null;

create table attempts (
  delivery_number integer not null references deliveries (number) on delete cascade,
  number integer not null,
  started_at integer not null,
  duration_ms integer not null,
  outcome text not null,
  facts text not null, -- the rest of model/delivery.ts Attempt as JSON
  primary key (delivery_number, number)
) strict, without rowid;

-- What stays of deliveries that retention removed while their recipients may still ask to stop.
create table unsubscribables (
  delivery_id text primary key,
  organization_id text not null,
  domain_id text not null,
  message_id text not null,
  sender text not null,
  email text not null,
  sent_at integer not null,
  is_told integer not null default 0
) strict, without rowid;
create index unsubscribables_by_time on unsubscribables (sent_at);

-- What the world told of a delivery after it was over.
create table reports (
  number integer primary key,
  delivery_number integer not null references deliveries (number) on delete cascade,
  digest blob not null,
  kind text not null,
  received_at integer not null,
  reporter text,
  status text,
  diagnostic text,
  cause text, -- {"class","rule"}
  feedback_type text,
  unique (delivery_number, digest)
) strict;

create table events (
  number integer primary key autoincrement,
  id text not null unique,
  type text not null,
  organization_id text not null,
  domain_id text,
  message_id text,
  mode text not null,
  created_at integer not null,
  body text not null
) strict;
create index events_of_organization on events (organization_id, number);
create index events_seldom on events (organization_id, type, number)
  where type not in ('message.delivered', 'message.opened', 'message.clicked');
create index events_by_time on events (organization_id, created_at);
create index events_of_message on events (message_id, number) where message_id is not null;

-- Which types, modes and domains occur in each range of numbers (event-kinds.ts): some rows a thousand events.
create table event_kinds (
  organization_id text not null,
  range integer not null,
  type text not null,
  mode text not null,
  domain_id text not null, -- '' = none
  primary key (organization_id, range, type, mode, domain_id)
) strict, without rowid;

create table webhooks (
  id text primary key,
  organization_id text not null references organizations (id),
  url text not null,
  events text not null,
  format text not null,
  status text not null,
  description text,
  disabled_reason text,
  created_at integer not null,
  updated_at integer not null,
  last_success_at integer,
  last_failure_at integer,
  consecutive_failures integer not null default 0,
  failing_since integer,
  secret blob not null, -- sealed, both
  previous_secret blob,
  previous_expires_at integer
) strict, without rowid;
create index webhooks_of_organization on webhooks (organization_id, id);

create table webhook_deliveries (
  number integer primary key,
  id text not null unique,
  webhook_id text not null references webhooks (id) on delete cascade,
  event_number integer not null references events (number) on delete cascade,
  type text not null,
  status text not null,
  attempts integer not null,
  next_attempt_at integer,
  worker text,
  created_at integer not null
) strict;
create index webhook_deliveries_of_event on webhook_deliveries (event_number, webhook_id);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, number);
create index webhook_deliveries_by_type on webhook_deliveries (webhook_id, type, number);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, number) where status = 'failed';
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_leased on webhook_deliveries (worker) where worker is not null;

create table webhook_attempts (
  delivery_number integer not null references webhook_deliveries (number) on delete cascade,
  number integer not null,
  at integer not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  response_excerpt text,
  primary key (delivery_number, number)
) strict, without rowid;

create table inbound_routes (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  match_type text not null,
  match_value text,
  action text not null,
  config text not null,
  authentication text not null,
  enabled integer not null,
  priority integer not null,
  secret blob not null, -- sealed
  created_at integer not null
) strict, without rowid;
create index inbound_routes_of_organization on inbound_routes (organization_id, id);

-- One mail from the world, whatever number of routes took it. `parsed` comes first: every attempt reads it, few `raw`.
-- A number never comes again, because parts of its content may outlive it.
create table inbound_raws (
  number integer primary key autoincrement,
  parsed blob not null,
  raw blob not null
) strict;

-- Counts up in the order of commit, like messages.
create table inbound_messages (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text not null,
  domain_id text not null,
  route_id text not null, -- stays when the route goes
  action text not null,
  received_at integer not null,
  return_path text not null,
  sender text not null,
  recipients text not null, -- the envelope's, as JSON
  subject text not null,
  message_id_header text not null,
  size_bytes integer not null,
  sender_ip text not null,
  helo text not null,
  tls text,
  spf text not null,
  dkim text not null,
  dmarc text not null,
  arc text not null,
  parse_error text,
  forwarded_as text,
  raw_number integer references inbound_raws (number) on delete set null,
  delivery_status text -- of its newest delivery; null = none is owed
) strict;
create index inbound_messages_of_organization on inbound_messages (organization_id, number);
create index inbound_messages_of_domain on inbound_messages (domain_id, number);
create index inbound_messages_of_route on inbound_messages (route_id, number);
create index inbound_messages_by_status on inbound_messages (organization_id, delivery_status, number)
  where delivery_status is not null;
create index inbound_messages_of_raw on inbound_messages (raw_number);

create table inbound_addresses (
  organization_id text not null,
  field text not null, -- 'from' or 'to'
  address text not null, -- folded
  message_number integer not null references inbound_messages (number) on delete cascade,
  primary key (organization_id, field, address, message_number)
) strict, without rowid;
create index inbound_addresses_of_message on inbound_addresses (message_number);

create table inbound_deliveries (
  number integer primary key,
  id text not null unique,
  message_number integer not null references inbound_messages (number) on delete cascade,
  route_id text not null,
  status text not null,
  attempts integer not null,
  next_attempt_at integer,
  worker text,
  created_at integer not null
) strict;
create index inbound_deliveries_of_message on inbound_deliveries (message_number, number);
create index inbound_deliveries_due on inbound_deliveries (route_id, next_attempt_at) where next_attempt_at is not null;
create index inbound_deliveries_leased on inbound_deliveries (worker) where worker is not null;

create table inbound_attempts (
  delivery_number integer not null references inbound_deliveries (number) on delete cascade,
  number integer not null,
  at integer not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  response_excerpt text,
  primary key (delivery_number, number)
) strict, without rowid;

-- With row ids, because hashes come in no order: answers are appended, only the small index is written all over.
create table idempotency (
  organization_id text not null,
  key_hash blob not null,
  request_hash blob not null,
  status integer not null,
  body blob not null,
  created_at integer not null,
  unique (organization_id, key_hash)
) strict;
create index idempotency_by_age on idempotency (created_at);

-- Recipients accepted for live sending, per calendar month UTC.
create table volumes (
  organization_id text not null,
  month text not null,
  accepted integer not null,
  primary key (organization_id, month)
) strict, without rowid;

-- Counted with the events that tell of it. A row an hour and one a day (hour = 24) for each domain, and for each tag of
-- it (tag = '' counts everything). Time comes first, so that what is counted now lies on few pages.
create table stats (
  day integer not null, -- since 1970-01-01 UTC
  hour integer not null,
  organization_id text not null,
  tag text not null,
  mode text not null,
  domain_id text not null,
  accepted integer not null,
  delivered integer not null,
  deferred integer not null,
  hard_bounced integer not null,
  soft_bounced integer not null,
  late_bounced integer not null, -- of the bounced: had counted as delivered before
  opened integer not null,
  unique_opened integer not null,
  clicked integer not null,
  unique_clicked integer not null,
  machine_opened integer not null,
  machine_clicked integer not null,
  unsubscribed integer not null,
  complained integer not null,
  suppressed integer not null,
  primary key (day, hour, organization_id, tag, mode, domain_id)
) strict, without rowid;

-- What became of the live mail of a domain, in two widths of time, for as long as a window of quality may look back.
create table outcomes (
  width_ms integer not null,
  domain_id text not null,
  start integer not null,
  delivered integer not null,
  bounced integer not null,
  hard_bounced integer not null,
  late_bounced integer not null,
  complained integer not null,
  primary key (width_ms, domain_id, start)
) strict, without rowid;

create table quality_alerts (
  id text primary key,
  organization_id text not null,
  domain_id text not null, -- stays when the domain goes
  domain text not null,
  metric text not null,
  value real not null,
  threshold real not null,
  window_hours real not null,
  sent integer not null,
  affected integer not null,
  state text not null,
  triggered_at integer not null,
  resolved_at integer
) strict, without rowid;
create unique index quality_alerts_firing on quality_alerts (domain_id, metric) where state = 'firing';
create index quality_alerts_of_domain on quality_alerts (domain_id, id);

-- What mail domains ask of those who send to them (RFC 8461), as it was fetched.
create table mta_sts_policies (
  domain text primary key,
  policy_id text not null,
  policy text not null,
  expires_at integer not null,
  refresh_at integer not null,
  used_at integer not null
) strict, without rowid;
create index mta_sts_policies_due on mta_sts_policies (refresh_at);

-- TLS sessions with mail domains by UTC day, until they are reported (RFC 8460). '' is nothing.
create table tls_sessions (
  day integer not null,
  domain text not null,
  policy text not null,
  host text not null,
  address text not null,
  source text not null,
  failure text not null,
  sessions integer not null,
  primary key (day, domain, policy, host, address, source, failure)
) strict, without rowid;

-- Who managed what, in the order of commit. An entry is in the transaction of the change that it tells of.
create table audit_log (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text, -- null = the whole installation
  at integer not null,
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
) strict;
create index audit_log_of_organization on audit_log (organization_id, number);
create index audit_log_of_actor on audit_log (organization_id, actor_id, number);
create index audit_log_of_resource on audit_log (organization_id, resource_id, number);
create index audit_log_by_time on audit_log (at);

-- Written to find out whether anything can be written.
create table heartbeat (
  one integer primary key check (one = 1),
  beats integer not null
) strict;
insert into heartbeat (one, beats) values (1, 0);

create table secrets (
  name text primary key,
  value blob not null -- sealed
) strict, without rowid;

-- Something sealed with the key of this data directory, by which the key is known again.
create table seal (
  one integer primary key check (one = 1),
  proof blob not null
) strict;

-- Words of subject and addresses, each with the code of its range of numbers before it (search.ts); filled behind the
-- accept path, `message_search_state` says how far.
create virtual table message_search using fts5 (
  words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
-- Merging by itself would take a second at once; search.ts and retention merge in small steps. What was deleted is stepped
-- over without a stop, so it must not become more than a hundredth of a segment before it is merged away.
insert into message_search (message_search, rank) values ('automerge', 0), ('crisismerge', 1000), ('deletemerge', 1);
create table message_search_state (
  one integer primary key check (one = 1),
  indexed_number integer not null
) strict;
insert into message_search_state (one, indexed_number) values (1, 0);

-- Which installation this is; a backup says it, and a restored one stays the same.
create table instance (
  one integer primary key check (one = 1),
  id text not null
) strict;
insert into instance (one, id) values (1, lower(hex(randomblob(8))));

-- What waited when the backup was made that this database was restored from, taken off its queue until the operator says
-- what becomes of it, since it may have been sent after that (held.ts). Beside the queues, so that claims do not know of it.
create table held_deliveries (
  number integer primary key references deliveries (number) on delete cascade,
  due_at integer not null
) strict;
create table held_webhook_deliveries (
  number integer primary key references webhook_deliveries (number) on delete cascade,
  due_at integer not null
) strict;
create table held_inbound_deliveries (
  number integer primary key references inbound_deliveries (number) on delete cascade,
  due_at integer not null
) strict;

create table restored (
  one integer primary key check (one = 1),
  restored_at integer not null,
  made_at integer not null -- of the backup
) strict;
