import type { RefusalReason } from './refusal.ts'

/** One management action: actor, operation, target, address and outcome. It stores names only: no secret, no
 *  recipient address and no text of a mail. */
export interface AuditEntry {
  id: string
  /** Null = the whole installation; only the operator can read such entries. */
  organizationId: string | null
  at: number
  actor: AuditActor
  /** Operation ID, for example `api_keys_create`. */
  action: string
  /** ID of the record that was changed or created; null if there is none, or if it was not found. */
  resourceId: string | null
  /** ID of a second record that resulted: the new key of a rotation, the message of a resend. */
  createdId: string | null
  /** Names of the fields in the request, for example `tracking.opens`. */
  fields: string[]
  /** Client address, as reported by a trusted proxy if there is one; null at the command line. */
  ipAddress: string | null
  outcome: AuditOutcome
  requestId: string
}

/** `operator`: at the command line or by a signal; `name` is the local user. `user`: in a dashboard session; `name` is
 *  the email address. `server`: the server acted by itself. */
export interface AuditActor {
  type: 'api_key' | 'user' | 'operator' | 'server'
  /** Key ID; user ID; `operator` for the operator, `server` for the server. */
  id: string
  name: string
}

/** `repeated`: the response of an earlier request with the same Idempotency-Key was returned, and nothing was done. */
export type AuditOutcome = 'done' | 'repeated' | RefusalReason

/** Retention of entries: one year and one day. */
export const AUDIT_KEPT_MS = 366 * 86_400_000
