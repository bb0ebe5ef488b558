-- Two-step sign-in by codes of an app (RFC 6238).
create table totp (
  user_id text primary key,
  secret blob not null, -- encrypted
  last_step integer not null, -- the newest time step that was accepted
  created_at integer not null,
  enabled_at integer -- null = waits for its first code
) strict, without rowid;

create table recovery_codes (
  user_id text not null,
  code_hash blob not null,
  primary key (user_id, code_hash)
) strict, without rowid;

create table passkeys (
  id text primary key,
  user_id text not null,
  credential_id text not null unique, -- base64url
  public_key blob not null, -- COSE
  counter integer not null,
  transports text not null, -- JSON
  name text not null,
  created_at integer not null,
  last_used_at integer
) strict, without rowid;
create index passkeys_of_user on passkeys (user_id, id);

-- Steps of a sign-in or a set-up that wait for an answer, once.
create table sign_in_challenges (
  token_hash blob primary key,
  kind text not null, -- code, passkey, new_passkey
  user_id text not null, -- '' = any
  tries integer not null,
  expires_at integer not null
) strict, without rowid;
create index sign_in_challenges_of_user on sign_in_challenges (user_id);
create index sign_in_challenges_by_end on sign_in_challenges (expires_at);
