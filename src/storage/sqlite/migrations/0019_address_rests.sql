-- Sending addresses that a destination blocks: until when mail to it prefers other addresses.
create table address_rests (
  address text not null,
  destination text not null,
  rule text not null,
  times integer not null,
  since integer not null,
  until integer not null,
  primary key (address, destination)
) strict, without rowid;
create index address_rests_until on address_rests (until);
