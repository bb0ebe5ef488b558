import { expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { compose } from '../../mail/compose.ts'
import { packContent } from '../../mail/content.ts'
import { NO_RECIPIENT_PARTS } from '../../mail/recipient-parts.ts'
import { createPreparer } from './prepare.ts'
import { createSignRsa, type SignRsa } from './system-rsa.ts'

const builtIn: SignRsa = (input, key) => sign('sha256', input, key)
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const input = Buffer.from('from:ann@example.com\r\n')

/** The library under trial and a clock: an operation takes as long as its turn says, on any machine. */
function trial(system: SignRsa, [ownMs, theirMs]: [number, number]) {
  let calls = 0
  let looks = 0
  let time = 0
  const counted: SignRsa = (...given) => {
    calls++
    return system(...given)
  }
  const now = () => {
    time += [0, ownMs, theirMs][looks++ % 3]!
    return time
  }
  return { signRsa: createSignRsa(now, () => counted), calls: () => calls }
}

function signTimes(count: number, signRsa: SignRsa): void {
  for (let i = 0; i < count; i++)
    expect(Buffer.from(signRsa(input, privateKey))).toEqual(Buffer.from(builtIn(input, privateKey)))
}

test('the system library signs like the built-in one for any key size', () => {
  const looks = [0, 2, 3]
  let at = 0
  const signRsa = createSignRsa(() => looks[at++ % 3]!)
  signTimes(8, signRsa)
  for (const modulusLength of [1024, 2048, 3072]) {
    const pair = generateKeyPairSync('rsa', { modulusLength })
    for (const size of [0, 1, 600, 100_000]) {
      const given = Buffer.alloc(size, 'a')
      expect(Buffer.from(signRsa(given, pair.privateKey))).toEqual(sign('sha256', given, pair.privateKey))
      expect(verify('sha256', given, pair.publicKey, signRsa(given, pair.privateKey))).toBe(true)
    }
  }
})

test('uses a faster library with equal signatures from the ninth signature on', () => {
  const { signRsa, calls } = trial(builtIn, [10, 7])
  signTimes(20, signRsa)
  expect(calls()).toBe(20)
})

test('stops using a library that gains nothing after eight signatures', () => {
  const { signRsa, calls } = trial(builtIn, [10, 9])
  signTimes(20, signRsa)
  expect(calls()).toBe(8)
})

test('stops using a library with other signatures at once and never sends one', () => {
  const flipped: SignRsa = (given, key) => {
    const signature = Buffer.from(builtIn(given, key))
    signature[3]! ^= 1
    return signature
  }
  const { signRsa, calls } = trial(flipped, [10, 1])
  signTimes(3, signRsa)
  expect(calls()).toBe(1)
})

test('uses the built-in library when the other is missing or fails', () => {
  for (const goodCalls of [0, 12]) {
    let done = 0
    const failing: SignRsa = (given, key) => {
      if (done++ >= goodCalls) throw new Error('no')
      return builtIn(given, key)
    }
    const { signRsa, calls } = trial(failing, [10, 1])
    signTimes(20, signRsa)
    expect(calls()).toBe(goodCalls + 1)
  }
  let opened = 0
  const missing = createSignRsa(
    () => 0,
    () => {
      opened++
      throw new Error('libcrypto.so.3: cannot open shared object file')
    },
  )
  signTimes(3, missing)
  expect(opened).toBe(1)
})

test('signs a mail to the same bytes with and without the library', () => {
  const mailbox = { name: null, local: 'ann', domain: 'example.com', address: 'ann@example.com' }
  const content = {
    from: mailbox,
    to: [mailbox],
    cc: [],
    replyTo: [],
    subject: 'Hello',
    dateAt: 0,
    messageId: '<1@example.com>',
    html: null,
    text: 'Hello',
    headers: [],
    attachments: [],
    boundarySeed: '1',
  }
  const job = {
    content: packContent(content),
    signingKeys: [
      { domain: 'example.com', selector: 's', algorithm: 'rsa-sha256' as const, privateKeyPem: pemOf(privateKey) },
    ],
    signedAt: 0,
    recipientParts: NO_RECIPIENT_PARTS,
  }
  const before = createPreparer().prepareNow(job)
  const preparer = createPreparer(createSignRsa(() => performance.now()))
  for (let i = 0; i < 10; i++) expect(preparer.prepareNow(job)).toEqual(before)
  expect(Buffer.from(before.parts[1])).toEqual(Buffer.from(compose(content)))
})

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
