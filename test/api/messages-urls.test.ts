import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { type Download, downloadBy } from '../../src/net/https/download.ts'
import { createExchange } from '../../src/net/https/exchange.ts'
import { createAddressGuard } from '../../src/net/ip.ts'
import { systemClock } from '../../src/os/clock.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { CERTIFICATE } from '../smtp-server/setup.ts'
import { type FileServer, fileAnswer, redirectTo, startFileServer } from '../support/file-server.ts'
import { silentResolver } from '../support/silent-resolver.ts'
import { type Asked, MAIL, openMessageApi } from './messages-setup.ts'

/** Attachments given as a URL, downloaded from a real HTTPS server on loopback. */

let files: FileServer
let download: Download
let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  files = await startFileServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certificatePem })
  const { exchange } = createExchange({
    resolver: silentResolver,
    mayConnect: createAddressGuard(['127.0.0.1/32']),
    ca: CERTIFICATE.certificatePem,
    userAgent: 'Postrider/test',
    keepsAlive: false,
  })
  download = downloadBy(exchange, systemClock.steady.now)
  server = await openMessageApi({ download })
})
afterAll(async () => {
  files.stop()
  await server.close()
})
beforeEach(() => {
  files.requests.length = 0
  files.set('/bill.pdf', fileAnswer('%PDF-1', 'Content-Type: application/pdf'))
  files.set('/logo.png?size=2', fileAnswer('png', 'Content-Type: image/png'))
  files.set('/r', redirectTo('/bill.pdf'))
  files.set('/plain', fileAnswer('text', 'Content-Type: text/plain; charset=utf-8'))
})

const at = (path: string) => files.url(path)
const withFiles = (...attachments: object[]) => ({ ...MAIL, attachments })
const get = (path: string, key?: string) => server.ask('GET', path, undefined, key === undefined ? {} : { key })
const contentOf = async ({ body }: Asked, key?: string) => (await get(`/v1/messages/${body.id}/content`, key)).body
const kept = async (used = server) => (await used.ask('GET', '/v1/messages?limit=100')).body.data.length
const hangs = () => {
  const sockets = Promise.withResolvers<TLSSocket>()
  files.set('/slow', (socket) => sockets.resolve(socket))
  return sockets.promise
}

describe('an attachment with a URL', () => {
  test('is stored with the bytes at the URL, in its place among the others', async () => {
    const answer = await server.send({
      ...withFiles(
        { filename: 'a.txt', content: 'aGk=' },
        { url: at('/bill.pdf') },
        { url: at('/logo.png?size=2'), content_id: 'logo' },
        { url: at('/r'), filename: 'Rechnung.pdf' },
        { url: at('/plain'), filename: 'b.csv', content_type: 'text/csv' },
        { url: at('/plain') },
      ),
      html: '<img src="cid:logo">',
    })
    expect(answer.status).toBe(202)
    const { attachments } = await contentOf(answer)
    expect(attachments).toEqual([
      { filename: 'a.txt', content_type: 'text/plain', content_id: null, size_bytes: 2 },
      { filename: 'bill.pdf', content_type: 'application/pdf', content_id: null, size_bytes: 6 },
      { filename: 'logo.png', content_type: 'image/png', content_id: 'logo', size_bytes: 3 },
      { filename: 'Rechnung.pdf', content_type: 'application/pdf', content_id: null, size_bytes: 6 },
      { filename: 'b.csv', content_type: 'text/csv', content_id: null, size_bytes: 4 },
      { filename: 'plain', content_type: 'text/plain; charset=utf-8', content_id: null, size_bytes: 4 },
    ])
    expect((await get(`/v1/messages/${answer.body.id}/attachments/2`)).text).toBe('%PDF-1')
    const raw = await get(`/v1/messages/${answer.body.id}/content?part=raw`)
    expect(raw.text).toContain(Buffer.from('%PDF-1').toString('base64'))
    expect(raw.text).not.toContain('127.0.0.1')
  })

  test.each([
    ['/%E2%82%AC%20bill.pdf?x=/y', 'application/pdf', '€ bill.pdf', 'application/pdf'],
    ['/a%2Fb%5Cc.txt', 'text/plain', 'a_b_c.txt', 'text/plain'],
    ['/%E2%80%AEfdp.exe', 'application/x', 'fdp.exe', 'application/x'],
    ['/%ff', 'image/png', '%ff', 'image/png'],
    ['/', 'application/pdf', 'attachment-1.pdf', 'application/pdf'],
    ['/x/..%2f', 'text/plain', '.._', 'text/plain'],
    [`/${'%E2%82%AC'.repeat(199)}`, 'image/png', '€'.repeat(199), 'image/png'],
    ['/a.pdf', 'binary/octet-stream', 'a.pdf', 'application/pdf'],
    ['/a.pdf', 'application/octet-stream; x=y', 'a.pdf', 'application/pdf'],
    ['/a', 'no type', 'a', 'application/octet-stream'],
    ['/a', `text/${'x'.repeat(300)}`, 'a', 'application/octet-stream'],
  ])('%s of type %s is the file %s of type %s', async (path, type, filename, content_type) => {
    files.set(path, fileAnswer('x', `Content-Type: ${type}`))
    const answer = await server.send(withFiles({ url: at(path) }))
    expect(answer.status).toBe(202)
    expect((await contentOf(answer)).attachments).toMatchObject([{ filename, content_type }])
  })

  test('is the same for test keys, for templates, for scheduled mail and at /v1/send', async () => {
    const attachments = [{ url: at('/bill.pdf') }]
    const key = server.keys.test
    const template = { alias: 'bill', name: 'Bill', subject: 'Bill', text: 'Here it is.' }
    const admin = await server.mintKey('example.com', 'live', ['manage'])
    expect((await server.ask('POST', '/v1/templates', template, { key: admin })).status).toBe(201)
    const { from, to } = MAIL
    const scheduled = { ...MAIL, attachments, scheduled_at: '2026-11-22T12:00:00Z' }
    for (const answer of [
      await server.send(withFiles(...attachments), { key }),
      await server.send({ from, to, template_id: 'bill', attachments }),
      await server.send(scheduled),
      await server.ask('POST', '/v1/send', withFiles(...attachments)),
    ]) {
      expect(answer.status).toBe(202)
      const { attachments } = await contentOf(answer, answer.body.mode === 'test' ? key : undefined)
      expect(attachments).toMatchObject([{ filename: 'bill.pdf', size_bytes: 6 }])
    }
  })

  test('of an analysis counts by its size', async () => {
    files.set('/virus.exe', fileAnswer('x'))
    const answer = await server.ask('POST', '/v1/messages/analyze', withFiles({ url: at('/virus.exe') }))
    expect(answer.body.issues.map(({ code }: { code: string }) => code)).toContain('attachment_blocked')
    const refused = await server.ask('POST', '/v1/messages/analyze', withFiles({ url: at('/none') }))
    expect([refused.status, refused.body.error.field]).toEqual([400, 'attachments[0].url'])
  })
})

describe('a file that cannot be had', () => {
  test('refuses the message, and names each such attachment with the cause', async () => {
    files.set('/empty', fileAnswer(''))
    files.set('/cut', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'))
    files.set('/login', fileAnswer('<html>', 'Content-Type: text/html; charset=utf-8'))
    files.set('/inner', redirectTo('https://10.0.0.1/'))
    const before = await kept()
    const answer = await server.send(
      withFiles(
        { url: at('/bill.pdf') },
        { url: at('/none') },
        { url: at('/empty') },
        { url: at('/cut') },
        { url: at('/login'), filename: 'bill.pdf' },
        { url: at('/login'), content_type: 'application/pdf' },
        { url: at('/inner') },
        { url: 'https://192.168.0.1/a' },
      ),
    )
    const why = (n: number, text: string) => ({
      field: `attachments[${n}].url`,
      message: `attachments[${n}].url cannot be downloaded: ${text}`,
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({
      code: 'validation_error',
      message: '7 attachments cannot be downloaded',
      field: 'attachments[1].url',
      details: { reason: 'download_failed' },
    })
    expect(answer.body.error.errors).toEqual([
      why(1, 'the server answered 404'),
      why(2, 'the file is empty'),
      why(3, 'connection closed'),
      why(4, 'the server answered with an HTML page, not application/pdf'),
      why(5, 'the server answered with an HTML page, not application/pdf'),
      why(6, 'the target of a redirect has no public address'),
      why(7, '192.168.0.1 has no public address'),
    ])
    expect(await kept()).toBe(before)
  })

  test('is an HTML page only if that is not what was asked for', async () => {
    files.set('/page', fileAnswer('<html>', 'Content-Type: text/html'))
    for (const more of [{}, { filename: 'page.html' }, { content_type: 'text/html' }]) {
      expect((await server.send(withFiles({ url: at('/page'), ...more }))).status).toBe(202)
    }
  })

  test('is too large alone, together, or once composed', async () => {
    const small = await openMessageApi({ messageBytes: 1_000_000, download })
    files.set('/large', fileAnswer(new Uint8Array(1_000_001)))
    files.set('/half', fileAnswer(new Uint8Array(600_000)))
    files.set('/most', fileAnswer(new Uint8Array(900_000)))
    const refusalOf = async (...urls: string[]) => {
      const { status, body } = await small.send(withFiles(...urls.map((path) => ({ url: at(path) }))))
      return [status, body.error.code, body.error.field, body.error.message]
    }
    expect(await refusalOf('/bill.pdf', '/large')).toEqual([
      413,
      'payload_too_large',
      'attachments[1].url',
      'The file at attachments[1].url has more than 1000000 bytes. Send less, or a link.',
    ])
    expect(await refusalOf('/half', '/half')).toEqual([
      413,
      'payload_too_large',
      'attachments',
      'The files for this request have more than 1000000 bytes. Send less, or a link.',
    ])
    expect((await refusalOf('/most')).slice(0, 3)).toEqual([413, 'payload_too_large', 'attachments'])
    await small.close()
  })

  test('makes the request wait ten seconds at most', async () => {
    const slow = await openMessageApi({ download: () => new Promise(() => {}) })
    const answer = slow.send(withFiles({ url: 'https://a.example/x' }))
    await slow.clock.untilSleeping()
    while ((await Promise.race([answer, slow.clock.advance(1_000)])) === undefined);
    const { status, body } = await answer
    expect([status, body.error.message]).toEqual([
      400,
      'attachments[0].url cannot be downloaded: not complete within 10 s',
    ])
    await slow.close()
  })
})

test('nothing is downloaded for a message that is refused anyway', async () => {
  const attachments = [{ url: at('/bill.pdf') }]
  const unverified = { ...MAIL, from: 'shop@new.example', attachments }
  expect((await server.send({ ...MAIL, from: 'a@else.example', attachments })).status).toBe(403)
  expect((await server.send(unverified, { key: server.keys.unverified })).status).toBe(422)
  expect((await server.send({ ...MAIL, stream: 'none', attachments })).status).toBe(400)
  expect((await server.send({ ...MAIL, subject: '', attachments })).status).toBe(400)
  const { body } = await server.ask('POST', '/v1/messages/batch', {
    messages: [
      { ...MAIL, from: 'a@else.example', attachments },
      { ...MAIL, subject: '', attachments },
    ],
  })
  expect(body.data.map(({ error }: Asked['body']) => error.code)).toEqual(['forbidden', 'validation_error'])
  expect(files.requests).toEqual([])
})

describe('with an Idempotency-Key', () => {
  let keys = 0
  const fresh = () => ({ headers: { 'idempotency-key': `url-${keys++}` } })

  test('a repeated request downloads nothing, and one at the same time waits for the first', async () => {
    const more = fresh()
    const before = await kept()
    const socket = hangs()
    const mail = withFiles({ url: at('/slow') })
    const both = [server.send(mail, more), server.send(mail, more)]
    ;(await socket).write(fileAnswer('x'))
    const [first, second] = await Promise.all(both)
    const third = await server.send(mail, more)
    expect([first!.status, second!.text, third.text]).toEqual([202, first!.text, first!.text])
    expect([second!, third].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual(['true', 'true'])
    expect(files.requests.length).toBe(1)
    expect(await kept()).toBe(before + 1)
  })

  test('a failed download is not remembered', async () => {
    const more = fresh()
    const mail = withFiles({ url: at('/later') })
    files.set('/later', fileAnswer('', 'X: y', '503 Service Unavailable'))
    expect((await server.send(mail, more)).status).toBe(400)
    files.set('/later', fileAnswer('now'))
    expect((await server.send(mail, more)).status).toBe(202)
  })

  test('nothing is stored before the file is there, and the repeated request sends once', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-'))
    const first = await openMessageApi({ dataDir, download })
    const more = { ...fresh(), key: first.keys.live }
    const mail = withFiles({ url: at('/slow') })
    const socket = hangs()
    const cut = first.send(mail, more)
    await socket
    expect(await kept(first)).toBe(0)
    files.set('/slow', fileAnswer('x'))
    const second = await openMessageApi({ dataDir, download })
    const answer = await second.send(mail, more)
    expect(answer.status).toBe(202)
    // The first server is not dead, so its request ends as on another node: with the answer of the second.
    ;(await socket).destroy()
    expect((await cut).text).toBe(answer.text)
    expect(await kept(second)).toBe(1)
    await second.close()
    await first.close()
    rmSync(dataDir, { recursive: true })
  })
})

describe('a batch', () => {
  const batch = (messages: object[], more?: Parameters<typeof server.ask>[3], used = server) =>
    used.ask('POST', '/v1/messages/batch', { messages }, more)

  test('downloads each URL once, and refuses only the messages without their file', async () => {
    const { status, body } = await batch([
      withFiles({ url: at('/bill.pdf') }),
      withFiles({ url: at('/none') }, { url: at('/bill.pdf') }),
      MAIL,
      withFiles({ url: at('/bill.pdf') }, { url: at('/plain') }),
    ])
    expect(status).toBe(202)
    expect(body.data.map((each: Asked['body']) => each.error?.message ?? each.status)).toEqual([
      'queued',
      'attachments[0].url cannot be downloaded: the server answered 404',
      'queued',
      'queued',
    ])
    expect(files.requests.length).toBe(3)
    expect((await contentOf({ body: body.data[3] } as Asked)).attachments).toMatchObject([
      { filename: 'bill.pdf', size_bytes: 6 },
      { filename: 'plain', size_bytes: 4 },
    ])
  })

  test('lists fewer faults of each message, so that the response stays small', async () => {
    const missing = withFiles(...Array.from({ length: 100 }, () => ({ url: at('/none') })))
    const { body } = await batch(Array(50).fill(missing))
    expect(body.data.map((each: Asked['body']) => each.error.errors.length)).toEqual(Array(50).fill(10))
    expect(body.data[0].error.message).toBe('100 attachments cannot be downloaded')
    expect(files.requests.length).toBe(1)
  })

  test('counts a file as often as it is used, in the order of the messages', async () => {
    const small = await openMessageApi({ messageBytes: 1_000_000, download })
    files.set('/third', fileAnswer(new Uint8Array(350_000)))
    const { body } = await batch(Array(4).fill(withFiles({ url: at('/third') })), {}, small)
    expect(body.data.map((each: Asked['body']) => each.error?.code ?? each.status)).toEqual([
      'queued',
      'queued',
      'payload_too_large',
      'payload_too_large',
    ])
    expect(files.requests.length).toBe(1)
    await small.close()
  })

  test('that failed between two slices continues with the same slices, though a file is there now', async () => {
    let accepts = 0
    const used = await openMessageApi({
      download,
      wrapStore: (store) => ({
        ...store,
        messages: Object.assign(Object.create(store.messages), {
          accept: (...given: Parameters<typeof store.messages.accept>) => {
            if (++accepts === 2) throw new StoreUnavailable('x')
            return store.messages.accept(...given)
          },
        }),
      }),
    })
    files.set('/later', fileAnswer('', 'X: y', '404 Not Found'))
    const to = Array.from({ length: 50 }, (_, n) => `r${n}@remote.example`)
    const messages = Array.from({ length: 40 }, (_, n) => ({
      ...withFiles({ url: at(n === 3 ? '/later' : '/bill.pdf') }),
      to,
      subject: `n ${n}`,
    }))
    const more = { headers: { 'idempotency-key': 'slices' } }
    const first = await batch(messages, more, used)
    const codes = first.body.data.map((each: Asked['body']) => each.error?.code ?? each.status)
    expect(codes.slice(0, 5)).toEqual(['queued', 'queued', 'queued', 'validation_error', 'queued'])
    expect(codes.at(-1)).toBe('unavailable')
    files.set('/later', fileAnswer('now'))
    files.requests.length = 0
    const second = await batch(messages, more, used)
    expect(second.body.data.map((each: Asked['body']) => each.error?.code ?? each.status)).toEqual(
      codes.map((code: string) => (code === 'unavailable' ? 'queued' : code)),
    )
    expect(files.requests.some((head) => head.includes('/later'))).toBe(false)
    expect(new Set(second.body.data.flatMap(({ subject, id }: Asked['body']) => id ?? subject ?? [])).size).toBe(39)
    expect((await used.ask('GET', '/v1/messages?limit=100')).body.data.length).toBe(39)
    await used.close()
  })
})
