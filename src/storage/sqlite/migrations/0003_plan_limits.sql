-- What an organization has used of the limits of its plan that are not counted by looking: by month, by day, or in all
-- (period ''). Kept in the transactions of what they count.
create table usage (
  organization_id text not null,
  name text not null,
  period text not null,
  used integer not null,
  primary key (organization_id, name, period)
) strict, without rowid;
create index usage_by_period on usage (name, period) where period <> '';

-- What the message was counted as in stored_bytes; null for messages from before this step (stored-bytes.ts).
alter table messages add column stored_bytes integer;

-- A count of all stored bytes from the beginning, source by source, in small steps. While rows stand here, changes to
-- what was counted already, and to what came after the count began, go into a second counter, which then replaces the
-- first (stored-bytes.ts).
create table storage_count (
  source text primary key,
  counted_to integer not null, -- up to this number, inclusive
  ends_at integer not null -- the highest number when the count began
) strict, without rowid;
insert into storage_count (source, counted_to, ends_at) values
  ('messages', 0, (select coalesce(max(number), 0) from messages)),
  ('inbound', 0, (select coalesce(max(number), 0) from inbound_messages)),
  ('templates', 0, (select coalesce(max(rowid), 0) from template_versions)),
  ('answers', 0, (select coalesce(max(rowid), 0) from idempotency));

-- Triggers, because a message leaves the state at many places. It enters it at one, when it is accepted (add-message.ts),
-- where a trigger would cost three microseconds for every message.
insert into usage (organization_id, name, period, used)
  select id, 'scheduled_messages', '', (
    select count(*) from messages where organization_id = organizations.id and status = 'scheduled')
  from organizations where exists (
    select 1 from messages where organization_id = organizations.id and status = 'scheduled');
create trigger messages_scheduled_changed after update of status on messages
  when (old.status = 'scheduled') <> (new.status = 'scheduled') begin
  insert into usage (organization_id, name, period, used)
    values (new.organization_id, 'scheduled_messages', '', (new.status = 'scheduled') - (old.status = 'scheduled'))
    on conflict do update set used = used + excluded.used;
end;
create trigger messages_scheduled_removed after delete on messages when old.status = 'scheduled' begin
  update usage set used = used - 1
    where organization_id = old.organization_id and name = 'scheduled_messages' and period = '';
end;

insert into usage (organization_id, name, period, used)
  select organization_id, 'suppressions', '', count(*) from suppressions group by organization_id;

-- Events whose webhook deliveries are still to be written: more than one transaction takes (fan-out.ts). `target_set` is
-- who was subscribed when the event was written, `next` the place in it where writing goes on.
create table fan_out_targets (
  number integer primary key,
  organization_id text not null,
  targets text not null -- [{"id","events"}] in the order of writing
) strict;
create index fan_out_targets_of_organization on fan_out_targets (organization_id);
create table fan_outs (
  event_number integer primary key references events (number) on delete cascade,
  organization_id text not null,
  target_set integer not null, -- fan_out_targets
  next integer not null
) strict;
create index fan_outs_of_organization on fan_outs (organization_id, event_number);
