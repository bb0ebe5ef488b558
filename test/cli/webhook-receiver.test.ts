import { describe, expect, test } from 'bun:test'
import { colorsFor } from '../../src/cli/print.ts'
import { curlLine, describeTryOut } from '../../src/cli/try/format.ts'
import { readCall } from '../../src/cli/try/webhook-receiver.ts'
import { simulate } from '../../src/outbound/sandbox.ts'
import { signEnveloped } from '../../src/webhooks/sign.ts'

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
