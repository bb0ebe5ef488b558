-- Since when a DKIM key signs or retires. Of a pending key: since when every server that was asked shows it, null before.
alter table dkim_keys add column state_since bigint;
update dkim_keys set state_since = coalesce((select verified_at from domains where id = domain_id), created_at)
  where state <> 'pending';
