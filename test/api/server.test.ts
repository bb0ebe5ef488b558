import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { Refusal } from '../../src/model/refusal.ts'
import type { Supply } from '../../src/os/descriptors.ts'
import { createLog, type Log } from '../../src/os/log.ts'
import { ampleMemory } from '../../src/os/memory.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { rule } from '../../src/web/api/access.ts'
import { operation } from '../../src/web/api/operation.ts'
import type { Page } from '../../src/web/api/route-table.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'
import { talk } from '../support/talk.ts'

let open: TestApi[] = []

afterEach(async () => {
  for (const each of open) await each.close()
  open = []
})

const echoBody = z.strictObject({
  name: z.string(),
  list: z.array(z.strictObject({ content: z.string() })).optional(),
  any: z.unknown().optional(),
})

/** Starts an API with a few small operations that exercise the request pipeline. */
async function start(options: Parameters<typeof createTestApi>[0] & { gate?: Promise<void> } = {}): Promise<TestApi> {
  const made = await createTestApi({
    operations: () => [
      operation({
        id: 'things_get',
        method: 'GET',
        path: '/v1/things/:thing_id',
        tag: 'Messages',
        access: rule('read', 'viewer', 'no_records', 'organization'),
        summary: '',
        load: async ({ params }) => {
          if (params.thing_id === 'gone') throw new Refusal('not_found', 'No such thing. Check the ID.')
          return params.thing_id
        },
        handle: async ({ resource, params, now }) => ({ status: 200, body: { resource, params, now } }),
      }),
      operation({
        id: 'things_list',
        method: 'GET',
        path: '/v1/things',
        tag: 'Messages',
        access: rule('read', 'viewer', 'no_records', 'organization'),
        summary: '',
        query: z.strictObject({ q: z.string().optional(), n: z.string().optional() }),
        handle: async ({ query }) => ({ status: 200, body: query }),
      }),
      operation({
        id: 'things_create',
        method: 'POST',
        path: '/v1/things',
        tag: 'Messages',
        access: rule('send', 'viewer', 'no_records', 'organization'),
        summary: '',
        body: echoBody,
        handle: async ({ body }) => ({ status: 201, body }),
      }),
      operation({
        id: 'things_fail',
        method: 'POST',
        path: '/v1/fail',
        tag: 'Messages',
        access: rule('read', 'viewer', 'no_records', 'organization'),
        summary: '',
        body: z.strictObject({ how: z.string() }),
        handle: async ({ body }) => {
          if (body.how === 'store') throw new StoreUnavailable('disk full at /var/lib/secret')
          if (body.how === 'wait') await options.gate
          else throw new Error('a bug with /a/path in it')
          return { status: 200, body: 'plain', contentType: 'text/plain' }
        },
      }),
    ],
    ...options,
  })
  open.push(made)
  return made
}

describe('the order of checks', () => {
  const noKey = [
    ['GET', '/v1/things/1'],
    ['GET', '/v1/nowhere'],
    ['POST', '/v1'],
    ['PATCH', '/v1/things/1'],
    ['POST', '/v1/things'],
    ['GET', '/v1/'],
    ['OPTIONS', '/v1/things'],
  ]
  // threat: bad-api-keys
  test.each(noKey)('%s %s without a key gets 401, whatever else is wrong', async (method, path) => {
    const { ask } = await start()
    const answer = await ask(method, path, { key: null, headers: { 'x-request-id': 'r-1' } })
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      error: {
        code: 'unauthorized',
        message: 'Missing or invalid API key. Send the header Authorization: Bearer svc_…',
        details: { request_id: 'r-1', docs: '/manual/errors#unauthorized' },
      },
    })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.headers.get('ratelimit-limit')).toBeNull()
  })

  // threat: bad-api-keys
  test('every kind of bad key gets the same error', async () => {
    const { ask, api, addKey, own } = await start()
    const bad = [
      own.keys.read.value.replace('svc_', 'abc_'),
      `${own.keys.read.value}x`,
      own.keys.read.value.slice(0, -1),
      `svc_live_${'a'.repeat(40)}`,
      (await addKey(own, { expiresAt: START })).value,
      (await addKey(own, { revokedAt: START })).value,
      '',
    ]
    const headers = { 'x-request-id': 'same' }
    const texts = new Set<string>()
    for (const key of bad) {
      const answer = await ask('GET', '/v1/things', { key, headers })
      expect(answer.status).toBe(401)
      texts.add(answer.text)
    }
    for (const authorization of [
      `Basic ${own.keys.read.value}`,
      own.keys.read.value,
      `Bearer ${own.keys.read.value} x`,
    ]) {
      const request = new Request('http://localhost/v1/things', { headers: { ...headers, authorization } })
      texts.add(await (await api.fetch(request)).text())
    }
    expect(texts.size).toBe(1)
    expect((await ask('GET', '/v1/things', { key: own.keys.read })).status).toBe(200)
  })

  test('a key without the permission gets 403 before its body is looked at', async () => {
    const { ask, own } = await start()
    const answer = await ask('POST', '/v1/things', { key: own.keys.read, body: '{' })
    expect(answer.status).toBe(403)
    expect(answer.body.error).toMatchObject({ code: 'forbidden', details: { required: 'send', held: ['read'] } })
    expect(answer.headers.get('ratelimit-limit')).toBe('1000000000')
  })

  const withKey = [
    ['GET', '/v1/nowhere', 404, 'not_found', null],
    ['GET', '/v1', 404, 'not_found', null],
    ['GET', '/v1/things/1/more', 404, 'not_found', null],
    ['GET', '/v1/things/gone', 404, 'not_found', null],
    ['PATCH', '/v1/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/things', 405, 'method_not_allowed', 'GET, HEAD, POST'],
    ['DELETE', '/v1/fail', 405, 'method_not_allowed', 'POST'],
  ] as const
  test.each(withKey)('%s %s with a key is %i %s', async (method, path, status, code, allow) => {
    const { ask, own } = await start()
    const answer = await ask(method, path, { key: own.keys.read })
    expect([answer.status, answer.body.error.code, answer.headers.get('allow')]).toEqual([status, code, allow])
  })

  test('outside /v1 an unknown path gets 404 without a key', async () => {
    const { ask } = await start()
    for (const path of ['/', '/nowhere', '/v2/things', '/favicon.ico', '//v1/things', '/%6fpen', '/%ff']) {
      const answer = await ask('GET', path, { key: null })
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    }
  })

  test('HEAD is GET without the body', async () => {
    const { ask, own } = await start()
    expect((await ask('HEAD', '/v1/things', { key: own.keys.read })).status).toBe(200)
    expect((await ask('HEAD', '/v1/fail', { key: own.keys.read })).status).toBe(405)
  })

  test('a path segment is decoded, and an invalid one is empty', async () => {
    const { ask, own } = await start()
    const key = own.keys.read
    expect((await ask('GET', '/v1/things/a%40b+c', { key })).body.resource).toBe('a@b+c')
    expect((await ask('GET', '/v1/things/%ff', { key })).body.resource).toBe('')
  })
})

describe('the body', () => {
  const cases: [string, string | Uint8Array | undefined, Record<string, string>, string][] = [
    ['is empty', '', {}, 'body'],
    ['is missing', undefined, {}, 'body'],
    ['is cut off', '{"name":', {}, 'body'],
    ['is not JSON', 'name=x', {}, 'body'],
    ['is not an object', '[]', {}, 'body'],
    ['is null', 'null', {}, 'body'],
    ['is not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), {}, 'body'],
    ['is nested 65 deep', `{"name":"x","any":${'['.repeat(64)}${']'.repeat(64)}}`, {}, 'body'],
    ['is nested 20,000 deep', `{"name":"x","any":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, {}, 'body'],
    ['has another content type', '{"name":"x"}', { 'content-type': 'text/plain' }, 'Content-Type'],
    ['has a form content type', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }, 'Content-Type'],
    ['has a content type that only begins like JSON', '{}', { 'content-type': 'application/jsonp' }, 'Content-Type'],
    ['is compressed', '{"name":"x"}', { 'content-encoding': 'gzip' }, 'Content-Encoding'],
  ]
  // threat: malformed-requests
  test.each(cases)('that %s gets 400', async (_why, body, headers, field) => {
    const { ask, own } = await start()
    const answer = await ask('POST', '/v1/things', { key: own.keys.send, body, headers })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ code: 'validation_error', field, errors: [{ field }] })
  })

  // threat: slow-clients-and-floods
  test('that is megabytes of brackets or values gets 400 before it is parsed', async () => {
    const { ask, own } = await start({ bodyBytes: 10_000_000 })
    for (const [body, word] of [
      ['['.repeat(9_000_000), 'nested'],
      [`[${'0,'.repeat(600_000)}0]`, '500000 values'],
    ] as const) {
      const { status, body: answer } = await ask('POST', '/v1/things', { key: own.keys.send, body })
      expect([status, answer.error.field]).toEqual([400, 'body'])
      expect(answer.error.message).toContain(word)
    }
    const large = JSON.stringify({ name: 'x'.repeat(9_000_000) })
    expect((await ask('POST', '/v1/things', { key: own.keys.send, body: large })).status).toBe(201)
  })

  test('may have parameters in its content type, and nest 64 levels deep', async () => {
    const { ask, own } = await start()
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    const body = `{"name":"x","any":${'['.repeat(63)}${']'.repeat(63)}}`
    expect((await ask('POST', '/v1/things', { key: own.keys.send, body, headers })).status).toBe(201)
  })

  test('with faults names all of them, unknown fields one by one', async () => {
    const { ask, own } = await start()
    const body = { list: [{ content: 1 }, { content: '', extra: 1 }], subjekt: 'x', __proto: 1 }
    const headers = { 'x-request-id': 'r' }
    const answer = await ask('POST', '/v1/things', { key: own.keys.send, body, headers })
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          code: 'validation_error',
          message: '5 fields are invalid',
          field: 'name',
          details: { request_id: 'r', docs: '/manual/errors#validation_error' },
          errors: [
            { field: 'name', message: 'name is required' },
            { field: 'list[0].content', message: 'list[0].content must be a string' },
            { field: 'list[1].extra', message: 'Unknown field "list[1].extra".' },
            { field: 'subjekt', message: 'Unknown field "subjekt".' },
            { field: '__proto', message: 'Unknown field "__proto".' },
          ],
        },
      },
    ])
  })

  // threat: slow-clients-and-floods
  test('over the limit gets 413, with or without Content-Length', async () => {
    const { ask, api, own } = await start({ bodyBytes: 100 })
    const big = JSON.stringify({ name: 'x'.repeat(200) })
    const announced = await ask('POST', '/v1/things', {
      key: own.keys.send,
      body: big,
      headers: { 'content-length': String(big.length) },
    })
    const chunked = new Request('http://localhost/v1/things', {
      method: 'POST',
      headers: { authorization: `Bearer ${own.keys.send.value}`, 'content-type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (const part of big.match(/.{1,20}/g)!) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      }),
    })
    const counted = await api.fetch(chunked)
    expect([announced.status, counted.status]).toEqual([413, 413])
    expect(announced.body.error).toMatchObject({ code: 'payload_too_large', details: { limit_bytes: 100 } })
    const fitting = JSON.stringify({ name: 'x'.repeat(100 - 11) })
    expect(fitting.length).toBe(100)
    expect((await ask('POST', '/v1/things', { key: own.keys.send, body: fitting })).status).toBe(201)
  })
})

describe('any input', () => {
  test('of bytes that are not a valid request gets 400, never 500', async () => {
    const { ask, own } = await start()
    const json = fc.json({ maxDepth: 3 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), json, fc.string()), async (body) => {
        const { status } = await ask('POST', '/v1/things', { key: own.keys.send, body })
        expect([201, 400]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })

  test('of paths and queries is answered in JSON, never 500', async () => {
    const { api, own } = await start()
    const headers = { authorization: `Bearer ${own.keys.read.value}` }
    const part = fc.oneof(
      fc.webPath(),
      fc.stringMatching(/^[!-~]{0,20}$/),
      fc.constantFrom('/v1/things', '/%00', '/..'),
    )
    await fc.assert(
      fc.asyncProperty(part, fc.webQueryParameters(), async (path, query) => {
        const url = `http://localhost/v1/things${path}?${query}`
        if (!URL.canParse(url)) return
        const response = await api.fetch(new Request(url, { headers }))
        expect(response.status).toBeLessThan(500)
        expect(response.headers.get('content-type')).toStartWith('application/json')
      }),
      { numRuns: 300 },
    )
  })
})

describe('the query', () => {
  const cases = [
    ['/v1/things?q=a&q=b', 'q', 'q must appear only once'],
    ['/v1/things?x=1', 'x', 'Unknown parameter "x". Did you mean "q"?'],
    ['/v1/things/1?x=1', 'x', 'Unknown parameter "x".'],
  ]
  test.each(cases)('%s gets 400', async (path, field, message) => {
    const { ask, own } = await start()
    const answer = await ask('GET', path, { key: own.keys.read })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ code: 'validation_error', field, message })
  })

  test.each([
    ['/v1/things?q=a&q=b&x=1&y=2', ['q', 'x', 'y']],
    ['/v1/things/1?x=1&y=2', ['x', 'y']],
  ])('%s has all its faults named', async (path, fields) => {
    const { ask, own } = await start()
    const { errors } = (await ask('GET', path, { key: own.keys.read })).body.error
    expect(errors.map(({ field }: { field: string }) => field)).toEqual(fields)
  })

  test('is decoded', async () => {
    const { ask, own } = await start()
    expect((await ask('GET', '/v1/things?q=%C3%A4+b&n=', { key: own.keys.read })).body).toEqual({ q: 'ä b', n: '' })
  })
})

describe('every answer', () => {
  test('has a request id: the client’s own if valid, else a new one', async () => {
    const { ask } = await start()
    const idOf = async (headers: Record<string, string>) =>
      (await ask('GET', '/healthz', { key: null, headers })).headers.get('x-request-id')
    expect(await idOf({ 'x-request-id': 'a.b:c-d_1' })).toBe('a.b:c-d_1')
    expect(await idOf({})).toMatch(/^req_[0-9a-z]{26}$/)
    for (const bad of ['a b', 'x'.repeat(129), 'ä'.normalize(), '<script>']) {
      expect(await idOf({ 'x-request-id': bad })).toMatch(/^req_/)
    }
  })

  test('is logged in one line with the operation, and never with the path or the key', async () => {
    const lines: string[] = []
    const { ask, own, clock } = await start({ log: lineLog(lines) })
    await ask('GET', '/v1/things/ann@own.example?x=secret', { key: own.keys.read, headers: { 'x-request-id': 'r9' } })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: new Date(clock.now()).toISOString(),
        level: 'info',
        message: 'request',
        request_id: 'r9',
        method: 'GET',
        operation: 'things_get',
        status: 400,
        key_id: own.keys.read.record.id,
        duration_ms: 0,
      },
    ])
  })

  test('to a bug has status 500 without details; the log has the stack', async () => {
    const lines: string[] = []
    const { ask, own } = await start({ log: lineLog(lines) })
    const answer = await ask('POST', '/v1/fail', {
      key: own.keys.read,
      body: { how: 'bug' },
      headers: { 'x-request-id': 'r' },
    })
    expect(answer.body).toEqual({
      error: {
        code: 'internal_error',
        message: 'Internal server error. Try again, and contact the operator with the request ID if it persists.',
        details: { request_id: 'r', docs: '/manual/errors#internal_error' },
      },
    })
    expect(answer.status).toBe(500)
    expect(JSON.parse(lines[0]!).error.stack).toContain('a bug with /a/path in it')
  })

  // threat: memory-exhaustion
  test('while memory is short has status 503 with Retry-After, except for health checks', async () => {
    const { ask, own } = await start({ memory: { ...ampleMemory, isShort: () => true } })
    const answer = await ask('GET', '/v1/things', { key: own.keys.read })
    expect([answer.status, answer.body.error.code, answer.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '5',
    ])
    expect((await ask('GET', '/healthz', { key: null })).status).toBe(200)
  })

  test('while the store cannot write has status 503 with Retry-After', async () => {
    const { ask, own } = await start()
    const answer = await ask('POST', '/v1/fail', { key: own.keys.read, body: { how: 'store' } })
    expect([answer.status, answer.body.error.code, answer.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '5',
    ])
    expect(answer.text).not.toContain('secret')
  })
})

describe('health', () => {
  test('/healthz and /readyz need no key', async () => {
    const { ask } = await start()
    for (const path of ['/healthz', '/readyz', '/health/ready']) {
      const answer = await ask('GET', path, { key: null })
      expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }])
    }
    expect((await ask('POST', '/healthz', { key: null })).status).toBe(405)
  })

  test('/readyz returns 503 while a listener is down or nothing can be written', async () => {
    let fault: string | null = 'smtp inbound is not listening'
    let broken = false
    const { ask } = await start({
      isReady: () => fault,
      wrapStore: (store) => ({
        ...store,
        checkWritable: async () => {
          if (broken) throw new StoreUnavailable('full')
        },
      }),
    })
    const down = await ask('GET', '/readyz', { key: null })
    expect([down.status, down.body.error.message]).toEqual([503, 'smtp inbound is not listening'])
    fault = null
    broken = true
    expect((await ask('GET', '/readyz', { key: null })).status).toBe(503)
    expect((await ask('GET', '/healthz', { key: null })).status).toBe(200)
  })
})

describe('on a socket', () => {
  test('while descriptors are short no connection is accepted, idle ones are cut, and requests are answered', async () => {
    const gate = Promise.withResolvers<void>()
    let report = (_supply: Supply) => {}
    const { api, own } = await start({
      gate: gate.promise,
      watchDescriptors: (reported) => {
        report = reported
        return () => {}
      },
    })
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const body = '{"how":"wait"}'
    const head = `Host: a\r\nAuthorization: Bearer ${own.keys.read.value}\r\nContent-Type: application/json\r\nConnection: close\r\n`
    const asked = talk(port, [`POST /v1/fail HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`])
    const half = talk(port, ['GET /healthz HTT'])
    while (api.underWay() === 0) await new Promise((resolve) => setImmediate(resolve))

    report('short')
    expect(await talk(port, ['GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'])).toBe('')
    gate.resolve()
    expect(await asked).toStartWith('HTTP/1.1 2')
    report('scarce')
    expect(await half).toBe('')
    report('ample')
    expect(await talk(port, ['GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'])).toStartWith(
      'HTTP/1.1 200',
    )
  })

  test('a host of one letter finds the same paths as any other', async () => {
    const { api } = await start()
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    for (const host of ['x', 'api', 'api:8025', 'mail.example.com']) {
      const answer = await talk(port, [`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`])
      expect([host, answer.split('\r\n')[0]]).toEqual([host, 'HTTP/1.1 200 OK'])
    }
  })

  test('HTTP/1.0 without a Host finds them too, with query and body, and with the client address', async () => {
    const peers: (string | null)[] = []
    const tracked: Page = {
      method: 'GET',
      path: '/t/*',
      handle: async (request, _params, peer) => {
        peers.push(peer())
        return new Response(new URL(request.url).pathname)
      },
    }
    const { api, own } = await start({ pages: [tracked] })
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    expect(await talk(port, ['GET /t/u/some/thing HTTP/1.0\r\n\r\n'])).toEndWith('\r\n\r\n/t/u/some/thing')
    expect(peers).toEqual(['127.0.0.1'])

    const authorized = (key: { value: string }) => `HTTP/1.0\r\nAuthorization: Bearer ${key.value}\r\n`
    const listed = await talk(port, [`GET /v1/things?q=a ${authorized(own.keys.read)}\r\n`])
    expect(listed).toEndWith('\r\n\r\n{"q":"a"}')
    const body = '{"name":"x"}'
    const head = `POST /v1/things ${authorized(own.keys.send)}Content-Type: application/json\r\n`
    const made = await talk(port, [`${head}Content-Length: ${body.length}\r\n\r\n${body}`])
    expect(made).toStartWith('HTTP/1.1 2')
  })

  // threat: malformed-requests
  test('a body over the limit gets our JSON error, also at twice the limit or in chunks', async () => {
    const { api, own } = await start({ bodyBytes: 20_000 })
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const big = JSON.stringify({ name: 'x'.repeat(40_000) })
    const head = `POST /v1/things HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${own.keys.send.value}\r\nContent-Type: application/json\r\nConnection: close\r\n`
    const announced = await talk(port, [`${head}Content-Length: ${big.length}\r\n\r\n`, big])
    const chunk = `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`
    const chunked = await talk(port, [`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk])
    for (const answer of [announced, chunked]) {
      expect(answer).toStartWith('HTTP/1.1 413 ')
      expect(answer).toContain('"code":"payload_too_large"')
    }
  })

  test('a body in pieces is accepted, and one that breaks off does no harm', async () => {
    const { api, own } = await start()
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const body = '{"name":"piece by piece"}'
    const head = `POST /v1/things HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${own.keys.send.value}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
    const answer = await talk(port, [head, ...body])
    expect(answer).toStartWith('HTTP/1.1 201 ')
    expect(answer).toContain(body)
    await talk(port, [head, body.slice(0, 5)], { breakOff: true })
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}'])
  })

  test('an unread body is not parsed as the next request', async () => {
    const { api } = await start()
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const inner = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: smuggled\r\n\r\n'
    const body = inner.repeat(500)
    const first = (connection: string) =>
      `POST /v1/things HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: first\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n`
    const answer = await talk(port, [first('close'), body])
    expect(answer).toStartWith('HTTP/1.1 401 ')
    expect(answer).toContain('"request_id":"first"')
    expect(answer).not.toContain('smuggled')
    // The connection may end instead when another request comes before the response (listener.ts).
    const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: second\r\nConnection: close\r\n\r\n'
    expect(await talk(port, [first('keep-alive'), body, second])).not.toContain('smuggled')
  })

  const NO_REQUESTS: [what: string, status: string, bytes: string][] = [
    ['a header of 20 KB', '431', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path of 20 KB', '431', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['200 fields', '431', `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: a\r\n'.repeat(200)}\r\n`],
    ['no path', '400', 'GET\r\nHost: x\r\n\r\n'],
    ['another version', '505', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['TLS', '400', '\x16\x03\x01\x02\x00\x01\r\n\r\n'],
    ['no Host', '400', 'GET / HTTP/1.1\r\n\r\n'],
    [
      'length and chunks',
      '400',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', '400', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
    ['a length below zero', '400', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nabc'],
    ['an unknown transfer coding', '400', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc'],
    ['a folded field', '400', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n'],
    ['a NUL', '400', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['bare line feeds', '505', 'GET / HTTP/1.1\nHost: x\n\n'],
  ]
  // threat: malformed-requests
  test.each(NO_REQUESTS)(
    'an invalid request (%s) is %s without a body, and nothing behind it is served',
    async (_what, status, bytes) => {
      const { api } = await start()
      const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
      const behind = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
      const answer = await talk(port, [bytes + behind])
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [ \\w]+\\r\\nConnection: close\\r\\n\\r\\n$`))
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    },
  )

  test('a body too large to read to its end gets 413 without a body', async () => {
    const { api, own } = await start({ bodyBytes: 1_000 })
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const head = `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.keys.send.value}\r\n`
    const announced = await talk(port, [`${head}Content-Length: 9000000\r\n\r\n`])
    expect(announced).toMatch(/^HTTP\/1\.1 413 [ \w]+\r\nConnection: close\r\n\r\n$/)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const { api, own } = await start()
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const answer = await talk(port, [
      `HEAD /v1/things HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${own.keys.read.value}\r\nConnection: close\r\n\r\n`,
    ])
    expect(answer).toStartWith('HTTP/1.1 200 ')
    expect(answer.toLowerCase()).toContain('content-type: application/json')
    expect(answer).toEndWith('\r\n\r\n')
  })

  test('stop lets the current request finish and refuses others with 503', async () => {
    const gate = Promise.withResolvers<void>()
    const { api, own, ask } = await start({ gate: gate.promise })
    const { port } = await api.listen({ host: '127.0.0.1', port: 0 })
    const headers = { authorization: `Bearer ${own.keys.read.value}`, 'content-type': 'application/json' }
    const waiting = fetch(`http://127.0.0.1:${port}/v1/fail`, { method: 'POST', headers, body: '{"how":"wait"}' })
    while (api.underWay() === 0) await new Promise((resolve) => setImmediate(resolve))
    const stopped = api.stop(30_000)
    const refused = await ask('GET', '/v1/things', { key: own.keys.read })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await ask('GET', '/readyz', { key: null })).status).toBe(503)
    expect((await ask('GET', '/healthz', { key: null })).status).toBe(200)
    gate.resolve()
    expect(await (await waiting).text()).toBe('plain')
    await stopped
    expect(await talk(port, ['GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'])).toBe('')
  })
})

test('key use is written when asked for, and again after a failure', async () => {
  let fails = true
  const { ask, api, store, own, clock } = await start({
    wrapStore: (inner) => ({
      ...inner,
      apiKeys: {
        ...inner.apiKeys,
        recordUse: async (uses) => {
          if (fails) throw new StoreUnavailable('full')
          return inner.apiKeys.recordUse(uses)
        },
      },
    }),
  })
  await ask('GET', '/v1/things', { key: own.keys.read })
  await clock.advance(5_000)
  await api.auth.flushUses()
  expect((await store.apiKeys.get(own.keys.read.record.id))?.lastUsedAt).toBeNull()
  fails = false
  await api.auth.flushUses()
  expect((await store.apiKeys.get(own.keys.read.record.id))?.lastUsedAt).toBe(START)
})

function lineLog(lines: string[]): Log {
  return createLog({
    clock: { now: () => START, sleep: async () => {} },
    level: 'info',
    format: 'json',
    write: (line) => lines.push(line),
  })
}
