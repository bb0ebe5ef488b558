-- Addresses elsewhere that forward routes of an organization name, and whether their owners want the mail. No row: nobody
-- was asked yet.
create table forward_targets (
  organization_id text not null,
  address text not null, -- folded
  status text not null, -- pending, confirmed, stopped
  changed_at integer not null, -- 0 = by this step
  asked_at integer, -- the last confirmation mail
  asked_day text not null default '', -- UTC
  asked_count integer not null default 0, -- on that day
  primary key (organization_id, address)
) strict, without rowid;
create index forward_targets_by_address on forward_targets (address, asked_day);
create index forward_targets_by_upgrade on forward_targets (changed_at) where changed_at = 0;
create index forward_targets_pending on forward_targets (asked_at) where status = 'pending';

-- Targets of routes that exist count as confirmed: mail that arrives today must not stop with an upgrade.
insert into forward_targets (organization_id, address, status, changed_at)
  select distinct organization_id, lower(value), 'confirmed', 0
  from inbound_routes, json_each(config, '$.to') where action = 'forward';

-- [{"email","reason"}]: targets that a mail was not sent on to; null = none.
alter table inbound_messages add column not_forwarded text;
