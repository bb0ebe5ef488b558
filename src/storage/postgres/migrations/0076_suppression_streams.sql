-- Suppressions apply to one stream, or to every stream (''). Nodes of earlier versions apply all to every stream.
alter table suppressions add column stream text not null default '';
-- Null: removed by an earlier version, which did not keep it.
alter table unsubscribables add column stream text;
create index suppressions_by_stream on suppressions (organization_id, stream, id) where stream <> '';
