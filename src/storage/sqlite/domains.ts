import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Domains } from '../store.ts'
import type { KeyCache } from './api-keys.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { RememberInside } from './idempotency.ts'
import { rangeOf, toPage } from './page.ts'
import type { Seal } from './seal.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, name, status, created_at as createdAt,
  verified_at as verifiedAt, last_checked_at as lastCheckedAt, return_path_host as returnPathHost,
  track_opens as trackOpens, track_clicks as trackClicks, track_unsubscribe as trackUnsubscribe,
  tracking_host as trackingHost, findings`
const CREATE = `insert into domains (id, organization_id, name, status, created_at, verified_at, last_checked_at,
    return_path_host, track_opens, track_clicks, track_unsubscribe, tracking_host, findings)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const TAKEN = 'select 1 from domains where name = ?'
const COUNT = 'select count(*) as domains from domains where organization_id = ?'
const GET = `select ${COLUMNS} from domains where id = ?`
const FIND_BY_NAME = `select ${COLUMNS} from domains where name = ?`
const FIND_BY_RETURN_PATH_HOST = `select ${COLUMNS} from domains where return_path_host = ? limit 1`
const LIST = `select ${COLUMNS} from domains
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const DKIM_KEYS = `select selector, algorithm, state, public_key as publicKey, private_key as privateKey,
    created_at as createdAt
  from dkim_keys where domain_id = ? order by created_at, algorithm desc, selector`
const ADD_DKIM_KEY = `insert into dkim_keys (domain_id, selector, algorithm, state, public_key, private_key, created_at)
  values (?, ?, ?, ?, ?, ?, ?)`
const SET_DKIM_STATE = 'update dkim_keys set state = ? where domain_id = ? and selector = ?'
const REMOVE_DKIM_KEY = 'delete from dkim_keys where domain_id = ? and selector = ?'
const SET_TRACKING = `update domains set track_opens = ?, track_clicks = ?, track_unsubscribe = ?, tracking_host = ?
  where id = ?`
const RECORD_CHECK = 'update domains set status = ?, verified_at = ?, last_checked_at = ?, findings = ? where id = ?'
const OPEN_MESSAGES = `select 1 from messages where organization_id = ? and status in ('scheduled', 'queued', 'deferred')
  and domain_id = ? limit 1`
const REVOKE_KEYS = 'update api_keys set revoked_at = ? where domain_id = ? and revoked_at is null'
const REMOVE = 'delete from domains where id = ?'

/** Domains as delivery needs them, read once and remembered until something changes. */
export interface DomainCache {
  get(id: string): Domain | null
  /** The same, having looked first whether another process changed something. */
  current(id: string): Domain | null
  /** The same by its name; names come from the world, so what is not there is not remembered. */
  byName(name: string): Domain | null
  /** The same by the host of its return path. */
  byReturnPathHost(host: string): Domain | null
  forget(): void
}

export function domainCache(db: Connection, foreign: ForeignChanges, seal: Seal): DomainCache {
  const read = domainReader(db, seal)
  const cache = new Map<string, Domain | null>()
  const byName = new Map<string, Domain>()
  const byReturnPathHost = new Map<string, Domain>()
  const forget = () => {
    cache.clear()
    byName.clear()
    byReturnPathHost.clear()
  }
  foreign.onChange(forget)
  const get = (id: string) => {
    const cached = cache.get(id)
    if (cached !== undefined) return cached
    const domain = read.get(id)
    cache.set(id, domain)
    return domain
  }
  const find = (known: Map<string, Domain>, key: string, read: (key: string) => Domain | null) => {
    foreign.glance()
    const domain = known.get(key) ?? read(key)
    if (domain !== null) known.set(key, domain)
    return domain
  }
  return {
    get,
    current: (id) => {
      foreign.glance()
      return get(id)
    },
    byName: (name) => find(byName, name, read.findByName),
    byReturnPathHost: (host) => find(byReturnPathHost, host, read.findByReturnPathHost),
    forget,
  }
}

export function sqliteDomains(
  db: Connection,
  writer: Writer,
  cache: DomainCache,
  keys: KeyCache,
  remember: RememberInside,
  seal: Seal,
): Domains {
  const read = domainReader(db, seal)
  const create = db.prepare(CREATE)
  const taken = db.prepare(TAKEN)
  const count = db.prepare(COUNT)
  const list = db.prepare(LIST)
  const addDkimKey = db.prepare(ADD_DKIM_KEY)
  const setDkimState = db.prepare(SET_DKIM_STATE)
  const removeDkimKey = db.prepare(REMOVE_DKIM_KEY)
  const setTracking = db.prepare(SET_TRACKING)
  const recordCheck = db.prepare(RECORD_CHECK)
  const openMessages = db.prepare(OPEN_MESSAGES)
  const revokeKeys = db.prepare(REVOKE_KEYS)
  const remove = db.prepare(REMOVE)

  const addKeys = (id: string, keys: DkimKeyRecord[]) => {
    for (const key of keys) {
      const privateKey = seal.seal(key.privateKeyPem, placeOf(id, key.selector))
      addDkimKey.run(id, key.selector, key.algorithm, key.state, key.publicKey, privateKey, key.createdAt)
    }
  }
  /** Forgets inside the change, so that the next one of the same group reads what this one wrote. */
  const change = <T>(write: () => T): Promise<T> =>
    writer.write(() => {
      const value = write()
      cache.forget()
      return value
    })

  return {
    create: (domain, maxDomains, record) =>
      change(() => {
        if (taken.get(domain.name) !== undefined) return 'conflict'
        const { domains } = count.get(domain.organizationId) as { domains: number }
        if (maxDomains !== UNLIMITED && domains >= maxDomains) return 'limit'
        create.run(
          domain.id,
          domain.organizationId,
          domain.name,
          domain.status,
          domain.createdAt,
          domain.verifiedAt,
          domain.lastCheckedAt,
          domain.returnPathHost,
          Number(domain.tracking.opens),
          Number(domain.tracking.clicks),
          Number(domain.tracking.unsubscribe),
          domain.tracking.host,
          JSON.stringify(domain.findings),
        )
        addKeys(domain.id, domain.dkim)
        remember(record)
        return 'created'
      }),
    get: async (id) => cache.current(id),
    findByName: async (name) => read.findByName(name),
    list: async (organizationId, page) =>
      toPage(list.all(organizationId, ...rangeOf(page)) as Row[], page, read.toDomain),
    count: async (organizationId) => (count.get(organizationId) as { domains: number }).domains,
    setTracking: (id, { opens, clicks, unsubscribe, host }) =>
      change(() => {
        setTracking.run(Number(opens), Number(clicks), Number(unsubscribe), host, id)
      }),
    recordCheck: (id, { status, verifiedAt, checkedAt, findings }) =>
      change(() => {
        recordCheck.run(status, verifiedAt, checkedAt, JSON.stringify(findings), id)
      }),
    addDkimKeys: (id, keys) => change(() => addKeys(id, keys)),
    setDkimState: (id, selector, state) =>
      change(() => {
        setDkimState.run(state, id, selector)
      }),
    removeDkimKey: (id, selector) =>
      change(() => {
        removeDkimKey.run(id, selector)
      }),
    remove: (id, now) =>
      change(() => {
        const domain = read.get(id)
        if (domain === null) return 'removed'
        if (openMessages.get(domain.organizationId, id) !== undefined) return 'in_use'
        revokeKeys.run(now, id)
        keys.forget()
        remove.run(id)
        return 'removed'
      }),
  }
}

type Row = Omit<Domain, 'dkim' | 'tracking' | 'findings'> & {
  trackOpens: number
  trackClicks: number
  trackUnsubscribe: number
  trackingHost: string | null
  findings: string
}

type DkimKeyRow = Omit<DkimKeyRecord, 'privateKeyPem'> & { privateKey: Uint8Array }

/** Where a private key is sealed for. */
const placeOf = (domainId: string, selector: string) => `dkim_keys ${domainId} ${selector}`

function domainReader(db: Connection, seal: Seal) {
  const get = db.prepare(GET)
  const findByName = db.prepare(FIND_BY_NAME)
  const findByReturnPathHost = db.prepare(FIND_BY_RETURN_PATH_HOST)
  const dkimKeys = db.prepare(DKIM_KEYS)
  const toDomain = (row: Row): Domain => {
    const { trackOpens, trackClicks, trackUnsubscribe, trackingHost, findings, ...rest } = row
    return {
      ...rest,
      dkim: (dkimKeys.all(row.id) as DkimKeyRow[]).map(({ privateKey, ...key }) => ({
        ...key,
        privateKeyPem: seal.open(privateKey, placeOf(row.id, key.selector)).toString(),
      })),
      tracking: {
        opens: trackOpens === 1,
        clicks: trackClicks === 1,
        unsubscribe: trackUnsubscribe === 1,
        host: trackingHost,
      },
      findings: JSON.parse(findings),
    }
  }
  const one = (row: unknown) => (row === undefined ? null : toDomain(row as Row))
  return {
    get: (id: string) => one(get.get(id)),
    findByName: (name: string) => one(findByName.get(name)),
    findByReturnPathHost: (host: string) => one(findByReturnPathHost.get(host)),
    toDomain,
  }
}
