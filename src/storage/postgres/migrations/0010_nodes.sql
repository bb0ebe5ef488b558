-- What the operator sees of nodes, and how a node hands over.
alter table nodes
  add column hostname text not null default '',
  -- Identifies the key that encrypts, without revealing it.
  add column key_name text not null default '',
  add column started_at timestamptz not null default clock_timestamp(),
  -- Since when it claims nothing more and others take its slots.
  add column draining_at timestamptz,
  -- Attempts under way at the last beat.
  add column under_way int not null default 0,
  -- Ended, and no longer in lists.
  add column is_forgotten boolean not null default false;
create index nodes_shown on nodes (name, id) where handles_mail and not is_forgotten;
