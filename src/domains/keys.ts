import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { DkimKeyRecord, DkimState, Domain } from '../model/domain.ts'
import { base32 } from '../os/ids.ts'
import type { Random } from '../os/random.ts'

/** Creates a domain's two keys, RSA-2048 and Ed25519 (RFC 8301 §3.2, RFC 8463). Their selectors begin with `stem`, by
 *  default a random one: `pr2611k3x9r` and `pr2611k3x9e`. Runs on another thread: RSA takes some hundred milliseconds. */
export async function mintDkimKeys(
  state: DkimState,
  now: number,
  random: Random,
  stem: string = randomStem(now, random),
): Promise<DkimKeyRecord[]> {
  const since = state === 'pending' ? null : now
  const [rsa, ed25519] = await Promise.all([
    generate('rsa', { modulusLength: 2048, ...ENCODING }),
    generate('ed25519', ENCODING),
  ])
  return [
    {
      selector: `${stem}r`,
      algorithm: 'rsa-sha256',
      state,
      publicKey: rsa.publicKey.toString('base64'),
      privateKeyPem: rsa.privateKey,
      createdAt: now,
      since,
    },
    {
      selector: `${stem}e`,
      algorithm: 'ed25519-sha256',
      state,
      publicKey: ed25519.publicKey.subarray(-32).toString('base64'), // the raw key without its SPKI header
      privateKeyPem: ed25519.privateKey,
      createdAt: now,
      since,
    },
  ]
}

/** A new domain with its own keys (mintDkimKeys). They are `active` from the start: test mail is signed at once; live
 *  mail requires `verified` unless the config says otherwise. `name` comes from checkDomainName. */
export function newDomain(
  facts: { id: string; organizationId: string; name: string },
  now: number,
  dkim: DkimKeyRecord[],
): Domain {
  return {
    ...facts,
    status: 'pending',
    createdAt: now,
    verifiedAt: null,
    lastCheckedAt: null,
    dkim,
    returnPathHost: `${RETURN_PATH_LABEL}.${facts.name}`,
    tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
    findings: [],
    provedBy: null,
    missingSince: null,
    reason: null,
    nextCheckAt: now,
    publishAt: null,
    publishFault: null,
  }
}

/** Selectors of keys that signed no mail for `retirementMs`, so that none of their mail is in transit. */
export function endedSelectors({ dkim }: Pick<Domain, 'dkim'>, now: number, retirementMs: number): string[] {
  return dkim
    .filter(({ state, since, createdAt }) => state === 'retiring' && now - (since ?? createdAt) >= retirementMs)
    .map(({ selector }) => selector)
}

/** Maximum age of a message (ms) → how long a key that no longer signs stays published. At least seven days; longer for
 *  mail that waits longer here, because it waits at a relay afterwards (RFC 5321 §4.5.4.1: four to five days). */
export const retirementMs = (maxAgeMs: number) => Math.max(7 * DAY_MS, maxAgeMs + 5 * DAY_MS)

function randomStem(now: number, random: Random): string {
  return `pr${new Date(now).toISOString().slice(2, 7).replace('-', '')}${base32(random.bytes(5)).slice(0, 6)}`
}

const RETURN_PATH_LABEL = 'bounces'
const DAY_MS = 86_400_000
const ENCODING = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const

const generate = promisify(generateKeyPair) as unknown as (
  type: 'rsa' | 'ed25519',
  options: object,
) => Promise<{ publicKey: Buffer; privateKey: string }>
