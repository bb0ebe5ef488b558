-- People who sign in. The first one is the operator, whose password and open sessions go on.
create table users (
  id text primary key,
  email text unique, -- folded; null = not set yet
  name text not null,
  operator integer not null,
  password_hash text,
  created_at integer not null,
  disabled_at integer,
  last_seen_at integer
) strict, without rowid;
create index users_operators on users (id) where operator = 1;
insert into users (id, email, name, operator, password_hash, created_at)
  select 'usr_00000000000000000000000000', null, 'Operator', 1, (select hash from operator_password),
    cast(strftime('%s', 'now') as integer) * 1000;
drop table operator_password;

create table user_roles (
  user_id text not null,
  organization_id text not null,
  role text not null, -- owner, admin, developer, support, viewer
  primary key (user_id, organization_id)
) strict, without rowid;
create index user_roles_of_organization on user_roles (organization_id, user_id);

alter table sessions add column user_id text not null default 'usr_00000000000000000000000000';
create index sessions_of_user on sessions (user_id, id);

-- Who may join an organization by a link that works once.
create table invitations (
  id text primary key,
  token_hash blob not null unique,
  organization_id text not null,
  email text not null,
  role text not null,
  invited_by text not null, -- ID of a user or key
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create unique index invitations_of_organization on invitations (organization_id, email);
create index invitations_by_end on invitations (expires_at);

create table password_resets (
  token_hash blob primary key,
  user_id text not null,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index password_resets_of_user on password_resets (user_id);
create index password_resets_by_end on password_resets (expires_at);

-- The user that created the key; null = the operator at the command line, another key, or an earlier version.
alter table api_keys add column created_by text;
