import { afterEach, describe, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Arrival } from '../../src/cli/listen/arrival.ts'
import { formatArrival, formatPosted } from '../../src/cli/listen/format.ts'
import { createForwarding, type Posted } from '../../src/cli/listen/forward.ts'
import { fromServer } from '../../src/cli/listen/from-server.ts'
import { fromStore } from '../../src/cli/listen/from-store.ts'
import { colorsFor } from '../../src/cli/print.ts'
import { verifySignature } from '../../src/events/webhooks/sign.ts'
import { createEvent, EVENT_TYPES } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import { isNear } from '../../src/net/near-url.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'
import { createTestRandom } from '../support/random.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function startApi() {
  const api = await createTestApi()
  undo.push(() => api.close())
  const at = await api.api.listen({ host: '127.0.0.1', port: 0 })
  return { api, port: at.port }
}

async function publish(api: TestApi, count: number, tenant = api.own): Promise<string[]> {
  const events = Array.from({ length: count }, () => {
    const facts = { id: api.mintId('evt'), organizationId: tenant.organization.id, domainId: tenant.domain.id }
    const rest = { type: 'message.delivered' as const, messageId: 'msg_a', mode: 'live' as const, createdAt: START }
    return createEvent({ ...facts, ...rest }, sampleData('message.delivered', START))
  })
  await api.store.events.append(events)
  return events.map(({ id }) => id)
}

/** A proxy that ends each connection after `nextCut()` bytes of the response. */
async function startCutter(port: number, nextCut: () => number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const to = connect(port, '127.0.0.1')
    let left = nextCut()
    for (const socket of [client, to]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        to.destroy()
        sockets.delete(socket)
      })
    }
    client.pipe(to)
    to.on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) client.end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  undo.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Reads a source into a list until the test ends. */
function collect(arrivals: AsyncIterable<Arrival>) {
  const got: Arrival[] = []
  const read = async () => {
    for await (const arrival of arrivals) got.push(arrival)
  }
  const over = read()
  const fault = over.then(
    () => 'none',
    (error: Error) => error.message,
  )
  return { got, ids: () => got.map(({ id }) => id), over, fault }
}

function sourceDeps() {
  const clock = createFakeClock(START)
  const stop = new AbortController()
  const breaks: string[] = []
  undo.push(() => stop.abort())
  const onBreak = (reason: string, waitMs: number) => {
    breaks.push(reason)
    setImmediate(() => void clock.advance(waitMs))
  }
  return { clock, stop, breaks, deps: { clock, random: createTestRandom(), signal: stop.signal, onBreak } }
}

describe('from a server', () => {
  test('connections that are cut anywhere lose nothing and repeat nothing', async () => {
    const { api, port } = await startApi()
    const cuts = [5, 190, 250, 333, 700, 1_200, 2_000, 90, 9_000, 801, 1_703, 4_444, 640]
    let at = 0
    const cutter = await startCutter(port, () => cuts[at++ % cuts.length]!)
    const { deps, breaks, stop } = sourceDeps()
    const key = api.own.keys.read.value
    const wanted = { url: new URL(`http://127.0.0.1:${cutter}`), key, types: null, after: '' }
    const source = collect(fromServer(wanted, deps))
    const published: string[] = []
    for (let round = 0; round < 15; round++) {
      published.push(...(await publish(api, 7)))
      await publish(api, 1, api.other)
      await until('some more', () => source.got.length > round * 6)
    }
    await until('all of them', () => source.got.length >= published.length)
    expect(source.ids()).toEqual(published)
    expect(breaks.length).toBeGreaterThan(10)
    stop.abort()
    await source.over
    await until('the stream to be closed', () => api.streams.underWay() === 0)
  })

  test('events published while disconnected before the first event arrive too, with and without earlier events', async () => {
    for (const before of [0, 2]) {
      const { api, port } = await startApi()
      await publish(api, before)
      const cuts = [600, 1_000_000]
      const cutter = await startCutter(port, () => cuts.shift()!)
      const { deps, breaks } = sourceDeps()
      const key = api.own.keys.read.value
      const wanted = { url: new URL(`http://127.0.0.1:${cutter}`), key, types: null, after: undefined }
      let published: string[] = []
      const publishAtBreak = (reason: string, waitMs: number) => {
        void publish(api, 3).then((ids) => {
          published = ids
          deps.onBreak(reason, waitMs)
        })
      }
      const source = collect(fromServer(wanted, { ...deps, onBreak: publishAtBreak }))
      await until('the stream to be open', () => api.streams.underWay() === 1)
      await until('it to be cut', async () => {
        await api.clock.advance(15_000) // heartbeats use up the allowed bytes
        return breaks.length === 1
      })
      await until('the events of the meantime', () => source.got.length >= 3)
      expect(source.ids()).toEqual(published)
    }
  })

  test('reconnects if the server is silent', async () => {
    const { api, port } = await startApi()
    const { deps, breaks, clock } = sourceDeps()
    const key = api.own.keys.read.value
    const source = collect(fromServer({ url: new URL(`http://127.0.0.1:${port}`), key, types: null, after: '' }, deps))
    await until('the stream to be open', () => api.streams.underWay() === 1)
    const firstIds = await publish(api, 1)
    await until('the first event', () => source.got.length === 1) // otherwise the silence would start at its arrival
    await clock.advance(44_000)
    expect(breaks).toEqual([])
    await clock.advance(2_000) // the server's own clock is stopped, so no heartbeat was sent
    await until('the break', () => breaks.length === 1)
    expect(breaks).toEqual(['no heartbeat from the server'])
    const ids = await publish(api, 2)
    await until('the events', () => source.got.length === 3)
    expect(source.ids()).toEqual([...firstIds, ...ids])
  })

  test('a failure that a retry cannot fix is thrown with the message of the server', async () => {
    const { api, port } = await startApi()
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
    undo.push(() => other.stop(true))
    const cases: [string, string, string | undefined, string][] = [
      [`http://127.0.0.1:${port}`, 'svc_live_no', undefined, 'the server answered 401: Missing or invalid API key'],
      [`http://127.0.0.1:${port}/v1/`, api.own.keys.send.value, undefined, 'the server answered 403: This key lacks'],
      [`http://127.0.0.1:${port}`, api.own.keys.read.value, 'evt_0', 'the server answered 400: after'],
      [`http://127.0.0.1:${other.port}`, api.own.keys.read.value, undefined, 'not a Postrider server'],
    ]
    for (const [url, key, after, message] of cases) {
      const source = collect(fromServer({ url: new URL(url), key, types: null, after }, sourceDeps().deps))
      expect(await source.fault).toContain(message)
    }
  })

  // threat: formulas-and-terminal-controls
  test('an answer that no Postrider sends reaches neither the terminal nor the post', async () => {
    const envelope = '{"timestamp":"2026-11-21T12:00:00.000Z","data":{}}'
    const cases = [
      `id: \u001b[2J\nevent: message.delivered\ndata: ${envelope}`,
      `id: evt_1\nevent: \u001b[2J\ndata: ${envelope}`,
      'id: evt_1\nevent: message.delivered\ndata: {"timestamp":"\\u001b[2J","data":{}}',
      ...['nothing', 'null', '{}'].map((data) => `id: evt_1\nevent: message.delivered\ndata: ${data}`),
    ]
    for (const text of cases) {
      const headers = { 'content-type': 'text/event-stream' }
      const fetch = () => new Response(`${text}\n\n`, { headers })
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
      undo.push(() => server.stop(true))
      const url = new URL(`http://127.0.0.1:${server.port}`)
      const source = collect(fromServer({ url, key: 'svc_live_x', types: null, after: undefined }, sourceDeps().deps))
      expect(await source.fault).toContain('not a Postrider server')
      expect(source.got).toEqual([])
    }
  })

  test('a revoked key ends it', async () => {
    const { api, port } = await startApi()
    const key = await api.addKey(api.own, { permissions: ['read'] })
    const url = new URL(`http://127.0.0.1:${port}`)
    const source = collect(fromServer({ url, key: key.value, types: null, after: undefined }, sourceDeps().deps))
    await until('the stream to be open', () => api.streams.underWay() === 1)
    await api.store.apiKeys.revoke(key.record.id, api.clock.now())
    await until('the stream to be ended', async () => {
      await api.clock.advance(15_000)
      return api.streams.underWay() === 0
    })
    expect(await source.fault).toContain('the server answered 401')
  })
})

test('beside a server events are read from the store, of one organization, after any of its events', async () => {
  const { api } = await startApi()
  const first = await publish(api, 3)
  const { deps, stop, clock } = sourceDeps()
  const beside = { store: api.store, clock, signal: deps.signal }
  const organizationId = api.own.organization.id
  const wanted = { organizationId, types: null, after: first[0]! }
  const source = collect(fromStore(wanted, beside))
  const [theirs] = await publish(api, 1, api.other)
  const more = await publish(api, 2)
  await until('all of them', async () => {
    await clock.advance(200)
    return source.got.length >= 4
  })
  expect(source.ids()).toEqual([...first.slice(1), ...more])
  for (const after of [theirs!, 'evt_0']) {
    const refused = collect(fromStore({ ...wanted, after }, beside))
    expect(await refused.fault).toContain('after: no stored event has this id')
  }
  stop.abort()
  await source.over
})

describe('posting', () => {
  const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
  const EVENT = { id: 'evt_1', type: 'message.delivered', body: '{"id":"evt_1","ü":"🎉"}' }

  async function startTarget(answers: number[]) {
    const seen: { headers: Headers; body: string }[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        seen.push({ headers: request.headers, body: await request.text() })
        const status = answers.shift() ?? 204
        return new Response(null, { status, headers: status === 302 ? { location: '/elsewhere' } : {} })
      },
    })
    undo.push(() => server.stop(true))
    return { seen, to: new URL(`http://127.0.0.1:${server.port}/hook?a=b`) }
  }

  function startForwarding(to: URL) {
    const { clock, deps } = sourceDeps()
    const posted: Posted[] = []
    const onPosted = (each: Posted) => {
      posted.push(each)
      setImmediate(() => void clock.advance(each.retryInMs ?? 0))
    }
    return { clock, posted, forwarding: createForwarding({ ...deps, to, secret: SECRET, onPosted }) }
  }

  test('an event is signed like a webhook, and posted until it is accepted', async () => {
    const { seen, to } = await startTarget([500, 302])
    const { posted, forwarding, clock } = startForwarding(to)
    await forwarding.take(EVENT)
    await until('a 204 response', () => posted.at(-1)?.status === 204)
    expect(posted.map(({ attempt, status, retryInMs }) => [attempt, status, retryInMs])).toEqual([
      [1, 500, 1000],
      [2, 302, 2000],
      [3, 204, null],
    ])
    for (const [at, { headers, body }] of seen.entries()) {
      expect(body).toBe(EVENT.body)
      expect(headers.get('x-service-delivery-attempt')).toBe(String(at + 1))
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('webhook-id')).toBe('evt_1')
      expect(headers.get('webhook-signature')).toStartWith('v1,')
      expect(verifySignature(headers.get('x-service-signature') ?? '', body, SECRET, clock.now())).toBe('valid')
    }
  })

  test('five attempts are made, also where no server listens', async () => {
    const to = new URL('http://127.0.0.1:1/') // nothing listens there
    const { posted, forwarding } = startForwarding(to)
    await forwarding.take(EVENT)
    await until('five attempts', () => posted.length === 5)
    expect(posted.map(({ status, retryInMs }) => [status, retryInMs])).toEqual([
      [null, 1000],
      [null, 2000],
      [null, 4000],
      [null, 8000],
      [null, null],
    ])
    expect(posted[0]!.error).not.toBe('')
  })

  test('ten run at once, and the eleventh waits', async () => {
    const gate = Promise.withResolvers<void>()
    let open = 0
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async () => {
        open++
        await gate.promise
        return new Response()
      },
    })
    undo.push(() => server.stop(true))
    const { forwarding, posted } = startForwarding(new URL(`http://127.0.0.1:${server.port}`))
    let started = 0
    const all = (async () => {
      for (let n = 0; n < 12; n++) {
        await forwarding.take({ ...EVENT, id: `evt_${n}` })
        started++
      }
    })()
    await until('ten', () => open === 10)
    expect(started).toBe(9)
    gate.resolve()
    await all
    await until('all', () => posted.length === 12)
  })
})

test('cleartext is allowed to this machine only', () => {
  const near = [
    'https://a.example',
    'http://localhost:3000',
    'http://app.localhost',
    'http://127.0.0.1',
    'http://[::1]:80',
  ]
  const far = [
    'http://a.example',
    'http://8.8.8.8',
    'http://[2a00:1450::1]',
    'ftp://localhost',
    'http://localhost.example',
  ]
  for (const url of [...near, 'http://10.1.2.3', 'http://192.168.0.9'])
    expect([url, isNear(new URL(url))]).toEqual([url, true])
  for (const url of far) expect([url, isNear(new URL(url))]).toEqual([url, false])
})

test('each kind of event is one line, and nothing in it moves the cursor', () => {
  const colors = colorsFor({}, false)
  const lines = EVENT_TYPES.map((type) => {
    const data = {
      ...sampleData(type, START),
      ...(type === 'message.delivered' ? { smtp_response: '250 \x1b[2Jok\n' } : {}),
    }
    const body = JSON.stringify({ id: 'evt_1', type, timestamp: '2026-11-21T12:00:00.000Z', data })
    return formatArrival({ id: 'evt_1', type, body }, colors)
  })
  // Types without words of their own, such as new ones, are not in the snapshot.
  expect(lines.filter((line) => / evt_1 +\S/.test(line)).join('\n')).toMatchSnapshot()
  for (const line of lines) expect(line).not.toMatch(/[\x00-\x1f]|undefined|null|\[object/)
  const posted = { event: { id: 'evt_1', type: '', body: '' }, attempt: 2, status: 500, error: null, durationMs: 3 }
  expect(formatPosted({ ...posted, retryInMs: 2000 }, START, colors)).toBe(
    '12:00:00   evt_1 → 500 (3 ms, attempt 2, retry in 2.0 s)',
  )
})

test('an event has the colour of its tone, and one of an unknown type a neutral colour', () => {
  const colors = colorsFor({}, true)
  const body = JSON.stringify({ timestamp: '2026-11-21T12:00:00.000Z', data: {} })
  const codeOf = (type: string) =>
    /\x1b\[(\d+)m\S+ +\x1b\[39m/.exec(formatArrival({ id: 'e', type, body }, colors))?.[1]
  const types = ['message.delivered', 'message.deferred', 'message.bounced', 'message.opened', 'message.new_type']
  expect(types.map(codeOf)).toEqual(['32', '33', '31', '36', '36'])
})
