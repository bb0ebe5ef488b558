-- Steps of the schema that the node's version has: steps that older versions cannot serve wait for it (migrate.ts).
alter table nodes add column schema int not null default 0;
