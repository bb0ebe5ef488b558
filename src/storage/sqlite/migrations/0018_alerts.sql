-- Alerts for the operator.
create table alerts (
  id text primary key,
  kind text not null,
  subject text not null,
  node text not null, -- '' = of the installation
  severity text not null,
  message text not null,
  advice text,
  state text not null, -- pending, firing, resolved
  first_seen_at integer not null,
  last_seen_at integer not null,
  missing_since integer,
  raised_at integer,
  resolved_at integer
) strict;
create unique index alerts_open on alerts (kind, subject, node) where state <> 'resolved';
create index alerts_ended on alerts (resolved_at, id) where state = 'resolved';

-- The notices of an alert to each channel.
create table alert_notices (
  alert_id text not null,
  channel text not null,
  event text not null, -- firing, resolved
  round integer not null,
  status text not null, -- pending, delivered, failed
  attempts integer not null,
  next_attempt_at integer not null,
  ended_at integer,
  primary key (alert_id, channel, event, round)
) strict, without rowid;
create index alert_notices_due on alert_notices (next_attempt_at) where status = 'pending';

create table alert_channels (
  channel text primary key,
  last_delivered_at integer,
  failing_since integer,
  failures integer not null,
  last_error text
) strict;

create index webhooks_paused_by_server on webhooks (organization_id) where status = 'paused' and disabled_reason is not null;
