import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { suppressionKey } from '../../src/model/suppression.ts'
import { claimDue } from '../support/claim.ts'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const DAY = 86_400_000
const at = (ms: number) => new Date(START + ms).toISOString()
const act = (id: string, what: string, more = {}) => server.ask('POST', `/v1/messages/${id}/${what}`, undefined, more)
const patch = (id: string, body: unknown, more = {}) => server.ask('PATCH', `/v1/messages/${id}`, body, more)
const claim = () =>
  claimDue(server.store.deliveries, {
    now: server.clock.now(),
    limit: 100,
    worker: 'w',
    freeFor: () => 100,
  })

describe('scheduling', () => {
  test('a message for later waits until its time', async () => {
    const { status, body } = await server.send({ ...MAIL, scheduled_at: at(DAY), expires_in: 60 })
    expect([status, body.status, body.scheduled_at]).toEqual([202, 'scheduled', at(DAY)])
    const [delivery] = await server.store.messages.deliveries(body.id)
    expect(delivery).toMatchObject({ status: 'scheduled', nextAttemptAt: START + DAY })
    // `expires_in` starts when the message is due, not when it is submitted.
    expect((await server.store.messages.get(body.id))!.expiresAt).toBe(START + DAY + 60_000)
  })

  test.each([at(0), at(-DAY), '2020-01-01T00:00:00+02:00'])('%s means now', async (scheduled_at) => {
    const { body } = await server.send({ ...MAIL, scheduled_at })
    expect([body.status, body.scheduled_at]).toEqual(['queued', undefined])
  })

  test('30 days ahead is the limit', async () => {
    expect((await server.send({ ...MAIL, scheduled_at: at(30 * DAY) })).status).toBe(202)
    expect((await server.send({ ...MAIL, scheduled_at: at(30 * DAY + 1) })).status).toBe(400)
  })

  test('a scheduled message can be moved, and the delivery loop is notified', async () => {
    const { body } = await server.send({ ...MAIL, scheduled_at: at(DAY) })
    const before = server.woken.outbound
    const moved = await patch(body.id, { scheduled_at: at(2 * DAY) })
    expect([moved.status, moved.body.status, moved.body.scheduled_at]).toEqual([200, 'scheduled', at(2 * DAY)])
    expect(moved.body.recipients[0].next_attempt_at).toBe(at(2 * DAY))
    expect(server.woken.outbound).toBe(before + 1)
    const past = await patch(body.id, { scheduled_at: at(-DAY) })
    expect(past.body.scheduled_at).toBe(at(0))
  })

  test.each([
    [{}, 'scheduled_at'],
    [{ scheduled_at: null }, 'scheduled_at'],
    [{ scheduled_at: at(31 * DAY) }, 'scheduled_at'],
    [{ scheduled_at: at(DAY), subject: 'x' }, 'subject'],
  ])('moving with %j is 400', async (change, field) => {
    const { body } = await server.send({ ...MAIL, scheduled_at: at(DAY) })
    const answer = await patch(body.id, change)
    expect([answer.status, answer.body.error.field]).toEqual([400, field])
  })

  test('a message that is queued cannot be moved', async () => {
    const { body } = await server.send(MAIL)
    const answer = await patch(body.id, { scheduled_at: at(DAY) })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'invalid_state'])
  })
})

describe('cancelling', () => {
  test.each([{}, { scheduled_at: at(DAY) }])('waiting deliveries are cancelled permanently: %j', async (when) => {
    const { body } = await server.send({ ...MAIL, ...when, to: ['a@r.example', 'b@r.example'] })
    const answer = await act(body.id, 'cancel')
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled'])
    expect(answer.body.recipients.map((each: { status: string }) => each.status)).toEqual(['cancelled', 'cancelled'])
    expect((await claim()).filter(({ message }) => message.id === body.id)).toEqual([])
    const again = await act(body.id, 'cancel')
    expect([again.status, again.body.error.code, again.body.error.details.status]).toEqual([
      422,
      'invalid_state',
      'cancelled',
    ])
  })

  test('a delivery under way cannot be cancelled', async () => {
    const { body } = await server.send(MAIL)
    expect((await claim()).map(({ message }) => message.id)).toContain(body.id)
    expect((await act(body.id, 'cancel')).status).toBe(422)
  })

  test('a final delivery cannot be cancelled', async () => {
    const { body } = await server.send(MAIL, { key: server.keys.test })
    expect((await act(body.id, 'cancel')).status).toBe(422)
  })
})

describe('sending again', () => {
  test('creates a new message with the same content for the same recipients', async () => {
    const mail = {
      ...MAIL,
      to: ['Ann <ann@remote.example>', 'bob@remote.example'],
      cc: 'c@remote.example',
      reply_to: 'help@example.com',
      headers: { 'X-A': 'b' },
      attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }],
      metadata: { order: 1 },
      tags: ['t'],
      expires_in: 60,
      require_tls: true,
      track_opens: true,
      track_clicks: true,
      unsubscribe: true,
    }
    const { body: first } = await server.send(mail)
    await server.clock.advance(1000)
    const answer = await act(first.id, 'resend')
    expect([answer.status, answer.body.status]).toEqual([202, 'queued'])
    expect(answer.body.id).not.toBe(first.id)
    expect(answer.body.recipients).toEqual(first.recipients)

    const recordOf = async (id: string) => (await server.ask('GET', `/v1/messages/${id}`)).body
    const [before, after] = [await recordOf(first.id), await recordOf(answer.body.id)]
    const { id, message_id_header, created_at, recipients, ...same } = before
    expect(after).toMatchObject(same)
    expect(after.message_id_header).not.toBe(message_id_header)
    const contentOf = async (id: string) => ({
      ...(await server.ask('GET', `/v1/messages/${id}/content`)).body,
      id: '',
    })
    expect(await contentOf(after.id)).toEqual(await contentOf(first.id))
    const message = await server.store.messages.get(after.id)
    const asked = { requireTls: true, unsubscribe: true, trackOpens: true, trackClicks: true }
    expect(message).toMatchObject({ expiresAt: server.clock.now() + 60_000, ...asked })
  })

  test('leaves out recipients that are suppressed by now', async () => {
    const { body } = await server.send({ ...MAIL, to: ['left@remote.example', 'ann@remote.example'] })
    await server.store.suppressions.add({
      id: server.mintId('sup'),
      organizationId: server.organizationId,
      domainId: null,
      stream: null,
      email: suppressionKey('left@remote.example'),
      reason: 'unsubscribe',
      messageId: null,
      createdAt: START,
      evidence: null,
      mode: 'live' as const,
    })
    const answer = await act(body.id, 'resend')
    expect(answer.body.recipients.map((each: { status: string }) => each.status)).toEqual(['suppressed', 'queued'])
  })

  test('needs a key of the same domain and mode', async () => {
    const { body } = await server.send(MAIL)
    expect((await act(body.id, 'resend', { key: server.keys.unverified })).status).toBe(403)
    const other = await act(body.id, 'resend', { key: server.keys.test })
    expect([other.status, other.body.error.code]).toEqual([404, 'not_found'])
    const rehearsal = await server.send(MAIL, { key: server.keys.test })
    const live = await act(rehearsal.body.id, 'resend')
    expect([live.status, live.body.error.code]).toEqual([422, 'invalid_state'])
  })

  test('works for a cancelled message, and repeats a test message', async () => {
    const { body } = await server.send(MAIL)
    await act(body.id, 'cancel')
    expect((await act(body.id, 'resend')).body.status).toBe('queued')
    const key = server.keys.test
    const rehearsal = await server.send({ ...MAIL, to: 'bounce@remote.example' }, { key })
    expect((await act(rehearsal.body.id, 'resend', { key })).body.status).toBe('bounced')
  })

  test('accepts no fields', async () => {
    const { body } = await server.send(MAIL)
    const answer = await server.ask('POST', `/v1/messages/${body.id}/resend`, { to: 'x@y.example' })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'to'])
  })
})

test.each(['cancel', 'resend'])(
  '%s of another organization’s message gets 403, of an unknown one 404',
  async (what) => {
    const { body } = await server.send(MAIL)
    expect((await act(body.id, what, { key: server.keys.other })).status).toBe(403)
    expect((await act(server.mintId('msg'), what)).status).toBe(404)
    expect((await patch(body.id, { scheduled_at: at(DAY) }, { key: server.keys.other })).status).toBe(403)
  },
)
