-- Suppressed addresses by the beginning of the address and of its domain, in the order of bytes.
create index suppressions_by_beginning on suppressions (organization_id, (email collate "C"));
create index suppressions_by_host on suppressions (organization_id, (split_part(email, '@', 2) collate "C"));
