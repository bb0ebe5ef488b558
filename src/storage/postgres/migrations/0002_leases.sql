-- What one node does at a time (leases.ts), by this server's clock.
create table leases (
  name text primary key,
  node_id int not null references nodes (id),
  until timestamptz not null
) with (fillfactor = 50);
