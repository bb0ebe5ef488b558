-- New DKIM keys that wait for DNS, for metrics and health checks.
create index dkim_keys_pending on dkim_keys (created_at, domain_id) where state = 'pending';
