-- The last role of the user who made the key, once that user was removed: the key has no more rights than it.
alter table api_keys add column maker_role text;
