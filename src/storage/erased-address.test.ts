import { expect, test } from 'bun:test'
import { ERASED_ADDRESS } from '../model/erasure.ts'
import { naming, withoutAddress } from './erased-address.ts'

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
