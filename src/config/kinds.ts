/** The kinds of values of config keys. A kind describes what is expected, validates TOML values with zod, and parses the
 *  text of an environment variable. */
import { isIP } from 'node:net'
import { z } from 'zod'
import {
  formatEndpoint,
  parseAddress,
  parseBucketUrl,
  parseCidr,
  parseDate,
  parseHostName,
  parseIpPort,
  parseListen,
  parseOptionalSpan,
  parseOrigin,
  parseRelayHost,
  parseShortHostName,
  parseSmarthost,
} from './notations.ts'

/** `Written` is the type in the file, `Value` the type in the Config. */
export interface Kind<Value = unknown, Written = unknown> {
  /** Completes "expected …". */
  readonly expected: string
  readonly schema: z.ZodType<Value, Written>
  /** Converts the text of an environment variable to the type in the file; invalid text is returned as it is. */
  readonly fromText: (text: string) => unknown
  /** A relative path is relative to the folder of the file that contains it. */
  readonly isPath?: boolean
  /** For a list of tables: what each of their keys expects. Faults then name the table and its key. */
  readonly rows?: Readonly<Record<string, string>>
  /** Keys of those tables whose values are never shown. */
  readonly secretRows?: readonly string[]
  /** For values that contain paths: makes each absolute with `locate`. */
  located?(value: Value, locate: (path: string) => string): Value
}

export const whole = (min: number, max: number): Kind<number, number> => ({
  expected: `a whole number from ${min} to ${max}`,
  schema: z.int().min(min).max(max),
  fromText: toNumber,
})

export const port = whole(1, 65535)

/** 0 means off. */
export const wholeOrOff = (min: number, max: number): Kind<number, number> => ({
  expected: `0, or a whole number from ${min} to ${max}`,
  schema: z.union([z.literal(0), z.int().min(min).max(max)]),
  fromText: toNumber,
})

/** A whole number from `min` on, or -1 for unlimited. */
export const limit = (min: number): Kind<number, number> => ({
  expected: `a whole number of at least ${min}, or -1 for unlimited`,
  schema: z.union([z.literal(-1), z.int().min(min)]),
  fromText: toNumber,
})

/** Seconds or hours; fractions are allowed. */
export const span = (min: number, max: number): Kind<number, number> => ({
  expected: `a number from ${min} to ${max}`,
  schema: z.number().min(min).max(max),
  fromText: toNumber,
})

/** A ratio: 0.05 is 5 %. */
export const share: Kind<number, number> = {
  expected: 'a number greater than 0 and at most 1',
  schema: z.number().gt(0).max(1),
  fromText: toNumber,
}

/** A list of `span`s, `shortest` to `longest` entries long. */
export const spans = (item: Kind<number, number>, shortest: number, longest: number) => ({
  expected: `a list of ${shortest === longest ? `exactly ${shortest}` : `${shortest} to ${longest}`} entries, each ${item.expected}`,
  schema: z.array(item.schema).min(shortest).max(longest).readonly(),
  fromText: toList(toNumber),
})

export const flag: Kind<boolean, boolean> = {
  expected: 'true or false',
  schema: z.boolean(),
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

export const choice = <const Words extends readonly [string, ...string[]]>(...words: Words) => ({
  expected: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
  schema: z.enum(words),
  fromText: asItIs,
})

export const choices = <const Words extends readonly [string, ...string[]]>(...words: Words) => ({
  expected: `a list of ${words.map((word) => `"${word}"`).join(', ')}`,
  schema: z.array(z.enum(words)).readonly(),
  fromText: toList(asItIs),
})

export const folder: Kind<string, string> = {
  expected: 'the path of a folder',
  schema: z.string().min(1).refine(hasNoControls),
  fromText: asItIs,
  isPath: true,
}

/** '' becomes null: no file. */
export const file: Kind<string | null, string> = {
  expected: 'the path of a file, or "" for none',
  schema: written((text) => (text === '' ? null : hasNoControls(text) ? text : undefined)),
  fromText: asItIs,
  isPath: true,
}

export const hostName = {
  expected: 'a hostname such as mail.example.com',
  schema: written(parseHostName),
  fromText: asItIs,
}

export const hostNames = {
  expected: 'a list of hostnames such as api.example.com',
  schema: z.array(written(parseHostName)).readonly(),
  fromText: toList(asItIs),
}

/** Hostnames as used in a closed network: a single label is valid. */
export const ownHosts = {
  expected: 'a list of hostnames such as api.example.com or postrider, without a port',
  schema: z.array(written(parseShortHostName)).readonly(),
  fromText: toList(asItIs),
}

/** Values of a claim, with the role that each gives. */
export const roleRules = {
  expected: 'tables with value and role, and with organization unless role is "operator"',
  schema: z
    .array(
      z.union([
        z.strictObject({ value: z.string().min(1).max(500), role: z.literal('operator') }),
        z.strictObject({
          value: z.string().min(1).max(500),
          role: z.enum(['owner', 'admin', 'developer', 'support', 'viewer']),
          organization: z.string().min(1).max(100),
        }),
      ]),
    )
    .max(500)
    .readonly(),
  fromText: fromJson,
}

/** Names of pools and message streams. */
export const LABEL = /^[a-z0-9][a-z0-9_-]{0,31}$/
export const LABEL_EXPECTED = 'a name of at most 32 lowercase letters, digits, "-" and "_"'

/** '' means none. */
export const optionalLabel: Kind<string, string> = {
  expected: `${LABEL_EXPECTED}, or "" for none`,
  schema: z.union([z.literal(''), z.string().regex(LABEL)]),
  fromText: asItIs,
}

/** A time span with its unit → milliseconds; '' means none. */
export const optionalSpan = {
  expected: 'a time such as "0s", "12h" or "7d", or "" for none',
  schema: written(parseOptionalSpan),
  fromText: asItIs,
}

/** Names of warm-up plans; model/warmup-plan.ts has their numbers. */
export const WARMUP_PLANS = ['standard', 'slow'] as const

/** Addresses that mail is sent from, each once. `hostname` null: the server's own; `node` null: every node; `warmup` null:
 *  not limited. */
export const sendingAddresses = {
  expected: 'tables with address, and optionally hostname, pool, node and warmup',
  rows: {
    address: 'an IP address of this machine, each only once',
    hostname: 'a hostname such as out1.example.com',
    pool: LABEL_EXPECTED,
    node: 'the name of a node',
    warmup: `a table such as { started_on = "2026-11-24", plan = "standard" }, with a plan of ${WARMUP_PLANS.join(', ')}`,
  },
  schema: z
    .array(
      z.strictObject({
        address: written(parseAddress),
        hostname: written(parseHostName).nullable().prefault(null),
        pool: z.string().regex(LABEL).default('default'),
        node: z.string().min(1).max(200).nullable().prefault(null),
        warmup: z
          .strictObject({ started_on: written(parseDate), plan: z.enum(WARMUP_PLANS).default('standard') })
          .transform(({ started_on: startedOn, plan }) => ({ startedOn, plan }))
          .nullable()
          .prefault(null),
      }),
    )
    .max(500)
    .superRefine(eachOnce(({ address }) => address, 'address'))
    .readonly(),
  fromText: fromJson,
}

/** An ID; null: every organization. */
const organizationId = z
  .string()
  .regex(/^org_\w{1,60}$/)
  .nullable()
  .prefault(null)

/** Which mail uses which pool; at least one of organization and domain. */
export const poolAssignments = {
  expected: 'tables with pool, and with organization, domain or both',
  rows: {
    pool: LABEL_EXPECTED,
    organization: 'the ID of an organization',
    domain: 'the name of a sending domain',
  },
  schema: z
    .array(
      z
        .strictObject({
          pool: z.string().regex(LABEL),
          organization: organizationId,
          domain: written(parseHostName).nullable().prefault(null),
        })
        .refine(({ organization, domain }) => organization !== null || domain !== null, { path: ['organization'] }),
    )
    .max(5000)
    .readonly(),
  fromText: fromJson,
}

const RELAY_NAME_EXPECTED = `${LABEL_EXPECTED}, each only once, but not "direct" or "smarthost"`

const relayRow = z
  .strictObject({
    name: z
      .string()
      .regex(LABEL)
      .refine((name) => name !== 'direct' && name !== 'smarthost'),
    host: written(parseRelayHost),
    port: z.int().min(1).max(65_535).nullable().prefault(null),
    tls: z.enum(['starttls', 'implicit', 'none']).default('starttls'),
    username: z.string().min(1).max(500).refine(hasNoControls).nullable().prefault(null),
    password_file: z.string().min(1).refine(hasNoControls).nullable().prefault(null),
    certificates: z.array(written(parseFingerprint)).max(20).default([]),
    max_connections: z.int().min(0).max(1000).default(0),
    max_mails_per_minute: z.int().min(0).max(10_000_000).default(0),
    price_per_thousand: z.number().min(0).max(1_000_000).default(0),
  })
  .transform(({ password_file, max_connections, max_mails_per_minute, price_per_thousand, ...row }) => ({
    ...row,
    port: row.port ?? (row.tls === 'implicit' ? 465 : 587),
    passwordFile: password_file,
    maxConnections: max_connections,
    maxMailsPerMinute: max_mails_per_minute,
    pricePerThousand: price_per_thousand,
  }))

type RelayRow = z.output<typeof relayRow>

/** Servers that rules can send mail through. */
export const relays: Kind<readonly RelayRow[], readonly z.input<typeof relayRow>[]> = {
  expected: 'tables with name and host, and optionally port, tls, username and password_file',
  rows: {
    name: RELAY_NAME_EXPECTED,
    host: 'a hostname or IP address',
    port: 'a port from 1 to 65535',
    tls: 'one of "starttls", "implicit", "none"',
    username: 'a user name',
    password_file: 'the path of a file',
    certificates: 'a list of SHA-256 fingerprints, 64 hexadecimal digits each, with or without colons',
    max_connections: 'a whole number from 0 to 1000',
    max_mails_per_minute: 'a whole number from 0 to 10000000',
    price_per_thousand: 'a number from 0 to 1000000',
  },
  schema: z
    .array(relayRow)
    .max(100)
    .superRefine(eachOnce(({ name }) => name, 'name'))
    .readonly(),
  fromText: fromJson,
  located: (rows, locate) =>
    rows.map((row) => ({ ...row, passwordFile: row.passwordFile === null ? null : locate(row.passwordFile) })),
}

const relayRuleRow = z
  .strictObject({
    organization: organizationId,
    domain: written(parseHostName).nullable().prefault(null),
    stream: z.string().regex(LABEL).nullable().prefault(null),
    destination: written(parseShortHostName).nullable().prefault(null),
    use: z.string().regex(LABEL).default('direct'),
    fail_over: z.string().regex(LABEL).nullable().prefault(null),
    after_minutes: z.int().min(1).max(1440).default(30),
  })
  .transform(({ fail_over, after_minutes, ...row }) => ({ ...row, failOver: fail_over, afterMinutes: after_minutes }))

/** Which mail uses which relay; the first that matches counts. */
export const relayRules = {
  expected: 'tables with use or fail_over, and optionally organization, domain, stream and destination',
  rows: {
    organization: 'the ID of an organization',
    domain: 'the name of a sending domain',
    stream: 'the name of a stream',
    destination: 'the domain of recipients, or the name of a destination such as google.com',
    use: 'the name of a relay, or "direct"',
    fail_over: 'the name of a relay',
    after_minutes: 'a whole number from 1 to 1440',
  },
  schema: z.array(relayRuleRow).max(500).readonly(),
  fromText: fromJson,
}

/** '' becomes null: off. */
export const issuer = {
  expected: 'the https:// URL of an OpenID Connect provider, or "" for none',
  schema: written((text) => (text === '' ? null : isPlainHttpsUrl(text) ? text : undefined)),
  fromText: asItIs,
}

/** Names of a claim, the outer one first: `realm_access.roles`; or one name that is a URL. */
export const claim = {
  expected: 'the name of a claim, such as groups',
  schema: z.string().max(200),
  fromText: asItIs,
}

export const httpsUrl = {
  expected: 'https://host[:port]/path',
  schema: written((text) => (URL.parse(text)?.protocol === 'https:' ? text : undefined)),
  fromText: asItIs,
}

export const listen = {
  expected: 'host:port (an IP address or localhost) or "off"',
  schema: written(parseListen),
  fromText: asItIs,
}

/** [] = off. */
export const listenList = {
  expected: 'a list of ip:port such as 192.0.2.1:53',
  schema: z.array(written(parseIpPort)).max(16).readonly(),
  fromText: toList(asItIs),
}

export const addresses = {
  expected: 'a list of IP addresses',
  schema: z.array(written(parseAddress)).max(32).readonly(),
  fromText: toList(asItIs),
}

/** '' becomes null: none. A name in the zone may have 64 characters more. */
export const zoneName = {
  expected: 'a domain name of at most 180 characters such as pm.example.net, or ""',
  schema: written((text) => {
    const name = text === '' ? null : parseHostName(text)
    return name != null && name.length > 180 ? undefined : name
  }),
  fromText: asItIs,
}

/** '' is derived from the listener later. */
export const publicUrl = {
  expected: 'http(s)://host[:port] without a path, or "" to derive it from http.listen',
  schema: written((text) => (text === '' ? '' : parseOrigin(text))),
  fromText: asItIs,
}

export const smarthost = {
  expected: 'smtp:// or smtps://, then user:password@host:port (percent-encoded), or "" for none',
  schema: written(parseSmarthost),
  fromText: asItIs,
}

/** '' means none. */
export const databaseUrl = {
  expected: 'postgres://, then user:password@host/database (percent-encoded), or "" for SQLite',
  schema: z.string().regex(/^(postgres(ql)?:\/\/[^\s]{1,2000})?$/),
  fromText: asItIs,
}

/** '' becomes null. */
export const bucketUrl = {
  expected: 's3://bucket or s3://bucket/prefix, or "" for none',
  schema: written(parseBucketUrl),
  fromText: asItIs,
}

/** With a slash at its end. */
export const backupFolder = {
  expected: 'an absolute path, or s3://bucket/folder',
  schema: written((text) => {
    const isFolder =
      (text.startsWith('/') && !text.includes('\0')) || (text !== '' && parseBucketUrl(text) !== undefined)
    if (!isFolder) return undefined
    return text.endsWith('/') ? text : `${text}/`
  }),
  fromText: asItIs,
}

/** '' is the default of the service. */
export const endpointUrl = {
  expected: 'http(s)://host[:port] without a path, or "" for Amazon S3',
  schema: written((text) => (text === '' ? '' : parseOrigin(text))),
  fromText: asItIs,
}

/** SHA-256 with or without colons; normalized to 64 hexadecimal digits. */
export const fingerprints = {
  expected: 'a list of SHA-256 fingerprints, 64 hexadecimal digits each, with or without colons',
  schema: z.array(written(parseFingerprint)).readonly(),
  fromText: toList(asItIs),
}

/** '' becomes null: the system chooses. */
export const address = {
  expected: 'an IP address, or "" for the system\'s choice',
  schema: written((text) => (text === '' ? null : isIP(text) !== 0 ? text : undefined)),
  fromText: asItIs,
}

/** '' means none. */
export const mailAddress: Kind<string, string> = {
  expected: 'an email address such as postmaster@example.com, or ""',
  schema: z.string().regex(/^([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9.-]{1,253})?$/),
  fromText: asItIs,
}

/** One line of text. */
export const text: Kind<string, string> = {
  expected: 'one line of text',
  schema: z.string().regex(/^[^\x00-\x1f\x7f]{0,200}$/),
  fromText: asItIs,
}

/** The name of a module of lexicon. */
export const dnsProvider: Kind<string, string> = {
  expected: 'the name of a provider in lower-case letters and digits, such as cloudflare, or ""',
  schema: z.string().regex(/^(?:[a-z][a-z0-9]{1,30})?$/),
  fromText: asItIs,
}

export const nameServers = {
  expected: "a list of ip:port, [] for the system's",
  schema: z.array(written(parseNameServer)).readonly(),
  fromText: toList(asItIs),
}

export const names = {
  expected: 'a list of names',
  schema: z.array(z.string().min(1)).readonly(),
  fromText: toList(asItIs),
}

export const networks = {
  expected: 'a list of networks such as 10.0.0.0/8',
  schema: z.array(written(parseCidr)).readonly(),
  fromText: toList(asItIs),
}

/** A zod schema for strings of a notation. */
export function written<Value>(parse: (text: string) => Value | undefined): z.ZodType<Value, string> {
  return z.string().transform((text, context) => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: 'not in this notation' })
    return z.NEVER
  })
}

/** Refuses a row whose value an earlier row has. */
export function eachOnce<Row>(keyOf: (row: Row) => string, name: string) {
  return (rows: readonly Row[], context: z.core.$RefinementCtx) => {
    const seen = new Set<string>()
    for (const [at, row] of rows.entries()) {
      if (seen.has(keyOf(row))) context.addIssue({ code: 'custom', path: [at, name] })
      seen.add(keyOf(row))
    }
  }
}

function parseNameServer(text: string): string | undefined {
  const server = parseIpPort(text)
  return server && server.port > 0 ? formatEndpoint(server) : undefined
}

function parseFingerprint(text: string): string | undefined {
  const digits = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined
}

/** Paths are written to a line of the systemd unit. */
function hasNoControls(text: string): boolean {
  return !/\p{Cc}/u.test(text)
}

function asItIs(text: string): unknown {
  return text
}

/** The text of JSON; invalid text is returned as it is. */
export function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** True for https without user, query and fragment (OpenID Connect Discovery §4). */
function isPlainHttpsUrl(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#]/.test(text)
}

function toNumber(text: string): unknown {
  return /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text
}

function toList(item: (text: string) => unknown): (text: string) => unknown {
  return (text) => (text.trim() === '' ? [] : text.split(',').map((part) => item(part.trim())))
}
