/** What must hold between keys. A rule is looked at only when each of its keys is right by itself. */
import { type Endpoint, formatEndpoint } from './notations.ts'
import type { Config } from './schema.ts'

export interface Rule {
  /** The fault is told at the first of these that was given. */
  readonly keys: readonly string[]
  /** What is wrong, or null. */
  readonly broken: (config: Config) => string | null
}

export const rules: readonly Rule[] = [
  {
    keys: ['smtp.certificate_file', 'smtp.key_file'],
    broken: ({ smtp: { certificateFile, keyFile } }) => {
      if (certificateFile && !keyFile) return 'expected smtp.key_file beside smtp.certificate_file, found none'
      if (keyFile && !certificateFile) return 'expected smtp.certificate_file beside smtp.key_file, found none'
      return null
    },
  },
  ownAddress(
    'smtp.inbound.listen',
    (config) => config.smtp.inbound.listen,
    'http.listen',
    (config) => config.http.listen,
  ),
  ownAddress(
    'smtp.submission.listen',
    (config) => config.smtp.submission.listen,
    'http.listen',
    (config) => config.http.listen,
  ),
  ownAddress(
    'smtp.submission.listen',
    (config) => config.smtp.submission.listen,
    'smtp.inbound.listen',
    (config) => config.smtp.inbound.listen,
  ),
  {
    keys: ['delivery.max_per_destination', 'delivery.max_in_flight'],
    broken: ({ delivery }) =>
      atMost('max_per_destination', delivery.maxPerDestination, 'max_in_flight', delivery.maxInFlight),
  },
  {
    keys: ['billing.self_service_plans'],
    broken: ({ billing: { selfServicePlans }, plans }) => {
      const unknown = selfServicePlans.find((name) => !Object.hasOwn(plans, name))
      return unknown === undefined ? null : `expected names of [plans], found ${unknown}`
    },
  },
  {
    keys: ['webhooks.max_per_webhook', 'webhooks.max_in_flight'],
    broken: ({ webhooks }) => atMost('max_per_webhook', webhooks.maxPerWebhook, 'max_in_flight', webhooks.maxInFlight),
  },
]

type ListenOf = (config: Config) => Endpoint | null

/** Two listeners on one port of one address (or of all addresses) cannot both start. */
function ownAddress(key: string, listenOf: ListenOf, otherKey: string, otherListenOf: ListenOf): Rule {
  return {
    keys: [key, otherKey],
    broken: (config) => {
      const one = listenOf(config)
      const other = otherListenOf(config)
      if (!one || !other || one.port === 0 || one.port !== other.port) return null
      const overlap = one.host === other.host || isEveryAddress(one.host) || isEveryAddress(other.host)
      return overlap
        ? `expected an address of its own, found ${formatEndpoint(one)} while ${otherKey} is ${formatEndpoint(other)}`
        : null
    },
  }
}

/** The wildcard addresses of IPv4 and IPv6. */
export const isEveryAddress = (host: string) => host === '0.0.0.0' || host === '::'

const atMost = (name: string, value: number, limitName: string, limit: number) =>
  value > limit ? `expected ${name} at most ${limitName}, found ${value} and ${limit}` : null
