import type { z } from 'zod'
import type { ApiKey } from '../model/api-key.ts'
import type { FieldFault, Refusal } from '../model/refusal.ts'

/** Another service's API as this room knows it: what is asked there, and how it is put to an operation of ours.
 *  src/server/external-api.ts makes operations for the HTTP API of it; nothing here reaches the store by itself. */
export interface ExternalApi {
  /** Names its operations in the log and in the audit log: `resend`. */
  name: string
  /** `/compat/resend` */
  root: string
  endpoints: Endpoint[]
  /** A "no" of ours, and the request that gets it → that service's status and JSON. */
  refuse: (refusal: Refusal, request: Request) => { status: number; body: unknown }
}

/** One call of that API. */
// biome-ignore lint/suspicious/noExplicitAny: a list of endpoints holds many Q and B
export interface Endpoint<Q = any, B = any> {
  /** `emails_send` */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the root: `/emails/:id` */
  path: string
  /** The operation of ours that it stands for. Permission, Idempotency-Key and audit are as that one's. */
  operation: string
  query?: z.ZodType<Q>
  body?: z.ZodType<B>
  /** Where the body holds base64, as api/operation.ts means it: a large text arrives as bytes. */
  base64At?: readonly string[]
  /** False where a repeat changes nothing, so that an Idempotency-Key is ignored. */
  idempotent?: false
  /** The body of the answer, which is 200. Throws a Refusal for what cannot be carried over. */
  handle: (call: ExternalCall<Q, B>, ours: Ours) => Promise<unknown>
}

export interface ExternalCall<Q, B> {
  key: Pick<ApiKey, 'domainId' | 'mode' | 'expiresAt' | 'allowedNetworks'>
  params: Record<string, string>
  headers: Headers
  now: number
  query: Q
  body: B
}

/** Our operations, asked in the name of the caller. */
export interface Ours {
  /** Asks an operation of the same permission, and answers `toForeign` of its body. What is remembered for the
   *  Idempotency-Key is that answer, in the transaction of the change: `toForeign` is called before it is written, and
   *  may throw a Refusal to have nothing written. Throws what the operation refuses, with `names` put in for ours. */
  ask<T>(operation: string, said: Said, toExternal: (body: Wire) => T): Promise<T>
  /** A part of a body → its value by the schema, or what is wrong with it. */
  read<T>(schema: z.ZodType<T>, value: unknown): { value: T; faults: null } | { value: null; faults: FieldFault[] }
}

export interface Said {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  /** Of a list: so many records, from the newest or behind that one. */
  page?: { limit: number; after: string | null }
  /** Our name of a field → that service's, for the words of a refusal. */
  names?: Record<string, string>
}

// biome-ignore lint/suspicious/noExplicitAny: records as our operations answer them, documented there
export type Wire = any

/** Keeps the types of query and body while an endpoint is written down. */
export function endpoint<Q, B>(definition: Endpoint<Q, B>): Endpoint<Q, B> {
  return definition
}
