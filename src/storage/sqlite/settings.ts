import type { ApiKey } from '../../model/api-key.ts'
import type { BlockedLink } from '../../model/blocked-link.ts'
import type { Domain } from '../../model/domain.ts'
import type { Organization } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import type { Encryption } from '../encryption.ts'
import { API_KEY_OF_SECRET, toApiKey } from '../records/api-keys.ts'
import { BLOCKED_LINKS } from '../records/blocked-links.ts'
import { DOMAIN, domainOfName, domainOfReturnPath, domainsOf } from '../records/domains.ts'
import { ORGANIZATION } from '../records/organizations.ts'
import { FIRING_ALERTS } from '../records/quality.ts'
import type { Work } from '../sql.ts'
import { prepareIn, preparing, readNow } from './database.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

/** Organizations for every request and every change, in memory until something changes. */
export interface OrganizationCache {
  /** The organization; null if there is none. For changes, which have already checked for those of other processes. */
  get(id: string): Organization | null
  drop(): void
}

export function organizationCache(db: Connection, foreign: ForeignChanges): OrganizationCache {
  const find = prepareIn(db, ORGANIZATION)
  const known = new Map<string, Organization>()
  const drop = () => known.clear()
  foreign.onChange(drop)
  return {
    get: (id) => {
      const organization = known.get(id) ?? find.rows([id])[0] ?? null
      if (organization !== null) known.set(id, organization)
      return organization
    },
    drop,
  }
}

/** Recently used keys, by the hash of their secret. */
export interface KeyCache {
  /** Null if no key has this secret. */
  bySecret(secretHash: Uint8Array): ApiKey | null
  drop(): void
}

/** A burst of invented keys never fills the cache, because misses are not cached. */
const KEYS_MAX = 10_000

export function keyCache(db: Connection, foreign: ForeignChanges): KeyCache {
  const find = prepareIn(db, API_KEY_OF_SECRET)
  const known = new Map<string, ApiKey>()
  const name = (secretHash: Uint8Array) => Buffer.from(secretHash).toString('latin1')
  const drop = () => known.clear()
  foreign.onChange(drop)
  return {
    bySecret: (secretHash) => {
      foreign.glance()
      const present = known.get(name(secretHash))
      if (present !== undefined) return present
      const [row] = find.rows([secretHash])
      if (row === undefined) return null
      const key = toApiKey(row)
      if (known.size >= KEYS_MAX) known.clear()
      known.set(name(secretHash), key)
      return key
    },
    drop,
  }
}

export interface BlockedLinkCache {
  all(): readonly BlockedLink[]
  drop(): void
}

/** All blocked links, read once and again after a change. */
export function blockedLinkCache(db: Connection, foreign: ForeignChanges): BlockedLinkCache {
  const all = prepareIn(db, BLOCKED_LINKS)
  let known: readonly BlockedLink[] | null = null
  const drop = () => {
    known = null
  }
  foreign.onChange(drop)
  return {
    all: () => {
      foreign.glance()
      known ??= all.rows([])
      return known
    },
    drop,
  }
}

export interface QualityAlertCache {
  /** The active alerts of a domain: read for every message if alerts stop mail. */
  firingOf(domainId: string): QualityAlert[]
  drop(): void
}

/** All active alerts, read once and again after a change. */
export function qualityAlertCache(db: Connection, foreign: ForeignChanges): QualityAlertCache {
  const firing = prepareIn(db, FIRING_ALERTS)
  let byDomain: Map<string, QualityAlert[]> | null = null
  const drop = () => {
    byDomain = null
  }
  foreign.onChange(drop)
  return {
    firingOf: (domainId) => {
      foreign.glance()
      byDomain ??= Map.groupBy(firing.rows([]), (alert) => alert.domainId)
      return byDomain.get(domainId) ?? []
    },
    drop,
  }
}

/** Domains as delivery needs them, in memory until something changes. */
export interface DomainCache {
  get(id: string): Domain | null
  /** The same, after checking for changes of another process. */
  current(id: string): Domain | null
  /** The same by name, a verified one before others. */
  byName(name: string): Domain | null
  /** The same by the host of its return path. */
  byReturnPathHost(host: string): Domain | null
  drop(): void
}

/** Maximum of names and hosts in memory, including those without a domain. */
const NAMES_MAX = 10_000

export function domainCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): DomainCache {
  const prepare = preparing(db)
  const byId = new Map<string, Domain | null>()
  const byName = new Map<string, Domain | null>()
  const byReturnPathHost = new Map<string, Domain | null>()
  const drop = () => {
    byId.clear()
    byName.clear()
    byReturnPathHost.clear()
  }
  foreign.onChange(drop)
  const get = (id: string) => {
    const present = byId.get(id)
    if (present !== undefined) return present
    const domain = readNow(prepare, domainsOf(encryption, DOMAIN, id))[0] ?? null
    byId.set(id, domain)
    return domain
  }
  const find = (known: Map<string, Domain | null>, key: string, work: () => Work<Domain | null>) => {
    foreign.glance()
    const present = known.get(key)
    if (present !== undefined) return present
    const domain = readNow(prepare, work())
    if (known.size >= NAMES_MAX) known.clear() // senders choose the names
    known.set(key, domain)
    return domain
  }
  return {
    get,
    current: (id) => {
      foreign.glance()
      return get(id)
    },
    byName: (name) => find(byName, name, () => domainOfName(encryption, name)),
    byReturnPathHost: (host) => find(byReturnPathHost, host, () => domainOfReturnPath(encryption, host)),
    drop,
  }
}
