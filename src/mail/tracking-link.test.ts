import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { createTrackingLinks, isTrackable } from './tracking-link.ts'

const SECRET = new Uint8Array(32).fill(1)
const SCOPE = { host: 'links.shop.example', organizationId: 'org_1' }
const links = createTrackingLinks(SECRET, SCOPE)
const ID = 'dlv_01kq7000000000000000000000'
const URLS = [
  'https://shop.example/',
  'http://shop.example/a?b=1&c=%20#d',
  'HTTPS://Shop.Example:8443/ü?q=“x”',
  'https://user:pass@shop.example/%2e%2e/{{x}}',
]

test('each link decodes to its data', () => {
  expect(links.read(links.open(ID))).toEqual({ kind: 'open', deliveryId: ID })
  expect(links.read(links.unsubscribe(ID))).toEqual({ kind: 'unsubscribe', deliveryId: ID })
  for (const url of URLS) expect(links.read(links.click(ID, url))).toEqual({ kind: 'click', deliveryId: ID, url })
})

test('links are short and valid in attributes and headers', () => {
  expect(links.open(ID)).toMatch(/^\/t\/o\/[\w-]{48}\.gif$/)
  expect(links.unsubscribe(ID)).toMatch(/^\/t\/u\/[\w-]{48}$/)
  for (const url of URLS) expect(links.click(ID, url)).toMatch(/^\/t\/c\/[\w-]{48}\/[\w-]+$/)
})

test('any http link round-trips', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      expect(links.read(links.click(ID, url))).toEqual({ kind: 'click', deliveryId: ID, url })
    }),
    { numRuns: 300 },
  )
})

// threat: tracking-link-abuse
test('rejects all of 30,000 altered links', () => {
  const made = [links.open(ID), links.unsubscribe(ID), links.click(ID, 'https://shop.example/?a=1')]
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./='
  let seed = 7
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  for (let round = 0; round < 10_000; round++) {
    for (const path of made) {
      const at = next(path.length)
      const forged =
        round % 3 === 0
          ? path.slice(0, at) + path.slice(at + 1)
          : path.slice(0, at) + signs[next(signs.length)] + path.slice(round % 3 === 1 ? at + 1 : at)
      if (forged !== path) expect(links.read(forged)).toBeNull()
    }
  }
})

test('a link is valid only for its purpose', () => {
  const token = links.open(ID).slice(5, -4)
  const stop = links.unsubscribe(ID).slice(5)
  const click = links.click(ID, 'https://shop.example/').split('/')
  const elsewhere = Buffer.from('https://evil.example/').toString('base64url')
  for (const path of [
    `/t/u/${token}`,
    `/t/o/${stop}.gif`,
    `/t/o/${token}`,
    `/t/u/${stop}.gif`,
    `/t/c/${token}/${elsewhere}`,
    [...click.slice(0, 4), elsewhere].join('/'),
    `${click.join('/')}=`,
    `${click.join('/')}/`,
    click.slice(0, 4).join('/'),
    `/t/o/${token.toUpperCase()}.gif`,
    `/T/o/${token}.gif`,
    `${links.open(ID)}\n`,
    `/t/c/${'a'.repeat(48)}/${'a'.repeat(30_000)}`,
    '/t/',
    '',
  ]) {
    expect(links.read(path)).toBeNull()
  }
})

test('rejects links of another installation', () => {
  const other = createTrackingLinks(new Uint8Array(32).fill(2), SCOPE)
  expect(other.read(links.open(ID))).toBeNull()
  expect(other.read(links.click(ID, 'https://shop.example/'))).toBeNull()
})

test.each([
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'mailto:a@b.example',
  'tel:1',
  '//evil.example/',
  '/path',
  '#top',
  '',
  'https:evil.example',
  'https:///',
  'http://',
  'https://a b/',
  'ftp://x.example/',
  `https://x.example/${'a'.repeat(4_000)}`,
  'https://x.example/\ud800',
])('%p cannot be tracked', (url) => {
  expect(isTrackable(url)).toBe(false)
  expect(() => links.click(ID, url)).toThrow(/only http and https/)
})

test('refuses to make links for an invalid delivery id', () => {
  for (const id of ['msg_01kq7000000000000000000000', 'dlv_', `${ID}0`, '']) {
    expect(() => links.open(id)).toThrow(/invalid delivery ID/)
  }
})

// threat: foreign-tracking-host
test('a link is valid only on its host, and a click only for its owner', () => {
  const elsewhere = createTrackingLinks(SECRET, { ...SCOPE, host: 'links.other.example' })
  const nextOwner = createTrackingLinks(SECRET, { ...SCOPE, organizationId: 'org_2' })
  const unbound = createTrackingLinks(SECRET, null)
  const click = links.click(ID, 'https://shop.example/')
  for (const path of [links.open(ID), links.unsubscribe(ID), click]) {
    expect([elsewhere.read(path), unbound.read(path)]).toEqual([null, null])
  }
  expect(nextOwner.read(click)).toBeNull()
  expect(nextOwner.read(links.unsubscribe(ID))).toEqual({ kind: 'unsubscribe', deliveryId: ID })
})

test('reads links without a host and no longer makes them', () => {
  const unbound = createTrackingLinks(SECRET, null)
  // Of version 1 with this secret.
  const url = 'https://shop.example/'
  const tag = createHmac('sha256', SECRET)
    .update(`track c ${ID.slice(4)} ${url}`)
    .digest()
  const path = `/t/c/${ID.slice(4)}${tag.toString('base64url', 0, 16)}/${Buffer.from(url).toString('base64url')}`
  expect(unbound.read(path)).toEqual({ kind: 'click', deliveryId: ID, url })
  expect(links.read(path)).toBeNull()
  expect(() => unbound.open(ID)).toThrow()
})
