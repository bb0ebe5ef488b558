import { expect, test } from 'bun:test'
import { createRequestHost, requestHost } from './request-host.ts'

test.each([
  ['links.shop.example', 'links.shop.example'],
  ['LINKS.Shop.example.:8443', 'links.shop.example'],
  ['127.0.0.1:8025', '127.0.0.1'],
  ['[2001:DB8::1]:443', '[2001:db8::1]'],
  [null, ''],
  ['', ''],
  ['a b', ''],
  ['a/b', ''],
  ['x@a.example', ''],
  [`${'a'.repeat(400)}`, 'a'.repeat(300)],
])('Host %p is %p', (header, host) => {
  expect(requestHost(header)).toBe(host)
})

test('only our proxy may say what the client asked for', () => {
  const hostOf = createRequestHost((ip) => ip === '10.0.0.1')
  const request = (headers: Record<string, string>) => ({ headers: new Headers(headers) })
  const both = request({ host: 'upstream', 'x-forwarded-host': 'Links.shop.example, other.example' })
  expect(hostOf(both, '10.0.0.1')).toBe('links.shop.example')
  expect(hostOf(both, '::ffff:10.0.0.1')).toBe('links.shop.example')
  for (const peer of ['10.0.0.2', 'x', null]) expect(hostOf(both, peer)).toBe('upstream')
  expect(hostOf(request({ host: 'a.example' }), '10.0.0.1')).toBe('a.example')
})
