import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const REFUSALS: Record<string, string> = {
  gone: '550 5.1.1 no such user here',
  closed: '550 5.2.1 this account is disabled',
  full: '552 5.2.2 mailbox is full',
  moved: '550 5.1.2 the domain does not exist',
}

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx({ script: { rcpt: (address) => REFUSALS[address.split('@')[0]!] ?? null } })
  server = await startTestServer({
    remote,
    config: { sending: { hard_bounces: ['no_mailbox', 'mailbox_disabled'] } },
  })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

test.each([
  ['gone', 'no_mailbox', 'hard', "says this mailbox doesn't exist. We stopped sending to"],
  ['closed', 'mailbox_disabled', 'hard', 'It is a hard bounce, because sending.hard_bounces names mailbox_disabled'],
  [
    'full',
    'mailbox_full',
    'soft',
    "says this mailbox is full. Postrider won't try again. The address itself is not the cause",
  ],
  ['moved', 'no_domain', 'soft', 'It is a soft bounce, because sending.hard_bounces does not name no_domain'],
])('an address that is %s has the class %s and bounces %s, and explain says why', async (name, said, type, why) => {
  const to = `${name}@a.remote.example`
  const { body } = await server.send({ to })
  await server.ended(body.id)
  const { data: events } = await server.read(`/v1/messages/${body.id}/events`)
  expect(events).toMatchObject([{ type: 'message.bounced', data: { bounce_type: type, will_retry: false } }])
  const [recipient] = (await server.read(`/v1/messages/${body.id}/explain`)).recipients
  expect(recipient.bounce_class).toBe(said)
  expect(recipient.explanation.join(' ')).toContain(why)
  expect(await server.read(`/v1/explain?to=${to}`)).toMatchObject({ would_send: type === 'soft' })
})
