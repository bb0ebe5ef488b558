-- How often the operator has accepted that the database is a copy or went back (instance.ts).
alter table instance add column adoptions int not null default 0;
