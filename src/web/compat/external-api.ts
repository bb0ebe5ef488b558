import type { z } from 'zod'
import type { Download } from '../../mail/download-link.ts'
import type { ApiKey } from '../../model/api-key.ts'
import type { FieldFault, Refusal } from '../../model/refusal.ts'

/** Another service's API: its endpoints, and how they map to our operations. src/server/external-api.ts turns them
 *  into operations of the HTTP API; nothing here accesses the store directly. */
export interface ExternalApi {
  /** Prefix of its operations in the log and audit log: `resend`. */
  name: string
  /** `/compat/resend` */
  root: string
  endpoints: Endpoint[]
  /** Our refusal and its request → that service's status and JSON. */
  refuse: (refusal: Refusal, request: Request) => { status: number; body: unknown }
}

/** One endpoint of that API. */
// biome-ignore lint/suspicious/noExplicitAny: a list of endpoints holds many Q and B
export interface Endpoint<Q = any, B = any> {
  /** `emails_send` */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path under the root: `/emails/:id` */
  path: string
  /** Our operation that implements it and defines permission, Idempotency-Key and audit. */
  operation: string
  query?: z.ZodType<Q>
  body?: z.ZodType<B>
  /** Path of base64 in the body, as in web/api/operation.ts: large texts arrive as bytes. */
  base64At?: readonly string[]
  /** False if a repeated request changes nothing, so that an Idempotency-Key is ignored. */
  idempotent?: false
  /** Returns the response body; the status is 200. Throws a Refusal for unsupported input. */
  handle: (call: ExternalCall<Q, B>, ours: Ours) => Promise<unknown>
}

/** The part of a call that says which record is meant. */
export type Named = Pick<ExternalCall<unknown, unknown>, 'params'>

export interface ExternalCall<Q, B> {
  key: Pick<ApiKey, 'domainId' | 'mode' | 'expiresAt' | 'allowedNetworks'>
  params: Record<string, string>
  headers: Headers
  now: number
  query: Q
  body: B
}

/** Our operations, called on behalf of the caller. */
export interface Ours {
  /** Calls an operation with the same permission and returns `toExternal` of its body. That result is also stored for
   *  the Idempotency-Key, in the transaction of the change: `toExternal` runs before the write and may throw a Refusal
   *  to prevent it. Throws the operation's refusals, with field names replaced by `names`. */
  ask<T>(operation: string, said: Said, toExternal: (body: Wire) => T): Promise<T>
  /** URL that downloads a part of a message that the caller has just read, without a key, until `expiresAt`. */
  downloadUrl(download: Download, expiresAt: number): string
  /** Signing secret of a webhook that the caller has just read and could rotate; null if there is none. */
  signingSecret(webhookId: string): Promise<string | null>
  /** Part of a body → its validated value, or its faults. */
  read<T>(schema: z.ZodType<T>, value: unknown): { value: T; faults: null } | { value: null; faults: FieldFault[] }
}

export interface Said {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  /** Page of a list: this many records, from the newest or after a record. */
  page?: { limit: number; after: string | null }
  /** Our field name → that service's name, for error messages. `[]` stands for any place in a list, which both have. */
  names?: Record<string, string>
}

// biome-ignore lint/suspicious/noExplicitAny: records as our operations answer them, documented there
export type Wire = any

/** Preserves the types of query and body in a definition. */
export function endpoint<Q, B>(definition: Endpoint<Q, B>): Endpoint<Q, B> {
  return definition
}
