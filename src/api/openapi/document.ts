import type { RefusalReason } from '../../model/refusal.ts'
import { errorSchema, MEANING } from '../answers/error.ts'
import { STATUS_OF } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { SESSION_COOKIE } from '../sessions.ts'
import { pathsOf, refusalResponses } from './paths.ts'
import { createSchemas, type Json } from './schemas.ts'
import { tagsOf } from './tags.ts'
import { webhooksOf } from './webhooks.ts'

/** All operations → the OpenAPI 3.1 document. The same operations give the same document. Throws on a fault of the
 *  program: two schemas of one name, a schema that JSON Schema cannot say.
 *  https://spec.openapis.org/oas/v3.1.1.html */
export async function openApiDocument(operations: readonly Operation[], version: string): Promise<Json> {
  const schemas = createSchemas()
  schemas.ofAnswer(errorSchema)
  const paths = await pathsOf(operations, schemas)
  const webhooks = webhooksOf(schemas)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Postrider',
      version,
      summary: 'Transactional mail: send, receive, know.',
      description: intro(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: tagsOf(operations),
    paths,
    webhooks,
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
  }
}

function intro(): string {
  const errors = (Object.keys(STATUS_OF) as RefusalReason[]).map(
    (code) => `| \`${code}\` | ${STATUS_OF[code]} | ${MEANING[code]} |`,
  )
  return [...INTRO, '', '| Code | Status | Meaning |', '|---|---|---|', ...errors].join('\n')
}

const INTRO = [
  'JSON in and out, UTF-8, with `Content-Type: application/json` where there is a body. Fields and parameters that are not named here are refused, so that a typo drops nothing.',
  '',
  'A request that fits its schema, formats included, is `validation_error` only for what a schema cannot say: lengths in bytes, the rules of internationalized names, the present time, what exists, and rules over several fields, which are in the descriptions. Lengths of text are in characters (code points).',
  '',
  'Times are ISO 8601 UTC with milliseconds. Where a field of a request may be `null`, that takes a value away, or says that there is none.',
  '',
  'Lists are newest first. They take `limit` (1 to 100, 25 unless said) and `cursor`, and answer `data`, `has_more` and `next_cursor`. Where little matches, a page of messages may hold fewer than `limit`, even none, with `has_more` true: each request looks for some 20 milliseconds, and `next_cursor` goes on from there.',
  '',
  'Every answer has an `X-Request-Id`, which is also in the log. What belongs to another organization is 403; what never was is 404. Any path answers `method_not_allowed` to a method it does not take.',
  '',
  'Errors have one shape:',
]
const KEYS =
  'A key belongs to one domain and sends only from it. It has some of the permissions `send`, `read`, `manage`; `admin` means all. With a sandbox key (`svc_test_`) nothing leaves the house, and the local part of the recipient chooses the outcome: `bounce@`, `softbounce@`, `defer@`, `complain@`, `open@`, `click@`, `unsubscribe@`, `suppressed@`; any other is delivered.'

const SESSIONS =
  'The operator, signed in to the dashboard: an admin of the organization in `X-Organization`, for the domain in `X-Domain` and the mode in `X-Mode` where a key has its own. A request without `X-Organization` says `X-Operator: 1`, which does for what is the operator’s alone. A key in `Authorization` comes first.'

const text = { schema: { type: 'string' } }
const number = { schema: { type: 'integer' } }

const PARAMETERS = {
  XRequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of yours for this request; 1 to 128 letters, digits and `_ . : -`. Others are ignored.',
    ...text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key with the same body, byte for byte, gives the first answer again, for 24 hours; nothing is done twice. With another body it is 409. Only successes are remembered.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`wait=N`: answer when every recipient is final, or after N seconds, at most 30 (RFC 7240). Ignored, with 202 and no `Preference-Applied`, for requests of more than 8 MiB and past 50 waiting requests of a key or 100 of an organization.',
    ...text,
    example: 'wait=10',
  },
}

const HEADERS = {
  'X-Request-Id': { description: 'The id of the request, yours or ours.', ...text },
  'RateLimit-Limit': { description: 'Requests a minute.', ...number },
  'RateLimit-Remaining': { description: 'Left of them.', ...number },
  'RateLimit-Reset': { description: 'Seconds until there are all of them again.', ...number },
  'Retry-After': { description: 'Seconds to wait.', ...number },
  'Idempotent-Replayed': {
    description: '`true`: this is the first answer again.',
    schema: { type: 'string', const: 'true' },
  },
  'Preference-Applied': { description: 'How long the answer was willing to wait: `wait=10`.', ...text },
  'WWW-Authenticate': { description: '`Bearer`', ...text },
}
