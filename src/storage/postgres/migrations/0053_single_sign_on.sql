-- The operator that signs in with the link; null = the oldest one.
alter table login_links add column user_id text collate "C";

-- Accounts of an OpenID Connect provider that sign in as a user.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null,
  created_at bigint not null,
  primary key (issuer, subject)
);
create index user_identities_of_user on user_identities (user_id);

-- Sign-ins that were sent to the provider and have not returned. Both are SHA-256: of the parameter `state`, and of the
-- cookie of the browser.
create table sign_on_requests (
  state_hash bytea primary key,
  browser_hash bytea not null,
  expires_at bigint not null
);
create index sign_on_requests_by_end on sign_on_requests (expires_at);
