-- It reads events as they happen: all nodes beat more often (cluster.ts).
alter table nodes add column follows boolean not null default false;
