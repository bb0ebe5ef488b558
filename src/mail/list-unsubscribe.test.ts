import { expect, test } from 'bun:test'
import { listUnsubscribe, unsubscribeFields } from './list-unsubscribe.ts'
import { createVerp } from './verp.ts'

test('writes every unsubscribe URI in brackets on one line, the best first', () => {
  expect(listUnsubscribe(['mailto:u@x.example'])).toBe('List-Unsubscribe: <mailto:u@x.example>\r\n')
  expect(listUnsubscribe(['https://x.example/u', 'mailto:u@x.example'])).toBe(
    'List-Unsubscribe: <https://x.example/u>, <mailto:u@x.example>\r\n',
  )
})

test('uses the delivery’s own address, short enough for the longest host', () => {
  const verp = createVerp(new Uint8Array(32))
  const id = 'dlv_01kq7000000000000000000000'
  const host = `${'a'.repeat(60)}.`.repeat(4).slice(0, 253)
  const field = unsubscribeFields(id, host, verp, `http://${host}/t/u/${'x'.repeat(48)}`)
  const [, local] = /^List-Unsubscribe: <http:[^>]+>, <mailto:([^@]+)@[^?]+\?subject=unsubscribe>\r\n$/.exec(field)!
  expect(verp.decode(local!)).toEqual({ kind: 'unsubscribe', deliveryId: id })
  expect(field.length).toBeLessThan(998) // RFC 5322 §2.1.1
  expect(() => unsubscribeFields('msg_1', host, verp, 'https://x.example/u')).toThrow(/invalid delivery ID/)
})

test('offers one-click for https links only', () => {
  const verp = { encode: () => 'u-1' }
  const rest = ', <mailto:u-1@b.example?subject=unsubscribe>\r\n'
  expect(unsubscribeFields('dlv_1', 'b.example', verp, 'https://x.example/u')).toBe(
    `List-Unsubscribe: <https://x.example/u>${rest}List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`,
  )
  expect(unsubscribeFields('dlv_1', 'b.example', verp, 'http://x.example/u')).toBe(
    `List-Unsubscribe: <http://x.example/u>${rest}`,
  )
})
