import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'
import { customerAccepts } from '../support/verify.ts'

/** The exact posted body for each type of event. Only ids, which are new each time, are replaced. */

const GOLDEN = new URL('../golden/webhook-bodies.txt', import.meta.url)
const REPLIES: Record<string, string> = {
  gone: '550 5.1.1 no such user',
  policy: '550 5.7.1 not allowed',
  busy: '451 4.3.0 try again later',
  full: '452 4.2.2 mailbox full',
}

let remote: RawMx
let server: TestServer
beforeAll(async () => {
  remote = await startRawMx({
    script: (cue, line) => (cue === 'RCPT' ? (REPLIES[/<([a-z]+)@/.exec(line)![1]!] ?? null) : null),
  })
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

test('the bodies equal the golden ones, and those of the events API', async () => {
  const printed: string[] = []
  let posted = 0
  const print = async (title: string, id: string, count: number) => {
    posted += count
    await server.receiver.received(posted)
    const events = await server.eventsOf(id)
    const requests = server.receiver.requests.slice(-count)
    expect(requests.map(({ body }) => body).sort()).toEqual(events.map((event) => JSON.stringify(event)).sort())
    expect(requests.every((request) => customerAccepts(request, server.webhook.secret, START))).toBe(true)
    // Posts of one moment come in any order; the stream has the order of publication.
    for (const event of events) printed.push(`# ${title}\n${JSON.stringify(event, null, 2).replace(IDS, '<$1_id>')}\n`)
  }

  for (const name of ['delivered', ...Object.keys(REPLIES)]) {
    const { body } = await server.send({ to: `${name}@one.remote.example` })
    await server.tried(body.id, 1)
    await print(`live, ${name}`, body.id, name === 'full' ? 2 : 1)
  }
  const counts = { complain: 2, click: 3, unsubscribe: 2, defer: 2 }
  for (const [name, count] of Object.entries(counts)) {
    const body = {
      from: 'shop@sender.example',
      to: `${name}@x.example`,
      subject: 'Hi',
      html: '<a href="https://a.example/b">b</a>',
    }
    const { body: answer } = await server.ask('POST', '/v1/send', body, { authorization: `Bearer ${server.keys.test}` })
    await print(`sandbox, ${name}`, answer.id, count)
  }
  if (process.env.WRITE_GOLDEN) await Bun.write(GOLDEN, printed.join('\n'))
  expect(printed.join('\n')).toBe(readFileSync(GOLDEN, 'utf8'))
})

const IDS = /(msg|evt)_[0-9a-z]{26}/g
