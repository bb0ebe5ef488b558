-- Suppressed addresses by the beginning of their domain.
create index suppressions_by_host on suppressions (organization_id, substr(email, instr(email, '@') + 1));
