-- Two-step sign-in by codes of an app (RFC 6238).
create table totp (
  user_id text collate "C" primary key,
  secret bytea not null, -- encrypted
  last_step bigint not null, -- the newest time step that was accepted
  created_at bigint not null,
  enabled_at bigint -- null = waits for its first code
);

create table recovery_codes (
  user_id text collate "C" not null,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

create table passkeys (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  credential_id text collate "C" not null unique, -- base64url
  public_key bytea not null, -- COSE
  counter bigint not null,
  transports text not null, -- JSON
  name text not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_of_user on passkeys (user_id, id);

-- Steps of a sign-in or a set-up that wait for an answer, once.
create table sign_in_challenges (
  token_hash bytea primary key,
  kind text not null, -- code, passkey, new_passkey
  user_id text collate "C" not null, -- '' = any
  tries int not null,
  expires_at bigint not null
);
create index sign_in_challenges_of_user on sign_in_challenges (user_id);
create index sign_in_challenges_by_end on sign_in_challenges (expires_at);
