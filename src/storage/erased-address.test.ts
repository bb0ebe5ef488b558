import { expect, test } from 'bun:test'
import { ERASED_ADDRESS } from '../model/erasure.ts'
import { naming, withoutAddress, withoutRecipient } from './erased-address.ts'
import { packRecipients, unpackRecipients } from './message-rows.ts'

const ANN = 'ann@dest.example'

test('the text around an address stays, also where folding changes its length', () => {
  const text = JSON.stringify({ city: 'İstanbul', who: [`İ ${ANN}`, 'Ann@Dest.example'], next: 'İzmir' })
  const left = { city: 'İstanbul', who: [`İ ${ERASED_ADDRESS}`, ERASED_ADDRESS], next: 'İzmir' }
  expect(JSON.parse(withoutAddress(text, ANN))).toEqual(left)
  expect(withoutAddress('An İz@dest.example.', 'İz@dest.example'.toLowerCase())).toBe(`An ${ERASED_ADDRESS}.`)
})

test.each([
  ['"a b"@dest.example', JSON.stringify({ to: '"A b"@dest.example' })],
  ['ann@xn--bcher-kva.example', 'To ann@xn--bcher-kva.example'],
  ['ann@xn--bcher-kva.example', 'To Ann@Bücher.example.'],
  ['ann@xn--bcher-kva.example', 'https://a.example/?to=ann%40b%C3%BCcher.example'],
  ['ann@xn--a.example', 'To ann@xn--a.example'], // no valid A-label
])('%s is named in %s', (address, text) => {
  expect(naming(address)(text)).toBe(true)
  expect(naming(address)(withoutAddress(text, address))).toBe(false)
})

test.each(['x.ann@dest.example', 'ann@dest.example.org', 'ann@dest.examples', 'joann@dest.example'])(
  '%s is another address',
  (text) => expect(naming(ANN)(text)).toBe(false),
)

test('recipients lose the mailbox of an address, and the address in names of other mailboxes', () => {
  const to = ['Ann <ANN@dest.example>', 'x.ann@dest.example']
  const packed = packRecipients({
    to,
    cc: null,
    bcc: null,
    replyTo: '"ann@dest.example via Shop" <reply@shop.example>',
    replies: { routeId: 'rte_1', domain: 'shop.example', name: 'Shop for ann@dest.example' },
  })
  expect(unpackRecipients(withoutRecipient(packed, ANN))).toEqual({
    to: [ERASED_ADDRESS, 'x.ann@dest.example'],
    cc: null,
    bcc: null,
    replyTo: `"${ERASED_ADDRESS} via Shop" <reply@shop.example>`,
    replies: { routeId: 'rte_1', domain: 'shop.example', name: `Shop for ${ERASED_ADDRESS}` },
  })
})
