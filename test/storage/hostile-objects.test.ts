import { afterEach, describe, expect, test } from 'bun:test'
import type { Objects } from '../../src/storage/objects/objects.ts'
import { s3Objects } from '../../src/storage/objects/s3.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { answer, type HostileAnswer, type HostileS3, startHostileS3 } from '../support/hostile-s3.ts'
import { until } from '../support/patience.ts'

/** Object storage that answers what no service should. */

const started: HostileS3[] = []
afterEach(() => {
  for (const each of started.splice(0)) each.stop()
})
async function start(how: HostileAnswer): Promise<HostileS3> {
  const service = await startHostileS3(how)
  started.push(service)
  return service
}
/** A call that must be refused → the message. */
async function refusal(service: HostileS3, call: (objects: Objects) => Promise<unknown>, answerMs = 10_000) {
  const error = await call(s3Objects(service.place, answerMs)).then(
    (result) => new Error(`not refused: ${JSON.stringify(result)}`),
    (thrown: Error) => thrown,
  )
  expect([error.message, error instanceof StoreUnavailable]).toEqual([error.message, true])
  return error.message.replace('object storage mail: ', '')
}

const get = (objects: Objects) => objects.get('x', 1_000)
const put = (objects: Objects) => objects.put('x', Buffer.from('a secret mail'))
const remove = (objects: Objects) => objects.remove('x')
const list = (objects: Objects) => objects.list('folder/', 'folder/m')
const CALLS = { get, put, remove, list }

/** What the system buffers on the way. */
const MOST_BYTES = 12 * 2 ** 20
const XML = 'HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n'
const listOf = (...keys: string[]) => {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><LastModified>2020-01-01</LastModified></Contents>`)
  return answer('200 OK', `<ListBucketResult>${contents.join('')}</ListBucketResult>`)
}

// threat: hostile-object-storage
describe('object storage that never stops to answer fills no memory', () => {
  const bodies: [what: string, how: HostileAnswer][] = [
    ['without a length', { first: 'HTTP/1.1 200 OK\r\n\r\n', endless: 'x'.repeat(65_536) }],
    [
      'with a length of 10 GB',
      { first: 'HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n', endless: 'x'.repeat(65_536) },
    ],
    ['in chunks', { first: `${XML}Transfer-Encoding: chunked\r\n\r\n`, endless: `10000\r\n${'x'.repeat(65_536)}\r\n` }],
  ]
  for (const [what, how] of bodies) {
    test(`a body ${what} is read up to the size of the content`, async () => {
      const service = await start(how)
      expect((await s3Objects(service.place).get('x', 1_000))!.byteLength).toBe(1_000)
      await until('the connection to close', () => service.open() === 0)
      expect(service.written()).toBeLessThan(MOST_BYTES)
    })
  }

  test('of a body behind a written or a removed object nothing is read', async () => {
    const service = await start(bodies[0]![1])
    await put(s3Objects(service.place))
    await remove(s3Objects(service.place))
    await until('the connections to close', () => service.open() === 0)
    expect(service.written()).toBeLessThan(2 * MOST_BYTES)
  })

  test('a list without end is refused', async () => {
    const endless = '<Contents><Key>test/folder/x</Key></Contents>'.repeat(1000)
    const service = await start({ first: `${XML}\r\n<ListBucketResult>`, endless })
    expect(await refusal(service, list)).toBe('the answer is longer than 2048000 bytes')
    expect(service.written()).toBeLessThan(MOST_BYTES)
  })

  test('of an error of megabytes, a short line is kept', async () => {
    const error = `<Error><Code>SlowDown</Code><Message>\u202e${'m'.repeat(2e6)}</Message></Error>`
    const service = await start(answer('503 Slow', error))
    const said = await refusal(service, get)
    expect([said.length, said.includes('\u202e')]).toEqual([expect.any(Number), false])
    expect(said.length).toBeLessThan(400)
  })

  test('the request ends with its time, and does not go on behind it', async () => {
    const service = await start({ endless: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100) })
    expect(await refusal(service, get, 300)).toBe('no answer in 0 s')
    await until('the connection to close', () => service.open() === 0)
  })
})

// threat: hostile-object-storage
describe('object storage that redirects', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [what, call] of Object.entries(CALLS)) {
      test(`${what} by ${status} to an inner server reaches nobody there, and no mail goes there`, async () => {
        const inner = await start(answer('200 OK', 'inner'))
        const location = `Location: ${inner.place.endpoint}/admin\r\n`
        const service = await start(answer(`${status} Elsewhere`, '', location))
        expect(await refusal(service, call)).toStartWith(`status ${status}. Redirects are not followed`)
        expect(inner.requests).toEqual([])
      })
    }
  }
})

// threat: hostile-object-storage
describe('a list of objects', () => {
  const cases: [what: string, how: HostileAnswer, said: string][] = [
    ['with a key outside of the folder', listOf('other/content/msg_1'), 'the service lists other objects'],
    ['with a key that leaves the folder', listOf('../../etc/passwd'), 'the service lists other objects'],
    ['that goes backwards, and so would never end', listOf('test/folder/a'), 'the service lists other objects'],
    [
      'of more keys than it was asked for',
      listOf(...Array.from({ length: 1001 }, (_, at) => `test/folder/n${at}`)),
      'the service lists other objects',
    ],
    [
      'that is an XML bomb',
      answer('200 OK', '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><ListBucketResult>&b;</ListBucketResult>'),
      'the list cannot be read: the XML has a document type',
    ],
    ['that is nested without end', answer('200 OK', '<a>'.repeat(600_000)), 'the list cannot be read'],
    ['that is a page of a proxy', answer('200 OK', '<html>sign in</html>'), 'the answer is not a list of objects'],
  ]
  for (const [what, how, said] of cases) {
    test(`${what} is refused`, async () => {
      expect(await refusal(await start(how), list)).toStartWith(said)
    })
  }
})

test('a body that is cut is not read as a shorter one', async () => {
  const cut = { first: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nxx', ends: true }
  expect(await refusal(await start(cut), get)).toBe('ECONNRESET')
})

test('a compressed body is not unpacked', async () => {
  const packed = Bun.gzipSync(new Uint8Array(10_000_000))
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.byteLength}\r\n\r\n`
  const service = await start({ first: Buffer.concat([Buffer.from(head), packed]) })
  expect(await s3Objects(service.place).get('x', 1_000)).toEqual(packed.subarray(0, 1_000))
})
