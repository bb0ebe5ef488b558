import type { RefusalReason } from './refusal.ts'

/** One managing action: who did what to what, from where, and what came of it. Names, never values: no secret, no address
 *  of a recipient and no text of a mail stands in it. */
export interface AuditEntry {
  id: string
  /** Null = the whole installation, whose operator alone reads of it. */
  organizationId: string | null
  at: number
  actor: AuditActor
  /** Id of the operation: `api_keys_create`. */
  action: string
  /** What it was done to, or what it made; null where there is nothing of that kind, or it was not found. */
  resourceId: string | null
  /** What came of it, when that is another: the new key of a rotation, the message of a resend. */
  createdId: string | null
  /** Names of the fields that were given: `tracking.opens`. */
  fields: string[]
  /** Of the client, as proxies of ours say; null at the command line. */
  ipAddress: string | null
  outcome: AuditOutcome
  requestId: string
}

/** `operator`: at the command line, or by a signal; `name` is then the local user. `server`: nobody asked for it. */
export interface AuditActor {
  type: 'api_key' | 'operator' | 'server'
  /** The key's id; `operator` for the operator, `server` for the server. */
  id: string
  name: string
}

/** `repeated`: the answer of an earlier request with the same Idempotency-Key was given again, nothing was done. */
export type AuditOutcome = 'done' | 'repeated' | RefusalReason

/** How long entries are kept: a year and a day, so that the anniversary is in it. */
export const AUDIT_KEPT_MS = 366 * 86_400_000
