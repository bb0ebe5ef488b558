-- Additional headers of the requests of a webhook or a route: the names as a JSON array, and the whole encrypted.
alter table webhooks add column header_names text;
alter table webhooks add column headers blob;
alter table inbound_routes add column header_names text;
alter table inbound_routes add column headers blob;
