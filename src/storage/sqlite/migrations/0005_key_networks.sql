-- Networks that a key may be used from, as JSON; null = from anywhere.
alter table api_keys add column allowed_networks text;

-- Records made by test keys concern test mail only. What is there already concerns live mail, as before.
alter table webhooks add column mode text not null default 'live';
-- Null = events of every domain of the organization.
alter table webhooks add column domain_id text;
alter table templates add column mode text not null default 'live';
alter table suppressions add column mode text not null default 'live';

-- An alias, and an address, may stand once for live and once for test mail.
drop index templates_by_alias;
create unique index templates_by_alias on templates (organization_id, alias, mode) where alias is not null;
drop index suppressions_by_address;
create unique index suppressions_by_address on suppressions (organization_id, email, domain_id, mode);
