-- The operator that signs in with the link; null = the oldest one.
alter table login_links add column user_id text;

-- Accounts of an OpenID Connect provider that sign in as a user.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null,
  created_at integer not null,
  primary key (issuer, subject)
) strict, without rowid;
create index user_identities_of_user on user_identities (user_id);

-- Sign-ins that were sent to the provider and have not returned. Both are SHA-256: of the parameter `state`, and of the
-- cookie of the browser.
create table sign_on_requests (
  state_hash blob primary key,
  browser_hash blob not null,
  expires_at integer not null
) strict, without rowid;
create index sign_on_requests_by_end on sign_on_requests (expires_at);
