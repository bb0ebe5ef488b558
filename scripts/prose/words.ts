/** Words of the project and exceptions of the prose check. */

/** Participles that may follow "is" or "are". */
export const ACCEPTED_PARTICIPLES: ReadonlyMap<string, string> = new Map([
  ['sent', 'the usual word for a message on its way'],
  ['set', 'a key of the config is set, whoever wrote it'],
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
  { pattern: /\b(?:purse|errand|bell|manners|plea|doors?|obstacle|affair)s?\b/gi, use: 'use the word of the field' },
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
  { pattern: /\b(?:programs?|servers?|endpoints?|hosts?|addresses) of (?:yours|ours)\b/gi, use: 'use "your" or "our"' },
]

/** Words of the field that the dictionary lacks. */
export const WORDS: readonly string[] = `
  2xx 4xx 4yz 5xx base64 bcc behaviour blocklist blocklists bytecode Caddy cancelled certbot changelog charset
  checksums colour coloured colours config csv Ctrl-C deduplicate defence deliverability Deno dkim DKIM-signed
  dmarc Ed25519 Elysia EventSource Exim favour flexbox fsync glibc Gmail Grafana greylisting Haraka healthz
  honoured hostname hostnames html http https idempotency Idempotency-Key init IPv4 IPv6 ISO8601 kB KiB Landlock
  licence localhost lookups loopback mailauth Mailgun mailto MathML MiB ms musl neighbour nginx nodemailer npm
  OAuth onclick OpenAPI OpenDKIM p95 p99 Postfix Postrider practise Prometheus readyz redeliver redelivered
  redeliveries redelivery registrable resend resends schemas SendGrid shortener smarthost smtp smtps systemctl postrider SpamCop
  Spamhaus spf suppression suppressions systemd timestamp timestamps TLS-report unix unsubscribe unsubscribes
  unsubscriptions webhook webhooks WebP X-Forwarded-Proto zstd µs
  decrypt delisting exim4 honouring honours multiparts N-th nsswitch pipelined resolvers unencrypted Xeon xz
`
  .trim()
  .split(/\s+/)

/** Whole texts that the check skips. */
export const ACCEPTED_TEXTS: ReadonlySet<string> = new Set([])

/** Areas that the check covers; the others follow when their texts are rewritten. */
export const COVERED: readonly string[] = ['cli', 'config', 'dashboard', 'readme']
