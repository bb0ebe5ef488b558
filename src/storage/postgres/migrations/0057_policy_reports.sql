-- Reports received about domains: DMARC aggregate reports and TLS reports. A report counts once.
create table policy_reports (
  domain_id text collate "C" not null,
  kind text collate "C" not null, -- dmarc, tls
  reporter text collate "C" not null, -- domain that authenticated the mail
  report_id text collate "C" not null,
  organization_id text collate "C" not null,
  received_at bigint not null,
  received_day bigint not null, -- start of the UTC day
  messages bigint not null, -- sessions of a TLS report
  primary key (domain_id, kind, reporter, report_id)
);
create index policy_reports_by_day on policy_reports (domain_id, received_day, reporter);
create index policy_reports_by_age on policy_reports (organization_id, received_at);

-- Messages from an address, as reporters counted them.
create table dmarc_sources (
  domain_id text collate "C" not null,
  day bigint not null, -- start of the UTC day in which the report begins
  source_ip text collate "C" not null, -- '' = the sources beyond the limit together
  reporter text collate "C" not null,
  organization_id text collate "C" not null,
  messages bigint not null,
  spf_aligned bigint not null,
  dkim_aligned bigint not null,
  passed bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  begins_at bigint not null,
  ends_at bigint not null,
  primary key (domain_id, day, source_ip, reporter)
);
create index dmarc_sources_by_age on dmarc_sources (organization_id, day);

-- TLS sessions of other servers with the hosts of a domain, as reporters counted them.
create table tls_results (
  domain_id text collate "C" not null,
  day bigint not null,
  reporter text collate "C" not null,
  policy text collate "C" not null,
  result text collate "C" not null, -- '' = successful
  host text collate "C" not null,
  organization_id text collate "C" not null,
  sessions bigint not null,
  begins_at bigint not null,
  ends_at bigint not null,
  primary key (domain_id, day, reporter, policy, result, host)
);
create index tls_results_by_age on tls_results (organization_id, day);
