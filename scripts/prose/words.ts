/** Words of the project and exceptions of the prose check. */

/** Participles that may follow "is" or "are". */
export const ACCEPTED_PARTICIPLES: ReadonlyMap<string, string> = new Map([
  ['sent', 'the usual word for a message on its way'],
  ['set', 'the state of a config key or flag'],
  ['bound', 'an API key is bound to a domain'],
  ['read', 'also a permission'],
  ['hidden', 'state of a secret'],
  ['lost', 'state of a connection or of data'],
])

/** Passive phrases in which the actor does not matter. */
export const ACCEPTED_PHRASES: ReadonlyMap<string, string> = new Map([
  ['shown only once', 'the usual phrase for secrets'],
  ['kept for', 'the usual phrase for retention'],
])

export interface Banned {
  pattern: RegExp
  use: string
}

/** Old-fashioned phrases and metaphors, with the words to use instead. */
export const BANNED: readonly Banned[] = [
  { pattern: /\bwho(?:m)?ever\b/gi, use: 'name the person or program' },
  { pattern: /\b(?:that|those) which\b/gi, use: 'say the noun' },
  { pattern: /\b(?:is|are|was|were) told\b/gi, use: 'use "receives", "reports" or "shows"' },
  { pattern: /\b(?:tells?|says?) (?:of|what|whether|when|where|which|who)\b/gi, use: 'use "reports" or "shows"' },
  { pattern: /\blives\b/gi, use: 'use "is" or "stores"' },
  {
    pattern: /\b(?:purse|errand|bell|manners|plea|doors?|obstacle|affair)s?\b/gi,
    use: 'use the word of the field',
  },
  { pattern: /\bhand(?:s|ed)? in\b/gi, use: 'use "send" or "submit"' },
  { pattern: /\bin clear\b/gi, use: 'use "unencrypted" or "plain HTTP"' },
  { pattern: /\bmails\b/gi, use: 'use "messages"' },
  { pattern: /\bbegin(?:s|ning)? (?:anew|behind)\b/gi, use: 'use "start over" or "start after"' },
  { pattern: /\bis there already\b/gi, use: 'use "already exists"' },
  { pattern: /\bthere is no such\b/gi, use: 'use "not found"' },
  { pattern: /\bmade up\b/gi, use: 'use "simulated"' },
  { pattern: /\bpass(?:ed)? over\b/gi, use: 'use "skip"' },
  { pattern: /\bat present\b/gi, use: 'use "now" or "currently"' },
  { pattern: /\bunder way\b/gi, use: 'use "in progress"' },
  { pattern: /\bso many\b/gi, use: 'give the number' },
  { pattern: /\banew\b/gi, use: 'use "again"' },
  { pattern: /(?<!\bthere )\bis no (?!longer\b|more\b)/gi, use: 'use "is not a" or "has no"' },
  { pattern: /\bbounce[sd]? soft(?:ly)?\b/gi, use: 'use "is a soft bounce" or "soft-bounces"' },
  { pattern: /\bthe own\b/gi, use: 'use "its own" or the owner\'s name' },
  { pattern: /\bbe had\b/gi, use: 'use "is available"' },
  { pattern: /\b(?:programs?|servers?|endpoints?|hosts?|addresses) of (?:yours|ours)\b/gi, use: 'use "your" or "our"' },
]

/** Words of the field that the dictionary lacks. */
export const WORDS: readonly string[] = `
  2xx 4xx 4yz 5xx 7BIT 8BITMIME Authelia authenticator balancer base64 bcc behaviour blocklist blocklists Brevo bytecode Caddy calc cancelled cancelling
  canonicalization capset certbot changelog charset checksums chmod colour coloured colours config csv Ctrl-C decrypt decrypted
  deduplicate defence delisting deliverability Deno dkim DKIM-signed dmarc doctype Ed25519 Elysia Entra errno EventSource
  Exim exim4 failover favour flexbox fsync glibc Gmail Grafana greylisting gzip Haraka healthz honoured honouring honours hostname
  hostnames href html http https idempotency Idempotency-Key iCalendar img init IPv4 IPv6 ISO8601 kB Keycloak KiB Landlock lang licence
  localhost lookups loopback macOS mailauth Mailchimp Mailgun Mailjet Mailtrap mailto MathML MiB ms mta-sts multiparts musl mx N-th neighbour nginx
  Cloudflare nodemailer npm nsswitch OAuth ok Okta oklch onclick OneSignal OpenAPI OpenDKIM OpenID OpenSSL p95 p99 parsers Patroni pgBackRest PgBouncer PHPStan pipelined plaintext Postfix postgres
  Postrider postrider Laravel Hono mailables postgresql-client practise prctl preheader prlimit Prometheus readyz redeliver redelivered redeliveries redelivery
  PowerDNS registrable resend resends resolvers rrggbb sandboxed schemas seccomp SendGrid shortener shorteners smarthost smtp SparkPost
  smtps SpamCop Spamhaus spf sqlite3 src minisign sslmode stderr Streamable STSv1 suppression suppressions systemctl systemd template0 timestamp
  timestamps tls TLS-report TLSRPTv1 unclosed unencrypted unix unsubscribe unsubscribes unsubscriptions UserInfo vh viewport VmData vw warmup
  webhook webhooks WebP X-Forwarded-Proto Xeon xz Zitadel zstd µs
`
  .trim()
  .split(/\s+/)

/** Whole texts that the check skips. */
export const ACCEPTED_TEXTS: ReadonlySet<string> = new Set([
  // One sentence of findings, long by the number of mail programs that it names.
  'The HTML uses newer CSS colours (oklch, lab, color-mix), which Gmail, Outlook for Windows, X, Outlook for Mac and mobile, Yahoo Mail, Samsung Email and Thunderbird might not show',
])

/** Areas that the check covers; the others follow when their texts are rewritten. */
export const COVERED: readonly string[] = ['cli', 'config', 'readme', 'manual', 'dashboard', 'errors', 'openapi']
