-- Which installation this is, and in which database of which server. A copy in another one does not serve.
create table instance (
  one int primary key check (one = 1),
  id text not null, -- stays when the installation moves; in backups
  system_identifier text not null, -- of the server
  database_oid bigint not null,
  state text not null -- serving; filling: `postrider migrate` writes into it; moved: to a data directory
);
