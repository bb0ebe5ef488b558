import { expect, test } from 'bun:test'
import { createForwardLinks } from './forward-link.ts'

const links = createForwardLinks(new Uint8Array(32).fill(7))
const target = { routeId: 'rte_1', organizationId: 'org_1', email: 'ann@elsewhere.example' }
const EXPIRES = 1_000_000

test('a forward link decodes to its target', () => {
  expect(links.read(links.confirm(target, EXPIRES), EXPIRES - 1)).toEqual({
    kind: 'confirm',
    target,
    expiresAt: EXPIRES,
  })
  expect(links.read(links.stop(target), EXPIRES)).toMatchObject({ kind: 'stop', target })
})

test('a confirm link expires and a stop link does not', () => {
  expect(links.read(links.confirm(target, EXPIRES), EXPIRES)).toBeNull()
  expect(links.read(links.stop(target), 4_000_000_000_000)).not.toBeNull()
})

test('a link of another installation, of another kind or with one changed character is invalid', () => {
  const link = links.confirm(target, EXPIRES)
  expect(createForwardLinks(new Uint8Array(32).fill(8)).read(link, 0)).toBeNull()
  expect(links.read(link.replace('/c/', '/s/'), 0)).toBeNull()
  expect(links.read(links.stop(target).replace('/s/', '/c/'), 0)).toBeNull()
  for (let at = '/forward/c/'.length; at < link.length; at++) {
    const other = link[at] === 'A' ? 'B' : 'A'
    expect(links.read(link.slice(0, at) + other + link.slice(at + 1), 0)).toBeNull()
  }
  expect(links.read(`${link}x`, 0)).toBeNull()
})

test('the longest address has a valid link', () => {
  const email = `${'\u00e9'.repeat(60)}@${'x'.repeat(120)}.example`
  expect(links.read(links.stop({ ...target, email }), 0)?.target.email).toBe(email)
})
