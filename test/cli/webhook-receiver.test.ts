import { describe, expect, test } from 'bun:test'
import { colorsFor } from '../../src/cli/print.ts'
import { curlLine, describeTryOut } from '../../src/cli/try/format.ts'
import {
  type ArrivedCall,
  type ArrivedInbound,
  readCall,
  startWebhookReceiver,
} from '../../src/cli/try/webhook-receiver.ts'
import { signEnveloped } from '../../src/events/webhooks/sign.ts'
import { simulate } from '../../src/model/sandbox.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const NOW = Date.UTC(2026, 10, 21)
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const BODY = JSON.stringify({ id: 'evt_1', type: 'message.delivered', data: { message_id: 'msg_1' } })

/** The result for a call signed with SECRET. */
function received(options: { body?: string; secret?: string; now?: number; without?: string } = {}) {
  const { body = BODY, secret = SECRET, now = NOW, without } = options
  const secrets = { secret: SECRET, previous: null }
  const headers = new Headers(signEnveloped({ secrets, eventId: 'evt_1', body: BODY, attempt: 2, now: NOW }))
  if (without !== undefined) headers.delete(without)
  const call = readCall(headers, body, secret, now)
  return call && [call.serviceSignature, call.standardSignature]
}

describe('the webhook receiver of the try-out', () => {
  test('accepts both signatures of the sender', () => {
    expect(received()).toEqual(['valid', 'valid'])
  })

  test('reports another secret, another body, an old call and a missing header', () => {
    expect(received({ secret: OTHER })).toEqual(['mismatch', 'mismatch'])
    expect(received({ body: `${BODY} ` })).toEqual(['mismatch', 'mismatch'])
    expect(received({ now: NOW + 301_000 })).toEqual(['stale', 'stale'])
    expect(received({ without: 'webhook-signature' })).toEqual(['valid', 'malformed'])
    expect(received({ without: 'x-service-signature' })).toEqual(['malformed', 'valid'])
  })

  test('rejects a call that is not JSON', () => {
    expect(received({ body: 'hello' })).toBeNull()
  })
})

describe('its server', () => {
  const INBOUND = JSON.stringify({
    from: 'a@x.example',
    to: ['b@y.example'],
    subject: 'Hello',
    spf_result: 'pass',
    dkim_result: 'fail',
    dmarc_result: 'none',
  })

  async function withReceiver(
    forwardTo: URL | undefined,
    work: (
      post: (path: 'url' | 'inboundUrl', headers: Record<string, string>, body: string) => Promise<number>,
      arrived: { calls: ArrivedCall[]; inbound: ArrivedInbound[] },
    ) => Promise<void>,
  ) {
    const certificate = await selfSignedCertificate({ names: ['localhost'], now: Date.now() })
    const arrived = { calls: [] as ArrivedCall[], inbound: [] as ArrivedInbound[] }
    const receiver = startWebhookReceiver({
      certificate,
      clock: createFakeClock(NOW),
      forwardTo,
      onCall: (call) => arrived.calls.push(call),
      onInbound: (mail) => arrived.inbound.push(mail),
    })
    receiver.setSecrets({ webhook: SECRET, route: OTHER })
    const post = async (path: 'url' | 'inboundUrl', headers: Record<string, string>, body: string) => {
      const tls = { rejectUnauthorized: false }
      return (await fetch(receiver[path], { method: 'POST', headers, body, tls })).status
    }
    try {
      await work(post, arrived)
    } finally {
      await receiver.stop()
    }
  }
  const secrets = { secret: SECRET, previous: null }
  const signed = () => ({ ...signEnveloped({ secrets, eventId: 'evt_1', body: BODY, attempt: 2, now: NOW }) })

  test('reports events and inbound mail by their paths, and answers 204', async () => {
    await withReceiver(undefined, async (post, { calls, inbound }) => {
      expect(await post('url', signed(), BODY)).toBe(204)
      expect(await post('inboundUrl', { 'x-inbound-delivery-attempt': '3' }, INBOUND)).toBe(204)
      expect(calls).toEqual([
        {
          at: NOW,
          eventId: 'evt_1',
          type: 'message.delivered',
          data: { message_id: 'msg_1' },
          attempt: '2',
          serviceSignature: 'valid',
          standardSignature: 'valid',
          forwarded: null,
        },
      ])
      expect(inbound).toEqual([
        {
          at: NOW,
          from: 'a@x.example',
          to: ['b@y.example'],
          subject: 'Hello',
          verdicts: { spf: 'pass', dkim: 'fail', dmarc: 'none' },
          attempt: '3',
          signature: 'malformed',
          forwarded: null,
        },
      ])
    })
  })

  test('answers 400 to a body that is not JSON, and reports nothing', async () => {
    await withReceiver(undefined, async (post, arrived) => {
      expect([await post('url', {}, 'hello'), await post('inboundUrl', {}, 'hello')]).toEqual([400, 400])
      expect(arrived).toEqual({ calls: [], inbound: [] })
    })
  })

  test('forwards headers and body, and answers with the status of that server', async () => {
    const seen: string[] = []
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        seen.push(`${request.headers.get('x-service-signature')} ${await request.text()}`)
        return new Response(null, { status: 503 })
      },
    })
    const headers = signed()
    await withReceiver(new URL(`http://127.0.0.1:${server.port}/hook`), async (post, { calls, inbound }) => {
      expect(await post('url', headers, BODY)).toBe(503)
      expect(await post('inboundUrl', headers, INBOUND)).toBe(503)
      const signature = new Headers(headers).get('x-service-signature')
      expect(seen).toEqual([`${signature} ${BODY}`, `${signature} ${INBOUND}`])
      await server.stop(true)
      expect(await post('url', headers, BODY)).toBe(502)
      expect([...calls, ...inbound].map(({ forwarded }) => forwarded)).toEqual([503, 502, 503])
    })
  })
})

test('a curl line is one command of a POSIX shell', () => {
  const line = curlLine({ baseUrl: 'http://127.0.0.1:1' }, 'svc_test_x', 'ann@customer.example')
  const echoed = Bun.spawnSync(['sh', '-c', `curl() { for each; do echo "$each"; done; }; ${line}`])
  const words = echoed.stdout.toString().trim().split('\n')
  expect(words.slice(0, 6)).toEqual([
    '-s',
    'http://127.0.0.1:1/v1/messages/send',
    '-H',
    'Authorization: Bearer svc_test_x',
    '-H',
    'Content-Type: application/json',
  ])
  expect(JSON.parse(words[7]!)).toMatchObject({ to: 'ann@customer.example' })
})

test('the introduction names only recipients with a simulated result', () => {
  const tryOut = { webhook: {}, route: {} } as Parameters<typeof describeTryOut>[0]
  const names = describeTryOut(tryOut, 0, colorsFor({}, false)).match(/\w+@(?=[,)])/g) ?? []
  expect(names).toHaveLength(8)
  const delivered = simulate('ann@customer.example')
  for (const name of names) expect([name, simulate(`${name}customer.example`)]).not.toEqual([name, delivered])
})
