-- By the condition that PostgreSQL understands too, so that one statement uses the index of both.
drop index users_operators;
create index users_operators on users (id) where operator;
