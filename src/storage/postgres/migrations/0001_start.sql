-- Times are ms UTC. IDs sort by their bytes, whatever the collation of the database.

-- Writing lanes of every node (write-lane.ts). Fill factor: each group updates its row in place.
create table nodes (
  id int generated always as identity primary key,
  group_no bigint not null default 0,
  written_to bigint not null default 0,
  seen_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
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
-- all (period ''). Written in the transactions of what they count.
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  used bigint not null,
  primary key (organization_id, name, period)
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
  domain_id text -- null = events of every domain of the organization
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
  created_at bigint not null
);
create index inbound_routes_of_organization on inbound_routes (organization_id, id);
