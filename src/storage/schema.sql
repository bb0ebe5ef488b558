-- The tables of which both databases have the same columns, in PostgreSQL's words and in the order of a message's life.
-- SQLite's are derived from them (sqlite/translate-schema.ts). Other tables, and columns that only one database has, are
-- in sqlite/tables.sql and postgres/tables.sql. Times are ms UTC. IDs sort by their bytes, whatever the collation of the
-- database.

-- The installation

-- The backup that this database was restored from, if any.
create table restored (
  one int primary key check (one = 1),
  restored_at bigint not null,
  made_at bigint not null -- of the backup
);

-- Something encrypted with the installation's key, to recognise the key.
create table seal (
  one int primary key check (one = 1),
  proof bytea not null
);

create table secrets (
  name text primary key,
  value bytea not null -- encrypted
);

-- Organizations, users and keys

create table organizations (
  id text collate "C" primary key,
  name text not null unique,
  plan text not null,
  created_at bigint not null
);

-- People who sign in.
create table users (
  id text collate "C" primary key,
  email text unique, -- folded; null = not set yet
  name text not null,
  operator boolean not null,
  password_hash text, -- argon2id
  created_at bigint not null,
  -- When the mailbox, the console of the server, or a single sign-on provider proved that the address is the user's.
  -- Until then, the account has only the role in the organization that invited it.
  email_verified_at bigint,
  invited_to text, -- organization ID
  cleared_at bigint, -- when everything to sign in with ended, because somebody else may have added it
  disabled_at bigint,
  last_seen_at bigint
);
create index users_operators on users (id) where operator;
create index users_unverified on users (id) where email_verified_at is null;
create index users_cleared on users (cleared_at) where cleared_at is not null;

create table user_roles (
  user_id text collate "C" not null,
  organization_id text collate "C" not null,
  role text not null, -- owner, admin, developer, support, viewer
  primary key (user_id, organization_id)
);
create index user_roles_of_organization on user_roles (organization_id, user_id);

-- Who may join an organization by a link that works once. Of every token here and below only the SHA-256 is stored.
create table invitations (
  id text collate "C" primary key,
  token_hash bytea not null unique, -- of the link that was shown to whoever invited
  mailed_hash bytea, -- of the link that was sent to the address
  organization_id text collate "C" not null,
  email text not null,
  role text not null,
  invited_by text not null, -- ID of a user or key
  created_at bigint not null,
  expires_at bigint not null
);
create unique index invitations_of_organization on invitations (organization_id, email);
create unique index invitations_by_mail on invitations (mailed_hash);
create index invitations_by_end on invitations (expires_at);

create table password_resets (
  token_hash bytea primary key,
  user_id text collate "C" not null,
  is_proof boolean not null, -- a use proves the address: the link was sent there, or made at the console
  created_at bigint not null,
  expires_at bigint not null
);
create index password_resets_of_user on password_resets (user_id);
create index password_resets_by_end on password_resets (expires_at);

create table login_links (
  token_hash bytea primary key,
  user_id text collate "C" not null, -- the operator that signs in with the link
  created_at bigint not null,
  expires_at bigint not null
);
create index login_links_by_end on login_links (expires_at);

create table sessions (
  id text collate "C" primary key,
  token_hash bytea not null unique,
  user_id text collate "C" not null,
  created_at bigint not null,
  last_seen_at bigint not null,
  ends_at bigint not null,
  ip_address text,
  user_agent text not null
);
create index sessions_of_user on sessions (user_id, id);
create index sessions_by_end on sessions (ends_at);

-- Two-step sign-in by codes of an app (RFC 6238).
create table totp (
  user_id text collate "C" primary key,
  secret bytea not null, -- encrypted
  last_step bigint not null, -- the newest time step that was accepted
  created_at bigint not null,
  enabled_at bigint -- null = waits for its first code
);

create table recovery_codes (
  user_id text collate "C" not null,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

create table passkeys (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  credential_id text collate "C" not null unique, -- base64url
  public_key bytea not null, -- COSE
  counter bigint not null,
  transports text not null, -- JSON
  name text not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_of_user on passkeys (user_id, id);

-- Steps of a sign-in or a set-up that wait for an answer, once.
create table sign_in_challenges (
  token_hash bytea primary key,
  kind text not null, -- code, passkey, new_passkey
  user_id text collate "C" not null, -- '' = any
  tries int not null,
  expires_at bigint not null
);
create index sign_in_challenges_of_user on sign_in_challenges (user_id);
create index sign_in_challenges_by_end on sign_in_challenges (expires_at);

-- Accounts of an OpenID Connect provider that sign in as a user.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null,
  created_at bigint not null,
  primary key (issuer, subject)
);
create index user_identities_of_user on user_identities (user_id);

-- Sign-ins that were sent to the provider and have not returned. Both are SHA-256: of the parameter `state`, and of the
-- cookie of the browser.
create table sign_on_requests (
  state_hash bytea primary key,
  browser_hash bytea not null,
  expires_at bigint not null
);
create index sign_on_requests_by_end on sign_on_requests (expires_at);

create table api_keys (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  domain_id text not null,
  name text not null,
  mode text not null,
  permissions text not null, -- JSON
  allowed_networks text, -- JSON; null = from anywhere
  prefix text not null,
  secret_hash bytea not null unique,
  created_at bigint not null,
  -- The user that created the key, which has no more rights than the user. Null = the operator at the command line, or
  -- another key.
  created_by text,
  maker_role text, -- the last role of that user, once removed, which still limits the key
  last_used_at bigint,
  expires_at bigint,
  revoked_at bigint,
  rotated_to text
);
create index api_keys_of_organization on api_keys (organization_id, id);
create index api_keys_of_domain on api_keys (domain_id);
create index api_keys_by_maker on api_keys (created_by) where created_by is not null;

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

-- What an organization has used of the limits of its plan that are not counted from records: by month, by day, or in
-- all (period ''). Written in the transactions of what they count. A row for each writer, so that they
-- do not wait for each other; their sum counts. Writers are connections of PostgreSQL, in `lanes`: 0 has the sums of those
-- that have ended (ended-nodes.ts). In SQLite it is always 0.
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  writer int not null,
  used bigint not null,
  primary key (organization_id, name, period, writer)
);
create index usage_by_period on usage (name, period) where period <> '';

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

-- Domains and templates

-- Several organizations may claim a name; the first to prove it owns it.
create table domains (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  name text not null,
  status text not null,
  reason text, -- of `failed`: mismatch, proof_lost, claimed
  created_at bigint not null,
  verified_at bigint,
  proved_by text, -- dkim, txt; null while nothing proves the name
  missing_since bigint, -- since when DNS lacks the proof
  last_checked_at bigint,
  next_check_at bigint, -- null = only on request
  -- Keys in a zone of dns.provider_zones: when the provider may be asked again, and why it failed.
  publish_at bigint,
  publish_fault text,
  findings text not null, -- JSON
  return_path_host text not null,
  tracking_host text,
  track_opens boolean not null,
  track_clicks boolean not null,
  track_unsubscribe boolean not null
);
create unique index domains_of_organization_by_name on domains (organization_id, name);
create unique index domains_owned on domains (name) where status = 'verified';
create index domains_by_name on domains (name, id);
create index domains_of_organization on domains (organization_id, id);
create index domains_by_return_path_host on domains (return_path_host, id);
create index domains_by_tracking_host on domains (tracking_host) where tracking_host is not null;
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_in_trouble on domains (missing_since) where missing_since is not null;
create index domains_not_published on domains (publish_fault) where publish_fault is not null;

create table dkim_keys (
  domain_id text not null references domains (id) on delete cascade,
  selector text not null,
  algorithm text not null,
  state text not null,
  -- Since when the key signs or retires. If pending: since when every server that was asked shows it, null before.
  state_since bigint,
  public_key text not null,
  private_key bytea not null, -- PEM, encrypted
  created_at bigint not null,
  primary key (domain_id, selector)
);
-- New keys that wait for DNS, for metrics and health checks.
create index dkim_keys_pending on dkim_keys (created_at, domain_id) where state = 'pending';

-- Where clicks are not redirected to: a host with all below it, or a URL with all that begins with it.
create table blocked_links (
  id text collate "C" primary key,
  kind text not null, -- host, url
  value text not null unique,
  reason text not null,
  created_at bigint not null
);

create table templates (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  mode text not null,
  kind text not null default 'message',
  alias text,
  name text not null,
  version int not null, -- the current one
  uses text not null default '[]', -- aliases of the layout and the partials of the current version, JSON
  sample text not null default '{}', -- values of the variables for previews and checks, JSON
  created_at bigint not null,
  updated_at bigint not null
);
create unique index templates_by_alias on templates (organization_id, alias, mode) where alias is not null;
create index templates_of_organization on templates (organization_id, id);

-- All versions with the current one. Lists read what is before the texts, which are long.
create table template_versions (
  template_id text not null references templates (id) on delete cascade,
  version int not null,
  created_at bigint not null,
  subject text,
  variables text not null, -- JSON
  html text,
  text text,
  extra text, -- MJML, layout, partials and other languages, JSON; null = none of them
  primary key (template_id, version)
);

-- Recipients and sending addresses

create table suppressions (
  id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null, -- '' = the whole organization
  mode text not null,
  stream text not null default '', -- '' = every stream
  email text not null,
  reason text not null,
  message_id text,
  created_at bigint not null,
  evidence text
);
-- A complaint about a stream also counts for others, so it is kept beside an unsubscription from the same stream.
create unique index suppressions_by_address on suppressions
  (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint'));
create index suppressions_of_organization on suppressions (organization_id, id);
create index suppressions_by_reason on suppressions (organization_id, reason, id);
create index suppressions_by_stream on suppressions (organization_id, stream, id) where stream <> '';

-- Sending addresses that belong to one organization each. An address that its organization loses keeps sending what was
-- accepted before `leaving_since`.
create table dedicated_addresses (
  address text primary key,
  organization_id text not null,
  assigned_at bigint not null,
  leaving_since bigint
);
create index dedicated_addresses_of_organization on dedicated_addresses (organization_id);

-- Attempts from each sending address, by hour (hours since 1970), for two days.
create table address_hours (
  hour bigint not null,
  address text collate "C" not null,
  attempts bigint not null,
  delivered bigint not null,
  primary key (hour, address)
);

-- What each destination group got from a sending address in warm-up, by day (days since 1970, UTC).
create table warmup_days (
  address text not null,
  destination_group text not null,
  day bigint not null,
  sent bigint not null default 0,
  delivered bigint not null default 0,
  deferred bigint not null default 0,
  blocked bigint not null default 0,
  complaints bigint not null default 0,
  primary key (address, day, destination_group)
);

-- Sending addresses that a destination blocks: until when mail to it prefers other addresses.
create table address_rests (
  address text collate "C" not null,
  destination text collate "C" not null,
  rule text not null,
  times int not null,
  since bigint not null,
  until bigint not null,
  primary key (address, destination)
);
create index address_rests_until on address_rests (until);

-- Mail. Rows have their numbers before they are written, so that none waits for its parent's: those of SQLite count up in
-- the order of commit, those of PostgreSQL come from one sequence. The tables have no references to each other: each would
-- cost a look-up for every row. Whatever removes rows removes those that belong to them first (mail/remove-messages.ts).

create table messages (
  number bigint primary key,
  id text collate "C" not null unique,
  organization_id text not null,
  domain_id text not null,
  key_id text,
  mode text not null,
  source text not null,
  stream text not null default 'transactional',
  status text not null, -- of its deliveries: model/message.ts messageStatus
  sender text not null,
  sender_address text not null, -- folded
  recipients text not null, -- [to, cc, bcc, reply_to] as submitted, and the route of answers if there is one, JSON
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
  stored_bytes bigint not null -- what it counts in usage
);
create index messages_of_organization on messages (organization_id, number);
create index messages_by_status on messages (organization_id, status, number);
-- The Message-ID of other messages follows from their IDs. Forwarded mail may have one of any length, which no index of
-- PostgreSQL takes.
create index messages_by_header on messages (organization_id, message_id_header, domain_id)
  where source = 'smtp' and mode = 'live' and key_id is not null and octet_length(message_id_header) <= 998;
create index messages_expiring on messages (expires_at)
  where expires_at is not null and status in ('scheduled', 'queued', 'deferred');

create table message_tags (
  organization_id text not null,
  tag text not null,
  message_number bigint not null,
  primary key (organization_id, tag, message_number)
);

-- Packed (mail/content.ts).
create table message_contents (
  message_number bigint primary key,
  content bytea not null -- the first part; content_parts has the others
);

-- Contents longer than a part, whose further parts are written before the row that they belong to (large-contents.ts).
create table large_contents (
  number bigint primary key,
  -- content: of message_contents; parsed, raw: of inbound_raws; coming: has no owner yet; gone: has none any more
  kind text not null,
  owner bigint, -- key of the owner, if any
  writer int not null default 0, -- as in usage: writes it, while it is coming
  unique (kind, owner)
);

create table content_parts (
  content bigint not null, -- large_contents
  part int not null, -- from 1
  bytes bytea not null,
  primary key (content, part)
);

-- Contents that were removed before retention removes their message.
create table removed_contents (
  message_number bigint primary key,
  removed_at bigint not null,
  reason text not null -- request, erasure, stream
);

-- Messages whose stream removes their content some time after the last delivery ended. `due_at`: when to look next.
create table content_redactions (
  message_number bigint primary key,
  after_ms bigint not null,
  due_at bigint not null
);
create index content_redactions_due on content_redactions (due_at);

-- Deliveries

create table deliveries (
  number bigint primary key,
  id text collate "C" not null unique,
  message_number bigint not null,
  position int not null,
  email text not null,
  address text not null, -- folded
  type text not null,
  queue text collate "C" not null, -- destination and organization (model/delivery.ts, queueOf)
  status text not null,
  attempts int not null,
  last_attempt_at bigint,
  next_attempt_at bigint, -- null: final
  worker text, -- holds the lease
  delivered_at bigint,
  smtp_response text,
  bounce_type text,
  bounce_code text,
  mx_host text,
  tls text,
  opens int not null default 0,
  clicks int not null default 0,
  machine_opens int not null default 0,
  machine_clicks int not null default 0,
  unsubscribed_at bigint, -- by a link of its own
  soft_bounce_told int not null default 0
);
create unique index deliveries_of_message on deliveries (message_number, position);
create index deliveries_by_address on deliveries (address, message_number);
-- A lease does not change what this index has, so that PostgreSQL writes no index entry for it.
create index deliveries_due on deliveries (queue, next_attempt_at) where next_attempt_at is not null;

-- What each claim leased, until nothing of it is leased any more: so the leases of a worker that ended are found. An index
-- of leased rows would make PostgreSQL write an entry of every index for every lease.
create table claims (
  number bigint primary key,
  queue text collate "C" not null, -- deliveries, webhook_deliveries, inbound_deliveries
  worker text not null,
  writer int not null, -- as in usage: made it
  numbers text not null -- of its rows, JSON
);

-- Deliveries that waited when the backup was made that this database was restored from. They are off their queue until
-- the operator decides, because they may have been sent since (mail/held.ts). In tables beside the
-- queues, so that claims do not read them.
create table held_deliveries (
  number bigint primary key,
  due_at bigint not null
);

create table attempts (
  delivery_number bigint not null,
  number int not null,
  started_at bigint not null,
  duration_ms bigint not null,
  outcome text not null,
  facts text not null, -- the rest of model/delivery.ts Attempt as JSON
  primary key (delivery_number, number)
);

-- Late reports about deliveries.
create table reports (
  number bigint primary key,
  delivery_number bigint not null,
  digest bytea not null,
  kind text not null,
  received_at bigint not null,
  reporter text,
  status text,
  diagnostic text,
  cause text, -- {"class","rule"}
  feedback_type text,
  unique (delivery_number, digest)
);

-- The latest attempt of a delivery that began as fail-over through a relay, recorded before it is made.
create table relay_attempts (
  delivery_id text primary key,
  attempt int not null,
  relay text not null,
  begun_at bigint not null
);
create index relay_attempts_by_age on relay_attempts (begun_at);

-- Attempts through relays per calendar month (UTC).
create table relay_counts (
  relay text not null,
  month text not null, -- 2026-11
  sent bigint not null,
  failed bigint not null,
  failed_at bigint,
  error text,
  primary key (month, relay)
);

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

-- What remains of deliveries that retention removed while their recipients may still unsubscribe.
create table unsubscribables (
  delivery_id text collate "C" primary key,
  organization_id text not null,
  domain_id text not null,
  message_id text not null,
  stream text,
  sender text not null,
  email text not null,
  sent_at bigint not null,
  is_reported boolean not null default false
);
create index unsubscribables_by_time on unsubscribables (sent_at);

-- Events and webhooks

create table webhooks (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  domain_id text, -- null = events of every domain of the organization
  mode text not null,
  url text not null,
  events text not null, -- JSON
  format text not null,
  header_names text, -- additional headers of its requests: their names, JSON
  headers bytea, -- the same with their values, encrypted
  description text,
  secret bytea not null, -- both encrypted
  previous_secret bytea,
  previous_expires_at bigint,
  status text not null,
  disabled_reason text,
  created_at bigint not null,
  updated_at bigint not null,
  last_success_at bigint,
  last_failure_at bigint,
  consecutive_failures int not null default 0,
  failing_since bigint,
  removing boolean not null default false -- stays until the last of its deliveries is deleted, in steps
);
create index webhooks_of_organization on webhooks (organization_id, id);
create index webhooks_paused_by_server on webhooks (organization_id)
  where status = 'paused' and disabled_reason is not null;

create table events (
  number bigint primary key,
  id text collate "C" not null unique,
  organization_id text not null,
  domain_id text,
  message_id text collate "C",
  kind bigint not null, -- event_kinds
  type text not null,
  mode text not null,
  created_at bigint not null,
  body text not null
);

-- Types, modes and domains that occur together in events of an organization, each with a number (mail/event-kinds.ts). An
-- index of it costs PostgreSQL 80 bytes of WAL an event; one of organization and type alone would cost 200.
create table event_kinds (
  organization_id text not null,
  kind bigint not null,
  type text not null,
  mode text not null,
  domain_id text not null, -- '' = none
  primary key (organization_id, kind)
);

-- Events whose webhook deliveries are still to be written, since they are too many for one transaction (fan-out.ts).
-- `target_set`: the webhooks that were subscribed when the event was written, `next`: the place in it where writing
-- continues.
create table fan_out_targets (
  number bigint primary key,
  organization_id text not null,
  targets text not null -- fan-out-targets.ts Target[] in the order of writing
);
create index fan_out_targets_of_organization on fan_out_targets (organization_id);

create table fan_outs (
  event_number bigint primary key,
  organization_id text not null,
  target_set bigint not null, -- fan_out_targets
  next int not null
);
create index fan_outs_of_organization on fan_outs (organization_id, event_number);

create table webhook_deliveries (
  number bigint primary key,
  id text collate "C" not null unique,
  webhook_id text collate "C" not null,
  event_number bigint not null,
  type text not null,
  status text not null,
  attempts int not null,
  next_attempt_at bigint,
  worker text,
  created_at bigint not null
);
create index webhook_deliveries_of_event on webhook_deliveries (event_number, webhook_id);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, number);
create index webhook_deliveries_by_type on webhook_deliveries (webhook_id, type, number);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, number) where status = 'failed';
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null;

create table held_webhook_deliveries (
  number bigint primary key,
  due_at bigint not null
);

create table webhook_attempts (
  delivery_number bigint not null,
  number int not null,
  at bigint not null,
  duration_ms bigint not null,
  status_code int,
  error text,
  response_excerpt text,
  primary key (delivery_number, number)
);

-- Inbound mail

create table inbound_routes (
  id text collate "C" primary key,
  organization_id text not null references organizations (id),
  name text not null,
  match_type text not null,
  match_value text,
  action text not null,
  config text not null, -- JSON
  header_names text, -- additional headers of its requests: their names, JSON
  headers bytea, -- the same with their values, encrypted
  secret bytea not null, -- encrypted
  authentication text not null,
  enabled boolean not null,
  priority int not null,
  created_at bigint not null,
  removing boolean not null default false -- as in webhooks
);
create index inbound_routes_of_organization on inbound_routes (organization_id, id);

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

-- A mail, whatever number of routes matched it, packed (mail/inbound-content.ts). `parsed` comes first: every attempt
-- reads it, few read `raw`. A number never comes again, because parts of its content may outlive it.
create table inbound_raws (
  number bigint primary key,
  parsed bytea not null,
  raw bytea not null
);

create table inbound_messages (
  number bigint primary key,
  id text collate "C" not null unique,
  organization_id text not null,
  domain_id text not null,
  route_id text collate "C" not null, -- stays when the route goes
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
  in_reply_to text collate "C", -- ID of a delivery; stays when it goes
  auto_submitted boolean not null,
  raw_number bigint, -- null: removed
  delivery_status text -- of its newest delivery; null = none
);
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
  message_number bigint not null,
  primary key (organization_id, field, address, message_number)
);
create index inbound_addresses_of_message on inbound_addresses (message_number);

create table inbound_deliveries (
  number bigint primary key,
  id text collate "C" not null unique,
  message_number bigint not null,
  route_id text collate "C" not null,
  status text not null,
  attempts int not null,
  next_attempt_at bigint,
  worker text,
  created_at bigint not null
);
create index inbound_deliveries_of_message on inbound_deliveries (message_number, number);
create index inbound_deliveries_due on inbound_deliveries (route_id, next_attempt_at) where next_attempt_at is not null;

create table held_inbound_deliveries (
  number bigint primary key,
  due_at bigint not null
);

create table inbound_attempts (
  delivery_number bigint not null,
  number int not null,
  at bigint not null,
  duration_ms bigint not null,
  status_code int,
  error text,
  response_excerpt text,
  primary key (delivery_number, number)
);

-- Reports received about domains: DMARC aggregate reports and TLS reports. A report counts once.
create table policy_reports (
  domain_id text collate "C" not null,
  kind text collate "C" not null, -- dmarc, tls
  reporter text collate "C" not null, -- domain that authenticated the mail
  report_id text collate "C" not null,
  organization_id text collate "C" not null,
  received_at bigint not null,
  received_day bigint not null, -- start of the UTC day
  messages bigint not null, -- sessions of a TLS report
  primary key (domain_id, kind, reporter, report_id)
);
create index policy_reports_by_day on policy_reports (domain_id, received_day, reporter);
create index policy_reports_by_age on policy_reports (organization_id, received_at);

-- Messages from an address, as reporters counted them.
create table dmarc_sources (
  domain_id text collate "C" not null,
  day bigint not null, -- start of the UTC day in which the report begins
  source_ip text collate "C" not null, -- '' = the sources beyond the limit together
  reporter text collate "C" not null,
  organization_id text collate "C" not null,
  messages bigint not null,
  spf_aligned bigint not null,
  dkim_aligned bigint not null,
  passed bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  begins_at bigint not null,
  ends_at bigint not null,
  primary key (domain_id, day, source_ip, reporter)
);
create index dmarc_sources_by_age on dmarc_sources (organization_id, day);

-- TLS sessions of other servers with the hosts of a domain, as reporters counted them.
create table tls_results (
  domain_id text collate "C" not null,
  day bigint not null,
  reporter text collate "C" not null,
  policy text collate "C" not null,
  result text collate "C" not null, -- '' = successful
  host text collate "C" not null,
  organization_id text collate "C" not null,
  sessions bigint not null,
  begins_at bigint not null,
  ends_at bigint not null,
  primary key (domain_id, day, reporter, policy, result, host)
);
create index tls_results_by_age on tls_results (organization_id, day);

-- Statistics

-- Counters of mail: a row for each hour, and one for each day (hour = 24), of a domain, and of each of its tags
-- (tag = '' counts everything). By writer, as in usage. Written with the events that report what they count. The time
-- comes first in the key, so that what is counted now is on few pages.
create table stats (
  day int not null, -- since 1970-01-01 UTC
  hour int not null,
  organization_id text not null,
  tag text not null,
  mode text not null,
  domain_id text not null,
  writer int not null,
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
  replied bigint not null,
  primary key (day, hour, organization_id, tag, mode, domain_id, writer)
);

-- Outcomes of the live mail of a domain, in two widths of time (storage/outcome-widths.ts).
create table quality_counts (
  width_ms int not null,
  domain_id text collate "C" not null,
  start bigint not null,
  writer int not null,
  delivered bigint not null,
  bounced bigint not null,
  hard_bounced bigint not null,
  late_bounced bigint not null,
  complained bigint not null,
  primary key (width_ms, domain_id, start, writer)
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

-- The end: erasure of a recipient's data

-- Recipients whose data is or was erased. A row stays, so that the organization's suppressions are also compared by
-- hash.
create table erasures (
  id text collate "C" primary key,
  organization_id text not null,
  address_hash text not null,
  address bytea, -- encrypted; null once finished
  created_at bigint not null,
  finished_at bigint,
  step int not null,
  after text not null, -- where the step continues
  is_waiting boolean not null, -- something could not be erased yet
  next_at bigint not null,
  removed text not null, -- counts, JSON
  remaining text not null default '[]' -- places that still named the address when the erasure ended, JSON
);
create index erasures_of_organization on erasures (organization_id, id);
create index erasures_running on erasures (next_at) where finished_at is null;
create index erasures_running_of on erasures (organization_id, address_hash) where finished_at is null;

-- What the operator watches

create table alerts (
  id text collate "C" primary key,
  kind text collate "C" not null,
  subject text collate "C" not null,
  node text collate "C" not null, -- '' = of the installation
  severity text not null,
  message text not null,
  advice text,
  state text not null, -- pending, firing, resolved
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  missing_since bigint,
  raised_at bigint,
  resolved_at bigint
);
create unique index alerts_open on alerts (kind, subject, node) where state <> 'resolved';
create index alerts_ended on alerts (resolved_at, id) where state = 'resolved';

-- The notices of an alert to each channel.
create table alert_notices (
  alert_id text collate "C" not null,
  channel text collate "C" not null,
  event text collate "C" not null, -- firing, resolved
  round int not null,
  status text not null, -- pending, delivered, failed
  attempts int not null,
  next_attempt_at bigint not null,
  ended_at bigint,
  primary key (alert_id, channel, event, round)
);
create index alert_notices_due on alert_notices (next_attempt_at) where status = 'pending';

create table alert_channels (
  channel text collate "C" primary key,
  last_delivered_at bigint,
  failing_since bigint,
  failures int not null,
  last_error text
);

-- Problems that the operator wants no notices about.
create table alert_silences (
  kind text collate "C" not null,
  subject text collate "C" not null,
  node text collate "C" not null,
  severity text not null, -- of the alert when it was silenced
  until bigint not null,
  primary key (kind, subject, node)
);

-- Mails that the server sends to itself and to mailboxes elsewhere, and whether they arrived.
create table canaries (
  id text primary key,
  mailbox text not null,
  due_at bigint not null,
  sent_at bigint not null,
  result text not null,
  arrived_at bigint,
  detail text,
  unique (mailbox, due_at)
);
create index canaries_by_time on canaries (sent_at);
