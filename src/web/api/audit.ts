import type { AuditActor, AuditEntry, AuditOutcome } from '../../model/audit-entry.ts'
import { FIXED_LIMITS, nextDay } from '../../model/limits.ts'
import { Refusal } from '../../model/refusal.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import { fieldOf, isRecord } from '../../os/records.ts'
import type { AuditNote, Store } from '../../storage/store.ts'
import { toRefusal } from './errors.ts'
import { type Call, isAudited, type Operation } from './operation.ts'

/** The caller of an operation and its IP address, as an audit entry stores them. */
export interface Origin {
  actor: AuditActor
  /** Null on the command line, or if unknown. */
  ipAddress: string | null
}

/** The parts of a call that the audit log records. */
export type AuditedCall = Pick<Call, 'now' | 'requestId' | 'params' | 'resource' | 'body' | 'answer' | 'isReplayed'> & {
  organizationId: string | null
}

/** Records the operations of callers. */
export class Audit {
  readonly #auditLog: Store['auditLog']
  readonly #mintId: MintId
  readonly #log: Log
  readonly #refusals = createCounts(HOUR_MS, FIXED_LIMITS.refusalsPerHour)
  readonly #changes = createCounts(DAY_MS, FIXED_LIMITS.changesPerDay)

  /** Counts of changes and rejected calls start at zero. */
  constructor({ auditLog, mintId, log }: { auditLog: Store['auditLog']; mintId: MintId; log: Log }) {
    this.#auditLog = auditLog
    this.#mintId = mintId
    this.#log = log
  }

  /** Runs `work` for an authenticated call, adds an entry to the audit log, and resolves with the result of `work`.
   *
   *  If the call changes data, the transaction of its first change also writes the entry: after a crash, both or neither
   *  exist. If it changes nothing, a separate transaction writes the entry before the response. If `work` fails after its
   *  first change, only the outcome of the entry is updated.
   *
   *  Every operation except GET is recorded, unless it sets `unaudited` (operation.ts).
   *
   *  Rejects with the error of `work`, with `rate_limited` if the organization's API keys exceed their changes per day,
   *  and with StoreUnavailable if `work` succeeds without a change and its entry cannot be written. */
  async record<T>(
    operation: Pick<Operation, 'id' | 'method' | 'unaudited'>,
    call: AuditedCall,
    origin: Origin,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!isAudited(operation)) return work()
    const id = this.#mintId('aud')
    const entry = (outcome: AuditOutcome) => entryOf(id, operation.id, call, origin, outcome)
    const note: AuditNote = { isKept: false, entry: () => entry('done') }
    const audited = async () => {
      this.#requireChangeQuota(operation, call, origin)
      return work()
    }
    const result = await this.#auditLog.during(note, audited).catch(async (thrown: unknown) => {
      const facts = { request_id: call.requestId, operation: operation.id }
      // Limited, so that a key whose requests keep failing cannot fill the disk with entries.
      if (!note.isKept && !this.#refusals.take(call.organizationId ?? '', call.now)) {
        this.#log.warn('audit entry of a rejected request dropped', facts)
        throw thrown
      }
      await this.#auditLog.put(entry(toRefusal(thrown).reason)).catch((error: unknown) => {
        this.#log.error('audit entry not stored', { ...facts, error })
      })
      throw thrown
    })
    if (!note.isKept) await this.#auditLog.put(entry(call.isReplayed ? 'repeated' : 'done'))
    return result
  }

  /** Throws `rate_limited` above the daily limit. Deletions are always allowed, so that a key can still be revoked. */
  #requireChangeQuota(
    { method }: Pick<Operation, 'method'>,
    { organizationId, now }: AuditedCall,
    { actor }: Origin,
  ): void {
    if (actor.type !== 'api_key' || this.#changes.take(organizationId ?? '', now) || method === 'DELETE') return
    throw new Refusal(
      'rate_limited',
      `More than ${FIXED_LIMITS.changesPerDay} changes in one day. Try again tomorrow.`,
      {
        retryAfterSeconds: Math.ceil((nextDay(now) - now) / 1000),
      },
    )
  }
}

/** A counter per organization in fixed time windows of `spanMs`. A restart resets the counters. */
function createCounts(spanMs: number, most: number) {
  let span = 0
  const counts = new Map<string, number>()
  return {
    /** Adds one. Returns false if the count in the current window exceeds `most`. */
    take: (organizationId: string, now: number): boolean => {
      const present = Math.floor(now / spanMs)
      if (present !== span) counts.clear()
      span = present
      const count = (counts.get(organizationId) ?? 0) + 1
      counts.set(organizationId, count)
      return count <= most
    },
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function entryOf(id: string, action: string, call: AuditedCall, from: Origin, outcome: AuditOutcome): AuditEntry {
  const made = idOf(call.answer?.body)
  const resourceId = idOf(Array.isArray(call.resource) ? call.resource[0] : call.resource) ?? made ?? idInPath(call)
  return {
    id,
    organizationId: call.organizationId || null,
    at: call.now,
    actor: from.actor,
    action,
    resourceId,
    createdId: made === resourceId ? null : made,
    fields: fieldNames(call.body),
    ipAddress: from.ipAddress,
    outcome,
    requestId: call.requestId,
  }
}

const ID = /^[a-z]{3}_[0-9a-z]{26}$/

function idOf(record: unknown): string | null {
  const id = fieldOf(record, 'id')
  return typeof id === 'string' && ID.test(id) ? id : null
}

/** The last path parameter that is an ID, whether or not the record exists; null if there is none. Never an email
 *  address, because an entry must not reveal one. */
function idInPath({ params }: AuditedCall): string | null {
  return Object.values(params).findLast((param) => ID.test(param)) ?? null
}

/** `{tracking: {opens: true}, name: 'x'}` → `tracking.opens`, `name`. The names come from the request schemas and
 *  contain no user data. */
function fieldNames(body: unknown, before = ''): string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === undefined) return []
    const inner = isRecord(value) ? fieldNames(value, `${before}${name}.`) : []
    return inner.length > 0 ? inner : [`${before}${name}`]
  })
}
