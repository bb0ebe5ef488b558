import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'
import { talk } from '../support/talk.ts'

/** Sizes of chunks, as Bun reads them. RFC 9112 §7.1 */

let made: TestApi
let port: number
beforeAll(async () => {
  made = await createTestApi()
  port = (await made.api.listen({ host: '127.0.0.1', port: 0 })).port
})
afterAll(() => made.close())

const BODY = '{"text":"a body of 25 B"}'
/** A send of one chunk with this size, and a request behind it. */
const send = (size: string) => {
  const head = `POST /v1/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${made.own.keys.send.value}\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
  const behind = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
  return talk(port, [head, `${size}\r\n${BODY}\r\n0\r\n\r\n${behind}`])
}

test.each(['19', '0019', '19'.padStart(16, '0'), '19'.padStart(17, '0'), '19'.padStart(20, '0'), '19;a="b;c"'])(
  'a chunk of size %s is read',
  async (size) => {
    const answer = await send(size)
    expect(answer).toStartWith('HTTP/1.1 400 ')
    expect(answer).toContain('"field":"from"') // the body was read, and lacks it
  },
)

const OVERFLOWING = [16, 17, 18, 19, 20, 33].map((digits) => `1${'19'.padStart(digits - 1, '0')}`)
// threat: malformed-requests
test.each([...OVERFLOWING, 'f'.repeat(16), '+19', '0x19', '-19', ' 19', '19 ', '', '19;a\nb'])(
  'a chunk of size "%s" ends the connection with 400, and nothing behind it is served',
  async (size) => {
    expect(await send(size)).toMatch(/^HTTP\/1\.1 400 [ \w]+\r\nConnection: close\r\n\r\n$/)
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  },
)
