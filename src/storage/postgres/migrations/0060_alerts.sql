-- Alerts for the operator.
create table alerts (
  id text collate "C" primary key,
  kind text collate "C" not null,
  subject text collate "C" not null,
  node text collate "C" not null, -- '' = of the installation
  severity text not null,
  message text not null,
  advice text,
  state text not null, -- pending, firing, resolved
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  missing_since bigint,
  raised_at bigint,
  resolved_at bigint
);
create unique index alerts_open on alerts (kind, subject, node) where state <> 'resolved';
create index alerts_ended on alerts (resolved_at, id) where state = 'resolved';

-- The notices of an alert to each channel.
create table alert_notices (
  alert_id text collate "C" not null,
  channel text collate "C" not null,
  event text collate "C" not null, -- firing, resolved
  round int not null,
  status text not null, -- pending, delivered, failed
  attempts int not null,
  next_attempt_at bigint not null,
  ended_at bigint,
  primary key (alert_id, channel, event, round)
);
create index alert_notices_due on alert_notices (next_attempt_at) where status = 'pending';

create table alert_channels (
  channel text collate "C" primary key,
  last_delivered_at bigint,
  failing_since bigint,
  failures int not null,
  last_error text
);

create index webhooks_paused_by_server on webhooks (organization_id) where status = 'paused' and disabled_reason is not null;
