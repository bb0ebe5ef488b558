import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import type { Inside } from '../inside.ts'
import { rangeOf, toPage } from '../page.ts'
import { changed, type Database, row, rows, run, type Statement, sql, type Value, type Work } from '../sql.ts'
import type { Domains } from '../store.ts'
import { audit } from './audit-log.ts'
import { clashes } from './domain-clashes.ts'
import { freeName, recordOwnership } from './domain-ownership.ts'

/** A row of domains. */
export type DomainRow = Omit<Domain, 'dkim' | 'tracking' | 'findings'> & {
  trackOpens: boolean
  trackClicks: boolean
  trackUnsubscribe: boolean
  trackingHost: string | null
  findings: string
}

type DkimKeyRow = Omit<DkimKeyRecord, 'privateKeyPem'> & { domainId: string; privateKey: Uint8Array }

const COLUMNS = `id, organization_id as "organizationId", name, status, created_at as "createdAt",
  verified_at as "verifiedAt", last_checked_at as "lastCheckedAt", return_path_host as "returnPathHost",
  track_opens::boolean as "trackOpens", track_clicks::boolean as "trackClicks",
  track_unsubscribe::boolean as "trackUnsubscribe", tracking_host as "trackingHost", findings, proved_by as "provedBy",
  missing_since as "missingSince", reason, next_check_at as "nextCheckAt"`
const CREATE = sql(`insert into domains (id, organization_id, name, status, created_at, verified_at, last_checked_at,
    return_path_host, track_opens, track_clicks, track_unsubscribe, tracking_host, findings, proved_by, missing_since,
    reason, next_check_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`)
const COUNT = sql<{ count: number }>('select count(*) as count from domains where organization_id = $1')
export const DOMAINS = sql<DomainRow>(`select ${COLUMNS} from domains`)
export const DOMAIN = sql<DomainRow>(`select ${COLUMNS} from domains where id = $1`)
// Of several claims the verified one, else the oldest: two statements, each with its own index.
const OWNED_BY_NAME = sql<DomainRow>(`select ${COLUMNS} from domains where name = $1 and status = 'verified'`)
const CLAIMS_OF_NAME = sql<DomainRow>(`select ${COLUMNS} from domains where name = $1 order by id limit $2`)
const OWNED_BY_RETURN_PATH_HOST = sql<DomainRow>(`select ${COLUMNS} from domains
  where return_path_host = $1 and status = 'verified' limit 1`)
const CLAIM_BY_RETURN_PATH_HOST = sql<DomainRow>(`select ${COLUMNS} from domains
  where return_path_host = $1 order by id limit 1`)
const FIND_OF = sql<DomainRow>(`select ${COLUMNS} from domains where organization_id = $1 and name = $2`)
const DUE = sql<DomainRow>(`select ${COLUMNS} from domains where next_check_at <= $1 order by next_check_at limit $2`)
const WITHOUT_PROOF = sql<DomainRow>(`select ${COLUMNS} from domains
  where missing_since is not null order by missing_since limit $1`)
const ROTATING = sql<DomainRow>(`select ${COLUMNS} from (select domain_id, min(created_at) as since
    from dkim_keys where state = 'pending' group by domain_id order by since limit $1) keys
  join domains on id = domain_id order by since`)
const COUNT_ROTATING = sql<{ domains: number; oldestAt: number | null }>(`select count(distinct domain_id) as domains,
    min(created_at) as "oldestAt"
  from dkim_keys where state = 'pending'`)
const SET_NEXT_CHECK = sql('update domains set next_check_at = $2 where id = any($1::text[])')
const LIST = sql<DomainRow>(`select ${COLUMNS} from domains
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`)
const DKIM_KEYS =
  sql<DkimKeyRow>(`select domain_id as "domainId", selector, algorithm, state, public_key as "publicKey",
    private_key as "privateKey", created_at as "createdAt", state_since as since
  from dkim_keys where domain_id = any($1::text[]) order by created_at, algorithm desc, selector`)
const ADD_DKIM_KEY = sql(`insert into dkim_keys (domain_id, selector, algorithm, state, public_key, private_key,
    created_at, state_since)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`)
const SET_DKIM_STATE = sql(`update dkim_keys set state = $4, state_since = $5
  where domain_id = $1 and selector = $2 and state = $3`)
const REMOVE_DKIM_KEY = sql('delete from dkim_keys where domain_id = $1 and selector = $2')
const SET_TRACKING = sql(`update domains set track_opens = $2, track_clicks = $3, track_unsubscribe = $4,
    tracking_host = $5
  where id = $1`)
// PostgreSQL reads the waiting mail of the organization: by itself its planner would read all messages. SQLite keeps
// the state of the queue in the messages themselves.
const WAITING = sql<{ waiting: number }>(
  `select 1 as waiting from delivery_queue q where organization_id = $1
    and (select domain_id from messages where id = q.message_id) = $2 limit 1`,
  `select 1 as waiting from messages where organization_id = $1 and status in ('scheduled', 'queued', 'deferred')
    and domain_id = $2 limit 1`,
)
const REVOKE_KEYS = sql<{ id: string }>(`update api_keys set revoked_at = $2
  where domain_id = $1 and revoked_at is null returning id`)
const REMOVE = sql('delete from domains where id = $1')

/** `get` returns what is in memory. */
export function domainRecords(
  database: Database,
  inside: Inside,
  { encryption, get }: { encryption: Encryption; get: (id: string) => Domain | null },
): Domains {
  const { remember } = inside
  const find = (statement: Statement<DomainRow>, ...values: Value[]) => domainsOf(encryption, statement, ...values)
  const read = (statement: Statement<DomainRow>, ...values: Value[]) => database.read(() => find(statement, ...values))
  const change = <T>(id: string, work: () => Work<T>): Promise<T> =>
    database.write(function* () {
      const value = yield* work()
      yield* changed('domain', id)
      return value
    }, 'settings')

  return {
    create: (domain, maxDomains, record) =>
      change(domain.id, function* () {
        if (yield* clashes(domain, 'verified')) return 'conflict'
        const present = (yield* row(COUNT, domain.organizationId))?.count ?? 0
        if (maxDomains !== UNLIMITED && present >= maxDomains) return 'limit'
        yield* run(CREATE, ...valuesOf(domain))
        yield* addKeys(encryption, domain.id, domain.dkim)
        yield* remember(record)
        return 'created'
      }),
    get: async (id) => get(id),
    findByName: (name) => database.read(() => domainOfName(encryption, name)),
    findOf: async (organizationId, name) => (await read(FIND_OF, organizationId, name))[0] ?? null,
    claimsOf: (name, limit) => read(CLAIMS_OF_NAME, name, limit),
    clashes: (domain, claims) => database.read(() => clashes(domain, claims ? 'all' : 'verified')),
    list: async (organizationId, page) =>
      toPage(await read(LIST, organizationId, ...rangeOf(page)), page, (domain) => domain),
    count: async (organizationId) => (await database.row(COUNT, organizationId))?.count ?? 0,
    setTracking: (id, { opens, clicks, unsubscribe, host }) =>
      change(id, function* () {
        const [domain] = yield* find(DOMAIN, id)
        if (domain === undefined) return 'changed'
        const isNew = host !== null && host !== domain.tracking.host
        if (isNew && (yield* clashes({ ...domain, tracking: { host } }, 'verified'))) return 'conflict'
        yield* run(SET_TRACKING, id, opens, clicks, unsubscribe, host)
        return 'changed'
      }),
    recordCheck: (id, check) => database.write(() => recordOwnership(inside, id, check), 'settings and events'),
    claimDue: async (now, limit, againAt) => {
      if ((await database.row(DUE, now, 1)) === null) return []
      return database.write(function* () {
        const due = yield* find(DUE, now, limit)
        const ids = due.map(({ id }) => id)
        yield* run(SET_NEXT_CHECK, ids, againAt)
        yield* changed('domain', ...ids)
        return due
      }, 'settings')
    },
    withoutProof: (limit) => read(WITHOUT_PROOF, limit),
    rotating: (limit) => read(ROTATING, limit),
    countRotating: async () => (await database.row(COUNT_ROTATING)) ?? { domains: 0, oldestAt: null },
    addDkimKeys: (id, keys, entry) =>
      change(id, function* () {
        yield* addKeys(encryption, id, keys)
        if (entry !== undefined) yield* audit(entry)
        const since = keys[0]?.createdAt
        if (since !== undefined) yield* run(SET_NEXT_CHECK, [id], since) // maintenance sees their records by itself
      }),
    setDkimStates: (id, changes, entry) =>
      change(id, function* () {
        let written = 0
        for (const { selector, from, to, since } of changes)
          written += yield* run(SET_DKIM_STATE, id, selector, from, to, since)
        if (entry !== undefined && written > 0) yield* audit(entry)
      }),
    removeDkimKey: (id, selector) =>
      change(id, function* () {
        yield* run(REMOVE_DKIM_KEY, id, selector)
      }),
    remove: (id, now) =>
      change(id, function* () {
        const domain = yield* row(DOMAIN, id)
        if (domain === null) return 'removed'
        if ((yield* row(WAITING, domain.organizationId, id)) !== null) return 'in_use'
        const keys = yield* rows(REVOKE_KEYS, id, now)
        yield* changed('apiKey', ...keys.map((key) => key.id))
        yield* run(REMOVE, id)
        if (domain.status === 'verified') yield* freeName(domain.name, now)
        return 'removed'
      }),
  }
}

/** The domain with a name: the verified one, else the oldest claim; null if there is none. */
export function* domainOfName(encryption: Encryption, name: string): Work<Domain | null> {
  const [owned] = yield* domainsOf(encryption, OWNED_BY_NAME, name)
  return owned ?? (yield* domainsOf(encryption, CLAIMS_OF_NAME, name, 1))[0] ?? null
}

/** The same by the host of its return path. */
export function* domainOfReturnPath(encryption: Encryption, host: string): Work<Domain | null> {
  const [owned] = yield* domainsOf(encryption, OWNED_BY_RETURN_PATH_HOST, host)
  return owned ?? (yield* domainsOf(encryption, CLAIM_BY_RETURN_PATH_HOST, host))[0] ?? null
}

/** The domains that a statement finds, with their keys. Throws EncryptionKeyUnusable if these were encrypted with
 *  another key. */
export function* domainsOf(
  encryption: Encryption,
  statement: Statement<DomainRow>,
  ...values: Value[]
): Work<Domain[]> {
  return yield* withKeys(encryption, yield* rows(statement, ...values))
}

export function* withKeys(encryption: Encryption, domains: readonly DomainRow[]): Work<Domain[]> {
  if (domains.length === 0) return []
  const found = yield* rows(
    DKIM_KEYS,
    domains.map(({ id }) => id),
  )
  const keys = Map.groupBy(found, ({ domainId }) => domainId)
  const toKey = ({ domainId, privateKey, ...key }: DkimKeyRow): DkimKeyRecord => ({
    ...key,
    privateKeyPem: encryption.decrypt(privateKey, placeOf(domainId, key.selector)).toString(),
  })
  return domains.map(({ trackOpens, trackClicks, trackUnsubscribe, trackingHost, findings, ...rest }) => ({
    ...rest,
    dkim: (keys.get(rest.id) ?? []).map(toKey),
    tracking: { opens: trackOpens, clicks: trackClicks, unsubscribe: trackUnsubscribe, host: trackingHost },
    findings: JSON.parse(findings),
  }))
}

/** Encryption place of a private key. */
const placeOf = (domainId: string, selector: string) => `dkim_keys ${domainId} ${selector}`

function* addKeys(encryption: Encryption, id: string, keys: readonly DkimKeyRecord[]): Work<void> {
  for (const { selector, algorithm, state, publicKey, privateKeyPem, createdAt, since } of keys) {
    const privateKey = encryption.encrypt(privateKeyPem, placeOf(id, selector))
    yield* run(ADD_DKIM_KEY, id, selector, algorithm, state, publicKey, privateKey, createdAt, since)
  }
}

function valuesOf(domain: Domain): Value[] {
  const { id, organizationId, name, status, createdAt, verifiedAt, lastCheckedAt, returnPathHost, tracking } = domain
  const checked = [id, organizationId, name, status, createdAt, verifiedAt, lastCheckedAt]
  const hosts = [returnPathHost, tracking.opens, tracking.clicks, tracking.unsubscribe, tracking.host]
  const { findings, provedBy, missingSince, reason, nextCheckAt } = domain
  return [...checked, ...hosts, JSON.stringify(findings), provedBy, missingSince, reason, nextCheckAt]
}
