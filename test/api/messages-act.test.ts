import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { suppressionKey } from '../../src/model/suppression.ts'
import { MAIL, openMessageHouse, START } from './messages-house.ts'

let house: Awaited<ReturnType<typeof openMessageHouse>>
beforeAll(async () => {
  house = await openMessageHouse()
})
afterAll(() => house.close())

const DAY = 86_400_000
const at = (ms: number) => new Date(START + ms).toISOString()
const act = (id: string, what: string, more = {}) => house.ask('POST', `/v1/messages/${id}/${what}`, undefined, more)
const patch = (id: string, body: unknown, more = {}) => house.ask('PATCH', `/v1/messages/${id}`, body, more)
const claim = () =>
  house.store.deliveries.claimDue({
    now: house.clock.now(),
    limit: 100,
    lease: { worker: 'w', until: house.clock.now() + 60_000 },
    freeFor: () => 100,
  })

describe('scheduling', () => {
  test('a message for later waits until then', async () => {
    const { status, body } = await house.send({ ...MAIL, scheduled_at: at(DAY), expires_in: 60 })
    expect([status, body.status, body.scheduled_at]).toEqual([202, 'scheduled', at(DAY)])
    const [delivery] = await house.store.messages.deliveries(body.id)
    expect(delivery).toMatchObject({ status: 'scheduled', nextAttemptAt: START + DAY })
    // The time limit runs from when the mail is due, not from when it was handed in.
    expect((await house.store.messages.get(body.id))!.expiresAt).toBe(START + DAY + 60_000)
  })

  test.each([at(0), at(-DAY), '2020-01-01T00:00:00+02:00'])('%s is now', async (scheduled_at) => {
    const { body } = await house.send({ ...MAIL, scheduled_at })
    expect([body.status, body.scheduled_at]).toEqual(['queued', undefined])
  })

  test('30 days ahead is the limit', async () => {
    expect((await house.send({ ...MAIL, scheduled_at: at(30 * DAY) })).status).toBe(202)
    expect((await house.send({ ...MAIL, scheduled_at: at(30 * DAY + 1) })).status).toBe(400)
  })

  test('a scheduled message can be moved, and the outbound room hears of it', async () => {
    const { body } = await house.send({ ...MAIL, scheduled_at: at(DAY) })
    const before = house.woken.outbound
    const moved = await patch(body.id, { scheduled_at: at(2 * DAY) })
    expect([moved.status, moved.body.status, moved.body.scheduled_at]).toEqual([200, 'scheduled', at(2 * DAY)])
    expect(moved.body.recipients[0].next_attempt_at).toBe(at(2 * DAY))
    expect(house.woken.outbound).toBe(before + 1)
    const past = await patch(body.id, { scheduled_at: at(-DAY) })
    expect(past.body.scheduled_at).toBe(at(0))
  })

  test.each([
    [{}, 'scheduled_at'],
    [{ scheduled_at: null }, 'scheduled_at'],
    [{ scheduled_at: at(31 * DAY) }, 'scheduled_at'],
    [{ scheduled_at: at(DAY), subject: 'x' }, 'subject'],
  ])('moving with %j is 400', async (change, field) => {
    const { body } = await house.send({ ...MAIL, scheduled_at: at(DAY) })
    const answer = await patch(body.id, change)
    expect([answer.status, answer.body.error.field]).toEqual([400, field])
  })

  test('a message that is queued cannot be moved', async () => {
    const { body } = await house.send(MAIL)
    const answer = await patch(body.id, { scheduled_at: at(DAY) })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'invalid_state'])
  })
})

describe('cancelling', () => {
  test.each([{}, { scheduled_at: at(DAY) }])('what waits is cancelled for good: %j', async (when) => {
    const { body } = await house.send({ ...MAIL, ...when, to: ['a@r.example', 'b@r.example'] })
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

  test('what is under way cannot be cancelled', async () => {
    const { body } = await house.send(MAIL)
    expect((await claim()).map(({ message }) => message.id)).toContain(body.id)
    expect((await act(body.id, 'cancel')).status).toBe(422)
  })

  test('what is over cannot be cancelled', async () => {
    const { body } = await house.send(MAIL, { key: house.keys.test })
    expect((await act(body.id, 'cancel')).status).toBe(422)
  })
})

describe('sending again', () => {
  test('makes a new message of the same content for the same people', async () => {
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
    const { body: first } = await house.send(mail)
    await house.clock.advance(1000)
    const answer = await act(first.id, 'resend')
    expect([answer.status, answer.body.status]).toEqual([202, 'queued'])
    expect(answer.body.id).not.toBe(first.id)
    expect(answer.body.recipients).toEqual(first.recipients)

    const recordOf = async (id: string) => (await house.ask('GET', `/v1/messages/${id}`)).body
    const [before, after] = [await recordOf(first.id), await recordOf(answer.body.id)]
    const { id, message_id_header, created_at, recipients, ...same } = before
    expect(after).toMatchObject(same)
    expect(after.message_id_header).not.toBe(message_id_header)
    const contentOf = async (id: string) => ({ ...(await house.ask('GET', `/v1/messages/${id}/content`)).body, id: '' })
    expect(await contentOf(after.id)).toEqual(await contentOf(first.id))
    const message = await house.store.messages.get(after.id)
    const asked = { requireTls: true, unsubscribe: true, trackOpens: true, trackClicks: true }
    expect(message).toMatchObject({ expiresAt: house.clock.now() + 60_000, ...asked })
  })

  test('leaves out who is suppressed by now', async () => {
    const { body } = await house.send({ ...MAIL, to: ['left@remote.example', 'ann@remote.example'] })
    await house.store.suppressions.add({
      id: house.mintId('sup'),
      organizationId: house.organizationId,
      domainId: null,
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
    const { body } = await house.send(MAIL)
    expect((await act(body.id, 'resend', { key: house.keys.unverified })).status).toBe(403)
    const other = await act(body.id, 'resend', { key: house.keys.test })
    expect([other.status, other.body.error.code]).toEqual([404, 'not_found'])
    const rehearsal = await house.send(MAIL, { key: house.keys.test })
    const live = await act(rehearsal.body.id, 'resend')
    expect([live.status, live.body.error.code]).toEqual([422, 'invalid_state'])
  })

  test('a cancelled message may be sent after all, a test message plays out again', async () => {
    const { body } = await house.send(MAIL)
    await act(body.id, 'cancel')
    expect((await act(body.id, 'resend')).body.status).toBe('queued')
    const key = house.keys.test
    const rehearsal = await house.send({ ...MAIL, to: 'bounce@remote.example' }, { key })
    expect((await act(rehearsal.body.id, 'resend', { key })).body.status).toBe('bounced')
  })

  test('takes no fields', async () => {
    const { body } = await house.send(MAIL)
    const answer = await house.ask('POST', `/v1/messages/${body.id}/resend`, { to: 'x@y.example' })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'to'])
  })
})

test.each(['cancel', 'resend'])('%s of another organization’s message is 403, of none 404', async (what) => {
  const { body } = await house.send(MAIL)
  expect((await act(body.id, what, { key: house.keys.other })).status).toBe(403)
  expect((await act(house.mintId('msg'), what)).status).toBe(404)
  expect((await patch(body.id, { scheduled_at: at(DAY) }, { key: house.keys.other })).status).toBe(403)
})
