import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { packContent } from '../../mail/content.ts'
import { NO_RECIPIENT_PARTS } from '../../mail/recipient-parts.ts'
import type { Unprepared } from './job.ts'
import { createPreparer } from './prepare.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

function mailOf(domain: string, bytes: number): Unprepared {
  const mailbox = { name: '', local: 'a', domain }
  const content = packContent({
    ...{ from: mailbox, to: [mailbox], cc: [], replyTo: [], subject: 's', text: 'x\n'.repeat(bytes / 2), html: null },
    ...{ headers: [], attachments: [], messageId: '<1@a.example>', boundarySeed: 's' },
  } as never)
  const key = { domain, selector: 's', algorithm: 'ed25519-sha256' as const, privateKeyPem }
  return { content, signingKeys: [key], signedAt: 0, recipientParts: NO_RECIPIENT_PARTS }
}

// threat: hostile-content-holds-delivery
test('expensive mails of one domain delay another domain by at most one of them', async () => {
  let now = 0
  const preparer = createPreparer(undefined, undefined, () => now)
  const order: string[] = []
  /** Each step of a mail takes as long as the test says, on any machine. */
  const prepare = async (domain: string, stepMs: number) => {
    await preparer.prepare(mailOf(domain, 100), () => (now += stepMs))
    order.push(domain)
  }
  const costly = Array.from({ length: 20 }, () => prepare('costly.example', 10))
  await new Promise(setImmediate)
  const light = Array.from({ length: 10 }, () => prepare('light.example', 0.01))
  await Promise.all([...costly, ...light])
  expect(order.length).toBe(30)
  expect(order.lastIndexOf('light.example')).toBeLessThan(14)
})

test('mails of one domain keep their order', async () => {
  const preparer = createPreparer()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 3_000 }, (_, n) => preparer.prepare(mailOf('a.example', 10)).then(() => order.push(n))),
  )
  expect(order).toEqual(Array.from({ length: 3_000 }, (_, n) => n))
})

test('a mail that cannot be composed rejects and delays no other', async () => {
  const preparer = createPreparer()
  const broken = preparer.prepare({ ...mailOf('a.example', 10), content: new Uint8Array([1, 2, 3]) })
  const whole = preparer.prepare(mailOf('a.example', 10))
  await expect(broken).rejects.toThrow()
  expect((await whole).parts.length).toBe(2)
})

test('up to six mails of a turn are composed, then signed', async () => {
  const preparer = createPreparer(undefined, undefined, () => 0)
  const steps: string[] = []
  const prepare = (name: string) => preparer.prepare(mailOf('a.example', 10), () => steps.push(name))
  await Promise.all(Array.from('abcdefgh', prepare))
  expect(steps.join('')).toBe('abcdefabcdefghgh')
})

test('a small mail does not wait for the signature of a large one', async () => {
  const preparer = createPreparer()
  const steps: string[] = []
  const prepare = (name: string, bytes: number) => preparer.prepare(mailOf('a.example', bytes), () => steps.push(name))
  await Promise.all([prepare('large', 4_000_000), prepare('small', 10)])
  expect(steps).toEqual(['large', 'large', 'small', 'small'])
})

test('the preparer reports the time of each mail once, even if composing fails', async () => {
  const reported: [string, boolean][] = []
  const preparer = createPreparer(undefined, (domain, ms) => reported.push([domain, ms > 0]))
  const broken = { ...mailOf('b.example', 10), content: new Uint8Array([1, 2, 3]) }
  await Promise.allSettled(
    [mailOf('a.example', 10), broken, mailOf('a.example', 10)].map((job) => preparer.prepare(job)),
  )
  expect(reported.sort()).toEqual([
    ['a.example', true],
    ['a.example', true],
    ['b.example', true],
  ])
})

test('recipients of the same message share a mail, and no others do', async () => {
  const preparer = createPreparer()
  const mail = mailOf('a.example', 10)
  const [first, second] = await Promise.all([preparer.prepare(mail), preparer.prepare({ ...mail })])
  expect(second).toBe(first!)
  expect(await preparer.prepare(mail)).toBe(first!)
  const [key] = mail.signingKeys
  const tracking = {
    deliveryId: 'dlv_01m8ea7ans5ppj5gxhtcz6vxe0',
    secret: new Uint8Array(32),
    baseUrl: 'https://a.example',
    scope: { host: 'a.example', organizationId: '' },
    opens: true,
    clicks: false,
    unsubscribe: false,
  }
  for (const change of [
    { signedAt: 1_000 },
    { content: mailOf('a.example', 12).content },
    { content: mailOf('b.example', 10).content },
    { signingKeys: [] },
    { signingKeys: [{ ...key!, selector: 't' }] },
    { recipientParts: { fields: 'X-A: b\r\n', tracking: null } },
    { recipientParts: { fields: '', tracking } },
    { recipientParts: { fields: '', tracking: null, secrets: { '[a]': 't' } } },
  ]) {
    const changed = { ...mail, ...change }
    const own = await preparer.prepare(changed)
    expect(own).not.toBe(first!)
    expect(own).toEqual(preparer.prepareNow(changed))
  }
  for (let n = 1; n <= 8; n++) await preparer.prepare({ ...mail, signedAt: n * 2_000 })
  expect(await preparer.prepare(mail)).not.toBe(first!)
  const large = mailOf('a.example', 100_000)
  expect(await preparer.prepare(large)).not.toBe(await preparer.prepare(large))
})
