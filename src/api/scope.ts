import type { ApiKey } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { Refusal } from '../model/refusal.ts'
import type { Page, PageRequest } from '../storage/store.ts'
import { requireOwned } from './errors.ts'
import { isOperator } from './operator.ts'

/** What a key sees and changes within its organization (contract §7, "Key modes"; permission-table.ts says where). */
export interface Scope {
  organizationId: string
  /** `test`: test records only; null = of both modes. */
  mode: 'test' | null
  /** Records of that domain only; null = of every domain. */
  domainId: string | null
}

/** Key → its scope. A test key is held to test records, a key without `admin` to its domain; the operator to neither. */
export function scopeOf(key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode' | 'permissions'>): Scope {
  const { organizationId } = key
  if (isOperator(key)) return { organizationId, mode: null, domainId: null }
  return {
    organizationId,
    mode: key.mode === 'test' ? 'test' : null,
    domainId: key.permissions.includes('admin') ? null : key.domainId,
  }
}

/** Key → the mode of what it creates. The operator's choice of a mode is about messages alone. */
export function modeOfRecords(key: Pick<ApiKey, 'id' | 'mode'>): Mode {
  return isOperator(key) ? 'live' : key.mode
}

/** A record that may have a mode and a domain. One that counts for every domain has the domain null. */
export interface Scoped {
  organizationId: string
  mode?: Mode
  domainId?: string | null | undefined
}

/** Whether a record is within a scope of the same organization. */
export function isWithin({ mode, domainId }: Scope, record: Scoped): boolean {
  if (mode !== null && record.mode !== undefined && record.mode !== mode) return false
  return domainId === null || record.domainId === undefined || record.domainId === domainId
}

/** A record that the path or a filter names → itself, when the scope holds it. Null → 404; of another organization → 403
 *  (customer's rule); a live one for a test key → 404, as if it had never been; of another domain → 403. */
export function requireWithin<T extends Scoped>(record: T | null, scope: Scope, what: string): T {
  const owned = requireOwned(record, scope.organizationId, what)
  if (!isWithin({ ...scope, domainId: null }, owned)) throw new Refusal('not_found', `No such ${what}. Check the ID.`)
  if (isWithin(scope, owned)) return owned
  throw otherDomain(what)
}

/** A record of a kind that only real mail makes, such as an inbound route: for a test key there is none. */
export function requireLive<T extends Omit<Scoped, 'mode'>>(record: T | null, scope: Scope, what: string): T {
  return requireWithin(record === null ? null : { ...record, mode: 'live' as const }, scope, what)
}

/** The filters of a list and a scope → those that the store is asked with; null when nothing can fit. Throws 403 for
 *  another domain than the key's. Whether the domain is the organization's, the caller looks before. */
export function narrowed(
  asked: { domain_id?: string | undefined; mode?: Mode | undefined },
  scope: Scope,
): { domainId: string | null; mode: Mode | null } | null {
  const { domain_id: domainId, mode } = asked
  if (domainId !== undefined && scope.domainId !== null && domainId !== scope.domainId) throw otherDomain('domain')
  if (scope.mode !== null && mode !== undefined && mode !== scope.mode) return null
  return { domainId: domainId ?? scope.domainId, mode: mode ?? scope.mode }
}

/** A scope and how many domains the organization has → the same, without a domain where that is the only one: what
 *  counts for the whole organization counts for that domain alone then. */
export async function withoutOnlyDomain(
  scope: Scope,
  { domains }: { domains: { count(organizationId: string): Promise<number> } },
): Promise<Scope> {
  if (scope.domainId === null || (await domains.count(scope.organizationId)) > 1) return scope
  return { ...scope, domainId: null }
}

export const NO_RECORDS = { records: [], hasMore: false }

/** A list of the store, a page and what to keep → that page of those that are kept. It walks further where few are: an
 *  organization has as many of these as its plan allows. */
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
