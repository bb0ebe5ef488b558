-- Suppressions apply to one stream, or to every stream ('').
alter table suppressions add column stream text not null default '';
-- Null: removed by an earlier version, which did not keep it.
alter table unsubscribables add column stream text;

-- A complaint about a stream also counts for others, so it is kept beside an unsubscription from the same stream.
drop index suppressions_by_address;
create unique index suppressions_by_address on suppressions
  (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint'));
create index suppressions_by_stream on suppressions (organization_id, stream, id) where stream <> '';
