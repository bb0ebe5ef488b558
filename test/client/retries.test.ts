import { afterEach, describe, expect, test } from 'bun:test'
import {
  AbortError,
  ConnectionError,
  InternalError,
  Postrider,
  type PostriderError,
  RateLimitedError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError,
} from '../../src/client/index.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'
import { type HostileServer, type Move, refusal, startHostile } from './hostile.ts'

const ACCEPTED: Move = { status: 202, headers: { 'x-request-id': 'req_ok' }, body: '{"id":"msg_1","status":"queued"}' }
const MESSAGE: Move = { status: 200, body: '{"id":"msg_1"}' }
const MAIL = { from: 'shop@sender.example', to: 'ann@one.remote.example', subject: 'Hello', text: 'Hi' }
const KEY = 'svc_live_veryverysecret'

let server: HostileServer
afterEach(() => server.stop())

/** Starts a server with these moves and creates a client for it. The client's clock is stopped, and its random number
 *  is 0.5, so that it waits for half of each maximum backoff. */
async function open(...moves: Move[]) {
  server = await startHostile(...moves)
  const clock = createFakeClock(0)
  const client = new Postrider({ baseUrl: `${server.url}/`, apiKey: KEY, clock: { ...clock, random: () => 0.5 } })
  /** Waits until the client sleeps for exactly `ms`, and advances its clock. */
  const passes = async (ms: number) => {
    const isPausing = () => clock.sleeps().length === 1 && clock.sleeps()[0] === clock.now() + ms
    await until(`a pause of ${ms} ms in ${clock.sleeps()}`, isPausing)
    await clock.advance(ms)
  }
  return { client, clock, passes }
}

async function failureOf(call: Promise<unknown>): Promise<PostriderError> {
  try {
    await call
  } catch (error) {
    return error as PostriderError
  }
  throw new Error('it went well')
}

describe('retries', () => {
  for (const [name, move] of [
    ['a connection that is cut', 'cut'],
    ['an answer that breaks off', 'half'],
    ['500', refusal(500, 'internal_error')],
    ['502 of a proxy', { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }],
    ['503', refusal(503, 'unavailable')],
    ['504', { status: 504, headers: { 'content-type': 'text/plain' }, body: '' }],
  ] as [string, Move][]) {
    test(`repeat a send after ${name}, with the same idempotency key`, async () => {
      const { client, passes } = await open(move, move, ACCEPTED)
      const call = client.messages.send(MAIL)
      await passes(250)
      await passes(500)
      expect((await call).id).toBe('msg_1')
      const [first, second, third] = server.requests
      expect(first!.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/)
      expect([second, third]).toEqual([first!, first!])
      expect(JSON.parse(first!.body)).toEqual(MAIL)
    })
  }

  test('end with the last failure after two repetitions, with the idempotency key to call again', async () => {
    const { client, passes } = await open('cut', refusal(500, 'internal_error'), 'cut')
    const failure = failureOf(client.messages.send(MAIL, { idempotencyKey: 'order-7' }))
    await passes(250)
    await passes(500)
    expect(await failure).toBeInstanceOf(ConnectionError)
    expect(await failure).toMatchObject({ code: 'connection_failed', status: null, idempotencyKey: 'order-7' })
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-7', 'order-7', 'order-7'])
  })

  test('wait after 429 and 503 as long as the server asks, and a little more', async () => {
    const { client, passes } = await open(
      refusal(429, 'rate_limited', { retry_after: 3 }),
      { status: 503, headers: { 'retry-after': '2', 'content-type': 'text/plain' }, body: 'stopping' },
      MESSAGE,
    )
    const call = client.messages.get('msg_1')
    await passes(3_250)
    await passes(2_500)
    expect((await call).id).toBe('msg_1')
  })

  test('are not begun if the wait exceeds the time of the call', async () => {
    const { client } = await open(refusal(429, 'rate_limited', { retry_after: 10 }), MESSAGE)
    const error = await failureOf(client.messages.get('msg_1'))
    expect(error).toBeInstanceOf(RateLimitedError)
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 10, requestId: 'req_1' })
    expect(server.requests).toHaveLength(1)
  })

  test('repeat a POST without a key after 503, which did nothing, and not after a cut, whose outcome is unknown', async () => {
    const { client, passes } = await open(refusal(503, 'unavailable'), 'cut', MESSAGE)
    const call = failureOf(client.webhooks.test('whk_1', { type: 'message.delivered' }))
    await passes(250)
    expect(await call).toBeInstanceOf(ConnectionError)
    expect(server.requests).toHaveLength(2)
  })

  for (const [status, code] of [
    [400, 'validation_error'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'invalid_state'],
    [501, 'no_such_code'],
  ] as const) {
    test(`do not follow ${status}`, async () => {
      const { client } = await open(
        refusal(status, code, { field: 'to', errors: [{ field: 'to', message: 'is bad' }] }),
      )
      const error = await failureOf(client.messages.send(MAIL))
      expect(error).toMatchObject({ status, code, field: 'to', message: `${code}!`, requestId: 'req_1' })
      expect(error.errors).toEqual([{ field: 'to', message: 'is bad' }])
      expect(server.requests).toHaveLength(1)
    })
  }

  test('keep only errors of fields that have a message', async () => {
    const errors = [null, 'x', { field: 'to' }, { field: 'to', message: 7 }, { field: 'to', message: 'is bad' }]
    const { client } = await open(refusal(400, 'validation_error', { errors }))
    expect((await failureOf(client.messages.send(MAIL))).errors).toEqual([{ field: 'to', message: 'is bad' }])
  })

  test('are turned off by maxRetries 0', async () => {
    const { client } = await open(refusal(503, 'unavailable'), MESSAGE)
    expect(await failureOf(client.messages.get('msg_1', { maxRetries: 0 }))).toBeInstanceOf(UnavailableError)
  })
})

describe('timeouts', () => {
  test('end a call to a silent server after timeoutMs', async () => {
    const { client, clock } = await open('hang')
    const failure = failureOf(client.messages.send(MAIL, { timeoutMs: 1_500 }))
    await server.untilReceived(1)
    await clock.advance(1_500)
    expect(await failure).toBeInstanceOf(TimeoutError)
    expect((await failure).message).toBe('No response within 1500 ms.')
    expect((await failure).idempotencyKey).not.toBeNull()
    expect(server.requests).toHaveLength(1)
  })

  test('cover a call with its repetitions', async () => {
    const { client, clock, passes } = await open('cut', 'hang')
    const failure = failureOf(client.messages.get('msg_1', { timeoutMs: 1_000 }))
    await passes(250)
    await server.untilReceived(2)
    await clock.advance(750)
    expect(await failure).toBeInstanceOf(TimeoutError)
  })

  test('are longer by the wait for an outcome', async () => {
    const { client, clock } = await open('hang')
    const failure = failureOf(client.messages.send(MAIL, { waitSeconds: 20, timeoutMs: 1_000 }))
    await server.untilReceived(1)
    expect(server.requests[0]!.headers.prefer).toBe('wait=20')
    await clock.advance(20_999)
    await clock.advance(1)
    expect(await failure).toBeInstanceOf(TimeoutError)
  })
})

describe('the signal of the caller', () => {
  test('ends a request', async () => {
    const { client } = await open('hang')
    const caller = new AbortController()
    const failure = failureOf(client.messages.get('msg_1', { signal: caller.signal }))
    await server.untilReceived(1)
    caller.abort('enough')
    expect(await failure).toBeInstanceOf(AbortError)
    expect(await failure).toMatchObject({ name: 'AbortError', code: 'aborted', cause: 'enough' })
  })

  test('ends a pause', async () => {
    const { client, clock } = await open(refusal(500, 'internal_error'), MESSAGE)
    const caller = new AbortController()
    const failure = failureOf(client.messages.get('msg_1', { signal: caller.signal }))
    await until('the pause', () => clock.sleeps()[0] === 250)
    caller.abort()
    expect(await failure).toBeInstanceOf(AbortError)
    expect(server.requests).toHaveLength(1)
  })

  test('is checked before anything is sent', async () => {
    const { client } = await open(MESSAGE)
    expect(await failureOf(client.messages.get('msg_1', { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortError)
    expect(server.requests).toEqual([])
  })
})

describe('invalid answers', () => {
  for (const [name, move, message] of [
    [
      'half JSON',
      { status: 200, body: '{"id":' },
      'Unexpected response 200 with invalid JSON. Is baseUrl a Postrider server?',
    ],
    [
      'a page in place of an error',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Please sign in' },
      'Unexpected response 200 with text/html. Is baseUrl a Postrider server?',
    ],
    [
      'a page',
      { status: 404, headers: { 'content-type': 'text/html' }, body: '<p>' },
      'Unexpected response 404 with text/html. Is baseUrl a Postrider server?',
    ],
    [
      'a redirect',
      { status: 308, headers: { location: 'https://elsewhere.example/' } },
      'Unexpected response 308 with a redirect, which is not followed. Is baseUrl a Postrider server?',
    ],
    [
      'another API’s error',
      { status: 400, body: '{"error":"no"}' },
      'Unexpected response 400 with an unknown error format. Is baseUrl a Postrider server?',
    ],
  ] as [string, Move, string][]) {
    // threat: keys-leaked-by-client
    test(name, async () => {
      const { client } = await open(move)
      const error = await failureOf(client.messages.get('msg_1'))
      expect(error).toBeInstanceOf(UnexpectedAnswerError)
      expect(error.message).toBe(message)
      expect(server.requests).toHaveLength(1) // the key was not sent to the target of the redirect
    })
  }
})

describe('without throwing', () => {
  test('an answer has its request id', async () => {
    const { client } = await open(ACCEPTED)
    const { data, error, requestId } = await client.messages.send(MAIL).safe()
    expect([data?.id, error, requestId]).toEqual(['msg_1', null, 'req_ok'])
  })

  test('a failure is a value', async () => {
    const { client } = await open(refusal(500, 'internal_error'))
    const { data, error, requestId } = await client.messages.get('msg_1', { maxRetries: 0 }).safe()
    expect([data, requestId]).toEqual([null, 'req_1'])
    expect(error).toBeInstanceOf(InternalError)
  })
})

// threat: keys-leaked-by-client
test('the key is in no error and in nothing that is printed', async () => {
  const { client } = await open(refusal(401, 'unauthorized'))
  const error = await failureOf(client.messages.get('msg_1'))
  const { default: util } = await import('node:util')
  const shown = [Bun.inspect(client), util.inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client)]
  expect([...shown, Bun.inspect(error), String(error.stack)].join()).not.toContain(KEY)
  expect(() => new Postrider({ baseUrl: server.url, apiKey: `${KEY}\n` })).toThrow(
    /^apiKey contains invalid characters/,
  )
  expect(() => new Postrider({ baseUrl: 'mail.example.com', apiKey: KEY })).toThrow(/^baseUrl/)
})

test('an invalid call throws, and nothing is sent', async () => {
  const { client } = await open(MESSAGE)
  for (const id of ['', '.', '..', undefined as never, {} as never]) {
    const { error } = await client.messages.get(id).safe()
    expect([error?.name, error?.field]).toEqual(['ValidationError', 'message_id'])
  }
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const body = client.templates.render('tpl_1', { variables: circle })
  expect((await body.safe()).error).toMatchObject({ name: 'ValidationError', field: 'body' })
  for (const idempotencyKey of ['', 'Größe', 'a\nb', 'x'.repeat(256)]) {
    const error = await failureOf(client.messages.send(MAIL, { idempotencyKey }))
    expect(error).toMatchObject({ name: 'ValidationError', field: 'Idempotency-Key' })
  }
  expect((await client.messages.list({ limit: 1 }).page().safe()).error).toBeNull()
  expect((await client.messages.get('../api-keys?x=1', { timeoutMs: undefined as never })).id).toBe('msg_1')
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/messages?limit=1',
    '/v1/messages/..%2Fapi-keys%3Fx%3D1',
  ])
})
