import { keysOf } from '../../../os/records.ts'
import { STATUS_OF } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { errorSchema, meaningOf } from '../responses/error.ts'
import { SESSION_COOKIE } from '../sessions.ts'
import { pathsOf, refusalResponses } from './paths.ts'
import { createSchemas, type Json } from './schemas.ts'
import { tagsOf } from './tags.ts'
import { webhooksOf } from './webhooks.ts'

/** All operations and the server's version → the OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1.html).
 *  Deterministic. Rejects with an Error, a programming error, if two different schemas have the same name, or JSON
 *  Schema cannot express a schema. */
export async function openApiDocument(operations: readonly Operation[], version: string): Promise<Json> {
  const schemas = createSchemas()
  schemas.ofAnswer(errorSchema)
  const paths = await pathsOf(operations, schemas)
  const webhooks = webhooksOf(schemas)
  await new Promise(setImmediate) // as pathsOf does
  return {
    openapi: '3.1.1',
    info: {
      title: 'Postrider',
      version,
      summary: 'Send transactional email and see what happens to it.',
      description: intro(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: tagsOf(operations),
    // Before the operations, because gzip finds a text again within 32 KiB: the meanings of the error codes are above.
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_live_… or svc_test_…', description: KEYS },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: SESSIONS },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: refusalResponses(operations),
      schemas: Object.fromEntries(Object.entries(schemas.named).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
    paths,
    webhooks,
  }
}

function intro(): string {
  const errors = keysOf(STATUS_OF).map((code) => `| \`${code}\` | ${STATUS_OF[code]} | ${meaningOf(code)} |`)
  return [...INTRO, '', '| Code | Status | Meaning |', '|---|---|---|', ...errors].join('\n')
}

const INTRO = [
  'Requests and responses are JSON in UTF-8. Requests with a body need `Content-Type: application/json`. Unknown fields and parameters are rejected, so a typo is never ignored.',
  '',
  'The schemas describe almost every rule, including formats; lengths of text are in characters (code points). `validation_error` also covers rules a schema cannot express: lengths in bytes, internationalized names, the current time, existing records, and rules across fields. The descriptions state these.',
  '',
  'Times are ISO 8601 in UTC with milliseconds. In requests, `null` removes a value or means that there is none.',
  '',
  'Lists are sorted newest first. They take `limit` (1 to 100, default 25) and `cursor`, and return `data`, `has_more` and `next_cursor`. Each request searches for about 20 milliseconds. With filters that few records match, a page may therefore hold fewer than `limit` records, even none, while `has_more` is true. Continue with `next_cursor`.',
  '',
  'Every response has an `X-Request-Id`, which also appears in the log. Records of another organization return 403; unknown records return 404. An unsupported method on any path returns `method_not_allowed`.',
  '',
  'Errors have this format:',
]
const KEYS =
  'Each key belongs to one domain and can only send from it. A key has one or more of the permissions `send`, `read` and `manage`; `admin` includes them all. Messages sent with a sandbox key (`svc_test_`) never leave the server. The local part of the recipient selects the outcome: `bounce@`, `softbounce@`, `defer@`, `complain@`, `open@`, `click@`, `unsubscribe@`, `suppressed@`; all others are delivered.'

const SESSIONS =
  'The operator, signed in to the dashboard. Acts as an admin of the organization in `X-Organization`, with the domain in `X-Domain` and the mode in `X-Mode` in place of a key’s own. Requests without `X-Organization` need `X-Operator: 1` and can use operator endpoints only. If `Authorization` carries a key, the key takes precedence.'

const text = { schema: { type: 'string' } }
const number = { schema: { type: 'integer' } }

const PARAMETERS = {
  XRequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Your own ID for the request: 1 to 128 letters, digits and `_ . : -`. Other values are ignored.',
    ...text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Repeating a request with the same key and a byte-identical body returns the original response for 24 hours and does nothing twice. A different body returns 409. Only successful responses are stored.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`wait=N`: respond when every recipient is final, or after N seconds, at most 30 (RFC 7240). Ignored, with 202 and no `Preference-Applied`, for requests over 8 MiB, and beyond 50 waiting requests per key or 100 per organization.',
    ...text,
    example: 'wait=10',
  },
}

const HEADERS = {
  'X-Request-Id': { description: 'The request ID, yours or ours.', ...text },
  'RateLimit-Limit': { description: 'Requests per minute.', ...number },
  'RateLimit-Remaining': { description: 'Requests left in the current window.', ...number },
  'RateLimit-Reset': { description: 'Seconds until the window resets.', ...number },
  'Retry-After': { description: 'Seconds to wait before retrying.', ...number },
  'Idempotent-Replayed': {
    description: '`true`: this is the original response to a repeated request.',
    schema: { type: 'string', const: 'true' },
  },
  'Preference-Applied': { description: 'The accepted waiting time: `wait=10`.', ...text },
  'WWW-Authenticate': { description: '`Bearer`', ...text },
}
