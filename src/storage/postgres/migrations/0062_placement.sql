-- Which nodes have which sending addresses, as each node has it in its config; storage/roles/nodes.ts.
alter table nodes add column placement text;
-- For mail that only some nodes have the addresses for: storage/slots.ts.
insert into slots (slot) select generate_series(256, 767);
