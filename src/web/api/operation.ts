import type { z } from 'zod'
import type { ApiKey } from '../../model/api-key.ts'
import type { RefusalReason } from '../../model/refusal.ts'
import type { User } from '../../model/user.ts'
import type { Parts } from '../../sending/submission/idempotency.ts'
import type { Remember } from '../../storage/store.ts'
import type { AccessRule } from './access.ts'
import type { Maker } from './makers.ts'
import type { Tag } from './openapi/tags.ts'

/** One endpoint: its requirements, its input and its handler. server.ts registers the route of every operation, and the
 *  OpenAPI document is generated from them.
 *
 *  Checks run in this order: API key, rate limit, permission, `load` (the resource in the path), query and body,
 *  `handle` (records that the body refers to, then their state). Each check throws a Refusal. */
// biome-ignore lint/suspicious/noExplicitAny: one array contains operations with different Q, B and R
export interface Operation<Q = any, B = any, R = any> {
  /** Stable snake_case name: `messages_send`. If an operation has two paths, both have this ID and share idempotency
   *  keys. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/v1/webhooks/:webhook_id` */
  path: string
  /** Its group in the documentation. */
  tag: Tag
  access: AccessRule
  /** The tool of /mcp that calls it. */
  tool?: Tool
  /** An operator may call it without selecting an organization, for the whole installation. */
  operatorWithoutOrganization?: boolean
  summary: string
  /** Details beyond the summary, in CommonMark. A long text is a function, so that it is loaded only for the OpenAPI
   *  document. */
  description?: string | (() => Promise<string>)
  /** All successful responses, the usual one first. Loaded only for the OpenAPI document. */
  responses?: () => Promise<readonly ResponseShape[]>
  /** Error codes in addition to those that openapi/errors.ts derives (401, 403, 404, …). */
  refusals?: readonly RefusalReason[]
  /** A valid example body. For IDs it uses `exampleId` (responses/fields.ts). */
  example?: unknown
  /** Name of the body's schema in the OpenAPI document, if other schemas refer to it. */
  bodyName?: string
  /** Supports `Prefer: wait=N` (RFC 7240 §4.3). */
  canWait?: boolean
  query?: z.ZodType<Q>
  /** Query parameters that may appear several times; their values are joined with commas. */
  repeatable?: readonly string[]
  body?: z.ZodType<B>
  /** A content type accepted besides JSON: the text of such a body becomes this field. */
  textField?: { contentType: string; field: string }
  /** Path of base64 texts in the body, for extract-base64.ts. At this path the body schema must also accept decoded
   *  bytes. */
  base64At?: readonly string[]
  /** An absent body counts as `{}`. */
  bodyOptional?: boolean
  /** Supports Idempotency-Key. */
  idempotent?: boolean
  /** The response contains a secret that is shown only once. idempotency.ts encrypts its stored copy. */
  secretResponse?: boolean
  /** Reason why the audit log does not record an operation other than GET: `sends` creates messages, which are stored
   *  anyway; `looks` changes nothing. */
  unaudited?: 'sends' | 'looks'
  /** Its duration depends on DNS, other servers or busy threads, so that no request waits for it: it takes no turn of
   *  its organization (organization-turns.ts). */
  takesNoTurn?: boolean
  /** Most requests of one organization that are performed at once. Others wait before their body is parsed, and are
   *  refused if too many wait (waiting-lines.ts). By default, turns of the organization are the only limit. */
  atOnce?: number
  /** Bytes of stored mail that the response contains, to reserve memory for it (large-responses.ts). */
  reads?: (resource: R) => number
  /** Loads the resource in the path. Rejects with `not_found` or `forbidden`. */
  load?: (call: Call) => Promise<R>
  /** Runs the operation. Rejects with a Refusal or the error of the store. */
  handle: (call: Call & { query: Q; body: B; resource: R; remember: MakeRemember }) => Promise<ApiResponse>
}

/** An operation under a name and a description for a language model. */
export interface Tool {
  name: string
  /** What the tool does, and what the schema does not say. */
  description: string
  /** Inputs of the operation that the tool does not have. */
  without?: readonly string[]
}

/** An authenticated request. */
export interface Call {
  /** The caller's key; for a user or the operator the one of operator.ts. */
  key: ApiKey
  /** The user of a dashboard session; null or absent for an API key and the command line. */
  user?: User | null
  /** The user who made the API key; null or absent if it has none. */
  maker?: Maker | null
  organizationId: string
  requestId: string
  /** Time of the request in ms UTC. */
  now: number
  /** Values of the path parameters by name. */
  params: Record<string, string>
  headers: Headers
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Bytes of memory that the request body occupies; absent on the command line. */
  bodyBytes?: number
  /** Resolves with true if the key, or the session, would still be accepted now. */
  isKeyValid: () => Promise<boolean>
  /** Reserves memory for stored mail of this size. Rejects with `unavailable`. Absent on the command line, where calls
   *  run one at a time. */
  enter?: (sizeBytes: number) => Promise<void>
  /** Lets the next request of the organization be performed (organization-turns.ts), for a call that only waits from now
   *  on. Absent where there are no turns. */
  endTurn?: () => void
  /** The caller reads the values of the response: JSON made in a thread would only have to be parsed again. */
  readsBody?: boolean
  /** State of the call so far, for the audit log: resource, parsed body and pending response. */
  resource?: unknown
  body?: unknown
  answer?: ApiResponse
  /** For work in several transactions: the parts that an earlier attempt with the same Idempotency-Key has stored; null
   *  without a key. If absent, the operation must use a single transaction. */
  parts?: Parts | null
  /** The response is a replay. */
  isReplayed?: boolean
}

/** True if the audit log records calls of this operation (audit.ts). */
export function isAudited({ method, unaudited }: Pick<Operation, 'method' | 'unaudited'>): boolean {
  return method !== 'GET' && unaudited === undefined
}

/** Response of a handler. A Uint8Array, string or stream is sent unchanged with `contentType`; any other body is sent
 *  as JSON. */
export interface ApiResponse {
  status: number
  body: unknown
  headers?: Record<string, string>
  contentType?: string
}

/** Description of a response, for the OpenAPI document and for tests that validate responses against it. */
export interface ResponseShape {
  status: number
  description: string
  /** Schema of the JSON. Objects are strict: other fields are not allowed. */
  schema: z.ZodType
  example: unknown
  /** Set for content other than JSON; `schema` is then that of a string. */
  contentType?: string
}

/** Pending response → the idempotency record to store in the transaction of the change; undefined if the request has no
 *  Idempotency-Key or the response is not 2xx. Pass it to the store method that makes the change. */
export type MakeRemember = (answer: ApiResponse) => Remember | undefined

/** Preserves the types of query, body and resource where operations of different types share an array. */
export function operation<Q, B, R>(definition: Operation<Q, B, R>): Operation<Q, B, R> {
  return definition
}
