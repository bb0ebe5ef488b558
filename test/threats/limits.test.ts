import { afterEach, expect, test } from 'bun:test'
import { openRelay } from '../smtp-submission/setup.ts'

/** Limits against a client that uses both listeners at the same time. */

let relay: Awaited<ReturnType<typeof openRelay>>
afterEach(() => relay.close())

const MAIL = { from: 'shop@example.com', to: 'ann@remote.example', subject: 'x', text: 'x' }

/** Thirty mails at once, every third by SMTP → how many each listener accepted. */
async function sendAtOnce(): Promise<{ http: number; smtp: number }> {
  const smtp = Array.from({ length: 10 }, () =>
    relay.handIn(MAIL).then(
      (response) => response.startsWith('250'),
      () => false,
    ),
  )
  const http = Array.from({ length: 20 }, async (_, n) => {
    const { status } = await relay.send({ ...MAIL, text: `${n}` })
    return status === 202
  })
  const taken = async (sent: Promise<boolean>[]) => (await Promise.all(sent)).filter(Boolean).length
  return { smtp: await taken(smtp), http: await taken(http) }
}

// threat: plan-limits-bypassed
test('the messages of a month are counted together for HTTP and SMTP, however parallel', async () => {
  relay = await openRelay({ plan: { messagesPerMonth: 22, requestsPerMinute: -1 } })
  const { http, smtp } = await sendAtOnce()
  expect(http + smtp).toBe(22)
  expect((await relay.send(MAIL)).status).toBe(422)
})

// threat: plan-limits-bypassed
test('the requests of a minute are counted together for HTTP and SMTP, however parallel', async () => {
  relay = await openRelay({ plan: { messagesPerMonth: -1, requestsPerMinute: 22 } })
  const { http, smtp } = await sendAtOnce()
  expect(http + smtp).toBe(22)
  expect((await relay.send(MAIL)).status).toBe(429)
})
