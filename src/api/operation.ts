import type { z } from 'zod'
import type { ApiKey, Permission } from '../model/api-key.ts'
import type { RefusalReason } from '../model/refusal.ts'
import type { Remember } from '../storage/store.ts'
import type { Parts } from '../submission/idempotency.ts'
import { accessOf, type OperationId, type TestKeyRule } from './permission-table.ts'

/** One endpoint: its requirements, its input and its handler. server.ts mounts all operations, and the OpenAPI
 *  document is generated from them.
 *
 *  Checks run in this order: key, rate, permission, `load` (the resource in the path), query and body, `handle`
 *  (records that the body refers to, then state). Each throws a Refusal. */
// biome-ignore lint/suspicious/noExplicitAny: a table of operations holds many Q, B and R
export interface Operation<Q = any, B = any, R = any> {
  /** Stable snake_case name: `messages_send`. Two paths of one operation share it, and therefore their idempotency
   *  keys. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/webhooks/:webhook_id` */
  path: string
  permission: Permission
  /** Operators only: signed in to the dashboard, or on the command line. A key gets 403. */
  forOperator?: boolean
  /** Access of test keys; `refused` is 403 before the request is read. */
  testKey?: TestKeyRule
  summary: string
  /** Details beyond the summary, in CommonMark. Long texts are loaded with the document. */
  description?: string | (() => Promise<string>)
  /** All successful responses, the usual one first. Only the OpenAPI document uses them, so they are loaded with it. */
  responses?: () => Promise<readonly ResponseShape[]>
  /** Additional error codes. The implied ones (401, 403, 404, …) are added by openapi/errors.ts. */
  refusals?: readonly RefusalReason[]
  /** A valid example body. Its IDs are those of EXAMPLE (responses/fields.ts). */
  example?: unknown
  /** Name of the body's schema in the document, if other operations refer to it. */
  bodyName?: string
  /** Supports `Prefer: wait=N`. */
  canWait?: boolean
  query?: z.ZodType<Q>
  /** Repeatable parameters; their values are joined with commas. */
  repeatable?: readonly string[]
  body?: z.ZodType<B>
  /** Accepted content types besides JSON: the text becomes this field of the body. */
  textField?: { contentType: string; field: string }
  /** Path of base64 texts in the body: large ones may arrive decoded (extract-base64.ts). */
  base64At?: readonly string[]
  /** The body may be absent; then `body` is parsed from `{}`. */
  bodyOptional?: boolean
  /** Supports Idempotency-Key. */
  idempotent?: boolean
  /** The response shows a secret once; a stored copy is encrypted. */
  secretResponse?: boolean
  /** Why a non-GET operation is not in the audit log: `sends` creates messages, which are their own record; `looks`
   *  changes nothing. All others are recorded. */
  unaudited?: 'sends' | 'looks'
  /** Size of the stored mail in the response: large responses reserve memory (large-responses.ts). */
  reads?: (resource: R) => number
  /** Loads the resource in the path, or throws not_found or forbidden. */
  load?: (call: Call) => Promise<R>
  handle: (call: Call & { query: Q; body: B; resource: R; remember: MakeRemember }) => Promise<ApiResponse>
}

/** A request with a valid key. */
export interface Call {
  key: ApiKey
  organizationId: string
  requestId: string
  now: number
  params: Record<string, string>
  headers: Headers
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Memory reserved for the request body; absent as `enter` is. */
  bodyBytes?: number
  /** True if the key would still be accepted, for streaming responses. */
  holds: () => Promise<boolean>
  /** Reserves memory for stored mail of this size; absent where calls run one at a time. */
  enter?: (sizeBytes: number) => Promise<void>
  /** State of the call so far: resource, input and pending response. */
  resource?: unknown
  body?: unknown
  answer?: ApiResponse
  /** The work may span several transactions: what earlier ones stored; null without an Idempotency-Key. Absent: it
   *  must be a single transaction. */
  parts?: Parts | null
  /** The response is a replay. */
  isReplayed?: boolean
}

/** True if the audit log records this operation (api/audit.ts). */
export function isAudited({ method, unaudited }: Pick<Operation, 'method' | 'unaudited'>): boolean {
  return method !== 'GET' && unaudited === undefined
}

/** Response of a handler. `body` is sent as JSON; a Uint8Array, string or stream is sent unchanged with `contentType`. */
export interface ApiResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
  contentType?: string
}

/** Description of a response, for the document and for the tests that check handlers against it. */
export interface ResponseShape {
  status: number
  description: string
  /** Schema of the JSON. Objects are strict: other fields are not allowed. */
  schema: z.ZodType
  example: unknown
  /** Set for content other than JSON: then `schema` is a string. */
  contentType?: string
}

/** Pending response → the record to store in the same transaction if the request has an Idempotency-Key, else
 *  undefined. Pass it to the store method that makes the change. */
export type MakeRemember = (answer: ApiResponse) => Remember | undefined

/** Permission and test-key rule come from permission-table.ts. Only operations outside the product, such as those of
 *  tests, define their own. */
export type Definition<Q, B, R> = Omit<Operation<Q, B, R>, 'permission' | 'forOperator' | 'testKey'> &
  ({ id: OperationId } | { id: string; permission: Permission })

/** Definition → operation with its row of the permission table; preserves the types of query, body and resource.
 *  Throws if it has neither a row nor a permission: a programming error. */
export function operation<Q, B, R>(definition: Definition<Q, B, R>): Operation<Q, B, R> {
  const access = accessOf(definition.id)
  if (access !== undefined) {
    const { permission, forOperator = false, testKey } = access
    return { ...definition, permission, forOperator, testKey }
  }
  if ('permission' in definition) return definition
  throw new Error(`${definition.id} has no row in the permission table`)
}
