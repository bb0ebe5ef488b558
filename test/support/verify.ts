import { createHmac, timingSafeEqual } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver, mailauthResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { ReceivedRequest } from './receiver.ts'

/** The checks of a recipient, written from the documentation and without our signing code. */

/** Signature of a webhook request: `<t>.<raw body>`, HMAC-SHA256 with the whole secret, lower-case hex, constant
 *  time, five minutes. `now` in ms. */
export function customerAccepts(request: ReceivedRequest, secret: string, now: number): boolean {
  const parts = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.headers['x-service-signature'] ?? '')
  if (parts === null) return false
  const [, t, v1] = parts as unknown as [string, string, string]
  const expected = createHmac('sha256', secret).update(`${t}.`).update(request.bytes).digest()
  return timingSafeEqual(Buffer.from(v1, 'hex'), expected) && Math.abs(now / 1000 - Number(t)) <= 300
}

/** Standard Webhooks: `<id>.<timestamp>.<body>`, HMAC-SHA256 with the decoded secret, any of the `v1,` values. */
export function standardAccepts(request: ReceivedRequest, secret: string, now: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = request.headers
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.bytes).digest('base64')
  return (given ?? '').split(' ').includes(`v1,${expected}`) && Math.abs(now / 1000 - Number(timestamp)) <= 300
}

/** A received mail → `algorithm domain result` of each DKIM signature, by mailauth and the zone's keys. */
export async function dkimResults(raw: Uint8Array, zone: Zone): Promise<string[]> {
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  const { results } = await dkimVerify(Buffer.from(raw), { resolver: mailauthResolver(resolver) as never })
  resolver.close()
  return results.map(({ algo, signingDomain, status }) => `${algo} ${signingDomain} ${status.result}`).sort()
}
