-- What each destination group got from a sending address in warm-up, by day (days since 1970, UTC).
create table warmup_days (
  address text not null,
  destination_group text not null,
  day bigint not null,
  sent bigint not null default 0,
  delivered bigint not null default 0,
  deferred bigint not null default 0,
  blocked bigint not null default 0,
  complaints bigint not null default 0,
  primary key (address, day, destination_group)
);
