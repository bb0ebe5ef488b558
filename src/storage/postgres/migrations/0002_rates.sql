-- Requests of keys with a limit, of each node in its current window (rates.ts). Unlogged: nothing is lost that counts.
create unlogged table rates (
  id text collate "C" not null, -- of the key
  node_id int not null,
  ends_at bigint not null,
  used int not null,
  primary key (id, node_id)
) with (fillfactor = 50);
create index rates_of_nodes on rates (node_id);

-- When the next one of a rate is due if they come evenly (GCRA).
create unlogged table due_rates (
  name text primary key,
  due_at bigint not null
);
create index due_rates_by_time on due_rates (due_at);
