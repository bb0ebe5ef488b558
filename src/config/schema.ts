/** The table of config keys. Types, checks, environment names, config.example.toml and the man page are derived from it.
 *  Keys are written as in the file (snake_case); Values<> converts them to camelCase. */
import type { z } from 'zod'
import { alertChannels } from './alert-channels.ts'
import { canaryMailboxes } from './canary-mailboxes.ts'
import * as kinds from './kinds.ts'

export interface Key<K extends kinds.Kind = kinds.Kind> {
  readonly kind: K
  /** Description for users, in one to three sentences. */
  readonly about: string
  readonly unit?: string
  /** Default as written in the file; undefined: the key is required and the example file shows `example`. */
  readonly fallback?: z.input<K['schema']>
  readonly example?: z.input<K['schema']>
  /** Never shown in faults; can be read from a file named by `<key>_file`. */
  readonly isSecret?: boolean
}

export interface Section<Keys extends Table = Table> {
  readonly about: string
  readonly keys: Keys
}

/** A section that accepts other names beside the known ones. */
export interface OpenSection<Other extends Section = Section> extends Section {
  readonly other: Other
  readonly names: Names
}

/** Format of the other names. */
export interface Names {
  readonly pattern: RegExp
  readonly expected: string
}

const PLAN_NAMES: Names = {
  pattern: kinds.LABEL,
  expected: 'a name of at most 32 lowercase letters, digits, "-" and "_"',
}
const DESTINATION_NAMES: Names = {
  pattern: /^[a-z0-9[][a-z0-9.:\]-]{0,252}$/,
  expected: 'the name of a destination in quotes and lowercase, such as "google.com"',
}

export interface Table {
  readonly [name: string]: Key | Section | OpenSection
}

/** The numbers of a plan, in the order of `planKeys`; -1 = unlimited. */
interface PlanNumbers {
  requests: number
  messages: number
  domains: number
  days: number
  webhooks: number
  routes: number
  templates: number
  versions: number
  keys: number
  scheduled: number
  bytes: number
  tests: number
  forwards: number
  suppressions: number
  dedicated: boolean
}

const planKeys = (plan: PlanNumbers) => ({
  requests_per_minute: key(kinds.limit(1), {
    about: 'Maximum API requests per key.',
    unit: 'per minute',
    fallback: plan.requests,
  }),
  messages_per_month: key(kinds.limit(0), {
    about: 'Maximum recipients of live messages per calendar month (UTC).',
    fallback: plan.messages,
  }),
  domains: key(kinds.limit(0), { about: 'Maximum sending domains per organization.', fallback: plan.domains }),
  retention_days: key(kinds.limit(1), {
    about: 'Retention of messages, events and inbound mail.',
    unit: 'days',
    fallback: plan.days,
  }),
  webhooks: key(kinds.limit(0), { about: 'Maximum webhooks per organization.', fallback: plan.webhooks }),
  inbound_routes: key(kinds.limit(0), { about: 'Maximum inbound routes per organization.', fallback: plan.routes }),
  templates: key(kinds.limit(0), { about: 'Maximum templates per organization.', fallback: plan.templates }),
  template_versions: key(kinds.limit(1), {
    about: 'Versions stored per template. Older versions are deleted.',
    fallback: plan.versions,
  }),
  api_keys: key(kinds.limit(1), {
    about: 'Maximum valid API keys. The same number may be in the grace period of a rotation.',
    fallback: plan.keys,
  }),
  scheduled_messages: key(kinds.limit(0), {
    about: 'Maximum scheduled messages.',
    fallback: plan.scheduled,
  }),
  stored_bytes: key(kinds.limit(0), {
    about: `Maximum storage for messages, inbound mail, templates and idempotent responses. Above it, new messages are rejected
until retention frees space; inbound mail gets 452.`,
    unit: 'bytes',
    fallback: plan.bytes,
  }),
  test_messages_per_month: key(kinds.limit(0), {
    about: 'Maximum recipients of test messages per calendar month (UTC).',
    fallback: plan.tests,
  }),
  forwards_per_day: key(kinds.limit(0), {
    about: 'Maximum recipients of forward routes per day (UTC). They also count as messages.',
    fallback: plan.forwards,
  }),
  suppressions: key(kinds.limit(0), {
    about: 'Maximum suppressions added manually or by import. Bounces and complaints are not limited.',
    fallback: plan.suppressions,
  }),
  dedicated_address: key(kinds.flag, {
    about: 'Give each organization an address of the pool "dedicated" of its own, while there are spare ones.',
    fallback: plan.dedicated,
  }),
})

const streamKeys = (unsubscribe: boolean) => ({
  pool: key(kinds.optionalLabel, {
    about: 'Pool of [[sending.addresses]] for mail of the stream. Empty: as for the other mail of the organization.',
    fallback: '',
  }),
  unsubscribe: key(kinds.flag, {
    about: `Add a List-Unsubscribe header to each message of the stream that does not set "unsubscribe" itself. If false, the
setting of the domain applies.`,
    fallback: unsubscribe,
  }),
  redact_content_after: key(kinds.optionalSpan, {
    about: `Delete text, HTML, attachments and raw message of the stream this long after the last delivery ended, such as "0s" or
"7d". Empty: when the retention of the plan ends. Applies to messages that are accepted from then on.`,
    fallback: '',
  }),
})

/** Requests, messages, domains and days are the published limits of the plans. The other numbers of starter and pro lie
 *  between those of free and enterprise. */
const FREE: PlanNumbers = {
  requests: 60,
  messages: 1000,
  domains: 1,
  days: 7,
  webhooks: 10,
  routes: 10,
  templates: 50,
  versions: 20,
  keys: 20,
  scheduled: 1000,
  bytes: 1_000_000_000,
  tests: 10_000,
  forwards: 200,
  suppressions: 100_000,
  dedicated: false,
}
const STARTER: PlanNumbers = {
  requests: 300,
  messages: 50_000,
  domains: 5,
  days: 14,
  webhooks: 25,
  routes: 50,
  templates: 200,
  versions: 50,
  keys: 50,
  scheduled: 10_000,
  bytes: 10_000_000_000,
  tests: 50_000,
  forwards: 2000,
  suppressions: 500_000,
  dedicated: false,
}
const PRO: PlanNumbers = {
  requests: 1000,
  messages: 150_000,
  domains: 10,
  days: 30,
  webhooks: 100,
  routes: 200,
  templates: 1000,
  versions: 100,
  keys: 200,
  scheduled: 100_000,
  bytes: 50_000_000_000,
  tests: 200_000,
  forwards: 10_000,
  suppressions: 2_000_000,
  dedicated: true,
}
const ENTERPRISE: PlanNumbers = {
  requests: -1,
  messages: -1,
  domains: -1,
  days: 90,
  webhooks: 500,
  routes: 1000,
  templates: 5000,
  versions: 200,
  keys: 1000,
  scheduled: 1_000_000,
  bytes: -1,
  tests: -1,
  forwards: -1,
  suppressions: -1,
  dedicated: false,
}

const DAY = 86_400
const MONTH = 31 * DAY

export const table = {
  hostname: key(kinds.hostName, {
    about: `Public hostname of this machine. Used in SMTP greetings, in Message-ID and Received headers, and as the MX of
inbound mail. Its A/AAAA records and the PTR record of its IP address must match. The only key without a default.`,
    example: 'mail.example.com',
  }),
  data_dir: key(kinds.folder, {
    about: 'Folder of the database, keys and certificates. A relative path is relative to the folder of this file.',
    fallback: '/var/lib/postrider',
  }),
  relays: key(kinds.relays, {
    about: `Servers that [[relay_rules]] can send mail through. Each is a table [[relays]] with name, host, username and
password_file. tls is "starttls" (default), "implicit" or "none". port is 587 by default, or 465 with implicit TLS. The SHA-256
fingerprints in certificates replace public CAs. Further keys: max_connections, max_mails_per_minute, price_per_thousand.`,
    fallback: [],
  }),
  relay_rules: key(kinds.relayRules, {
    about: `Which mail uses a relay. Each is a table [[relay_rules]] with conditions: organization (its ID), domain (of the sender),
stream and destination. use is the name of a relay or "direct" (default). fail_over names a relay for mail that cannot be sent
directly, or not for after_minutes (30). The first rule that matches counts.`,
    fallback: [],
  }),
  storage: section('Disk space.', {
    min_free_bytes: key(kinds.whole(0, 2 ** 50), {
      about: `Free space to keep on the disk of data_dir, at most 10 % of the disk. Below it, the API answers 503, SMTP answers 452
and /readyz reports it; queued mail is still processed. 0 disables the check.`,
      unit: 'bytes',
      fallback: 200_000_000,
    }),
    contents: key(kinds.bucketUrl, {
      about: `Bucket for message contents of 16 kB and more, at Amazon S3 or a compatible service: s3://bucket/prefix. Empty: the
database. Contents that are stored already stay where they are, so keep the bucket as long as messages refer to it.`,
      fallback: '',
    }),
    s3_endpoint: key(kinds.endpointUrl, {
      about: 'URL of the service, such as https://s3.eu-central-1.example.com. Empty: Amazon S3.',
      fallback: '',
    }),
    s3_region: key(kinds.text, { about: 'Region of the bucket, if the service has regions.', fallback: '' }),
    s3_access_key_id: key(kinds.text, { about: 'Access key of the service.', fallback: '' }),
    s3_secret_access_key: key(kinds.text, {
      about: 'Its secret. It needs the rights to write, read, list and delete objects of the bucket.',
      fallback: '',
      isSecret: true,
    }),
  }),
  backup: section('Where `postrider backup` without a target writes, which the nightly timer runs.', {
    to: key(kinds.backupFolder, {
      about: `A directory, or s3://bucket/folder with the service and the credentials of [storage]. The timer's units can write below
/var/backups only.`,
      fallback: '/var/backups/postrider',
    }),
    keep: key(kinds.whole(1, 10_000), {
      about: 'How many backups to keep there; older ones are deleted.',
      unit: 'backups',
      fallback: 14,
    }),
  }),
  database: section('PostgreSQL, for several nodes.', {
    url: key(kinds.databaseUrl, {
      about: `PostgreSQL 15 or newer, instead of the SQLite file in data_dir. Format: postgres://, then user:password@host/database.
Separate several hosts with commas; Postrider uses the one that accepts writes. Percent-encode user and password. Empty: SQLite.`,
      fallback: '',
      isSecret: true,
    }),
    ca_file: key(kinds.file, {
      about:
        'PEM CA certificates that the server certificate of PostgreSQL must come from. Empty: the well-known ones.',
      fallback: '',
    }),
  }),
  cluster: section('This node among others on the same PostgreSQL.', {
    name: key(kinds.text, {
      about: 'Name of this node in lists and logs. Empty: the hostname.',
      fallback: '',
    }),
    takeover_seconds: key(kinds.whole(3, 600), {
      about: 'Time without a sign of life after which the other nodes end a node and continue its work.',
      unit: 'seconds',
      fallback: 10,
    }),
  }),
  http: section('API, dashboard, and tracking and unsubscribe links.', {
    listen: key(kinds.listen, {
      about: 'Address for plain HTTP, or "off". Use it on this machine or behind a TLS proxy.',
      fallback: '127.0.0.1:8025',
    }),
    listen_tls: key(kinds.listen, {
      about: 'Address for HTTPS, usually 0.0.0.0:443, or "off". [tls] sets the certificate.',
      fallback: 'off',
    }),
    listen_redirect: key(kinds.listen, {
      about: `Address for HTTP redirects, usually 0.0.0.0:80, or "off". Answers the challenges of tls.mode "acme" and redirects
other requests to http.public_url if that is https.`,
      fallback: 'off',
    }),
    hsts_seconds: key(kinds.whole(0, 10 * 366 * DAY), {
      about:
        'Value of the Strict-Transport-Security header: browsers use only HTTPS for this long. 0 omits the header.',
      unit: 'seconds',
      fallback: 0,
    }),
    public_url: key(kinds.publicUrl, {
      about:
        'Public URL of this server; links in mail start with it. Empty: https:// and the hostname if http.listen_tls is on, else http:// and the listen address.',
      fallback: '',
    }),
    dashboard: key(kinds.flag, {
      about: 'Serve the dashboard at /dashboard/. The API is always on.',
      fallback: true,
    }),
    mcp: key(kinds.flag, {
      about: 'Serve the tools for agents at /mcp. They have the permissions of the API key that an agent uses.',
      fallback: true,
    }),
    allowed_hosts: key(kinds.ownHosts, {
      about: `Additional hostnames for the dashboard and /metrics, beside hostname, the host of public_url, localhost and IP
addresses. Requests with other hostnames are rejected there, which prevents DNS rebinding. API keys work with every hostname.`,
      fallback: [],
    }),
    behind_proxy: key(kinds.flag, {
      about: `All requests come through your TLS proxy. public_url must be https. Requests that reached the proxy over plain HTTP
(X-Forwarded-Proto) are rejected or redirected to https. Same as \`postrider serve --behind-proxy\`.`,
      fallback: false,
    }),
    trusted_proxies: key(kinds.networks, {
      about: `Networks (CIDR) of proxies in front of http.listen. Only these may set X-Forwarded-Proto and X-Forwarded-For, which
gives the client address of opens, clicks and unsubscribes.`,
      fallback: ['127.0.0.1/32', '::1/128'],
    }),
  }),
  tls: section('Certificate for HTTPS and SMTP.', {
    mode: key(kinds.choice('files', 'acme'), {
      about: `"files" uses certificate_file and key_file; without them, the first start creates a self-signed certificate. "acme"
obtains and renews a certificate from a public CA (RFC 8555, HTTP-01); http.listen_redirect must be reachable on port 80.`,
      fallback: 'files',
    }),
    certificate_file: key(kinds.file, {
      about: 'PEM certificate chain. Empty: the first start creates a self-signed certificate. SIGHUP reloads it.',
      fallback: '',
    }),
    key_file: key(kinds.file, { about: 'PEM private key of the certificate.', fallback: '' }),
    names: key(kinds.hostNames, {
      about: 'Additional names for the certificate, beside hostname and the host of http.public_url.',
      fallback: [],
    }),
    domain_names: key(kinds.flag, {
      about: `Include mta-sts.<domain> and the tracking hosts of your domains in the certificate once their DNS points to this
server. The names in a certificate are public.`,
      fallback: true,
    }),
    acme_directory: key(kinds.httpsUrl, {
      about: 'ACME directory URL of the CA. For tests, use its staging environment.',
      fallback: 'https://acme-v02.api.letsencrypt.org/directory',
    }),
    acme_contact: key(kinds.mailAddress, { about: 'Contact address for the CA.', fallback: '' }),
    acme_agree_terms: key(kinds.flag, {
      about: "You agree to the CA's terms of service. Required for a certificate.",
      fallback: false,
    }),
    acme_ca_file: key(kinds.file, {
      about: 'Additional PEM CA certificates to trust for the ACME server.',
      fallback: '',
    }),
    acme_http_port: key(kinds.port, {
      about: 'Port on which the CA validates. Only a private CA can use a port other than 80.',
      fallback: 80,
    }),
  }),
  smtp: section('SMTP listeners for inbound mail and for submission.', {
    certificate_file: key(kinds.file, {
      about: 'PEM certificate chain for SMTP, if it differs from [tls]. SIGHUP reloads it.',
      fallback: '',
    }),
    key_file: key(kinds.file, { about: 'PEM private key of the certificate.', fallback: '' }),
    max_connections: key(kinds.whole(1, 100_000), {
      about: 'Maximum concurrent connections per listener. Further connections get 421.',
      fallback: 1000,
    }),
    max_connections_per_address: key(kinds.whole(1, 100_000), {
      about: 'Maximum concurrent connections per IP address (IPv6: per /64).',
      fallback: 50,
    }),
    inbound: section('Inbound mail: routes, bounces and complaints.', {
      listen: key(kinds.listen, { about: 'host:port, or "off".', fallback: '0.0.0.0:25' }),
      max_connections_per_network: key(kinds.whole(1, 100_000), {
        about: 'Maximum concurrent connections per network (IPv4: /24, IPv6: /56). Further connections get 421.',
        fallback: 200,
      }),
      connections_per_minute_per_network: key(kinds.whole(1, 1_000_000), {
        about: 'Maximum new connections per minute from one network. Further connections get 421.',
        fallback: 600,
      }),
      mails_per_minute_per_network: key(kinds.whole(1, 1_000_000), {
        about: 'Maximum messages per minute from one network. Further messages get 451.',
        fallback: 1200,
      }),
      unknown_recipients_per_hour_per_network: key(kinds.whole(1, 1_000_000), {
        about:
          'Maximum unknown recipients per hour from one network. Above it, all recipients from that network get 451.',
        fallback: 300,
      }),
      unlimited_networks: key(kinds.networks, {
        about: 'Networks (CIDR) exempt from the limits per network, such as your backup MX.',
        fallback: ['127.0.0.0/8', '::1/128'],
      }),
      mta_sts: key(kinds.choice('off', 'testing', 'enforce'), {
        about: `Mode of the MTA-STS policy for domains whose mail this server receives. Served at
https://mta-sts.<domain>/.well-known/mta-sts.txt if http.public_url is https. "enforce" needs a certificate from a public CA.`,
        fallback: 'testing',
      }),
    }),
    submission: section('SMTP submission from your programs, with an API key as password.', {
      listen: key(kinds.listen, {
        about: 'host:port, usually 0.0.0.0:587, or "off". Uses STARTTLS.',
        fallback: 'off',
      }),
      listen_tls: key(kinds.listen, {
        about: 'host:port, usually 0.0.0.0:465, or "off". Uses implicit TLS.',
        fallback: 'off',
      }),
    }),
  }),
  delivery: section('Outgoing mail.', {
    port: key(kinds.port, { about: 'Port of the MX hosts.', fallback: 25 }),
    retry_schedule_seconds: key(kinds.spans(kinds.span(0.1, MONTH), 1, 100), {
      about: 'Waits before attempts 2, 3, … after a temporary failure. The last wait repeats.',
      unit: 'seconds',
      // RFC 5321 §4.5.4.1: generally at least 30 minutes; the first retries are sooner because greylisting passes in minutes.
      fallback: [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200],
    }),
    max_age_seconds: key(kinds.span(1, MONTH), {
      about: 'Maximum age of a message. After it, the message bounces.',
      unit: 'seconds',
      fallback: 3 * DAY,
    }),
    smarthost: key(kinds.smarthost, {
      about: `Relay for all outgoing mail, instead of each domain's MX. Format: smtp:// (STARTTLS, default port 587) or smtps://
(implicit TLS, default port 465), then user:password@host:port. Percent-encode user and password. Empty: use MX.`,
      fallback: '',
      isSecret: true,
    }),
    smarthost_certificates: key(kinds.fingerprints, {
      about: `SHA-256 fingerprints of the smarthost's certificate or its public key. One of them must match; the issuer does not
matter. Empty: verify against public CAs. The password is sent without verification only to 127.0.0.1 and ::1. To get a
fingerprint: \`openssl x509 -noout -fingerprint -sha256\` or \`postrider doctor\`.`,
      fallback: [],
    }),
    allow_private_destinations: key(kinds.flag, {
      about: 'Allow delivery to loopback and private addresses, for tests and closed networks.',
      fallback: false,
    }),
    workers: key(kinds.whole(1, 64), { about: 'Threads that compose, sign and send messages.', fallback: 2 }),
    share: key(kinds.choice('cluster', 'node'), {
      about: `How several nodes share the limits of destinations. "cluster": they hold for all nodes together, which divide
them. "node": they hold for each node, which has an IP address of its own. Set the same on all nodes.`,
      fallback: 'cluster',
    }),
    max_in_flight: key(kinds.whole(1, 100_000), {
      about: 'Maximum concurrent deliveries, over all destinations.',
      fallback: 1000,
    }),
    max_per_destination: key(kinds.whole(1, 1000), {
      about: `Maximum concurrent connections per destination. A destination is all domains whose best MX hosts have the same
registrable domain. It starts with 5 connections; deliveries raise the limit, and 421, 4.7.z and failures lower it.`,
      fallback: 20,
    }),
    longest_wait_seconds: key(kinds.span(0.1, 3600), {
      about: `Maximum wait for a mail server at any SMTP step. The RFC 5321 timeouts apply if they are shorter (most are five
minutes). With short waits, slow servers fail, and a timeout after the end of a message can cause a duplicate.`,
      unit: 'seconds',
      fallback: 600,
    }),
    source_address: key(kinds.address, {
      about: 'Local IP address for outgoing connections. Empty: chosen by the system.',
      fallback: '',
    }),
    sites: openSection(
      `Limits for single destinations, as sections such as [delivery.sites."example.net"]. \`postrider explain\` shows the
name of a destination. 0: the default for this provider, or the general default.`,
      {},
      section('', {
        max_connections: key(kinds.whole(0, 1000), { about: 'Maximum concurrent connections.', fallback: 0 }),
        max_mails_per_connection: key(kinds.whole(0, 1_000_000), {
          about: 'Maximum messages per connection.',
          fallback: 0,
        }),
        max_mails_per_minute: key(kinds.whole(0, 10_000_000), { about: 'Maximum messages per minute.', fallback: 0 }),
      }),
      DESTINATION_NAMES,
    ),
  }),
  dns: section('DNS lookups (MX, SPF, DKIM, domain verification, webhook hosts), and the delegated zone.', {
    servers: key(kinds.nameServers, {
      about: 'Name servers as ip:port, queried in this order. Empty list: those of the system.',
      fallback: [],
    }),
    trusted_resolvers: key(kinds.networks, {
      about: `Networks of name servers that validate DNSSEC. DANE (TLSA records of MX hosts) works only with them. The network path
to them must be secure. Empty list: no DANE.`,
      fallback: ['127.0.0.0/8', '::1/128'],
    }),
    provider: key(kinds.dnsProvider, {
      about: `DNS provider as the program lexicon calls it, such as \`route53\`. \`postrider dns apply\` changes records there. Empty:
it recognizes the provider by the name servers.`,
      fallback: '',
    }),
    credentials_file: key(kinds.file, {
      about: `File with the credentials of dns.provider: lines such as LEXICON_CLOUDFLARE_AUTH_TOKEN=… that only its owner can
read. Empty: the environment has them.`,
      fallback: '',
    }),
    provider_zones: key(kinds.hostNames, {
      about: `Zones at dns.provider, such as example.com. The server publishes new DKIM keys of verified domains there and
removes old ones, so that they rotate by themselves (dkim.rotate_every_days). Empty list: it changes nothing by itself.`,
      fallback: [],
    }),
    zone: key(kinds.zoneName, {
      about: `Zone that you delegated to this server, such as pm.example.net. Sending domains then publish CNAME records to it once,
and Postrider answers for keys, return path and links. Empty: domains publish the values themselves.`,
      fallback: '',
    }),
    listen: key(kinds.listenList, {
      about: `Addresses (ip:port) on which to answer for dns.zone, over UDP and TCP. Usually port 53 of each public address of this
machine. Empty list: off.`,
      fallback: [],
    }),
    name_servers: key(kinds.hostNames, {
      about:
        'Names of the servers of dns.zone, as in its delegation. Empty list: the hostname of this server, or those of all nodes.',
      fallback: [],
    }),
    addresses: key(kinds.addresses, {
      about: `Addresses of names of this server inside dns.zone (hostname, dns.name_servers, the host of http.public_url,
tls.names) and of the zone itself. Required only if there are such names.`,
      fallback: [],
    }),
    responses_per_second: key(kinds.whole(0, 1_000_000), {
      about: `Maximum DNS responses over UDP to a client network (IPv4 /24, IPv6 /56). Above it, Postrider drops every
second query and sends the others to TCP. 0: no limit.`,
      fallback: 200,
    }),
  }),
  dkim: section(
    'Rotation of DKIM keys, for domains whose selectors are CNAME records to dns.zone, or in dns.provider_zones.',
    {
      rotate_every_days: key(kinds.whole(0, 3650), {
        about: `New keys after this number of days, without anything to do for the domain. 0: never. Without dns.zone and
dns.provider_zones nothing rotates by itself.`,
        unit: 'days',
        fallback: 90,
      }),
      resolvers: key(kinds.nameServers, {
        about: `Public resolvers as ip:port. New keys sign only once each of these and every name server of the domain and of dns.zone
has them. Empty list: only the name servers.`,
        fallback: ['1.1.1.1:53', '8.8.8.8:53', '9.9.9.9:53'],
      }),
    },
  ),
  reports: section('TLS reports (RFC 8460) to domains that request them.', {
    from: key(kinds.mailAddress, {
      about: `Sender address of reports, at a verified domain of this installation. Reports count as mail of its organization.
Empty: no data is collected and no report is sent.`,
      fallback: '',
    }),
    contact: key(kinds.mailAddress, {
      about: 'Contact address in reports. Empty: same as from.',
      fallback: '',
    }),
    organization: key(kinds.text, { about: 'Organization name in reports. Empty: the hostname.', fallback: '' }),
  }),
  webhooks: section('Webhook delivery.', {
    retry_schedule_seconds: key(kinds.spans(kinds.span(0, MONTH), 4, 4), {
      about: 'Waits before attempts 2 to 5, each ±20 %. After the fifth attempt, the delivery fails.',
      unit: 'seconds',
      fallback: [5, 300, 1800, 7200],
    }),
    timeout_seconds: key(kinds.span(0.1, 300), {
      about: 'Timeout for the whole response.',
      unit: 'seconds',
      fallback: 30,
    }),
    allowed_private_networks: key(kinds.networks, {
      about: 'Private networks that webhooks may connect to, such as ["10.0.0.0/8"].',
      fallback: [],
    }),
    ca_file: key(kinds.file, {
      about: 'Additional PEM CA certificates to trust for webhook endpoints.',
      fallback: '',
    }),
    max_in_flight: key(kinds.whole(1, 10_000), {
      about: `Maximum concurrent requests over all webhooks. One organization can use as many as remain free: half if it is alone.
Its slow and new endpoints can use a third.`,
      fallback: 200,
    }),
    max_per_webhook: key(kinds.whole(1, 1000), { about: 'Maximum concurrent requests per webhook.', fallback: 10 }),
  }),
  attachments: section('Attachments by URL.', {
    allowed_private_networks: key(kinds.networks, {
      about: `Private networks that files may be downloaded from, such as ["10.0.0.0/8"]. Every organization can then send
itself any file that HTTPS servers in these networks hand out.`,
      fallback: [],
    }),
    ca_file: key(kinds.file, {
      about: 'Additional PEM CA certificates to trust for these downloads.',
      fallback: '',
    }),
  }),
  sending: section('Rules for sending.', {
    require_verified_domain: key(kinds.flag, {
      about: 'Allow live sending only from domains whose DKIM record is published in DNS.',
      fallback: true,
    }),
    addresses: key(kinds.sendingAddresses, {
      about: `IP addresses of this machine that mail is sent from. Each is a table [[sending.addresses]] with address, hostname,
pool, node and warmup. hostname is the name in EHLO; default: that of this server. pool is "default" unless set. With several nodes, node names
the one that has the address; it sends the mail of the pool. A new address has a plan: warmup = { started_on = "2026-11-24" }. Mail uses the pool "default", unless its stream, sending.assignments or a dedicated address decides.
Empty: the system, or delivery.source_address, chooses the address.`,
      fallback: [],
    }),
    assignments: key(kinds.poolAssignments, {
      about: `Pools of single organizations and domains: [[sending.assignments]] with pool, and with organization (its ID), domain (its
name) or both. The first that matches counts. They apply to messages that are accepted from then on.`,
      fallback: [],
    }),
    complaint_scope: key(kinds.choice('non_transactional', 'all'), {
      about: `Which mail a spam complaint stops. "non_transactional": its own stream and every other one but "transactional". "all":
every stream. It applies to complaints that arrive from then on.`,
      fallback: 'non_transactional',
    }),
    hard_bounces: key(kinds.choices('no_mailbox', 'no_domain', 'mailbox_disabled', 'mailbox_full'), {
      about: `Which final refusals make a bounce hard and suppress the address. "no_mailbox": the address does not exist.
"no_domain": its domain does not exist or accepts no mail. "mailbox_disabled": the account is closed or inactive.
"mailbox_full": the mailbox is full, or stays full until Postrider gives up. It applies from then on.`,
      fallback: ['no_mailbox', 'no_domain'],
    }),
    streams: openSection(
      `Message streams, as sections such as [sending.streams.newsletter]. A message chooses one with its field "stream";
"transactional" is the default.`,
      {
        transactional: section('', streamKeys(false)),
        bulk: section('', streamKeys(true)),
      },
      section('', streamKeys(false)),
      PLAN_NAMES,
    ),
  }),
  limits: section('Limits for all organizations.', {
    message_bytes: key(kinds.whole(1024, 2 ** 30), {
      about: 'Maximum size of a message including attachments, inbound and outbound.',
      unit: 'bytes',
      fallback: 26_214_400,
    }),
    memory_bytes: key(kinds.whole(0, 2 ** 50), {
      about: `Memory limit of the process. Near it, large requests and messages wait, and then get a temporary error. 0: the limit of
its control group, at most 7/8 of the machine's memory.`,
      unit: 'bytes',
      fallback: 0,
    }),
  }),
  inbound: section('Inbound delivery.', {
    retry_schedule_seconds: key(kinds.spans(kinds.span(0, MONTH), 4, 4), {
      about:
        'Waits before attempts 2 to 5. After the fifth attempt, the message stays stored and can be redelivered manually.',
      unit: 'seconds',
      fallback: [60, 600, 3600, 21_600],
    }),
    confirm_forward_targets: key(kinds.flag, {
      about: `Require that the owner of a forward target confirms it through an emailed link. Set to false on a server with a single
organization that controls all its routes.`,
      fallback: true,
    }),
    reply_address_days: key(kinds.whole(1, 36_500), {
      about:
        'How long the addresses of `replies` receive mail at least. They do as long as the plan keeps the message, if that is longer.',
      unit: 'days',
      fallback: 90,
    }),
  }),
  plans: openSection(
    `Limits of each plan; -1 is unlimited. To add a plan, add a section [plans.<name>]. Keys that it omits use the values of
[plans.free].`,
    {
      free: section('', planKeys(FREE)),
      starter: section('', planKeys(STARTER)),
      pro: section('', planKeys(PRO)),
      enterprise: section('', planKeys(ENTERPRISE)),
    },
    section('', planKeys(FREE)),
    PLAN_NAMES,
  ),
  billing: section('Plan changes.', {
    self_service_plans: key(kinds.names, {
      about: `Plans that an admin key can choose for its organization with PATCH /v1/billing. Empty list: only the operator changes
plans. A plan with shorter retention deletes older data.`,
      fallback: [],
    }),
  }),
  quality: section('Thresholds of the quality.alert event per sending domain.', {
    bounce_rate: key(kinds.share, { about: 'Hard bounces divided by messages sent.', unit: 'ratio', fallback: 0.05 }),
    // Large mailbox providers ask senders to stay below 0.3 % complaints.
    complaint_rate: key(kinds.share, {
      about: 'Complaints divided by messages delivered.',
      unit: 'ratio',
      fallback: 0.003,
    }),
    min_sent: key(kinds.whole(1, 1_000_000_000), {
      about: 'Minimum messages in the window for an alert.',
      fallback: 100,
    }),
    window_hours: key(kinds.span(0.001, 744), { about: 'Length of the window.', unit: 'hours', fallback: 24 }),
    stop_sending: key(kinds.flag, {
      about: `Reject new live messages from the domain with 422 while an alert is firing. Messages accepted before are delivered. The
alert ends at the latest when its cause leaves the window.`,
      fallback: false,
    }),
  }),
  users: section('Mail to people who sign in to the dashboard.', {
    mail_from: key(kinds.mailAddress, {
      about: `Sender address of invitations and password links, at a verified domain of this installation, such as
no-reply@example.com. Choose a domain that operators control: its owner receives bounces. Mail to this address is
rejected. Empty: no mail is sent; Postrider shows each link to the person who creates it.`,
      fallback: '',
    }),
  }),
  oidc: section(
    `Single sign-on to the dashboard with an OpenID Connect provider. Register <public_url>/session/oidc/callback there as
redirect URI.`,
    {
      issuer: key(kinds.issuer, {
        about: 'Issuer URL of the provider, such as https://login.example.com/realms/staff. Empty: no single sign-on.',
        fallback: '',
      }),
      client_id: key(kinds.text, { about: 'ID of Postrider at the provider.', fallback: '' }),
      client_secret: key(kinds.text, {
        about: 'Secret of the client. Empty: a public client, with PKCE alone.',
        fallback: '',
        isSecret: true,
      }),
      scope: key(kinds.text, {
        about: 'Scopes to request. Some providers send groups only with a scope of their own.',
        fallback: 'openid email profile',
      }),
      roles_claim: key(kinds.claim, {
        about: `Claim with the user's groups or roles, such as groups or realm_access.roles. Every sign-in then sets
all roles of the user from [[oidc.roles]]. Empty: users keep the roles that owners give them.`,
        fallback: '',
      }),
      roles: key(kinds.roleRules, {
        about: `What each value of the claim gives: [[oidc.roles]] with value, role and organization (ID or name), or with value and
role = "operator". Of several roles in one organization, the highest counts.`,
        fallback: [],
      }),
      trust_email: key(kinds.flag, {
        about: `Match users by address also if the provider sends no email_verified. Only for a provider whose administrators alone set
addresses.`,
        fallback: false,
      }),
      only: key(kinds.flag, {
        about: `Refuse passwords and passkeys. Links from postrider login-link still work.`,
        fallback: false,
      }),
      ca_file: key(kinds.file, {
        about: 'Additional PEM CA certificates to trust for the provider.',
        fallback: '',
      }),
    },
  ),
  metrics: section('GET /metrics, for Prometheus.', {
    listen: key(kinds.listen, {
      about: `host:port of a separate listener for /metrics, such as 127.0.0.1:9464. The HTTP listener then does not serve it. "off":
the HTTP listener serves it.`,
      fallback: 'off',
    }),
    allowed_networks: key(kinds.networks, {
      about: `Client networks (CIDR) that may read /metrics; http.trusted_proxies applies. Other clients get 404. An empty list turns
/metrics off.`,
      fallback: ['127.0.0.0/8', '::1/128'],
    }),
  }),
  health: section('Checks of `postrider doctor`, which the server also runs every hour.', {
    look_outside: key(kinds.flag, {
      about: `Also query blocklists and time servers, log in to relays and canary mailboxes, and connect to the mail servers of large
mailbox providers without sending mail. If false, check only this machine and the DNS of its own names.`,
      fallback: true,
    }),
  }),
  alerts: section(
    `Alerts for the operator: problems of the installation, sent once when they begin and once when they end. \`postrider alert
test\` tries every channel.`,
    {
      channels: key(alertChannels, {
        about: `Where alerts go, as tables [[alerts.channels]] with name and type: "mail", "webhook", "slack", "discord" or "teams".
All but mail need url_file, a file with the secret URL, or the URL itself; "webhook" also secret_file, a file with a signing secret (whsec_…).
"mail" needs to; with host, port, tls ("starttls", "implicit", "none"), ca_file, username, password_file and from it goes through that
mail server, which works when ours does not. min_severity = "critical" leaves out warnings. Empty: no alerts.`,
        fallback: [],
      }),
      repeat_after_hours: key(kinds.span(0, 720), {
        about: 'Send an alert again when it still fires after this time. 0: never.',
        unit: 'hours',
        fallback: 0,
      }),
    },
  ),
  canary: section(
    `Canary messages: the server sends mail to itself, through its own MX record and port 25, and to mailboxes elsewhere, and
looks whether it arrives. \`postrider canary list\` shows the results.`,
    {
      every_minutes: key(kinds.wholeOrOff(5, 1440), {
        about: 'How often. 0: never.',
        unit: 'minutes',
        fallback: 0,
      }),
      from: key(kinds.mailAddress, {
        about: 'Sender, in a verified domain of this server. Empty: users.mail_from.',
        fallback: '',
      }),
      late_after_minutes: key(kinds.span(0.1, 720), {
        about: 'A mail that takes longer is late.',
        unit: 'minutes',
        fallback: 5,
      }),
      missing_after_minutes: key(kinds.span(0.2, 1440), {
        about: 'A mail that takes longer is missing.',
        unit: 'minutes',
        fallback: 30,
      }),
      mailboxes: key(canaryMailboxes, {
        about: `Mailboxes elsewhere, as tables [[canary.mailboxes]] with password_file, name, address and host. Optional are port, tls
("implicit", "starttls", "none"), username (the address by default), ca_file, spam_folder and folder ("INBOX" by default). By
default, spam lies in the folder that the server marks as Junk. Postrider reads them by IMAP, and deletes its messages.`,
        fallback: [],
      }),
    },
  ),
  log: section('Log on standard error.', {
    level: key(kinds.choice('debug', 'info', 'warn', 'error'), {
      about: 'Minimum level. SIGHUP reloads it.',
      fallback: 'info',
    }),
    format: key(kinds.choice('auto', 'json', 'text'), {
      about: '"json" or "text". "auto": text on a terminal, JSON elsewhere.',
      fallback: 'auto',
    }),
  }),
}

/** The configuration as used in code: nested, camelCase, deeply frozen. */
export type Config = Values<typeof table>

/** The same as written in the file, every key optional: input of makeConfig and renderExample. */
export type ConfigValues = Written<typeof table>

export type Plan = Config['plans'][string]

type Values<Keys> = { readonly [Name in keyof Keys as Camel<Name & string>]: ValueOf<Keys[Name]> }

type ValueOf<Node> = Node extends { kind: { schema: infer Schema } }
  ? z.output<Schema & z.ZodType>
  : Node extends { other: Section<infer Keys> }
    ? { readonly [name: string]: Values<Keys> }
    : Node extends { keys: infer Keys }
      ? Values<Keys>
      : never

type Written<Keys> = { readonly [Name in keyof Keys]?: WrittenOf<Keys[Name]> }

type WrittenOf<Node> = Node extends { kind: { schema: infer Schema } }
  ? z.input<Schema & z.ZodType>
  : Node extends { other: Section<infer Keys> }
    ? { readonly [name: string]: Written<Keys> }
    : Node extends { keys: infer Keys }
      ? Written<Keys>
      : never

export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

function key<K extends kinds.Kind>(kind: K, rest: Omit<Key<K>, 'kind'>): Key<K> {
  return { kind, ...rest }
}

function section<const Keys extends Table>(about: string, keys: Keys): Section<Keys> {
  return { about, keys }
}

function openSection<Other extends Section>(
  about: string,
  keys: Table,
  other: Other,
  names: Names,
): OpenSection<Other> {
  return { about, keys, other, names }
}
