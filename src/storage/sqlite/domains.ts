import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Domains } from '../store.ts'
import type { AuditRecorder } from './audit-log.ts'
import { domainClashes } from './domain-clashes.ts'
import { domainOwnership } from './domain-ownership.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { RememberInside } from './idempotency.ts'
import type { KeyCache } from './settings.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, name, status, created_at as createdAt,
  verified_at as verifiedAt, last_checked_at as lastCheckedAt, return_path_host as returnPathHost,
  track_opens as trackOpens, track_clicks as trackClicks, track_unsubscribe as trackUnsubscribe,
  tracking_host as trackingHost, findings, proved_by as provedBy, missing_since as missingSince, reason,
  next_check_at as nextCheckAt`
const CREATE = `insert into domains (id, organization_id, name, status, created_at, verified_at, last_checked_at,
    return_path_host, track_opens, track_clicks, track_unsubscribe, tracking_host, findings, proved_by, missing_since,
    reason, next_check_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const COUNT = 'select count(*) as domains from domains where organization_id = ?'
const GET = `select ${COLUMNS} from domains where id = ?`
// Of several claims the verified one, else the oldest: two statements, each with its own index.
const OWNED_BY_NAME = `select ${COLUMNS} from domains where name = ? and status = 'verified'`
const CLAIMS_OF_NAME = `select ${COLUMNS} from domains where name = ? order by id limit ?`
const FIND_OF = `select ${COLUMNS} from domains where organization_id = ? and name = ?`
const OWNED_BY_RETURN_PATH_HOST = `select ${COLUMNS} from domains where return_path_host = ? and status = 'verified' limit 1`
const CLAIM_BY_RETURN_PATH_HOST = `select ${COLUMNS} from domains where return_path_host = ? order by id limit 1`
const DUE = `select ${COLUMNS} from domains where next_check_at <= ? order by next_check_at limit ?`
const WITHOUT_PROOF = `select ${COLUMNS} from domains where missing_since is not null order by missing_since limit ?`
const ROTATING = `select ${COLUMNS} from (select domain_id, min(created_at) as since
    from dkim_keys indexed by dkim_keys_pending where state = 'pending' group by domain_id order by since limit ?)
  cross join domains on id = domain_id order by since`
const COUNT_ROTATING = `select count(distinct domain_id) as domains, min(created_at) as oldestAt
  from dkim_keys indexed by dkim_keys_pending where state = 'pending'`
const SET_NEXT_CHECK = 'update domains set next_check_at = ? where id = ?'
const LIST = `select ${COLUMNS} from domains
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const DKIM_KEYS = `select selector, algorithm, state, public_key as publicKey, private_key as privateKey,
    created_at as createdAt, state_since as since
  from dkim_keys where domain_id = ? order by created_at, algorithm desc, selector`
const ADD_DKIM_KEY = `insert into dkim_keys (domain_id, selector, algorithm, state, public_key, private_key, created_at, state_since)
  values (?, ?, ?, ?, ?, ?, ?, ?)`
const SET_DKIM_STATE = `update dkim_keys set state = ?, state_since = ?
  where domain_id = ? and selector = ? and state = ?`
const REMOVE_DKIM_KEY = 'delete from dkim_keys where domain_id = ? and selector = ?'
const SET_TRACKING = `update domains set track_opens = ?, track_clicks = ?, track_unsubscribe = ?, tracking_host = ?
  where id = ?`
const OPEN_MESSAGES = `select 1 from messages where organization_id = ? and status in ('scheduled', 'queued', 'deferred')
  and domain_id = ? limit 1`
const REVOKE_KEYS = 'update api_keys set revoked_at = ? where domain_id = ? and revoked_at is null'
const REMOVE = 'delete from domains where id = ?'

/** Domains as delivery needs them, cached until something changes. */
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

export function domainCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): DomainCache {
  const read = domainReader(db, encryption)
  const cache = new Map<string, Domain | null>()
  const byName = new Map<string, Domain | null>()
  const byReturnPathHost = new Map<string, Domain | null>()
  const drop = () => {
    cache.clear()
    byName.clear()
    byReturnPathHost.clear()
  }
  foreign.onChange(drop)
  const get = (id: string) => {
    const cached = cache.get(id)
    if (cached !== undefined) return cached
    const domain = read.get(id)
    cache.set(id, domain)
    return domain
  }
  const find = (known: Map<string, Domain | null>, key: string, read: (key: string) => Domain | null) => {
    foreign.glance()
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const domain = read(key)
    if (known.size >= MOST_KEYS) known.clear() // senders choose the names
    known.set(key, domain)
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
    drop,
  }
}

/** Maximum of cached names and hosts, including those without a domain. */
const MOST_KEYS = 10_000

export function sqliteDomains(
  db: Connection,
  writer: Writer,
  cache: DomainCache,
  keys: KeyCache,
  remember: RememberInside,
  encryption: Encryption,
  auditRecorder: Pick<AuditRecorder, 'put'>,
  onDemand: OnDemandEvents,
): Domains {
  const read = domainReader(db, encryption)
  const { add, addKeys } = domainWriter(db, encryption)
  const clashes = domainClashes(db)
  const ownership = domainOwnership(db, clashes, auditRecorder, onDemand)
  const count = db.prepare<unknown[], { domains: number }>(COUNT)
  const list = db.prepare<unknown[], Row>(LIST)
  const setDkimState = db.prepare(SET_DKIM_STATE)
  const removeDkimKey = db.prepare(REMOVE_DKIM_KEY)
  const setTracking = db.prepare(SET_TRACKING)
  const due = db.prepare<unknown[], Row>(DUE)
  const withoutProof = db.prepare<unknown[], Row>(WITHOUT_PROOF)
  const rotating = db.prepare<unknown[], Row>(ROTATING)
  const countRotating = db.prepare<[], { domains: number; oldestAt: number | null }>(COUNT_ROTATING)
  const setNextCheck = db.prepare(SET_NEXT_CHECK)
  const openMessages = db.prepare(OPEN_MESSAGES)
  const revokeKeys = db.prepare(REVOKE_KEYS)
  const remove = db.prepare(REMOVE)

  /** Clears the cache inside the change, so that the next change of the same group sees this one. */
  const change = <T>(write: () => T): Promise<T> =>
    writer.write(() => {
      const value = write()
      cache.drop()
      return value
    })

  return {
    create: (domain, maxDomains, record) =>
      change(() => {
        if (clashes(domain, 'verified')) return 'conflict'
        const { domains } = one(count, domain.organizationId)
        if (maxDomains !== UNLIMITED && domains >= maxDomains) return 'limit'
        add(domain)
        remember(record)
        return 'created'
      }),
    get: async (id) => cache.current(id),
    findByName: async (name) => read.findByName(name),
    findOf: async (organizationId, name) => read.findOf(organizationId, name),
    claimsOf: async (name, limit) => read.claimsOf(name, limit),
    clashes: async (domain, claims) => clashes(domain, claims ? 'all' : 'verified'),
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, read.toDomain),
    count: async (organizationId) => one(count, organizationId).domains,
    setTracking: (id, { opens, clicks, unsubscribe, host }) =>
      change(() => {
        const domain = read.get(id)
        if (domain === null) return 'changed'
        const isNew = host !== null && host !== domain.tracking.host
        if (isNew && clashes({ ...domain, tracking: { host } }, 'verified')) return 'conflict'
        setTracking.run(Number(opens), Number(clicks), Number(unsubscribe), host, id)
        return 'changed'
      }),
    recordCheck: (id, check) => change(() => ownership.record(id, check)),
    claimDue: (now, limit, againAt) => {
      if (due.get(now, 1) === undefined) return Promise.resolve([])
      return change(() => {
        const rows = due.all(now, limit)
        for (const { id } of rows) setNextCheck.run(againAt, id)
        return rows.map(read.toDomain)
      })
    },
    withoutProof: async (limit) => withoutProof.all(limit).map(read.toDomain),
    rotating: async (limit) => rotating.all(limit).map(read.toDomain),
    countRotating: async () => countRotating.get() ?? { domains: 0, oldestAt: null },
    addDkimKeys: (id, keys, audit) =>
      change(() => {
        addKeys(id, keys)
        if (audit !== undefined) auditRecorder.put(audit)
        const since = keys[0]?.createdAt
        if (since !== undefined) setNextCheck.run(since, id) // maintenance sees their records by itself
      }),
    setDkimStates: (id, changes, audit) =>
      change(() => {
        let changed = 0
        for (const { selector, from, to, since } of changes)
          changed += setDkimState.run(to, since, id, selector, from).changes
        if (audit !== undefined && changed > 0) auditRecorder.put(audit)
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
        keys.drop()
        remove.run(id)
        if (domain.status === 'verified') ownership.free(domain.name, now)
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

/** Encryption place of a private key. */
const placeOf = (domainId: string, selector: string) => `dkim_keys ${domainId} ${selector}`

function domainWriter(db: Connection, encryption: Encryption) {
  const create = db.prepare(CREATE)
  const addDkimKey = db.prepare(ADD_DKIM_KEY)
  const addKeys = (id: string, keys: DkimKeyRecord[]) => {
    for (const key of keys) {
      const privateKey = encryption.encrypt(key.privateKeyPem, placeOf(id, key.selector))
      addDkimKey.run(id, key.selector, key.algorithm, key.state, key.publicKey, privateKey, key.createdAt, key.since)
    }
  }
  const add = (domain: Domain) => {
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
      domain.provedBy,
      domain.missingSince,
      domain.reason,
      domain.nextCheckAt,
    )
    addKeys(domain.id, domain.dkim)
  }
  return { add, addKeys }
}

function domainReader(db: Connection, encryption: Encryption) {
  const get = db.prepare<unknown[], Row>(GET)
  const ownedByName = db.prepare<unknown[], Row>(OWNED_BY_NAME)
  const claimsOfName = db.prepare<unknown[], Row>(CLAIMS_OF_NAME)
  const findOf = db.prepare<unknown[], Row>(FIND_OF)
  const ownedByReturnPathHost = db.prepare<unknown[], Row>(OWNED_BY_RETURN_PATH_HOST)
  const claimByReturnPathHost = db.prepare<unknown[], Row>(CLAIM_BY_RETURN_PATH_HOST)
  const dkimKeys = db.prepare<unknown[], DkimKeyRow>(DKIM_KEYS)
  const toDomain = (row: Row): Domain => {
    const { trackOpens, trackClicks, trackUnsubscribe, trackingHost, findings, ...rest } = row
    return {
      ...rest,
      dkim: dkimKeys.all(row.id).map(({ privateKey, ...key }) => ({
        ...key,
        privateKeyPem: encryption.decrypt(privateKey, placeOf(row.id, key.selector)).toString(),
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
  const orNull = (row: Row | undefined) => (row === undefined ? null : toDomain(row))
  return {
    get: (id: string) => orNull(get.get(id)),
    findByName: (name: string) => orNull(ownedByName.get(name) ?? claimsOfName.get(name, 1)),
    findOf: (organizationId: string, name: string) => orNull(findOf.get(organizationId, name)),
    claimsOf: (name: string, limit: number) => claimsOfName.all(name, limit).map(toDomain),
    findByReturnPathHost: (host: string) => orNull(ownedByReturnPathHost.get(host) ?? claimByReturnPathHost.get(host)),
    toDomain,
  }
}
