-- People who sign in. The first one is the operator, whose password and open sessions go on.
create table users (
  id text collate "C" primary key,
  email text unique, -- folded; null = not set yet
  name text not null,
  operator boolean not null,
  password_hash text,
  created_at bigint not null,
  disabled_at bigint,
  last_seen_at bigint
);
create index users_operators on users (id) where operator;
insert into users (id, email, name, operator, password_hash, created_at)
  select 'usr_00000000000000000000000000', null, 'Operator', true, (select hash from operator_password),
    floor(extract(epoch from now()))::bigint * 1000;

-- Nodes of the version before set the operator's password here. They never accept one that was set since: this version
-- deletes the row then.
create function operator_password_set() returns trigger language plpgsql as $$
begin
  update users set password_hash = new.hash where id = 'usr_00000000000000000000000000';
  return new;
end $$;
create trigger operator_password_set after insert or update on operator_password
  for each row execute function operator_password_set();

create table user_roles (
  user_id text collate "C" not null,
  organization_id text collate "C" not null,
  role text not null, -- owner, admin, developer, support, viewer
  primary key (user_id, organization_id)
);
create index user_roles_of_organization on user_roles (organization_id, user_id);

alter table sessions add column user_id text collate "C" not null default 'usr_00000000000000000000000000';
create index sessions_of_user on sessions (user_id, id);

-- Who may join an organization by a link that works once.
create table invitations (
  id text collate "C" primary key,
  token_hash bytea not null unique,
  organization_id text collate "C" not null,
  email text not null,
  role text not null,
  invited_by text not null, -- ID of a user or key
  created_at bigint not null,
  expires_at bigint not null
);
create unique index invitations_of_organization on invitations (organization_id, email);
create index invitations_by_end on invitations (expires_at);

create table password_resets (
  token_hash bytea primary key,
  user_id text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index password_resets_of_user on password_resets (user_id);
create index password_resets_by_end on password_resets (expires_at);

-- The user that created the key; null = the operator at the command line, another key, or an earlier version.
alter table api_keys add column created_by text;
