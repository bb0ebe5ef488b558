import { expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { compose } from '../mail/compose.ts'
import { packContent } from '../mail/content.ts'
import { NOTHING_OWN } from '../mail/own-parts.ts'
import { createPreparer } from './prepare.ts'
import { type SignRsa, systemRsa } from './system-rsa.ts'

/** A clock for which the second half of what is timed is quick, so that a test does not depend on the machine. */
function quickForTheSystem(): () => number {
  let calls = 0
  return () => (calls++ < 16 ? calls * 10 : 160 + calls)
}

const builtIn: SignRsa = (input, key) => sign('sha256', input, key)

test('the library of this system signs like the built-in one, whatever the size of the key', () => {
  const signRsa = systemRsa(quickForTheSystem())
  if (signRsa === null) return // no OpenSSL 3 here
  for (const modulusLength of [1024, 2048, 3072]) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
    for (const size of [0, 1, 600, 100_000]) {
      const input = Buffer.alloc(size, 'a')
      expect(Buffer.from(signRsa(input, privateKey))).toEqual(sign('sha256', input, privateKey))
      expect(verify('sha256', input, publicKey, signRsa(input, privateKey))).toBe(true)
    }
  }
})

test('a library that is quicker and signs alike is used', () => {
  expect(systemRsa(quickForTheSystem(), () => builtIn)).toBe(builtIn)
})

test('one that signs otherwise, gains nothing, fails or is not there is not', () => {
  const flipped: SignRsa = (input, key) => {
    const signature = Buffer.from(builtIn(input, key))
    signature[3]! ^= 1
    return signature
  }
  const failing: SignRsa = () => {
    throw new Error('no')
  }
  const missing = () => {
    throw new Error('libcrypto.so.3: cannot open shared object file')
  }
  let ticks = 0
  expect(systemRsa(quickForTheSystem(), () => flipped)).toBeNull()
  expect(
    systemRsa(
      () => ticks++,
      () => builtIn,
    ),
  ).toBeNull()
  expect(systemRsa(quickForTheSystem(), () => failing)).toBeNull()
  expect(systemRsa(quickForTheSystem(), missing)).toBeNull()
})

test('a mail is signed to the same bytes before and after the change', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
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
    own: NOTHING_OWN,
  }
  const preparer = createPreparer()
  const before = preparer.prepareNow(job)
  preparer.signRsaWith(systemRsa(quickForTheSystem()) ?? builtIn)
  expect(preparer.prepareNow(job)).toEqual(before)
  expect(Buffer.from(before[1])).toEqual(Buffer.from(compose(content)))
})

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
