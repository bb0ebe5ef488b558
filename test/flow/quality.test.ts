import { afterEach, beforeEach, expect, test } from 'bun:test'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

/** Too many hard bounces of a domain: published, live mail stopped where the config says so, and published again at
 *  the end. */

let remote: RemoteMx
let server: TestServer
beforeEach(async () => {
  remote = await startRemoteMx({
    script: { rcpt: (address) => (address.startsWith('gone') ? '550 5.1.1 no such user' : null) },
  })
  const quality = { bounce_rate: 0.3, min_sent: 5, window_hours: 0.05, stop_sending: true }
  server = await startTestServer({ remote, config: { quality } })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

/** `quality.alert` events that the webhook got, oldest first. */
const alerts = (): Json[] =>
  server.receiver.requests.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'quality.alert')

test('an alert starts, stops live mail, survives a restart, and ends when its window has passed', async () => {
  const to = ['gone1', 'gone2', 'gone3', 'ann', 'bob'].map((name) => `${name}@one.remote.example`)
  const sent = await server.send({ to })
  expect(sent.status).toBe(202)
  await server.ended(sent.body.id)
  // Its window is three minutes, so time passes only until it is found.
  const isStopped = async () => (await server.read('/v1/quality')).data[0]?.sending_stopped === true
  await untilInTime(server.clock, 'the alert', isStopped)
  await until('its event', () => alerts().length === 1)
  const [firing] = alerts()
  expect(firing.data).toMatchObject({ domain: DOMAIN, metric: 'bounce_rate', value: 0.6, threshold: 0.3 })
  expect(firing.data).toMatchObject({ window_hours: 0.05, sent: 5, affected: 3, state: 'firing' })

  const refused = await server.send()
  expect([refused.status, refused.body.error.code, refused.body.error.field]).toEqual([422, 'invalid_state', 'from'])
  expect(refused.body.error.details).toMatchObject({ reason: 'quality_alert', alert_id: firing.data.alert_id })
  const batch = await server.ask('POST', '/v1/messages/batch', {
    messages: [{ from: `a@${DOMAIN}`, to, subject: 's', text: 't' }],
  })
  expect(batch.body.data).toMatchObject([{ error: { code: 'invalid_state' } }])
  const rehearsal = await server.send({}, { authorization: `Bearer ${server.keys.test}` })
  expect(rehearsal.status).toBe(202)
  expect((await server.read('/v1/quality')).data).toMatchObject([{ sending_stopped: true, bounce_rate: 0.6 }])

  await server.stop()
  await server.reopen()
  expect((await server.send()).status).toBe(422)
  await untilInTime(server.clock, 'the end of the alert', async () => !(await isStopped()))
  await until('its event', () => alerts().length > 1)
  expect(alerts()).toHaveLength(2)
  const [, resolved] = alerts()
  expect(resolved.data).toEqual({ ...firing.data, value: 0, sent: 0, affected: 0, state: 'resolved' })
  const heldMs = Date.parse(resolved.timestamp) - Date.parse(firing.timestamp)
  expect(heldMs).toBeGreaterThan(150_000)
  expect(heldMs).toBeLessThan(220_000)
  expect((await server.send()).status).toBe(202)
})

test('sent mail is in the statistics, test mail separately', async () => {
  const live = await server.send({ to: ['gone1@one.remote.example', 'ann@one.remote.example'], tags: ['receipt'] })
  await server.ended(live.body.id)
  for (const name of ['click', 'bounce', 'suppressed', 'defer', 'complain', 'unsubscribe']) {
    await server.send({ to: `${name}@one.remote.example` }, { authorization: `Bearer ${server.keys.test}` })
  }
  const totals = async (query: string) => {
    const answer = await server.read(`/v1/stats?${query}`)
    return Object.fromEntries(Object.entries(answer.totals).filter(([, count]) => count !== 0))
  }
  const bounced = { bounced: 1, hard_bounced: 1 }
  const ofLive = { accepted: 2, delivered: 1, ...bounced, delivery_rate: 0.5, bounce_rate: 0.5 }
  expect(await totals('')).toEqual(ofLive)
  expect(await totals('interval=hour&tag=receipt')).toEqual(ofLive)
  const rates = { delivery_rate: 0.8, bounce_rate: 0.2, complaint_rate: 0.25, open_rate: 0.25, click_rate: 0.25 }
  const read = { opened: 1, unique_opened: 1, clicked: 1, unique_clicked: 1, complained: 1, unsubscribed: 1 }
  const ofTest = { accepted: 6, delivered: 4, deferred: 1, suppressed: 1, ...bounced, ...read, ...rates }
  expect(await totals('mode=test')).toEqual(ofTest)
})
