-- What only SQLite has, behind schema.sql: tables of mail, and rows. Times are ms UTC.

-- The installation

-- Which installation this is; a backup names it, and a restored one stays the same.
create table instance (
  one integer primary key check (one = 1),
  id text not null
) strict;
insert into instance (one, id) values (1, lower(hex(randomblob(8))));

-- Written to find out whether anything can be written.
create table heartbeat (
  one integer primary key check (one = 1),
  beats integer not null
) strict;
insert into heartbeat (one, beats) values (1, 0);

-- Organizations, users and keys

insert into users (id, name, operator, created_at)
  values ('usr_00000000000000000000000000', 'Operator', 1, cast(strftime('%s', 'now') as integer) * 1000);

-- What an organization has used of the limits of its plan that are not counted from records: by month, by day, or in
-- all (period ''). Written in the transactions of what they count.
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  used integer not null,
  primary key (organization_id, name, period)
) strict, without rowid;
create index usage_by_period on usage (name, period) where period <> '';

-- A recount of all stored bytes, source by source, in small steps. While it has rows, changes to what was counted
-- already, and to what came after the count began, go into a second counter, which then replaces the first
-- (stored-bytes.ts).
create table storage_count (
  source text primary key,
  counted_to integer not null, -- up to this number, inclusive
  ends_at integer not null -- the highest number when the count began
) strict, without rowid;

-- Recipients accepted for live sending, per calendar month UTC.
create table volumes (
  organization_id text not null,
  month text not null,
  accepted integer not null,
  primary key (organization_id, month)
) strict, without rowid;

-- Recipients

-- Suppressed addresses by the beginning of their domain; those by their own are in suppressions_by_address.
create index suppressions_by_host on suppressions (organization_id, substr(email, instr(email, '@') + 1));

-- Mail

-- `number` counts up in the order of commit: lists and the event feed walk it. It is never shown.
create table messages (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text not null,
  domain_id text not null,
  key_id text,
  mode text not null,
  source text not null,
  stream text not null default 'transactional',
  status text not null,
  sender text not null,
  sender_address text not null, -- folded
  recipients text not null, -- {"to","cc","bcc","reply_to"} as submitted
  subject text not null,
  tags text not null, -- JSON
  metadata text not null, -- JSON
  template_id text,
  size_bytes integer not null,
  message_id_header text not null,
  created_at integer not null,
  scheduled_at integer,
  expires_at integer,
  require_tls integer not null,
  unsubscribe integer not null,
  track_opens integer not null,
  track_clicks integer not null,
  stored_bytes integer not null -- what it counts in usage
) strict;
create index messages_of_organization on messages (organization_id, number);
create index messages_by_status on messages (organization_id, status, number);
create index messages_expiring on messages (expires_at)
  where expires_at is not null and status in ('scheduled', 'queued', 'deferred');

-- Triggers, because a message leaves the state at many places. It enters it at one, when it is accepted
-- (add-message.ts), where a trigger would cost three microseconds for every message.
create trigger messages_scheduled_changed after update of status on messages
  when (old.status = 'scheduled') <> (new.status = 'scheduled') begin
  insert into usage (organization_id, name, period, used)
    values (new.organization_id, 'scheduled_messages', '', (new.status = 'scheduled') - (old.status = 'scheduled'))
    on conflict do update set used = used + excluded.used;
end;
create trigger messages_scheduled_removed after delete on messages when old.status = 'scheduled' begin
  update usage set used = used - 1
    where organization_id = old.organization_id and name = 'scheduled_messages' and period = '';
end;

create table message_tags (
  organization_id text not null,
  tag text not null,
  message_number integer not null,
  primary key (organization_id, tag, message_number)
) strict, without rowid;

-- Packed (mail/content.ts).
create table message_contents (
  message_number integer primary key references messages (number) on delete cascade,
  content blob not null
) strict;

-- Contents longer than a part. Writing or removing one at once would take long (large-contents.ts, content-removal.ts).
create table large_contents (
  number integer primary key autoincrement,
  -- content: of message_contents; parsed, raw: of inbound_raws; coming: has no owner yet; gone: has none any more
  kind text not null,
  owner integer, -- key of the owner, if any
  unique (kind, owner)
) strict;

-- The parts after the first one, which the owner has.
create table content_parts (
  content integer not null, -- large_contents
  part integer not null, -- from 1
  bytes blob not null,
  unique (content, part)
) strict;

-- Contents that were removed before retention removes their message.
create table removed_contents (
  message_number integer primary key references messages (number) on delete cascade,
  removed_at integer not null,
  reason text not null -- request, erasure, stream
) strict;

-- Messages whose stream removes their content some time after the last delivery ended. `due_at`: when to look next.
create table content_redactions (
  message_number integer primary key references messages (number) on delete cascade,
  after_ms integer not null,
  due_at integer not null
) strict;
create index content_redactions_due on content_redactions (due_at);

-- Messages that were removed or changed; their words leave the search index, a file of its own, later (search.ts).
create table search_outdated (
  number integer primary key
) strict;

-- Deliveries

create table deliveries (
  number integer primary key,
  id text not null unique,
  message_number integer not null references messages (number) on delete cascade,
  position integer not null,
  email text not null,
  address text not null, -- folded
  type text not null,
  queue text not null, -- destination and organization (model/delivery.ts, queueOf)
  status text not null,
  attempts integer not null,
  last_attempt_at integer,
  next_attempt_at integer,
  worker text, -- that holds the lease; next_attempt_at is then its end
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
create index deliveries_due on deliveries (queue, next_attempt_at) where next_attempt_at is not null;
create index deliveries_leased on deliveries (worker) where worker is not null;

-- Deliveries that waited when the backup was made that this database was restored from. They are off their queue until
-- the operator decides, because they may have been sent since (held.ts). In tables beside the queues, so that claims do
-- not read them.
create table held_deliveries (
  number integer primary key references deliveries (number) on delete cascade,
  due_at integer not null
) strict;

create table attempts (
  delivery_number integer not null references deliveries (number) on delete cascade,
  number integer not null,
  started_at integer not null,
  duration_ms integer not null,
  outcome text not null,
  facts text not null, -- the rest of model/delivery.ts Attempt as JSON
  primary key (delivery_number, number)
) strict, without rowid;

-- Late reports about deliveries.
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

-- Events and webhooks

create table events (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text not null,
  domain_id text,
  message_id text,
  type text not null,
  mode text not null,
  created_at integer not null,
  body text not null
) strict;
create index events_of_organization on events (organization_id, number);
create index events_seldom on events (organization_id, type, number)
  where type not in ('message.delivered', 'message.opened', 'message.clicked');
create index events_by_time on events (organization_id, created_at);
create index events_of_message on events (message_id, number) where message_id is not null;

-- Which types, modes and domains occur in each range of numbers (event-kinds.ts): some rows for a thousand events.
create table event_kinds (
  organization_id text not null,
  range integer not null,
  type text not null,
  mode text not null,
  domain_id text not null, -- '' = none
  primary key (organization_id, range, type, mode, domain_id)
) strict, without rowid;

-- Events whose webhook deliveries are still to be written, since they are too many for one transaction (fan-out.ts).
-- `target_set`: the webhooks that were subscribed when the event was written, `next`: the place in it where writing
-- continues.
create table fan_out_targets (
  number integer primary key,
  organization_id text not null,
  targets text not null -- [{"id","events"}] in the order of writing
) strict;
create index fan_out_targets_of_organization on fan_out_targets (organization_id);

create table fan_outs (
  event_number integer primary key references events (number) on delete cascade,
  organization_id text not null,
  target_set integer not null, -- fan_out_targets
  next integer not null
) strict;
create index fan_outs_of_organization on fan_outs (organization_id, event_number);

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
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at)
  where next_attempt_at is not null;
create index webhook_deliveries_leased on webhook_deliveries (worker) where worker is not null;

create table held_webhook_deliveries (
  number integer primary key references webhook_deliveries (number) on delete cascade,
  due_at integer not null
) strict;

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

-- Inbound mail

-- A mail, whatever number of routes matched it, packed (mail/inbound-content.ts). `parsed` comes first: every attempt
-- reads it, few read `raw`. A number never comes again, because parts of its content may outlive it.
create table inbound_raws (
  number integer primary key autoincrement,
  parsed blob not null,
  raw blob not null
) strict;

-- `number` counts up in the order of commit, as in messages.
create table inbound_messages (
  number integer primary key autoincrement,
  id text not null unique,
  organization_id text not null,
  domain_id text not null,
  route_id text not null, -- stays when the route is removed
  action text not null,
  received_at integer not null,
  return_path text not null,
  sender text not null,
  recipients text not null, -- of the envelope, JSON
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
  not_forwarded text, -- [{"email","reason"}]: targets that the mail was not forwarded to, JSON; null = none
  raw_number integer references inbound_raws (number) on delete set null,
  delivery_status text -- of its newest delivery; null = none
) strict;
create index inbound_messages_of_organization on inbound_messages (organization_id, number);
create index inbound_messages_of_domain on inbound_messages (domain_id, number);
create index inbound_messages_of_route on inbound_messages (route_id, number);
create index inbound_messages_by_status on inbound_messages (organization_id, delivery_status, number)
  where delivery_status is not null;
create index inbound_messages_of_raw on inbound_messages (raw_number);

create table inbound_addresses (
  organization_id text not null,
  field text not null, -- from, to
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

create table held_inbound_deliveries (
  number integer primary key references inbound_deliveries (number) on delete cascade,
  due_at integer not null
) strict;

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

-- Statistics

-- Counters of mail: a row for each hour, and one for each day (hour = 24), of a domain, and of each of its tags
-- (tag = '' counts everything). Written with the events that report what they count. The time comes first in the key,
-- so that what is counted now is on few pages.
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

-- Outcomes of the live mail of a domain, in two widths of time (storage/outcome-widths.ts).
create table quality_counts (
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
