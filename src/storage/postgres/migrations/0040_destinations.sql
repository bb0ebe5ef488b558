-- Destinations of domains whose mail shares limits with that of other domains, or that are not their own.
create table destinations (
  domain text collate "C" primary key,
  destination text collate "C" not null,
  noted_at timestamptz not null default clock_timestamp()
);
create index destinations_noted on destinations (noted_at);
