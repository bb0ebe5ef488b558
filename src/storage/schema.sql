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
  user_id text collate "C", -- the operator that signs in with the link; null = the oldest one
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

-- Deliveries

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
  failing_since bigint
);
create index webhooks_of_organization on webhooks (organization_id, id);
create index webhooks_paused_by_server on webhooks (organization_id)
  where status = 'paused' and disabled_reason is not null;

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
  created_at bigint not null
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
