import type { AuditEntry } from '../../model/audit-entry.ts'
import type { DkimKeyRecord, DkimState, Domain, Tracking } from '../../model/domain.ts'
import type { Remember } from '../../model/idempotency.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import { remember } from '../inside.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, changing, type Database, row, rows, run, type Statement, sql, type Value, type Work } from '../sql.ts'
import { audit } from './audit-log.ts'
import { clashes } from './domain-clashes.ts'
import { type DomainChange, type DomainCheck, freeName, recordOwnership } from './domain-ownership.ts'

/** Change of the state of a DKIM key. `since` as in DkimKeyRecord. */
export interface DkimChange {
  selector: string
  from: DkimState
  to: DkimState
  since: number | null
}

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
  missing_since as "missingSince", reason, next_check_at as "nextCheckAt", publish_at as "publishAt",
  publish_fault as "publishFault"`
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
const NOT_PUBLISHED = sql<DomainRow>(`select ${COLUMNS} from domains where publish_fault is not null limit $1`)
const SET_PUBLICATION = sql('update domains set publish_at = $2, publish_fault = $3 where id = $1')
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
const ANY_PENDING = sql<{ found: number }>(
  `select 1 as found from dkim_keys where domain_id = $1 and state = 'pending' limit 1`,
)
const SET_DKIM_STATE = sql(`update dkim_keys set state = $4, state_since = $5
  where domain_id = $1 and selector = $2 and state = $3`)
const REMOVE_DKIM_KEY = sql('delete from dkim_keys where domain_id = $1 and selector = $2')
const SET_TRACKING = sql(`update domains set track_opens = $2, track_clicks = $3, track_unsubscribe = $4,
    tracking_host = $5
  where id = $1`)
const WAITING = sql<{ waiting: number }>(`select 1 as waiting from messages
  where organization_id = $1 and status in ('scheduled', 'queued', 'deferred') and domain_id = $2 limit 1`)
const REVOKE_KEYS = sql<{ id: string }>(`update api_keys set revoked_at = $2
  where domain_id = $1 and revoked_at is null returning id`)
const REMOVE = sql('delete from domains where id = $1')

/** `get` returns what is in memory. */
export function domainRecords(
  database: Database,
  { encryption, get }: { encryption: Encryption; get: (id: string) => Domain | null },
) {
  const find = (statement: Statement<DomainRow>, ...values: Value[]) => domainsOf(encryption, statement, ...values)
  const read = (statement: Statement<DomainRow>, ...values: Value[]) => database.read(() => find(statement, ...values))
  const change = changing(database, 'domain')

  return {
    /** `conflict` if it clashes with a domain of the organization or a verified one of another organization (as
     *  `clashes`); `limit` if the organization already has `maxDomains` (-1 = unlimited). */
    create: (domain: Domain, maxDomains: number, record?: Remember): Promise<'created' | 'conflict' | 'limit'> =>
      change(domain.id, function* () {
        if (yield* clashes(domain, 'verified')) return 'conflict'
        const present = (yield* row(COUNT, domain.organizationId))?.count ?? 0
        if (maxDomains !== UNLIMITED && present >= maxDomains) return 'limit'
        yield* run(CREATE, ...valuesOf(domain))
        yield* addKeys(encryption, domain.id, domain.dkim)
        yield* remember(record)
        return 'created'
      }),
    get: async (id: string): Promise<Domain | null> => get(id),
    /** The verified domain of that name; if none is verified, the oldest claim. isOwned distinguishes them. */
    findByName: (name: string): Promise<Domain | null> => database.read(() => domainOfName(encryption, name)),
    /** The organization's own claim of the name, whatever its status. */
    findOf: async (organizationId: string, name: string): Promise<Domain | null> =>
      (await read(FIND_OF, organizationId, name))[0] ?? null,
    /** Every claim of the name, oldest first; at most `limit`. */
    claimsOf: (name: string, limit: number): Promise<Domain[]> => read(CLAIMS_OF_NAME, name, limit),
    /** True if the name or a derived host (model/domain-names.ts) is the name or a derived host of another domain of
     *  the organization, or of a verified one of another organization; with `claims` also of an unverified one. Names
     *  of other organizations above and below the domain's own do not clash. */
    clashes: (domain: Domain, claims: boolean): Promise<boolean> =>
      database.read(() => clashes(domain, claims ? 'all' : 'verified')),
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<Domain>> =>
      toPage(await read(LIST, organizationId, ...rangeOf(page)), page, (domain) => domain),
    count: async (organizationId: string): Promise<number> => (await database.row(COUNT, organizationId))?.count ?? 0,
    /** Changes only the given settings. `conflict` as in `create`. */
    setTracking: (id: string, given: Partial<Tracking>): Promise<'changed' | 'conflict'> =>
      change(id, function* () {
        const [domain] = yield* find(DOMAIN, id)
        if (domain === undefined) return 'changed'
        const { opens, clicks, unsubscribe, host } = { ...domain.tracking, ...given }
        const isNew = host !== null && host !== domain.tracking.host
        if (isNew && (yield* clashes({ ...domain, tracking: { host } }, 'verified'))) return 'conflict'
        yield* run(SET_TRACKING, id, opens, clicks, unsubscribe, host)
        return 'changed'
      }),
    /** Writes the result of a DNS check. Of all claims of a name only the first proved one becomes `verified`, in the
     *  same transaction; the others become `failed` with reason `claimed` and are checked again once the name is free.
     *  A domain that becomes verified or failed gets an event, if an active webhook receives it.
     *  Null if the domain was deleted, or checked by another process meanwhile (`since`). */
    recordCheck: (id: string, check: DomainCheck): Promise<DomainChange | null> =>
      database.write(() => recordOwnership(id, check), 'settings'),
    /** Returns at most `limit` domains that are due for a check, and makes them due again at `againAt` unless a result
     *  is recorded. */
    claimDue: async (now: number, limit: number, againAt: number): Promise<Domain[]> => {
      if ((await database.row(DUE, now, 1)) === null) return []
      return database.write(function* () {
        const due = yield* find(DUE, now, limit)
        const ids = due.map(({ id }) => id)
        yield* run(SET_NEXT_CHECK, ids, againAt)
        yield* changed('domain', ...ids)
        return due
      }, 'settings')
    },
    /** Domains whose proof is missing or lost, longest first. */
    withoutProof: (limit: number): Promise<Domain[]> => read(WITHOUT_PROOF, limit),
    /** Domains with pending DKIM keys, those with the oldest keys first. */
    rotating: (limit: number): Promise<Domain[]> => read(ROTATING, limit),
    /** How many domains have pending keys, and when the oldest of them was made (ms UTC); null without any. */
    countRotating: async (): Promise<{ domains: number; oldestAt: number | null }> =>
      (await database.row(COUNT_ROTATING)) ?? { domains: 0, oldestAt: null },
    /** Rejects if the domain already has one of the selectors, and if pending keys are added to pending ones. `entry` is
     *  written with the change. */
    addDkimKeys: (id: string, keys: DkimKeyRecord[], entry?: AuditEntry): Promise<void> =>
      change(id, function* () {
        const begins = keys.some(({ state }) => state === 'pending')
        if (begins && (yield* row(ANY_PENDING, id)) !== null) throw new Error(`new keys of ${id} already wait for DNS`)
        if (begins) yield* run(SET_PUBLICATION, id, null, null)
        yield* addKeys(encryption, id, keys)
        if (entry !== undefined) yield* audit(entry)
        const since = keys[0]?.createdAt
        if (since !== undefined) yield* run(SET_NEXT_CHECK, [id], since) // maintenance sees their records by itself
      }),
    /** Changes the states of several keys at once. A key that is no longer in the state `from` stays as it is. `entry` is
     *  written with the change, if there is one. */
    setDkimStates: (id: string, changes: readonly DkimChange[], entry?: AuditEntry): Promise<void> =>
      change(id, function* () {
        let written = 0
        for (const { selector, from, to, since } of changes)
          written += yield* run(SET_DKIM_STATE, id, selector, from, to, since)
        if (entry !== undefined && written > 0) yield* audit(entry)
      }),
    /** Domains with a `publishFault`. */
    notPublished: (limit: number): Promise<Domain[]> => read(NOT_PUBLISHED, limit),
    /** Sets `publishAt` and `publishFault`. New pending keys clear both. */
    setPublication: (id: string, at: number | null, fault: string | null): Promise<void> =>
      change(id, function* () {
        yield* run(SET_PUBLICATION, id, at, fault)
      }),
    removeDkimKey: (id: string, selector: string): Promise<void> =>
      change(id, function* () {
        yield* run(REMOVE_DKIM_KEY, id, selector)
      }),
    /** Removes the domain with its keys; `in_use` while it has open deliveries. */
    remove: (id: string, now: number): Promise<'removed' | 'in_use'> =>
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
