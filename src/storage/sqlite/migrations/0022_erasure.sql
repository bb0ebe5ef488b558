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

-- Recipients whose data is or was erased. A row stays, so that the organization's suppressions are also compared by hash.
create table erasures (
  id text primary key,
  organization_id text not null,
  address_hash text not null,
  address blob, -- encrypted; null once finished
  created_at integer not null,
  finished_at integer,
  step integer not null,
  after text not null, -- where the step continues
  is_waiting integer not null, -- something could not be erased yet
  next_at integer not null,
  removed text not null -- counts, JSON
) strict, without rowid;
create index erasures_of_organization on erasures (organization_id, id);
create index erasures_running on erasures (next_at) where finished_at is null;
create index erasures_running_of on erasures (organization_id, address_hash) where finished_at is null;
