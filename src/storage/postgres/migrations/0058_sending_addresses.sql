-- Message streams.
alter table messages add column stream text not null default 'transactional';

-- Sending addresses that belong to one organization each. An address that its organization loses keeps sending what was
-- accepted before `leaving_since`.
create table dedicated_addresses (
  address text primary key,
  organization_id text not null,
  assigned_at bigint not null,
  leaving_since bigint
);
create index dedicated_addresses_of_organization on dedicated_addresses (organization_id);
