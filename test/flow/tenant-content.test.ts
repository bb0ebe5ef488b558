import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createTransport } from 'nodemailer'
import { clientOptions } from '../smtp-submission/setup.ts'
import { slowness } from '../support/cpu-cost.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

/** Tenant content is parsed in threads. Whatever it costs there, the main thread with HTTP, SMTP and the engines
 *  continues. These inputs once blocked it for seconds; some still cost their thread much. */

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx()
  const smtp = { inbound: { listen: 'off' }, submission: { listen: '127.0.0.1:0' } }
  server = await startTestServer({
    remote,
    config: { smtp },
    preload: new URL('../support/hostile-thread.ts', import.meta.url).href,
    computeMs: 1_000,
  })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

/** CPU milliseconds that the main thread may take for a request; the expensive ones once took 2 s and more. CPU
 *  time, because the machine may be busy; on a slower one it grows. */
const FREE_MS = 500

const threadMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

/** Runs something → its result, and the CPU time of this thread. */
async function whileWatched<T>(work: () => Promise<T>): Promise<{ result: T; cpuMs: number }> {
  const before = threadMs()
  return { result: await work(), cpuMs: threadMs() - before }
}

async function handIn(raw: string): Promise<string> {
  const port = Number(server.running().listening.smtpSubmission!.split(':').pop())
  const client = createTransport(clientOptions(port, server.keys.test))
  const { response } = await client.sendMail({
    envelope: { from: `a@${DOMAIN}`, to: ['ann@remote.example'] },
    raw,
  })
  client.close()
  return /queued as (msg_\w+)/.exec(response)![1]!
}

// threat: tenant-content-holds-main-thread
test('a Content-ID of 60,000 brackets does not block the main thread', async () => {
  const id = await handIn(
    [
      `From: Ann <a@${DOMAIN}>`,
      'To: ann@remote.example',
      'Subject: brackets',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: image/png',
      `Content-ID: ${'<'.repeat(900)}`,
      ...Array(66).fill(` ${'<'.repeat(900)}`),
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n'),
  )
  for (const path of ['content', 'content?part=html', 'attachments/1']) {
    const { result, cpuMs } = await whileWatched(() => server.ask('GET', `/v1/messages/${id}/${path}`))
    expect([200, 404, 422]).toContain(result.status)
    expect(cpuMs).toBeLessThan(FREE_MS * (await slowness()))
  }
})

// threat: tenant-content-holds-main-thread
test('an analysis of 1,000 CSS values of 1,990 zeros does not block the main thread', async () => {
  const css = Array.from({ length: 1_000 }, (_, i) => `a{width:${'0'.repeat(1_985)}${i}}`).join('')
  const body = { from: `a@${DOMAIN}`, subject: 'zeros', html: `<style>${css}</style><p>x</p>` }
  const { result, cpuMs } = await whileWatched(() => server.ask('POST', '/v1/messages/analyze', body))
  expect([200, 422]).toContain(result.status)
  expect(cpuMs).toBeLessThan(FREE_MS * (await slowness()))
})

// threat: tenant-content-holds-main-thread
test('content that never finishes reading is refused with 422, and others are answered meanwhile', async () => {
  const { body } = await server.send({
    to: 'ann@a.remote.example',
    scheduled_at: '2026-11-25T12:00:00Z',
    headers: { 'X-Hostile': 'loop' },
  })
  const { body: healthy } = await server.send({ to: 'ben@a.remote.example', html: '<p>Hello</p>' })
  let isOver = false
  const asked = server.ask('GET', `/v1/messages/${body.id}/content`).finally(() => {
    isOver = true
  })
  const content = await server.read(`/v1/messages/${healthy.id}/content`)
  expect(content).toMatchObject({ id: healthy.id, html: '<p>Hello</p>', text: 'Hello' })
  expect(isOver).toBe(false)
  const { status, body: refused } = await asked
  expect(status).toBe(422)
  expect(refused.error).toMatchObject({ code: 'invalid_state', details: { reason: 'took_too_long' } })
  // The attempt to read it changed nothing: it can be cancelled.
  expect((await server.ask('POST', `/v1/messages/${body.id}/cancel`, {})).status).toBe(200)
})

test('templates are parsed and rendered in threads, and a send with one is the same as before', async () => {
  const { body: template } = await server.ask('POST', '/v1/templates', {
    name: 'Order',
    alias: 'order',
    subject: 'Order {{ number }}',
    html: '<p>{{ name }}</p>',
  })
  expect(template.variables).toEqual(['number', 'name'])
  const use = { template_id: 'order', subject: undefined, html: undefined, text: undefined }
  const { body } = await server.send({ ...use, variables: { number: 7, name: '<Ann>' } })
  expect(await server.read(`/v1/messages/${body.id}/content`)).toMatchObject({
    subject: 'Order 7',
    html: '<p>&lt;Ann&gt;</p>',
  })
  const { status, body: refused } = await server.send({ ...use, variables: { number: 7 } })
  expect([status, refused.error.code, refused.error.details.variable]).toEqual([422, 'template_error', 'name'])
  const faulty = await server.ask('POST', '/v1/templates', { name: 'x', html: '{% if %}' })
  expect([faulty.status, faulty.body.error.code, faulty.body.error.details.line]).toEqual([400, 'validation_error', 1])
})

test('a simulated click follows the link of the test mail', async () => {
  const headers = { authorization: `Bearer ${server.keys.test}` }
  const html = '<a href="https://shop.example/a?b=1&amp;c=2">x</a>'
  const { body } = await server.send({ to: 'click@a.remote.example', html }, headers)
  const later = '2026-11-21T12:30:00Z'
  const scheduled = await server.send({ to: 'click@a.remote.example', html, scheduled_at: later }, headers)
  await server.toNextAttempt(scheduled.body.id)
  await server.ended(scheduled.body.id)
  for (const id of [body.id, scheduled.body.id]) {
    const { data } = await server.read(`/v1/messages/${id}/events?type=message.clicked`)
    expect(data[0].data.url).toBe('https://shop.example/a?b=1&c=2')
  }
})
