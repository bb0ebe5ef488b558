import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Json = any

describe('looking up mail', () => {
  const place = testFolder('[webhooks]\nallowed_private_networks = ["127.0.0.0/8"]\n')
  const postrider = postriderInOneProcess()
  const run = (...args: string[]) => postrider(...args, '--config', place.file)
  const text = async (...args: string[]) => {
    const { stdout, stderr, code } = await run(...args)
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
    return stdout
  }
  const json = async (...args: string[]): Promise<Json> => JSON.parse(await text(...args, '--json'))
  const send = (to: string) =>
    json('send', '--from', 'a@example.com', '--to', to, '--subject', `For ${to}`, '--text', 'x', '--mode', 'test')
  const expectRefused = async (code: number, line: string, ...args: string[]) => {
    const { stderr, ...rest } = await run(...args)
    expect([rest, stderr.trim()]).toEqual([{ code, stdout: '' }, line])
  }
  const hook = ['--url', 'https://127.0.0.1:9/hook']
  let bounced: Json

  beforeAll(async () => {
    place.writeConfig()
    await json('init', '--domain', 'example.com')
    await send('ann@example.net')
    bounced = await send('bounce@example.net')
  })
  afterAll(() => place.remove())

  test('messages are listed, shown, explained and resent', async () => {
    const { id } = bounced
    const listed = await json('message', 'list', '--status', 'bounced')
    expect(listed.data.map((each: Json) => each.id)).toEqual([id])
    expect(await text('message', 'list', '--limit', '1')).toMatch(
      new RegExp(
        `^TIME +ID +STATUS +TO +SUBJECT\\n\\S+ +${id} +bounced +bounce@example.net +For bounce@example.net\\n$`,
      ),
    )
    const [head, accepted, step] = (await text('message', 'show', id)).split('\n')
    expect(head).toBe(`${id} is bounced   For bounce@example.net`)
    expect(accepted).toMatch(/^\d\d:\d\d:\d\d accepted {3}from a@example\.com$/)
    expect(step).toMatch(/^\d\d:\d\d:\d\d bounced {4}bounce@example\.net .*5\.1\.1/)
    expect(await json('message', 'show', id)).toMatchObject({ id, attempts: [{ outcome: 'bounced' }], reports: [] })

    expect(await text('message', 'explain', id)).toMatch(/is bounced\n\nbounce@example\.net is bounced\n {2}\S/)
    expect(await text('explain', '--to', 'ann@example.net')).toMatch(
      /^A message from example\.com to ann@example\.net would not be sent\n {2}/, // its domain is not verified
    )
    expect((await json('explain', '--to', 'ann@example.net')).refused_with).toBe('domain_not_verified')
    expect(await text('message', 'resend', id)).toMatch(/^msg_\w{26} is bounced\n$/)
    await expectRefused(1, 'Only messages that are not yet sent can be cancelled.', 'message', 'cancel', id)
    const nowhere = 'message: no message msg_x. List recent messages with: postrider message list'
    await expectRefused(1, nowhere, 'message', 'show', 'msg_x')
  })

  test('events are listed', async () => {
    const line = await text('event', 'list', '--message', bounced.id)
    expect(line).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d message\.bounced +bounce@example\.net \(sandbox\) {2}evt_\w{26} {2}hard 5\.1\.1 .*\n$/,
    )
    const { data } = await json('event', 'list', '--type', 'message.delivered')
    expect(data.map((each: Json) => each.data.to)).toEqual(['ann@example.net'])
    expect(await text('event', 'list', '--type', 'message.opened')).toBe('no events\n')
  })

  test('a message names the route of its replies, and the display name of their address', async () => {
    const route = await json('route', 'create', '--name', 'desk', '--address', 'desk@example.com', '--store')
    const mail = ['send', '--from', 'a@example.com', '--to', 'ann@example.net', '--subject', 'x', '--text', 'x']
    const named = [...mail, '--mode', 'test', '--reply-to-name', 'Shop help']
    const { id } = await json(...named, '--replies', 'desk')
    expect((await json('message', 'show', id)).replies).toBe(route.id)
    await expectRefused(2, 'reply_to_name requires replies', ...named)
  })

  test('explain lists the replies to a message', async () => {
    const { id } = await send('reply@example.net')
    expect(await text('message', 'explain', id)).toMatch(
      /\n {2}A reply arrived at \S+Z\.\n {2}Reply from reply@example\.net: sandbox\n$/,
    )
  })

  test('a webhook is created, and its events are replayed', async () => {
    const made = await json('webhook', 'create', ...hook, '--event', 'message.bounced', '--event', 'message.delivered')
    expect(made).toMatchObject({ events: ['message.bounced', 'message.delivered'], status: 'active' })
    expect(made.secret).toStartWith('whsec_')
    const { id } = made
    expect(await text('webhook', 'create', ...hook)).toMatch(
      /^whsec_\S+\n\nStore this secret now: it is shown only once/,
    )
    expect((await json('webhook', 'list')).data.map((each: Json) => each.events.length)).toEqual([8, 2])
    expect(await text('webhook', 'list')).not.toContain('whsec_')

    const event = await json('webhook', 'test', id, '--event', 'message.clicked')
    expect(event).toMatchObject({ type: 'message.clicked', data: { test: true } })
    expect(await text('webhook', 'replay', id, '--from', '2020-01-01')).toMatch(/^queued \d+ events for resending\n$/)
    const [delivery] = (await json('webhook', 'deliveries', id, '--event', 'message.clicked')).data
    expect(delivery).toMatchObject({ webhook_id: id, event_id: event.id, status: 'pending' })
    expect(await text('webhook', 'retry', delivery.id)).toBe(`retrying ${delivery.id} now\n`)
    expect(await text('webhook', 'deliveries', id, '--status', 'failed')).toBe('no deliveries yet\n')
  })

  test('a webhook is paused and resumed, gets another secret, and is deleted', async () => {
    const made = await json('webhook', 'create', ...hook)
    const { id } = made
    const rotated = await json('webhook', 'rotate-secret', id, '--grace', '0')
    expect(rotated.secret).not.toBe(made.secret)
    expect((await json('webhook', 'pause', id)).status).toBe('paused')
    await expectRefused(1, 'This webhook is paused. Set its status to active first.', 'webhook', 'test', id)
    expect(await text('webhook', 'resume', id)).toStartWith(`${id} is active   https://127.0.0.1:9/hook\n`)
    expect(await json('webhook', 'show', id)).toMatchObject({ id, status: 'active' })
    expect(await text('webhook', 'delete', id)).toBe(`${id} is deleted\n`)
    const gone = `webhook: no webhook ${id}. List webhooks with: postrider webhook list`
    await expectRefused(1, gone, 'webhook', 'show', id)
    await expectRefused(
      1,
      'delivery: no delivery whd_x. List deliveries with: postrider webhook deliveries WEBHOOK_ID',
      'webhook',
      'retry',
      'whd_x',
    )
    const refused = await run('webhook', 'create', '--url', 'http://example.com/')
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    const actions = (await json('audit')).data.map((each: Json) => each.action)
    for (const action of ['webhooks_create', 'webhooks_delete']) expect(actions).toContain(action)
  })
})
