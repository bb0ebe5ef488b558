import { afterEach, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname } from 'node:path'
import { verifySignature } from '../../src/events/webhooks/sign.ts'
import { until } from '../support/patience.ts'
import { postrider, start } from './command.ts'

describe('try', () => {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  const startJson = async () => {
    const running = await start('try', '--json', '--port', '0')
    undo.push(() => running.kill('SIGKILL'))
    return { ...running, record: running.line.then(JSON.parse) }
  }

  test('--once sends one message to the mail server and its event to the webhook, all signatures valid', async () => {
    const walked = await postrider('try', '--once')
    expect(walked.stderr).toBe('')
    expect(walked.code).toBe(0)
    const stages = walked.stdout.split('\n').filter((line) => line.startsWith('  ✓ '))
    const names = stages.map((line) => line.slice(4).split(' ')[0])
    expect(names).toEqual(['ready', 'accepted', 'MX', 'delivered', 'mail', 'signatures', 'webhook'])
    expect(walked.stdout).toMatch(/rsa-sha256 \S+r pass, ed25519-sha256 \S+e pass/)
    expect(walked.stdout).toContain('X-Service-Signature valid, webhook-signature valid')
    expect(walked.stdout).not.toContain('\x1b') // no terminal, no colours
  })

  test('--once --json prints one object', async () => {
    const walked = await postrider('try', '--once', '--json')
    expect(walked.code).toBe(0)
    const { ok, stages } = JSON.parse(walked.stdout)
    expect(ok).toBe(true)
    expect(stages.every((stage: { ok: boolean }) => stage.ok)).toBe(true)
  })

  test.skipIf(Bun.which('curl') === null)(
    '--json prints one object whose curl lines work, and then nothing until SIGTERM ends it with 0',
    async () => {
      const running = await startJson()
      const record = await running.record
      expect(record).toMatchObject({ domain: 'postrider.example' })
      expect(record.dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/dashboard\/sign-in#token=[0-9A-Za-z]{40}$/)
      expect(record.api_key).toStartWith('svc_test_')
      expect(record.live_key).toStartWith('svc_live_')
      expect(existsSync(record.data_dir)).toBe(true)
      for (const [line, status] of [
        [record.curl, 'delivered'],
        [record.curl_live, 'queued'],
      ]) {
        const curl = Bun.spawnSync(['sh', '-c', line])
        expect(JSON.parse(curl.stdout.toString())).toMatchObject({ status })
      }
      running.kill('SIGTERM')
      const { code, stdout, stderr } = await running.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout.trim().split('\n')).toHaveLength(1)
      expect(existsSync(dirname(record.data_dir))).toBe(false)
    },
  )

  test('live mail gets real answers: an unknown domain bounces, and an unknown mailbox too', async () => {
    const running = await startJson()
    const { base_url, live_key } = await running.record
    const headers = { authorization: `Bearer ${live_key}`, 'content-type': 'application/json' }
    const send = async (to: string) => {
      const answer = await fetch(`${base_url}/v1/messages/send`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ from: 'a@postrider.example', to, subject: 'Hello', text: 'Hello' }),
      })
      const { id } = (await answer.json()) as { id: string }
      let status = ''
      await until(`the end of the message to ${to}`, async () => {
        const shown = await fetch(`${base_url}/v1/messages/${id}`, { headers })
        status = ((await shown.json()) as { status: string }).status
        return status === 'delivered' || status === 'bounced'
      })
      return status
    }
    const addresses = ['ann@gmail.com', 'bob@shop.example', 'ann@nowhere.invalid', 'bounce@shop.example']
    expect(await Promise.all(addresses.map(send))).toEqual(['delivered', 'delivered', 'bounced', 'bounced'])
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  test('webhook calls are forwarded unchanged, and a failing server is called again', async () => {
    const calls: { header: string; attempt: string; body: string }[] = []
    const second = Promise.withResolvers<void>()
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const header = request.headers.get('x-service-signature') ?? ''
        const attempt = request.headers.get('x-service-delivery-attempt') ?? ''
        calls.push({ header, attempt, body: await request.text() })
        if (calls.length === 2) second.resolve()
        return new Response(null, { status: calls.length === 1 ? 500 : 200 })
      },
    })
    undo.push(() => server.stop(true))
    const running = await start('try', '--json', '--port', '0', '--forward-to', `http://127.0.0.1:${server.port}/x`)
    undo.push(() => running.kill('SIGKILL'))
    const { base_url, api_key, webhook } = JSON.parse(await running.line)
    await fetch(`${base_url}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'a@postrider.example', to: 'b@c.example', subject: 'Hello', text: 'Hello' }),
    })
    await second.promise
    expect(calls.map(({ attempt }) => attempt)).toEqual(['1', '2'])
    expect(calls[0]!.body).toBe(calls[1]!.body)
    for (const { header, body } of calls) {
      expect(verifySignature(header, body, webhook.secret, Date.now())).toBe('valid')
    }
  })

  test('webhook calls are forwarded to this machine only', async () => {
    for (const url of ['https://localhost:1', 'http://192.0.2.1/', 'http://localhost.example/', 'nonsense']) {
      expect(await postrider('try', '--forward-to', url)).toMatchObject({ code: 2, stdout: '' })
    }
  })

  test('prints the lines of the README to paste; Ctrl-C ends it with 130', async () => {
    const running = await start('try', '--port', '0')
    undo.push(() => running.kill('SIGKILL'))
    const isExport = (line: string) => line.startsWith('export ')
    let lines = await running.lines(1)
    while (!lines.some(isExport)) lines = await running.lines(lines.length + 1)
    const shell = ['sh', '-c', `${lines.find(isExport)}; echo $API $KEY $TEST_KEY $SMTP $INBOUND`]
    expect(Bun.spawnSync(shell).stdout.toString()).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ svc_live_\w+ svc_test_\w+ 127\.0\.0\.1:\d+ 127\.0\.0\.1:\d+\n$/,
    )
    running.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
  })

  test('a requested port that is used is one line and exit code 1', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    undo.push(() => occupant.close())
    const { port } = occupant.address() as AddressInfo
    for (const more of [[], ['--once']]) {
      const refused = await postrider('try', '--port', String(port), ...more)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toStartWith(`port: 127.0.0.1:${port} is in use by another program. Find it as root: ss`)
    }
  })
})
