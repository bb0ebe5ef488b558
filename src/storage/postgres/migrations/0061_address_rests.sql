-- Sending addresses that a destination blocks: until when mail to it prefers other addresses.
create table address_rests (
  address text collate "C" not null,
  destination text collate "C" not null,
  rule text not null,
  times int not null,
  since bigint not null,
  until bigint not null,
  primary key (address, destination)
);
create index address_rests_until on address_rests (until);
