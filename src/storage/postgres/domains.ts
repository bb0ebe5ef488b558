import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Domains } from '../store.ts'
import { textArray } from './arrays.ts'
import type { AuditRecorder } from './audit-log.ts'
import { clashes } from './domain-clashes.ts'
import { freeName, recordOwnership } from './domain-ownership.ts'
import type { FanOut } from './fan-out.ts'
import type { MailLane } from './group.ts'
import type { RememberInside } from './idempotency.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { SettingsStatements, Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", name, status, created_at::float8 as "createdAt",
  verified_at::float8 as "verifiedAt", last_checked_at::float8 as "lastCheckedAt",
  return_path_host as "returnPathHost", track_opens as "trackOpens", track_clicks as "trackClicks",
  track_unsubscribe as "trackUnsubscribe", tracking_host as "trackingHost", findings, proved_by as "provedBy",
  missing_since::float8 as "missingSince", reason, next_check_at::float8 as "nextCheckAt"`
const CREATE = `insert into domains (id, organization_id, name, status, created_at, verified_at, last_checked_at,
    return_path_host, track_opens, track_clicks, track_unsubscribe, tracking_host, findings, proved_by, missing_since,
    reason, next_check_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
const COUNT = 'select count(*)::int as count from domains where organization_id = $1'
const ALL = `select ${COLUMNS} from domains`
const GET = `${ALL} where id = $1`
// Of several claims the verified one, else the oldest.
const FIND_BY_NAME = `select ${COLUMNS} from domains where name = $1 order by status = 'verified' desc, id limit 1`
const CLAIMS_OF_NAME = `select ${COLUMNS} from domains where name = $1 order by id limit $2`
const FIND_OF = `select ${COLUMNS} from domains where organization_id = $1 and name = $2`
const DUE = `select ${COLUMNS} from domains where next_check_at <= $1 order by next_check_at limit $2`
const WITHOUT_PROOF = `select ${COLUMNS} from domains where missing_since is not null order by missing_since limit $1`
const ROTATING = `select ${COLUMNS} from (select domain_id, min(created_at) as since
    from dkim_keys where state = 'pending' group by domain_id order by since limit $1) keys
  join domains on id = domain_id order by since`
const COUNT_ROTATING = `select count(distinct domain_id)::int as domains, min(created_at)::float8 as "oldestAt"
  from dkim_keys where state = 'pending'`
const SET_NEXT_CHECK = 'update domains set next_check_at = $2 where id = any($1::text[])'
const LIST = `select ${COLUMNS} from domains
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const DKIM_KEYS = `select domain_id as "domainId", selector, algorithm, state, public_key as "publicKey",
    private_key as "privateKey", created_at::float8 as "createdAt",
    state_since::float8 as since
  from dkim_keys where domain_id = any($1::text[]) order by created_at, algorithm desc, selector`
const ADD_DKIM_KEY = `insert into dkim_keys (domain_id, selector, algorithm, state, public_key, private_key, created_at, state_since)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const SET_DKIM_STATE = `update dkim_keys set state = $4, state_since = $5
  where domain_id = $1 and selector = $2 and state = $3`
const REMOVE_DKIM_KEY = 'delete from dkim_keys where domain_id = $1 and selector = $2'
const SET_TRACKING = `update domains set track_opens = $2, track_clicks = $3, track_unsubscribe = $4,
  tracking_host = $5 where id = $1`
// Reads the waiting mail of the organization: by itself the planner would read all messages.
const WAITING = `select from delivery_queue q where organization_id = $1
  and (select domain_id from messages where id = q.message_id) = $2 limit 1`
const KEYS = 'select id from api_keys where domain_id = $1 and revoked_at is null'
const REVOKE_KEYS = 'update api_keys set revoked_at = $2 where domain_id = $1 and revoked_at is null'
const REMOVE = 'delete from domains where id = $1'

/** Domains in memory, with the indexes of the snapshot. */
export function domainMirror(encryption: Encryption): Mirror<Domain> {
  const toDomains = domainsOf(encryption)
  const read = readerOf<Row>(ALL)
  return createMirror(async (queries, ids) => toDomains(queries, await read(queries, ids)))
}

export function postgresDomains(
  reads: Reads,
  writer: Writer,
  {
    mirror,
    encryption,
    remember,
    recorder,
    lane,
    isNamed,
  }: {
    mirror: Mirror<Domain>
    encryption: Encryption
    remember: RememberInside
    recorder: Pick<AuditRecorder, 'put'>
    lane: MailLane
    isNamed: FanOut['isNamed']
  },
): Domains {
  const toDomains = domainsOf(encryption)
  const find = async (queries: Queries, text: string, values: readonly unknown[]) =>
    toDomains(queries, await queries.query<Row>(text, values))
  const count = async (queries: Queries, organizationId: string) =>
    (await queries.query<{ count: number }>(COUNT, [organizationId]))[0]?.count ?? 0
  const addKeys = async ({ run }: Statements, id: string, keys: readonly DkimKeyRecord[]) => {
    for (const { selector, algorithm, state, publicKey, privateKeyPem, createdAt, since } of keys) {
      const privateKey = encryption.encrypt(privateKeyPem, placeOf(id, selector))
      await run(ADD_DKIM_KEY, [id, selector, algorithm, state, publicKey, privateKey, createdAt, since])
    }
  }
  const claimsOf = mirror.index(({ name }) => name)
  const change = <T>(id: string, work: (statements: SettingsStatements) => Promise<T>): Promise<T> =>
    writer.writeSettings((statements) => {
      statements.changed('domain', id)
      return work(statements)
    })

  return {
    create: (domain, maxDomains, record) =>
      change(domain.id, async (statements) => {
        const { organizationId } = domain
        if (await clashes(statements, domain, 'verified')) return 'conflict'
        if (maxDomains !== UNLIMITED && (await count(statements, organizationId)) >= maxDomains) return 'limit'
        await statements.run(CREATE, valuesOf(domain))
        await addKeys(statements, domain.id, domain.dkim)
        await remember(statements, record)
        return 'created'
      }),
    get: async (id) => mirror.get(id),
    findByName: async (name) => (await find(reads, FIND_BY_NAME, [name]))[0] ?? null,
    findOf: async (organizationId, name) => (await find(reads, FIND_OF, [organizationId, name]))[0] ?? null,
    claimsOf: (name, limit) => find(reads, CLAIMS_OF_NAME, [name, limit]),
    clashes: (domain, claims) => clashes(reads, domain, claims ? 'all' : 'verified'),
    list: async (organizationId, page) =>
      toPage(await find(reads, LIST, [organizationId, ...rangeOf(page)]), page, (domain) => domain),
    count: (organizationId) => count(reads, organizationId),
    setTracking: (id, { opens, clicks, unsubscribe, host }) =>
      change(id, async (statements) => {
        const [domain] = await find(statements, GET, [id])
        if (domain === undefined) return 'changed'
        const isNew = host !== null && host !== domain.tracking.host
        const isTaken = isNew && (await clashes(statements, { ...domain, tracking: { host } }, 'verified'))
        if (isTaken) return 'conflict'
        await statements.run(SET_TRACKING, [id, opens, clicks, unsubscribe, host])
        return 'changed'
      }),
    recordCheck: (id, check) => {
      const claims = claimsOf(mirror.get(id)?.name ?? '')
      const isReported = claims.some(({ organizationId }) =>
        DOMAIN_EVENTS.some((type) => isNamed(organizationId, type)),
      )
      // Only what has events is written with mail.
      if (!isReported) return change(id, (statements) => recordOwnership(statements, id, check, recorder, () => {}))
      return writer.writeSettingsIn(lane, ({ statements, add }) => {
        statements.changed('domain', id)
        return recordOwnership(statements, id, check, recorder, add.onDemand.offer)
      })
    },
    claimDue: async (now, limit, againAt) => {
      if ((await reads.query(DUE, [now, 1])).length === 0) return []
      return writer.writeSettings(async (statements) => {
        const due = await find(statements, DUE, [now, limit])
        const ids = due.map(({ id }) => id)
        await statements.run(SET_NEXT_CHECK, [textArray(ids), againAt])
        statements.changed('domain', ...ids)
        return due
      })
    },
    withoutProof: (limit) => find(reads, WITHOUT_PROOF, [limit]),
    rotating: (limit) => find(reads, ROTATING, [limit]),
    countRotating: async () => (await reads.query<Rotating>(COUNT_ROTATING, []))[0] ?? { domains: 0, oldestAt: null },
    addDkimKeys: (id, keys, audit) =>
      change(id, async (statements) => {
        await addKeys(statements, id, keys)
        if (audit !== undefined) await recorder.put(statements, audit)
        const since = keys[0]?.createdAt
        // Maintenance sees their records by itself.
        if (since !== undefined) await statements.run(SET_NEXT_CHECK, [textArray([id]), since])
      }),
    setDkimStates: (id, changes, audit) =>
      change(id, async (statements) => {
        let changed = 0
        for (const { selector, from, to, since } of changes)
          changed += await statements.run(SET_DKIM_STATE, [id, selector, from, to, since])
        if (audit !== undefined && changed > 0) await recorder.put(statements, audit)
      }),
    removeDkimKey: (id, selector) =>
      change(id, async ({ run }) => {
        await run(REMOVE_DKIM_KEY, [id, selector])
      }),
    remove: (id, now) =>
      change<'removed' | 'in_use'>(id, async (statements) => {
        const [domain] = await find(statements, GET, [id])
        if (domain === undefined) return 'removed'
        if ((await statements.query(WAITING, [domain.organizationId, id])).length > 0) return 'in_use'
        const keys = await statements.query<{ id: string }>(KEYS, [id])
        await statements.run(REVOKE_KEYS, [id, now])
        statements.changed('apiKey', ...keys.map((key) => key.id))
        await statements.run(REMOVE, [id])
        if (domain.status === 'verified') await freeName(statements, domain.name, now)
        return 'removed'
      }),
  }
}

const DOMAIN_EVENTS = ['domain.verified', 'domain.failed'] as const

type Row = Omit<Domain, 'dkim' | 'tracking' | 'findings'> & {
  trackOpens: boolean
  trackClicks: boolean
  trackUnsubscribe: boolean
  trackingHost: string | null
  findings: string
}

interface Rotating {
  domains: number
  oldestAt: number | null
}

type DkimKeyRow = Omit<DkimKeyRecord, 'privateKeyPem'> & { domainId: string; privateKey: Uint8Array }

/** Encryption place of a private key. */
const placeOf = (domainId: string, selector: string) => `dkim_keys ${domainId} ${selector}`

/** Rows of domains → the domains with their keys. */
function domainsOf(encryption: Encryption): (queries: Queries, rows: readonly Row[]) => Promise<Domain[]> {
  const toKey = ({ domainId, privateKey, ...key }: DkimKeyRow): DkimKeyRecord => ({
    ...key,
    privateKeyPem: encryption.decrypt(privateKey, placeOf(domainId, key.selector)).toString(),
  })
  return async (queries, rows) => {
    if (rows.length === 0) return []
    const keys = Map.groupBy(
      await queries.query<DkimKeyRow>(DKIM_KEYS, [textArray(rows.map(({ id }) => id))]),
      ({ domainId }) => domainId,
    )
    return rows.map(({ trackOpens, trackClicks, trackUnsubscribe, trackingHost, findings, ...rest }) => ({
      ...rest,
      dkim: (keys.get(rest.id) ?? []).map(toKey),
      tracking: { opens: trackOpens, clicks: trackClicks, unsubscribe: trackUnsubscribe, host: trackingHost },
      findings: JSON.parse(findings),
    }))
  }
}

function valuesOf(domain: Domain): unknown[] {
  const { tracking } = domain
  return [
    domain.id,
    domain.organizationId,
    domain.name,
    domain.status,
    domain.createdAt,
    domain.verifiedAt,
    domain.lastCheckedAt,
    domain.returnPathHost,
    tracking.opens,
    tracking.clicks,
    tracking.unsubscribe,
    tracking.host,
    JSON.stringify(domain.findings),
    domain.provedBy,
    domain.missingSince,
    domain.reason,
    domain.nextCheckAt,
  ]
}
