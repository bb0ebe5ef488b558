import type { ApiKey } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { Refusal } from '../model/refusal.ts'
import type { Page, PageRequest } from '../storage/store.ts'
import { requireOwned } from './errors.ts'
import { isOperator } from './operator.ts'

/** The records that a key can access within its organization; permission-table.ts lists where it applies. */
export interface Scope {
  organizationId: string
  /** `test`: test records only; null = both modes. */
  mode: 'test' | null
  /** Records of this domain only; null = every domain. */
  domainId: string | null
}

/** Key → its scope. A test key is limited to test records, a key without `admin` to its domain; the operator has no
 *  limits. */
export function scopeOf(key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode' | 'permissions'>): Scope {
  const { organizationId } = key
  if (isOperator(key)) return { organizationId, mode: null, domainId: null }
  return {
    organizationId,
    mode: key.mode === 'test' ? 'test' : null,
    domainId: key.permissions.includes('admin') ? null : key.domainId,
  }
}

/** Key → mode of the records it creates. The operator's choice of a mode applies to messages only. */
export function modeOfRecords(key: Pick<ApiKey, 'id' | 'mode'>): Mode {
  return isOperator(key) ? 'live' : key.mode
}

/** A record with an optional mode and domain. The domain is null for records of the whole organization. */
export interface Scoped {
  organizationId: string
  mode?: Mode
  domainId?: string | null | undefined
}

/** True if a record is within a scope of the same organization. */
export function isWithin({ mode, domainId }: Scope, record: Scoped): boolean {
  if (mode !== null && record.mode !== undefined && record.mode !== mode) return false
  return domainId === null || record.domainId === undefined || record.domainId === domainId
}

/** Record that a path or filter refers to → the same record, if it is within the scope. Null → 404; another
 *  organization's → 403; a live one for a test key → 404, as if it did not exist; another domain's → 403. */
export function requireWithin<T extends Scoped>(record: T | null, scope: Scope, what: string): T {
  const owned = requireOwned(record, scope.organizationId, what)
  if (!isWithin({ ...scope, domainId: null }, owned)) throw new Refusal('not_found', `No such ${what}. Check the ID.`)
  if (isWithin(scope, owned)) return owned
  throw otherDomain(what)
}

/** A record that only real mail creates, such as an inbound route: invisible to test keys. */
export function requireLive<T extends Omit<Scoped, 'mode'>>(record: T | null, scope: Scope, what: string): T {
  return requireWithin(record === null ? null : { ...record, mode: 'live' as const }, scope, what)
}

/** List filters and scope → store filters; null if nothing can match. Throws 403 for a domain outside the key's scope.
 *  The caller checks that the domain belongs to the organization. */
export function narrowed(
  asked: { domain_id?: string | undefined; mode?: Mode | undefined },
  scope: Scope,
): { domainId: string | null; mode: Mode | null } | null {
  const { domain_id: domainId, mode } = asked
  if (domainId !== undefined && scope.domainId !== null && domainId !== scope.domainId) throw otherDomain('domain')
  if (scope.mode !== null && mode !== undefined && mode !== scope.mode) return null
  return { domainId: domainId ?? scope.domainId, mode: mode ?? scope.mode }
}

/** Scope and number of domains → the same, without a domain if the organization has only one: then organization-wide
 *  records apply to that domain alone. */
export async function withoutOnlyDomain(
  scope: Scope,
  { domains }: { domains: { count(organizationId: string): Promise<number> } },
): Promise<Scope> {
  if (scope.domainId === null || (await domains.count(scope.organizationId)) > 1) return scope
  return { ...scope, domainId: null }
}

export const NO_RECORDS = { records: [], hasMore: false }

/** Store list, page and predicate → that page of the matching records. Reads further if few match; plans limit the
 *  number of these records. */
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
