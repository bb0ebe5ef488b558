-- What each destination group got from a sending address in warm-up, by day (days since 1970, UTC).
create table warmup_days (
  address text not null,
  destination_group text not null,
  day integer not null,
  sent integer not null default 0,
  delivered integer not null default 0,
  deferred integer not null default 0,
  blocked integer not null default 0,
  complaints integer not null default 0,
  primary key (address, day, destination_group)
) strict, without rowid;
