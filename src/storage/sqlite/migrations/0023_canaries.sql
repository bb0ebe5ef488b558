-- Mails that the server sends to itself and to mailboxes elsewhere, and whether they arrived.
create table canaries (
  id text not null primary key,
  mailbox text not null,
  due_at integer not null,
  sent_at integer not null,
  result text not null,
  arrived_at integer,
  detail text,
  unique (mailbox, due_at)
) strict, without rowid;
create index canaries_sought on canaries (sent_at) where arrived_at is null;
create index canaries_by_time on canaries (sent_at);
