-- Reports received about domains: DMARC aggregate reports and TLS reports. A report counts once.
create table policy_reports (
  domain_id text not null,
  kind text not null, -- dmarc, tls
  reporter text not null, -- domain that authenticated the mail
  report_id text not null,
  organization_id text not null,
  received_at integer not null,
  received_day integer not null, -- start of the UTC day
  messages integer not null, -- sessions of a TLS report
  primary key (domain_id, kind, reporter, report_id)
) strict;
create index policy_reports_by_day on policy_reports (domain_id, received_day, reporter);
create index policy_reports_by_age on policy_reports (organization_id, received_at);

-- Messages from an address, as reporters counted them.
create table dmarc_sources (
  domain_id text not null,
  day integer not null, -- start of the UTC day in which the report begins
  source_ip text not null, -- '' = the sources beyond the limit together
  reporter text not null,
  organization_id text not null,
  messages integer not null,
  spf_aligned integer not null,
  dkim_aligned integer not null,
  passed integer not null,
  quarantined integer not null,
  rejected integer not null,
  begins_at integer not null,
  ends_at integer not null,
  primary key (domain_id, day, source_ip, reporter)
) strict;
create index dmarc_sources_by_age on dmarc_sources (organization_id, day);

-- TLS sessions of other servers with the hosts of a domain, as reporters counted them.
create table tls_results (
  domain_id text not null,
  day integer not null,
  reporter text not null,
  policy text not null,
  result text not null, -- '' = successful
  host text not null,
  organization_id text not null,
  sessions integer not null,
  begins_at integer not null,
  ends_at integer not null,
  primary key (domain_id, day, reporter, policy, result, host)
) strict;
create index tls_results_by_age on tls_results (organization_id, day);
