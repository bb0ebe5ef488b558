-- The certificate from an authority, for all nodes. The version counts its changes.
create table certificates (
  one int primary key check (one = 1),
  version bigint not null,
  certificate bytea, -- PEM of key and chain, encrypted
  progress text -- of its renewal, JSON
);
insert into certificates (one, version) values (1, 0);

-- Answers to an authority's challenges (RFC 8555 8.3), which every node gives.
create table challenges (
  token text primary key,
  answer text not null,
  ends_at timestamptz not null
);
create index challenges_by_end on challenges (ends_at);
