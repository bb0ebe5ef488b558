-- What only SQLite has, behind schema.sql: tables, indexes, and rows. Times are ms UTC.

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

-- A recount of all stored bytes, source by source, in small steps. While it has rows, changes to what was counted
-- already, and to what came after the count began, go into a second counter, which then replaces the first
-- (stored-bytes.ts).
create table storage_count (
  source text primary key,
  counted_to integer not null, -- up to this number, inclusive
  ends_at integer not null -- the highest number when the count began
) strict, without rowid;

-- Recipients

-- Suppressed addresses by the beginning of their domain, behind the last @; those by their own are in suppressions_by_address.
create index suppressions_by_host on suppressions
  (organization_id, substr(email, length(rtrim(email, replace(email, '@', ''))) + 1));

-- Mail

-- Messages that were removed or changed; their words leave the search index, a file of its own, later (search.ts).
create table search_outdated (
  number integer primary key
) strict;

-- Events

create index events_of_organization on events (organization_id, number);
create index events_of_kind on events (kind, number);
create index events_by_time on events (organization_id, created_at);
create index events_of_message on events (message_id, number) where message_id is not null;
