import type { z } from 'zod'
import type { ApiKey, Permission } from '../model/api-key.ts'
import type { RefusalReason } from '../model/refusal.ts'
import type { Remember } from '../storage/store.ts'
import type { Parts } from '../submission/idempotency.ts'
import { accessOf, type OperationId, type TestKeyRule } from './permission-table.ts'

/** One endpoint: what it needs, what it takes, what it does. The table of all operations is mounted by server.ts
 *  and is what the OpenAPI document is made from.
 *
 *  The order of checks is the contract's (§1): key, rate, permission, `load` (the resource in the path), query and
 *  body, `handle` (what the body refers to, then state). Each throws a Refusal. */
// biome-ignore lint/suspicious/noExplicitAny: a table of operations holds many Q, B and R
export interface Operation<Q = any, B = any, R = any> {
  /** Stable name, snake_case: `messages_send`. Two paths of one operation share it, and so their idempotency keys. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/webhooks/:webhook_id` */
  path: string
  permission: Permission
  /** Only for the operator of the appliance: signed in to the dashboard, or at the command line. A key gets 403. */
  forOperator?: boolean
  /** What a test key gets; `refused` is 403 before anything of the request is read. */
  testKey?: TestKeyRule
  summary: string
  /** More than the summary says; CommonMark. What is long is loaded with the document. */
  description?: string | (() => Promise<string>)
  /** Every success it can answer, first the usual one. The document promises exactly these; nothing else needs them, so
   *  they are loaded with it. */
  responses?: () => Promise<readonly ResponseShape[]>
  /** Codes of its own. Those that follow from the rest (401, 403, 404, …) are added by openapi/errors.ts. */
  refusals?: readonly RefusalReason[]
  /** A body that is accepted. Ids in it are of EXAMPLE (responses/fields.ts). */
  example?: unknown
  /** Name of the body's schema in the document, when others refer to it. */
  bodyName?: string
  /** Understands `Prefer: wait=N`. */
  canWait?: boolean
  query?: z.ZodType<Q>
  /** Parameters that may be given several times; the query gets their values with commas between. */
  repeatable?: readonly string[]
  body?: z.ZodType<B>
  /** Bodies of another content type than JSON: the text is that field of the body. */
  textField?: { contentType: string; field: string }
  /** Where the body holds base64: of a large one it may come as the bytes that it stands for (extract-base64.ts). */
  base64At?: readonly string[]
  /** The body may be absent; then `body` is parsed from `{}`. */
  bodyOptional?: boolean
  /** Understands Idempotency-Key. */
  idempotent?: boolean
  /** The answer shows a secret once; a remembered one is sealed. */
  secretResponse?: boolean
  /** Why the audit log does not tell of it, though it is no GET: `sends` messages, which tell of themselves, or `looks`
   *  at something and changes nothing. Everything else is told of. */
  unaudited?: 'sends' | 'looks'
  /** Bytes of stored mail that its answer is made of: what is large waits for its room in memory (large-responses.ts). */
  reads?: (resource: R) => number
  /** Finds the resource named in the path, or refuses with not_found or forbidden. */
  load?: (call: Call) => Promise<R>
  handle: (call: Call & { query: Q; body: B; resource: R; remember: MakeRemember }) => Promise<ApiResponse>
}

/** A request whose key is valid. */
export interface Call {
  key: ApiKey
  organizationId: string
  requestId: string
  now: number
  params: Record<string, string>
  headers: Headers
  /** Ends when the client goes away. */
  signal: AbortSignal
  /** What the body of the request holds of memory; absent as `enter` is. */
  bodyBytes?: number
  /** Whether the key would still be let in: for answers that go on. */
  holds: () => boolean
  /** Waits until so much stored mail may be read; absent where one call is made at a time. */
  enter?: (sizeBytes: number) => Promise<void>
  /** As far as the call has come: what it is about, what it says, and what it is about to answer. */
  resource?: unknown
  body?: unknown
  answer?: ApiResponse
  /** The work may be written in several transactions: what is known of the first of them; null without an
   *  Idempotency-Key. Absent: it has to be one. */
  parts?: Parts | null
  /** The answer is one that was given before. */
  isReplayed?: boolean
}

/** An operation → whether whoever asks for it stands in the audit log (api/audit.ts). */
export function isAudited({ method, unaudited }: Pick<Operation, 'method' | 'unaudited'>): boolean {
  return method !== 'GET' && unaudited === undefined
}

/** What goes back. `body` becomes JSON; a Uint8Array, string or stream goes as it is with `contentType`. */
export interface ApiResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
  contentType?: string
}

/** What an answer looks like, for the document and for the tests that hold the handlers to it. */
export interface ResponseShape {
  status: number
  description: string
  /** Of the JSON. Objects are strict: what is not named in them is not answered. */
  schema: z.ZodType
  example: unknown
  /** Anything but JSON: then `schema` is a string. */
  contentType?: string
}

/** The answer about to be given → the record to write in the same transaction, when the request carries an
 *  Idempotency-Key; undefined otherwise. Pass it on to the store method that does the change. */
export type MakeRemember = (answer: ApiResponse) => Remember | undefined

/** Permission and test-key rule come from the table (permission-table.ts). Only what is no operation of the product, such
 *  as one of a test, says them itself. */
export type Definition<Q, B, R> = Omit<Operation<Q, B, R>, 'permission' | 'forOperator' | 'testKey'> &
  ({ id: OperationId } | { id: string; permission: Permission })

/** Definition → operation with its row of the table; keeps the types of query, body and resource. Throws for one without
 *  a row and without a permission: a fault of the program. */
export function operation<Q, B, R>(definition: Definition<Q, B, R>): Operation<Q, B, R> {
  const access = accessOf(definition.id)
  if (access !== undefined) {
    const { permission, forOperator = false, testKey } = access
    return { ...definition, permission, forOperator, testKey }
  }
  if ('permission' in definition) return definition
  throw new Error(`${definition.id} has no row in the permission table`)
}
