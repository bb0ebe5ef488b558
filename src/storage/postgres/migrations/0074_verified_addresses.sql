-- When the mailbox, the console of the server, or a single sign-on provider proved that the address is the user's.
-- Until then, the account has only the role in the organization that invited it. Accounts of earlier versions may have
-- been made by a link that was shown to somebody else; those that a provider made have nothing else to sign in with.
alter table users add column email_verified_at bigint;
alter table users add column invited_to text; -- organization ID
create index users_unverified on users (id) where email_verified_at is null;
update users set email_verified_at = created_at where password_hash is null
  and exists (select 1 from user_identities i where i.user_id = users.id)
  and not exists (select 1 from passkeys p where p.user_id = users.id);
update users set invited_to = (select max(r.organization_id) from user_roles r where r.user_id = users.id)
  where 1 = (select count(*) from user_roles r where r.user_id = users.id);

-- When everything to sign in with ended, because somebody else may have added it.
alter table users add column cleared_at bigint;
create index users_cleared on users (cleared_at) where cleared_at is not null;

-- Whether a use of the link proves that the address is the user's: it was sent there, or made at the console.
alter table password_resets add column is_proof boolean not null default false;
-- Of the link that was sent to the address. token_hash is of the one that was shown to whoever invited.
alter table invitations add column mailed_hash bytea;
create unique index invitations_by_mail on invitations (mailed_hash);

create index api_keys_by_maker on api_keys (created_by) where created_by is not null;
-- A key has no more rights than the user who made it. Keys of users who were removed before go on.
update api_keys set created_by = null where created_by is not null
  and not exists (select 1 from users u where u.id = api_keys.created_by);
