/** The one table of config keys. The types, the checks, the environment names and config.example.toml are made of it:
 *  a key added here is known everywhere. Keys stand as in the file (snake_case); Values<> gives them camelCase. */
import type { z } from 'zod'
import * as kinds from './kinds.ts'

export interface Key<K extends kinds.Kind = kinds.Kind> {
  readonly kind: K
  /** For people: what it does, in one to three sentences. */
  readonly about: string
  readonly unit?: string
  /** As it would stand in the file; undefined: the key is required, and `example` stands in the example file. */
  readonly fallback?: z.input<K['schema']>
  readonly example?: z.input<K['schema']>
  /** Never shown in a fault, and can be read from a file named by `<key>_file`. */
  readonly isSecret?: boolean
}

export interface Section<Keys extends Table = Table> {
  readonly about: string
  readonly keys: Keys
}

/** A section in which other names may stand beside the known ones. */
export interface OpenSection<Other extends Section = Section> extends Section {
  readonly other: Other
  readonly names: Names
}

/** What the other names may look like. */
export interface Names {
  readonly pattern: RegExp
  readonly expected: string
}

const PLAN_NAMES: Names = {
  pattern: /^[a-z0-9][a-z0-9_-]{0,31}$/,
  expected: 'a name of at most 32 small letters, digits, "-" and "_"',
}
const SITE_NAMES: Names = {
  pattern: /^[a-z0-9[][a-z0-9.:\]-]{0,252}$/,
  expected: 'the name of a site in quotes and small letters, like "google.com"',
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
}

const planKeys = (plan: PlanNumbers) => ({
  requests_per_minute: key(kinds.limit(1), {
    about: 'API requests that each key may make.',
    unit: 'per minute',
    fallback: plan.requests,
  }),
  messages_per_month: key(kinds.limit(0), {
    about: 'Recipients accepted for live sending in a calendar month (UTC).',
    fallback: plan.messages,
  }),
  domains: key(kinds.limit(0), { about: 'Sending domains of an organization.', fallback: plan.domains }),
  retention_days: key(kinds.limit(1), {
    about: 'How long messages, events and inbound mail are kept.',
    unit: 'days',
    fallback: plan.days,
  }),
  webhooks: key(kinds.limit(0), { about: 'Webhooks of an organization.', fallback: plan.webhooks }),
  inbound_routes: key(kinds.limit(0), { about: 'Inbound routes of an organization.', fallback: plan.routes }),
  templates: key(kinds.limit(0), { about: 'Templates of an organization.', fallback: plan.templates }),
  template_versions: key(kinds.limit(1), {
    about: 'Versions kept of each template; the oldest are removed.',
    fallback: plan.versions,
  }),
  api_keys: key(kinds.limit(1), {
    about: 'API keys that work; as many again may be in the grace period of a rotation.',
    fallback: plan.keys,
  }),
  scheduled_messages: key(kinds.limit(0), {
    about: 'Messages that wait for their time.',
    fallback: plan.scheduled,
  }),
  stored_bytes: key(kinds.limit(0), {
    about: `What messages, inbound mail, templates and remembered answers may occupy. Beyond it nothing new is accepted
until retention has removed something; inbound mail is answered 452.`,
    unit: 'bytes',
    fallback: plan.bytes,
  }),
  test_messages_per_month: key(kinds.limit(0), {
    about: 'Recipients of test messages in a calendar month (UTC).',
    fallback: plan.tests,
  }),
  forwards_per_day: key(kinds.limit(0), {
    about: 'Recipients that forward routes may send to in a day (UTC). They count as messages too.',
    fallback: plan.forwards,
  }),
  suppressions: key(kinds.limit(0), {
    about: 'Suppressed addresses that may be added by hand and by import. Bounces and complaints always add theirs.',
    fallback: plan.suppressions,
  }),
})

/** Requests, messages, domains and days: the customer's document, Limits. The others: contract §7; the numbers of starter
 *  and pro lie between those of free and enterprise. */
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
}

const DAY = 86_400
const MONTH = 31 * DAY

export const table = {
  hostname: key(kinds.hostName, {
    about: `The public name of this machine: said in SMTP greetings, in Message-ID and Received headers, and the MX of
inbound mail. Its A/AAAA record and the PTR record of its address should agree. The one key without a default.`,
    example: 'mail.example.com',
  }),
  data_dir: key(kinds.folder, {
    about: 'Where the database, keys and certificates are kept. A relative path starts at the folder of this file.',
    fallback: '/var/lib/postrider',
  }),
  storage: section('The disk under data_dir.', {
    min_free_bytes: key(kinds.whole(0, 2 ** 50), {
      about: `What is kept free of new mail, so that the work under way can be written down and old mail removed: with less,
messages are answered 503 and mail 452, and /readyz says so. At most a tenth of the disk. 0: the disk is used to its end.`,
      unit: 'bytes',
      fallback: 200_000_000,
    }),
  }),
  http: section('The API, the dashboard, and the links for opens, clicks and unsubscribes.', {
    listen: key(kinds.listen, {
      about: 'Where HTTP is answered in clear, or "off". For this machine, and for a TLS proxy in front.',
      fallback: '127.0.0.1:8025',
    }),
    listen_tls: key(kinds.listen, {
      about: 'Where HTTPS is answered, usually 0.0.0.0:443, or "off". [tls] says with which certificate.',
      fallback: 'off',
    }),
    listen_redirect: key(kinds.listen, {
      about: `Usually 0.0.0.0:80, or "off": answers the questions of tls.mode "acme", and sends everybody else on to
http.public_url where that is https.`,
      fallback: 'off',
    }),
    hsts_seconds: key(kinds.whole(0, 10 * 366 * DAY), {
      about: 'How long browsers that were here by HTTPS may use nothing else (Strict-Transport-Security). 0: not said.',
      unit: 'seconds',
      fallback: 0,
    }),
    public_url: key(kinds.publicUrl, {
      about:
        'How the world reaches this server; links in mail start with it. Empty: https:// and the hostname where http.listen_tls is on, else http:// and the listening address.',
      fallback: '',
    }),
    dashboard: key(kinds.flag, {
      about: 'Whether the dashboard is there, at /dashboard/, and signing in to it. The API is, in any case.',
      fallback: true,
    }),
    allowed_hosts: key(kinds.ownHosts, {
      about: `Other host names under which the dashboard may be used and /metrics read, beside hostname, the host of
public_url, localhost and addresses. Any other name is refused there: a page of that name could reach this server through
the browser of somebody in your network (DNS rebinding). API keys work under every name.`,
      fallback: [],
    }),
    behind_proxy: key(kinds.flag, {
      about: `All requests come through a TLS proxy of yours: public_url must be https, and what came to the proxy in clear
(X-Forwarded-Proto) is refused or sent on to https. Also \`postrider serve --behind-proxy\`.`,
      fallback: false,
    }),
    trusted_proxies: key(kinds.networks, {
      about: `Networks of proxies in front of http.listen. From them, and from nobody else, X-Forwarded-For and
X-Forwarded-Proto are believed: the first says whose open, click or unsubscription it is.`,
      fallback: ['127.0.0.1/32', '::1/128'],
    }),
  }),
  tls: section('The certificate that is shown, by HTTPS and by SMTP.', {
    mode: key(kinds.choice('files', 'acme'), {
      about: `"files": the two below; without them a self-signed pair is made at first start. "acme": a certificate of a
public authority, got and renewed by itself (RFC 8555, HTTP-01); http.listen_redirect must be reached at port 80.`,
      fallback: 'files',
    }),
    certificate_file: key(kinds.file, {
      about: 'PEM certificate chain. Empty: a self-signed pair is made at first start. SIGHUP reads it again.',
      fallback: '',
    }),
    key_file: key(kinds.file, { about: 'PEM private key of that certificate.', fallback: '' }),
    names: key(kinds.hostNames, {
      about: 'Names in the certificate beside hostname and the host of http.public_url.',
      fallback: [],
    }),
    domain_names: key(kinds.flag, {
      about: `Also mta-sts.<domain> and the tracking hosts of your domains, once their DNS leads here. All names of a certificate
can be read by everybody.`,
      fallback: true,
    }),
    acme_directory: key(kinds.httpsUrl, {
      about: 'Where the authority says what it offers. To try it out: that of its staging environment.',
      fallback: 'https://acme-v02.api.letsencrypt.org/directory',
    }),
    acme_contact: key(kinds.mailAddress, { about: 'Whom the authority may write to.', fallback: '' }),
    acme_agree_terms: key(kinds.flag, {
      about: "You have read the authority's terms and agree to them. Without that it gives nothing.",
      fallback: false,
    }),
    acme_ca_file: key(kinds.file, {
      about: 'PEM certificates trusted for the authority itself beside the public ones.',
      fallback: '',
    }),
    acme_http_port: key(kinds.port, {
      about: 'The port at which the authority asks. Other than 80 only with one of your own.',
      fallback: 80,
    }),
  }),
  smtp: section('SMTP in both of its roles: mail from the world, and mail from your own programs.', {
    certificate_file: key(kinds.file, {
      about: 'PEM certificate chain for SMTP, where it is another than that of [tls]. SIGHUP reads it again.',
      fallback: '',
    }),
    key_file: key(kinds.file, { about: 'PEM private key of that certificate.', fallback: '' }),
    max_connections: key(kinds.whole(1, 100_000), {
      about: 'Connections at once to each listener. More are answered 421.',
      fallback: 1000,
    }),
    max_connections_per_address: key(kinds.whole(1, 100_000), {
      about: 'Of them from one address (IPv6: from one /64).',
      fallback: 50,
    }),
    inbound: section('Mail from the world: inbound routes, bounces and complaints.', {
      listen: key(kinds.listen, { about: 'host:port, or "off".', fallback: '0.0.0.0:25' }),
      max_connections_per_network: key(kinds.whole(1, 100_000), {
        about: 'Connections at once from one network (IPv4: /24, IPv6: /56). More are answered 421.',
        fallback: 200,
      }),
      connections_per_minute_per_network: key(kinds.whole(1, 1_000_000), {
        about: 'New connections of one network in a minute. More are answered 421.',
        fallback: 600,
      }),
      mails_per_minute_per_network: key(kinds.whole(1, 1_000_000), {
        about: 'Mails of one network in a minute. More are answered 451.',
        fallback: 1200,
      }),
      unknown_recipients_per_hour_per_network: key(kinds.whole(1, 1_000_000), {
        about:
          'Recipients that do not exist, of one network in an hour. Beyond that all its recipients are answered 451.',
        fallback: 300,
      }),
      unlimited_networks: key(kinds.networks, {
        about: 'Networks (CIDR) without these limits per network, such as a backup MX of yours.',
        fallback: ['127.0.0.0/8', '::1/128'],
      }),
      mta_sts: key(kinds.choice('off', 'testing', 'enforce'), {
        about: `The MTA-STS policy published for domains whose mail comes here: where http.public_url is https, as
https://mta-sts.<domain>/.well-known/mta-sts.txt. "enforce" needs a certificate of a public authority.`,
        fallback: 'testing',
      }),
    }),
    submission: section('Mail handed in by your programs, with an API key as password.', {
      listen: key(kinds.listen, {
        about: 'host:port, usually 0.0.0.0:587, or "off". TLS by STARTTLS.',
        fallback: 'off',
      }),
      listen_tls: key(kinds.listen, {
        about: 'host:port, usually 0.0.0.0:465, or "off". TLS from the first byte.',
        fallback: 'off',
      }),
    }),
  }),
  delivery: section('Mail on its way out.', {
    port: key(kinds.port, { about: 'The port of the MX hosts that mail is delivered to.', fallback: 25 }),
    retry_schedule_seconds: key(kinds.spans(kinds.span(0.1, MONTH), 1, 100), {
      about: 'Waits before attempts 2, 3, … after a temporary failure. The last one repeats.',
      unit: 'seconds',
      // RFC 5321 §4.5.4.1: 30 minutes or more on the whole, a few quick tries first because greylisting opens in minutes.
      fallback: [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200],
    }),
    max_age_seconds: key(kinds.span(1, MONTH), {
      about: 'A message older than this is given up and bounces.',
      unit: 'seconds',
      fallback: 3 * DAY,
    }),
    smarthost: key(kinds.smarthost, {
      about: `Hand all mail to one host instead of each domain's MX: smtp:// (STARTTLS, port 587 unless given) or smtps://
(TLS from the start, 465), then user:password@host:port with user and password percent-encoded. Empty: use MX.`,
      fallback: '',
      isSecret: true,
    }),
    smarthost_certificates: key(kinds.fingerprints, {
      about: `SHA-256 fingerprints of the smarthost's certificate, or of its public key: one of them must be shown, whoever
signed it. Empty: the usual authorities decide. Without proof the password is sent to this machine only (127.0.0.1, ::1).
\`openssl x509 -noout -fingerprint -sha256\` and \`postrider doctor\` tell it.`,
      fallback: [],
    }),
    allow_private_destinations: key(kinds.flag, {
      about: 'Deliver to loopback and private addresses too. For tests and closed networks.',
      fallback: false,
    }),
    workers: key(kinds.whole(1, 64), { about: 'Threads that compose, sign and send.', fallback: 2 }),
    max_in_flight: key(kinds.whole(1, 100_000), {
      about: 'Deliveries under way at once, over all destinations.',
      fallback: 1000,
    }),
    max_per_destination: key(kinds.whole(1, 1000), {
      about: `Connections at once to one site: all domains whose best MX hosts have the same registrable domain. An unknown
site begins with 5; more come while it takes mail, fewer at 421, 4.7.z and failures.`,
      fallback: 20,
    }),
    longest_wait_seconds: key(kinds.span(0.1, 3600), {
      about: `The longest wait for a mail server, at any step: a step that RFC 5321 gives less time (most have five minutes) ends
with that. Short waits give up servers that are only slow; after the end of a mail that means a copy.`,
      unit: 'seconds',
      fallback: 600,
    }),
    source_address: key(kinds.address, {
      about: "The local address that deliveries leave from. Empty: the system's choice.",
      fallback: '',
    }),
    sites: openSection(
      `What single sites get at most: a section [delivery.sites."example.net"] by the name of a site (\`explain\` tells it).
0: as known of the provider, or as for all.`,
      {},
      section('', {
        max_connections: key(kinds.whole(0, 1000), { about: 'Connections at once.', fallback: 0 }),
        max_mails_per_connection: key(kinds.whole(0, 1_000_000), { about: 'Mails over one connection.', fallback: 0 }),
        max_mails_per_minute: key(kinds.whole(0, 10_000_000), { about: 'Mails begun in a minute.', fallback: 0 }),
      }),
      SITE_NAMES,
    ),
  }),
  dns: section('Every lookup: MX, SPF, DKIM, domain verification, webhook hosts.', {
    servers: key(kinds.nameServers, {
      about: 'Name servers as ip:port, asked in this order. Empty list: those of the system.',
      fallback: [],
    }),
    trusted_resolvers: key(kinds.networks, {
      about: `Networks of name servers that validate DNSSEC and whose word on it is believed; DANE (TLSA records of mail
hosts) works with them alone. Nobody may be able to tamper with the path to them. Empty list: no DANE.`,
      fallback: ['127.0.0.0/8', '::1/128'],
    }),
  }),
  reports: section('Reports on how TLS went, to the domains that ask for them (RFC 8460).', {
    from: key(kinds.mailAddress, {
      about: `The address that reports come from, at a verified domain of this installation; they are sent as mail of its
organization. Empty: nothing is counted and nothing is sent.`,
      fallback: '',
    }),
    contact: key(kinds.mailAddress, {
      about: 'Whom a reader of a report may write to. Empty: as from.',
      fallback: '',
    }),
    organization: key(kinds.text, { about: 'Who reports. Empty: the hostname.', fallback: '' }),
  }),
  webhooks: section('Events on their way to your endpoints.', {
    retry_schedule_seconds: key(kinds.spans(kinds.span(0, MONTH), 4, 4), {
      about: 'Waits before attempts 2 to 5, each varied by 20 %. After the fifth attempt a delivery has failed.',
      unit: 'seconds',
      fallback: [5, 300, 1800, 7200],
    }),
    timeout_seconds: key(kinds.span(0.1, 300), {
      about: 'Time for one whole answer.',
      unit: 'seconds',
      fallback: 30,
    }),
    allowed_private_networks: key(kinds.networks, {
      about: 'Networks that webhooks may reach although they are not public, like ["10.0.0.0/8"].',
      fallback: [],
    }),
    ca_file: key(kinds.file, {
      about: 'PEM certificates trusted for webhook endpoints beside the public ones.',
      fallback: '',
    }),
    max_in_flight: key(kinds.whole(1, 10_000), {
      about: `Requests under way at once, over all webhooks. One organization has at most as many as are free then: half, when it
is alone, and of endpoints that did not answer quickly yet a third.`,
      fallback: 200,
    }),
    max_per_webhook: key(kinds.whole(1, 1000), { about: 'Requests at once to one webhook.', fallback: 10 }),
  }),
  sending: section('What is accepted for sending.', {
    require_verified_domain: key(kinds.flag, {
      about: 'A live key sends only from a domain whose DKIM record has been seen in the DNS.',
      fallback: true,
    }),
  }),
  limits: section('Bounds that hold for everyone.', {
    message_bytes: key(kinds.whole(1024, 2 ** 30), {
      about: 'The largest message, composed with its attachments, in and out.',
      unit: 'bytes',
      fallback: 26_214_400,
    }),
    memory_bytes: key(kinds.whole(0, 2 ** 50), {
      about: `What the process may have in memory: before it has more, large requests and mails wait, and are then told to come
again. 0: what its control group grants, at most seven eighths of the machine.`,
      unit: 'bytes',
      fallback: 0,
    }),
  }),
  inbound: section('Inbound mail on its way to your endpoints.', {
    retry_schedule_seconds: key(kinds.spans(kinds.span(0, MONTH), 4, 4), {
      about: 'Waits before attempts 2 to 5. After the fifth the mail is kept and can be delivered again by hand.',
      unit: 'seconds',
      fallback: [60, 600, 3600, 21_600],
    }),
    confirm_forward_targets: key(kinds.flag, {
      about: `A forward route sends to an address elsewhere only after its owner confirmed it by a link in a mail. false: for a
server of one organization, which answers for all of its routes.`,
      fallback: true,
    }),
  }),
  plans: openSection(
    `What an organization may use; -1 is unlimited. A plan of your own is a section [plans.<name>]; what it leaves out
is as in [plans.free].`,
    {
      free: section('', planKeys(FREE)),
      starter: section('', planKeys(STARTER)),
      pro: section('', planKeys(PRO)),
      enterprise: section('', planKeys(ENTERPRISE)),
    },
    section('', planKeys(FREE)),
    PLAN_NAMES,
  ),
  billing: section('What organizations may do about their plans by themselves.', {
    self_service_plans: key(kinds.names, {
      about: `Plans that an admin key may change its organization to, by PATCH /v1/billing. Empty list: only the operator
changes plans. A plan of fewer days removes what it does not keep.`,
      fallback: [],
    }),
  }),
  quality: section('When a sending domain raises the event quality.alert.', {
    bounce_rate: key(kinds.share, { about: 'Hard bounces over messages sent.', unit: 'share of 1', fallback: 0.05 }),
    // Large mailbox providers ask senders to stay below 0.3 % complaints.
    complaint_rate: key(kinds.share, {
      about: 'Complaints over messages delivered.',
      unit: 'share of 1',
      fallback: 0.003,
    }),
    min_sent: key(kinds.whole(1, 1_000_000_000), {
      about: 'No alert before so many messages in the window.',
      fallback: 100,
    }),
    window_hours: key(kinds.span(0.001, 744), { about: 'The span looked at.', unit: 'hours', fallback: 24 }),
    stop_sending: key(kinds.flag, {
      about: `While an alert holds, live mail from that domain is refused with 422; what was accepted before is delivered.
It is taken again when the alert ends, at the latest when what raised it has left the window.`,
      fallback: false,
    }),
  }),
  metrics: section('GET /metrics, for Prometheus.', {
    listen: key(kinds.listen, {
      about: `host:port of a listener of its own, such as 127.0.0.1:9464; the HTTP listener then has no such page. "off": it
is on the HTTP listener.`,
      fallback: 'off',
    }),
    allowed_networks: key(kinds.networks, {
      about: `Who may read it, by the address of the client, also behind a proxy of http.trusted_proxies; for everybody
else there is no such page. An empty list turns it off.`,
      fallback: ['127.0.0.0/8', '::1/128'],
    }),
  }),
  health: section('The checks of `postrider doctor`, which the server makes every hour too.', {
    look_outside: key(kinds.flag, {
      about: `Ask the world as well: blocklists, time servers, and mail servers of large mailbox providers, which are
greeted and sent nothing. false: no more than this machine and the DNS of its own names.`,
      fallback: true,
    }),
  }),
  log: section('One line per fact, on standard error.', {
    level: key(kinds.choice('debug', 'info', 'warn', 'error'), {
      about: 'The least that is written. SIGHUP reads it again.',
      fallback: 'info',
    }),
    format: key(kinds.choice('auto', 'json', 'text'), {
      about: '"json" for machines, "text" for people; "auto": text on a terminal, JSON elsewhere.',
      fallback: 'auto',
    }),
  }),
}

/** The configuration as the house sees it: nested, camelCase, frozen to the ground. */
export type Config = Values<typeof table>

/** The same as written in the file, every key optional: what makeConfig and renderExample take. */
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
