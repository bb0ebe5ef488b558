-- Several organizations may claim a name, and the first to prove it owns it (contract §7, Ownership). The unique name goes
-- from the table, so both tables are written anew; dkim_keys goes first, since dropping a table deletes its rows and with
-- them what refers to them.
create table domains_new (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  status text not null,
  created_at integer not null,
  verified_at integer,
  last_checked_at integer,
  return_path_host text not null,
  track_opens integer not null,
  track_clicks integer not null,
  track_unsubscribe integer not null,
  tracking_host text,
  findings text not null,
  proved_by text, -- dkim, txt; null while nothing proves the name
  missing_since integer, -- since when DNS says that the proof is not there
  reason text, -- of `failed`: mismatch, proof_lost, claimed
  next_check_at integer -- null = nobody looks until somebody asks
) strict, without rowid;
insert into domains_new
  select id, organization_id, name, status, created_at, verified_at, last_checked_at, return_path_host,
    track_opens, track_clicks, track_unsubscribe, tracking_host, findings,
    case when status = 'verified' then 'dkim' end,
    null,
    case when status = 'failed' then case when verified_at is null then 'mismatch' else 'proof_lost' end end,
    -- A domain that is long in use is looked at within two days of its last check or at once, some of them at a time.
    coalesce(last_checked_at, created_at) + case when status = 'verified' then abs(random()) % 86400000 else 0 end
  from domains;

create table dkim_keys_new (
  domain_id text not null references domains_new (id) on delete cascade,
  selector text not null,
  algorithm text not null,
  state text not null,
  public_key text not null,
  private_key blob not null, -- PEM, sealed (seal.ts)
  created_at integer not null,
  primary key (domain_id, selector)
) strict, without rowid;
insert into dkim_keys_new
  select domain_id, selector, algorithm, state, public_key, private_key, created_at from dkim_keys;

drop table dkim_keys;
drop table domains;
alter table domains_new rename to domains;
alter table dkim_keys_new rename to dkim_keys;

create unique index domains_of_organization_by_name on domains (organization_id, name);
create unique index domains_owned on domains (name) where status = 'verified';
create index domains_by_name on domains (name, id);
create index domains_of_organization on domains (organization_id, id);
create index domains_by_return_path_host on domains (return_path_host, id);
create index domains_by_tracking_host on domains (tracking_host) where tracking_host is not null;
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_in_trouble on domains (missing_since) where missing_since is not null;

-- Where clicks are not sent on to any more: a host with all below it, or a URL with all that begins with it.
create table blocked_links (
  id text primary key,
  kind text not null, -- host, url
  value text not null unique,
  reason text not null,
  created_at integer not null
) strict, without rowid;
