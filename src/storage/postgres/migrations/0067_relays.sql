-- The latest attempt of a delivery that began as fail-over through a relay, recorded before it is made.
create table relay_attempts (
  delivery_id text primary key,
  attempt int not null,
  relay text not null,
  begun_at bigint not null
);
create index relay_attempts_by_age on relay_attempts (begun_at);

-- Attempts through relays per calendar month (UTC).
create table relay_counts (
  relay text not null,
  month text not null, -- 2026-11
  sent bigint not null,
  failed bigint not null,
  failed_at bigint,
  error text,
  primary key (month, relay)
);
