/** Rules between keys. A rule runs only if each of its keys is valid by itself. */
import { type Endpoint, formatEndpoint } from './notations.ts'
import type { Config } from './schema.ts'

export interface Rule {
  /** The fault is reported for the first of these that is set. */
  readonly keys: readonly string[]
  /** The fault, or null. */
  readonly broken: (config: Config) => string | null
}

const LISTENERS: readonly [key: string, of: (config: Config) => Endpoint | null | readonly Endpoint[]][] = [
  ['http.listen', ({ http }) => http.listen],
  ['http.listen_tls', ({ http }) => http.listenTls],
  ['http.listen_redirect', ({ http }) => http.listenRedirect],
  ['smtp.inbound.listen', ({ smtp }) => smtp.inbound.listen],
  ['smtp.submission.listen', ({ smtp }) => smtp.submission.listen],
  ['smtp.submission.listen_tls', ({ smtp }) => smtp.submission.listenTls],
  ['metrics.listen', ({ metrics }) => metrics.listen],
  ['dns.listen', ({ dns }) => dns.listen],
]

export const rules: readonly Rule[] = [
  pair('tls', ({ tls }) => tls),
  pair('smtp', ({ smtp }) => smtp),
  {
    keys: ['tls.mode', 'tls.acme_agree_terms', 'tls.certificate_file', 'http.listen_redirect'],
    broken: ({ tls, http }) => {
      if (tls.mode !== 'acme') return null
      if (tls.certificateFile) return 'expected no tls.certificate_file, because tls.mode is "acme"'
      if (!tls.acmeAgreeTerms) return 'expected tls.acme_agree_terms = true, because tls.mode is "acme"'
      if (!http.listenRedirect)
        return 'expected http.listen_redirect (usually "0.0.0.0:80"), because tls.mode is "acme"; found "off"'
      return null
    },
  },
  ...ownAddresses(),
  {
    keys: ['dns.listen', 'dns.zone', 'dns.name_servers', 'dns.addresses'],
    broken: (config) => {
      const { listen, zone, nameServers, addresses } = config.dns
      if (zone === null) {
        return listen.length === 0 && nameServers.length === 0 && addresses.length === 0
          ? null
          : 'expected dns.zone, because dns.listen, dns.name_servers or dns.addresses is set'
      }
      const inside = [config.hostname, ...nameServers].find((name) => name === zone || name.endsWith(`.${zone}`))
      if (inside === undefined || addresses.length > 0) return null
      return `expected dns.addresses, because ${inside} is inside dns.zone`
    },
  },
  {
    keys: ['dns.provider_zones', 'dns.provider', 'dns.zone'],
    broken: ({ dns }) => {
      if (dns.providerZones.length === 0) return null
      if (dns.zone !== null)
        return 'expected none, because keys of domains with CNAME records to dns.zone need no provider'
      return CHANGES_ONE_NAME.includes(dns.provider)
        ? null
        : `expected dns.provider to be one of ${CHANGES_ONE_NAME.join(', ')}, because lexicon changes only one name at a time there`
    },
  },
  {
    keys: ['dkim.rotate_every_days'],
    broken: ({ dkim }) =>
      dkim.rotateEveryDays > 0 && dkim.rotateEveryDays < LEAST_ROTATION_DAYS
        ? `expected 0 or at least ${LEAST_ROTATION_DAYS}, because old keys stay in DNS for a week or longer`
        : null,
  },
  {
    keys: ['http.public_url', 'http.behind_proxy'],
    broken: ({ http }) => {
      if (!http.behindProxy || http.publicUrl.startsWith('https://')) return null
      return `expected http.public_url to be the https:// address of the proxy, because http.behind_proxy is set; found ${http.publicUrl}`
    },
  },
  {
    keys: ['http.listen', 'http.trusted_proxies', 'http.behind_proxy'],
    broken: ({ http: { behindProxy, listen, trustedProxies } }) => {
      if (!behindProxy) return null
      if (listen === null) return 'expected host:port for the proxy, because http.behind_proxy is set; found "off"'
      if (isLoopback(listen.host) || !trustedProxies.every((network) => isLoopback(network.split('/', 1).join())))
        return null
      return `expected a loopback address, or the network of the proxy in http.trusted_proxies; found ${formatEndpoint(listen)}`
    },
  },
  {
    keys: ['delivery.max_per_destination', 'delivery.max_in_flight'],
    broken: ({ delivery }) =>
      atMost('max_per_destination', delivery.maxPerDestination, 'max_in_flight', delivery.maxInFlight),
  },
  {
    keys: ['storage.contents', 'storage.s3_access_key_id', 'storage.s3_secret_access_key'],
    broken: ({ storage: { contents, s3AccessKeyId, s3SecretAccessKey } }) =>
      contents === null || (s3AccessKeyId !== '' && s3SecretAccessKey !== '')
        ? null
        : 'expected storage.s3_access_key_id and storage.s3_secret_access_key, because storage.contents is set',
  },
  {
    keys: ['billing.self_service_plans'],
    broken: ({ billing: { selfServicePlans }, plans }) => {
      const unknown = selfServicePlans.find((name) => !Object.hasOwn(plans, name))
      return unknown === undefined ? null : `expected names of plans in [plans], found ${unknown}`
    },
  },
  {
    keys: ['canary.every_minutes', 'canary.from', 'users.mail_from', 'smtp.inbound.listen'],
    broken: ({ canary: { everyMinutes, from }, users, smtp }) => {
      if (everyMinutes === 0) return null
      if (from === '' && users.mailFrom === '')
        return 'expected canary.from or users.mail_from, because canary.every_minutes is set'
      return smtp.inbound.listen === null
        ? 'expected smtp.inbound.listen, because canary.every_minutes is set; found "off"'
        : null
    },
  },
  {
    keys: ['canary.missing_after_minutes', 'canary.late_after_minutes'],
    broken: ({ canary: { lateAfterMinutes, missingAfterMinutes } }) =>
      lateAfterMinutes < missingAfterMinutes
        ? null
        : `expected more than canary.late_after_minutes (${lateAfterMinutes}), found ${missingAfterMinutes}`,
  },
  {
    keys: ['canary.missing_after_minutes', 'canary.every_minutes'],
    broken: ({ canary: { everyMinutes, missingAfterMinutes } }) =>
      everyMinutes === 0 || missingAfterMinutes <= MOST_INTERVALS * everyMinutes
        ? null
        : `expected at most ${MOST_INTERVALS} times canary.every_minutes (${everyMinutes}), found ${missingAfterMinutes}`,
  },
  {
    keys: ['oidc.issuer', 'oidc.client_id', 'oidc.scope', 'oidc.only'],
    broken: ({ oidc: { issuer, clientId, scope, only } }) => {
      if (issuer === null) return only ? 'expected oidc.issuer, because oidc.only is set' : null
      if (clientId === '') return 'expected oidc.client_id, because oidc.issuer is set'
      return scope.split(' ').includes('openid') ? null : 'expected the scope openid in oidc.scope'
    },
  },
  {
    keys: ['oidc.roles_claim', 'oidc.roles'],
    broken: ({ oidc: { rolesClaim, roles } }) => {
      if ((rolesClaim === '') === (roles.length === 0)) return null
      return 'expected both oidc.roles_claim and [[oidc.roles]], or neither'
    },
  },
  ...sendingAddresses(),
  ...relays(),
  {
    keys: ['webhooks.max_per_webhook', 'webhooks.max_in_flight'],
    broken: ({ webhooks }) => atMost('max_per_webhook', webhooks.maxPerWebhook, 'max_in_flight', webhooks.maxInFlight),
  },
]

/** The pool whose addresses belong to one organization each. */
const DEDICATED_POOL = 'dedicated'

function sendingAddresses(): Rule[] {
  const poolFault = ({ sending: { addresses } }: Config, pool: string) => {
    if (pool === DEDICATED_POOL)
      return `expected another pool than "${pool}", whose addresses belong to one organization each`
    if (addresses.some((each) => each.pool === pool)) return null
    return `expected the pool of one of [[sending.addresses]], found ${JSON.stringify(pool)}`
  }
  const firstFault = (config: Config, pools: readonly string[]) =>
    pools.flatMap((pool) => (pool === '' ? [] : (poolFault(config, pool) ?? []))).at(0) ?? null
  return [
    {
      keys: ['sending.addresses', 'delivery.source_address', 'delivery.smarthost'],
      broken: ({ sending: { addresses }, delivery }) => {
        if (addresses.length === 0) return null
        if (delivery.sourceAddress !== null)
          return 'expected either [[sending.addresses]] or delivery.source_address, found both'
        if (delivery.smarthost !== null)
          return 'expected no [[sending.addresses]], because delivery.smarthost sends all mail'
        return addresses.some(({ pool }) => pool === 'default')
          ? null
          : 'expected at least one of [[sending.addresses]] in the pool "default"'
      },
    },
    {
      keys: ['sending.addresses'],
      broken: ({ sending: { addresses } }) => {
        const found = addresses.find((each) => each.warmup !== null && hasIpv4Beside(each, addresses))
        if (found === undefined) return null
        return `expected no warmup of ${found.address}: the pool "${found.pool}" has IPv4 addresses, which go first`
      },
    },
    {
      keys: ['sending.assignments', 'sending.addresses'],
      broken: (config) =>
        firstFault(
          config,
          config.sending.assignments.map(({ pool }) => pool),
        ),
    },
    {
      keys: ['sending.streams.bulk.pool', 'sending.streams.transactional.pool', 'sending.addresses'],
      broken: (config) =>
        firstFault(
          config,
          Object.values(config.sending.streams).map(({ pool }) => pool),
        ),
    },
  ]
}

function relays(): Rule[] {
  const ruleFault = ({ relays, sending }: Config, { use, failOver, stream }: Config['relayRules'][number]) => {
    const isUnknown = (name: string) => !relays.some((each) => each.name === name)
    if (use !== 'direct' && isUnknown(use)) return `expected use to be "direct" or one of [[relays]], found "${use}"`
    if (failOver !== null && isUnknown(failOver))
      return `expected fail_over to be one of [[relays]], found "${failOver}"`
    if (failOver !== null && use !== 'direct') return 'expected use = "direct" beside fail_over'
    if (stream !== null && !Object.hasOwn(sending.streams, stream))
      return `expected stream to be one of [sending.streams], found "${stream}"`
    return null
  }
  return [
    {
      keys: ['relays'],
      broken: ({ relays }) =>
        relays.flatMap(({ name, username, passwordFile, tls }) => {
          if ((username === null) !== (passwordFile === null))
            return `expected both username and password_file of relay "${name}", or neither`
          if (username !== null && tls === 'none') return `expected TLS for relay "${name}", because it has a password`
          return []
        })[0] ?? null,
    },
    {
      keys: ['relay_rules', 'relays', 'delivery.smarthost', 'sending.streams.bulk.pool'],
      broken: (config) => {
        if (config.relayRules.length > 0 && config.delivery.smarthost !== null)
          return 'expected no [[relay_rules]], because delivery.smarthost sends all mail'
        return config.relayRules.flatMap((rule) => ruleFault(config, rule) ?? [])[0] ?? null
      },
    },
  ]
}

/** True for an IPv6 address that shares its pool and a node with an IPv4 address. Such an address is used only for hosts
 *  that IPv4 does not reach, so no plan could be kept. */
function hasIpv4Beside(one: SendingRow, addresses: readonly SendingRow[]): boolean {
  const isIpv4 = ({ address }: SendingRow) => !address.includes(':')
  const isBeside = ({ pool, node }: SendingRow) =>
    pool === one.pool && (node === null || one.node === null || node === one.node)
  return !isIpv4(one) && addresses.some((each) => isIpv4(each) && isBeside(each))
}

type SendingRow = Config['sending']['addresses'][number]

/** Requires both of two files, or neither. */
function pair(
  section: string,
  filesOf: (config: Config) => { certificateFile: string | null; keyFile: string | null },
): Rule {
  return {
    keys: [`${section}.certificate_file`, `${section}.key_file`],
    broken: (config) => {
      const { certificateFile, keyFile } = filesOf(config)
      if (certificateFile && !keyFile) return `expected ${section}.key_file, because ${section}.certificate_file is set`
      if (keyFile && !certificateFile) return `expected ${section}.certificate_file, because ${section}.key_file is set`
      return null
    },
  }
}

/** Two TCP listeners on one port of one address (or of all addresses) cannot both start. */
function ownAddresses(): Rule[] {
  return LISTENERS.flatMap(([key, of], at) =>
    LISTENERS.slice(0, at).map(([otherKey, otherOf]) => ({
      keys: [key, otherKey],
      broken: (config: Config) => {
        const pairs = listOf(of(config)).flatMap((one) => listOf(otherOf(config)).map((other) => ({ one, other })))
        const found = pairs.find(({ one, other }) => overlaps(one, other))
        return found === undefined
          ? null
          : `expected different addresses, found ${key} = ${formatEndpoint(found.one)} and ${otherKey} = ${formatEndpoint(found.other)}`
      },
    })),
  )
}

const LEAST_ROTATION_DAYS = 14
/** By the source of lexicon 3.11. At GoDaddy and Namecheap it writes all records of a type or of the zone again, so that those
 *  which somebody else adds meanwhile are lost. Nobody would notice without a person who looks. */
const CHANGES_ONE_NAME =
  'cloudflare, ddns, digitalocean, dnsimple, gandi, hetzner, ovh, porkbun, powerdns, route53, vercel'.split(', ')
/** Canary messages on their way to a mailbox by schedule: half of what a mailbox may have (model/canary.ts). */
const MOST_INTERVALS = 10

const listOf = (at: Endpoint | null | readonly Endpoint[]) => (at === null ? [] : [at].flat())

const overlaps = (one: Endpoint, other: Endpoint) =>
  one.port !== 0 &&
  one.port === other.port &&
  (one.host === other.host || isEveryAddress(one.host) || isEveryAddress(other.host))

/** Reachable from this machine only. */
const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** The wildcard addresses of IPv4 and IPv6. */
export const isEveryAddress = (host: string) => host === '0.0.0.0' || host === '::'

const atMost = (name: string, value: number, limitName: string, limit: number) =>
  value > limit ? `expected ${name} to be at most ${limitName} (${limit}), found ${value}` : null
