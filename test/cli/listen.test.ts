import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { verifySignature } from '../../src/events/webhooks/sign.ts'
import { until } from '../support/patience.ts'
import { postrider, start, startWith, testFolder } from './command.ts'

describe('listen', () => {
  let place: ReturnType<typeof testFolder>
  const undo: (() => unknown)[] = []
  beforeEach(() => {
    place = testFolder()
    place.writeConfig()
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    place.remove()
  })

  const run = async (env: Record<string, string>, ...args: string[]) => {
    const command = await startWith(env, ...args)
    undo.push(() => command.kill('SIGKILL'))
    return command
  }
  const serve = async () => {
    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    await server.line
    return server
  }
  /** Creates an organization, a domain and a sandbox key. */
  const addRecords = async (): Promise<{ live: string; test: string }> => {
    const made = await postrider('init', '--domain', 'example.com', '--json', '--config', place.file)
    const create = ['key', 'create', '--domain', 'example.com', '--permission', 'send', '--mode', 'test']
    const key = await postrider(...create, '--json', '--config', place.file)
    return { live: JSON.parse(made.stdout).api_key, test: JSON.parse(key.stdout).key }
  }
  const send = (api: string, key: string, to: string) =>
    fetch(`${api}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'a@example.com', to, subject: 'Hello', text: 'Hello' }),
    })
  const idsOf = (lines: string[]) => lines.map((line) => JSON.parse(line).id as string)

  test('a config on the command line means the local store, whatever POSTRIDER_URL says', async () => {
    const { live } = await addRecords()
    const elsewhere = { POSTRIDER_URL: 'http://127.0.0.1:9', POSTRIDER_API_KEY: live }
    const listening = await run(elsewhere, 'listen', '--config', place.file)
    await until('it listens', () => listening.complaints().includes('Press Ctrl-C'))
    expect(listening.complaints()).toContain(place.dataDir)
  })

  test('a killed server that comes back loses nothing and repeats nothing', async () => {
    const keys = await addRecords()
    const server = await serve()
    const { http } = JSON.parse(await server.line)
    const api = `http://${http}`
    place.writeConfig(http) // where it comes back
    const listening = await run({ POSTRIDER_API_KEY: keys.live }, 'listen', '--url', api, '--json', '--after', '')
    let sent = 0
    const sendSome = async () => {
      const accepted = Array.from({ length: 10 }, () => send(api, keys.test, `u${sent++}@example.net`))
      for (const answer of await Promise.all(accepted)) expect(answer.status).toBe(202)
    }
    await sendSome()
    await listening.lines(10)
    await sendSome()
    server.kill('SIGKILL')
    await server.ended
    const again = await serve()
    await sendSome()
    const lines = await listening.lines(sent)
    listening.kill('SIGINT')
    const ended = await listening.ended
    expect([ended.code, ended.stdout.split('\n').length - 1]).toEqual([130, sent])

    const listed = await fetch(`${api}/v1/events?after=&limit=100`, {
      headers: { authorization: `Bearer ${keys.live}` },
    })
    const events = ((await listed.json()) as { data: { id: string }[] }).data
    expect(idsOf(lines)).toEqual(events.map(({ id }) => id))
    expect(lines.map((line) => JSON.parse(line))).toEqual(events)
    again.kill('SIGTERM')
    expect((await again.ended).code).toBe(0)
  })

  test('beside the store needs no key and no server, and posts with a valid signature', async () => {
    await addRecords()
    const posts: { headers: Headers; body: string }[] = []
    const target = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        posts.push({ headers: request.headers, body: await request.text() })
        return new Response(null, { status: 204 })
      },
    })
    undo.push(() => target.stop(true))
    const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
    const to = `http://127.0.0.1:${target.port}/hook`
    const options = ['--events', 'message.bounced', '--forward-to', to, '--secret', secret, '--after', '']
    const listening = await run({}, 'listen', '--config', place.file, ...options)
    const mail = ['--from', 'a@example.com', '--subject', 'x', '--text', 'x', '--mode', 'test', '--config', place.file]
    for (const to of ['ann@example.net', 'bounce@example.net']) {
      expect((await postrider('send', '--to', to, ...mail)).code).toBe(0)
    }
    const [event, post] = await listening.lines(2)
    expect(event).toMatch(
      /^\d\d:\d\d:\d\d message\.bounced +bounce@example\.net \(sandbox\) {2}evt_\w{26} {2}hard 5\.1\.1 /,
    )
    expect(post).toMatch(/^\d\d:\d\d:\d\d {3}evt_\w{26} → 204 \(\d+ ms\)$/)
    listening.kill('SIGINT')
    const { code, stderr } = await listening.ended
    expect(code).toBe(130)
    expect(stderr).toContain(`Posting to ${to}, signed with ${secret}`)
    expect(posts).toHaveLength(1)
    const { headers, body } = posts[0]!
    const signature = headers.get('x-service-signature') ?? ''
    expect(verifySignature(signature, body, secret, Date.now())).toBe('valid')
    expect(JSON.parse(body).data.to).toBe('bounce@example.net')
  })

  // threat: event-stream-abuse
  test('reports in one line what it cannot do', async () => {
    await addRecords()
    const beside = ['--config', place.file]
    const cases: [number, string, Record<string, string>, string[]][] = [
      [
        2,
        'forward-to: expected an https:// URL, or http://',
        {},
        [...beside, '--forward-to', 'http://example.com/hook'],
      ],
      [2, 'secret: expected whsec_', {}, [...beside, '--secret', 'x']],
      [2, 'Expected a comma-separated list of: message.delivered,', {}, [...beside, '--events', 'message.sent']],
      [2, 'after: no stored event has this id', {}, [...beside, '--after', 'evt_x']],
      [2, 'url: expected an API key', {}, ['--url', 'http://127.0.0.1:1']],
      [
        2,
        'url: expected https://, or http:// to localhost',
        { POSTRIDER_API_KEY: 'svc_live_x' },
        ['--url', 'http://example.com'],
      ],
    ]
    for (const [code, message, env, args] of cases) {
      const { ended } = await run(env, 'listen', ...args)
      const { stderr, ...rest } = await ended
      expect([args, rest]).toEqual([args, { code, stdout: '' }])
      expect(stderr).toContain(message)
      expect(stderr).not.toContain('svc_live_x')
    }
  })
})
