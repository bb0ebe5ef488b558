-- Contents that were removed before retention removes their message.
create table removed_contents (
  message_id text collate "C" primary key,
  removed_at bigint not null,
  reason text not null -- request, erasure, stream
);

-- Messages whose stream removes their content some time after the last delivery ended. `due_at`: when to look next.
create table content_redactions (
  message_id text collate "C" primary key,
  after_ms bigint not null,
  due_at bigint not null
);
create index content_redactions_due on content_redactions (due_at);

-- Recipients whose data is or was erased. A row stays, so that the organization's suppressions are also compared by hash.
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
  removed text not null -- counts, JSON
);
create index erasures_of_organization on erasures (organization_id, id);
create index erasures_running on erasures (next_at) where finished_at is null;
create index erasures_running_of on erasures (organization_id, address_hash) where finished_at is null;
