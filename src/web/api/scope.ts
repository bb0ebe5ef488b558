import type { ApiKey } from '../../model/api-key.ts'
import type { Mode } from '../../model/message.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Page, PageRequest } from '../../storage/store.ts'
import { requireOwned } from './errors.ts'
import { isPerson } from './operator.ts'

/** The records that a key can access in its organization. access.ts says what each operation applies. */
export interface Scope {
  organizationId: string
  /** `test`: test records only; null = both modes. */
  mode: 'test' | null
  /** Records of this domain only; null = every domain. */
  domainId: string | null
}

/** Key → its scope. A test key is limited to test records, and a key without `admin` to its domain. A user or the
 *  operator can access all records of the organization. */
export function scopeOf(key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode' | 'permissions'>): Scope {
  const { organizationId } = key
  if (isPerson(key)) return { organizationId, mode: null, domainId: null }
  return {
    organizationId,
    mode: key.mode === 'test' ? 'test' : null,
    domainId: key.permissions.includes('admin') ? null : key.domainId,
  }
}

/** Key → mode of the records that it creates. Records of users and the operator are always live: the mode that is
 *  selected in the dashboard applies to messages only. */
export function modeOfRecords(key: Pick<ApiKey, 'id' | 'mode'>): Mode {
  return isPerson(key) ? 'live' : key.mode
}

/** A record that a scope can be compared with. */
export interface Scoped {
  organizationId: string
  /** Absent if the record has no mode. */
  mode?: Mode
  /** Absent if the record belongs to no domain, so that every key can access it; null for the whole organization. */
  domainId?: string | null | undefined
}

/** True if the scope includes the record. Does not compare organizations. */
export function isWithin({ mode, domainId }: Scope, record: Scoped): boolean {
  if (mode !== null && record.mode !== undefined && record.mode !== mode) return false
  return domainId === null || record.domainId === undefined || record.domainId === domainId
}

/** The record that a path or filter refers to, or null if it does not exist → the same record. Throws `not_found` for
 *  null and for a live record with a test key, and `forbidden` for a record of another organization or of a domain
 *  outside the scope. `what` is the noun in the message: `webhook`. */
export function requireWithin<T extends Scoped>(record: T | null, scope: Scope, what: string): T {
  const owned = requireOwned(record, scope.organizationId, what)
  if (!isWithin({ ...scope, domainId: null }, owned)) throw new Refusal('not_found', `No such ${what}. Check the ID.`)
  if (isWithin(scope, owned)) return owned
  throw otherDomain(what)
}

/** Like requireWithin, for records without a mode that concern live mail only, such as inbound routes. Test keys get
 *  `not_found`. */
export function requireLive<T extends Omit<Scoped, 'mode'>>(record: T | null, scope: Scope, what: string): T {
  return requireWithin(record === null ? null : { ...record, mode: 'live' as const }, scope, what)
}

/** List filters and scope → filters for the store; null if no record can match. Throws `forbidden` for a domain outside
 *  the scope. The caller must check that the domain belongs to the organization. */
export function narrowed(
  asked: { domain_id?: string | undefined; mode?: Mode | undefined },
  scope: Scope,
): { domainId: string | null; mode: Mode | null } | null {
  const { domain_id: domainId, mode } = asked
  if (domainId !== undefined && scope.domainId !== null && domainId !== scope.domainId) throw otherDomain('domain')
  if (scope.mode !== null && mode !== undefined && mode !== scope.mode) return null
  return { domainId: domainId ?? scope.domainId, mode: mode ?? scope.mode }
}

/** Scope → the same scope, without its domain limit if the organization has at most one domain. Records of the whole
 *  organization then concern only that domain. Rejects with the error of the store. */
export async function withoutOnlyDomain(
  scope: Scope,
  { domains }: { domains: { count(organizationId: string): Promise<number> } },
): Promise<Scope> {
  if (scope.domainId === null || (await domains.count(scope.organizationId)) > 1) return scope
  return { ...scope, domainId: null }
}

/** An empty page. */
export const NO_RECORDS = { records: [], hasMore: false }

/** List method of the store, page and predicate → that page of the matching records. Reads until the page is full or
 *  the list ends. Use it only for records whose number the plan limits. Rejects with the error of `list`. */
export async function filteredPage<T extends { id: string }, R extends PageRequest>(
  list: (page: R) => Promise<Page<T>>,
  page: R,
  isKept: (record: T) => boolean,
): Promise<Page<T>> {
  const records: T[] = []
  for (let after = page.after; ; ) {
    const read = await list({ ...page, limit: STEP, after })
    for (const record of read.records) {
      if (!isKept(record)) continue
      if (records.length === page.limit) return { records, hasMore: true }
      records.push(record)
    }
    after = read.records.at(-1)?.id ?? null
    if (!read.hasMore || after === null) return { records, hasMore: false }
  }
}

const STEP = 100

function otherDomain(what: string): Refusal {
  return new Refusal('forbidden', `This ${what} belongs to another domain. Use a key of that domain or one with admin.`)
}
