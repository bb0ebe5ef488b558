import { expect, test } from 'bun:test'
import { createVerp } from './verp.ts'

const verp = createVerp(Buffer.from('a secret of the house'))
const ID = 'dlv_01jd5xk3m9q8r7t6v5w4z3y2x1'

test('a delivery id round-trips through its local part in any letter case', () => {
  const localPart = verp.encode(ID, 'bounce')
  expect(localPart).toMatch(/^b-01jd5xk3m9q8r7t6v5w4z3y2x1-[0-9a-hjkmnp-tv-z]{12}$/)
  expect(localPart.length).toBeLessThanOrEqual(64)
  expect(verp.decode(localPart)).toEqual({ kind: 'bounce', deliveryId: ID })
  expect(verp.decode(localPart.toUpperCase())).toEqual({ kind: 'bounce', deliveryId: ID })
})

test('a return path is not an unsubscribe address, nor the reverse', () => {
  const [bounce, unsubscribe] = [verp.encode(ID, 'bounce'), verp.encode(ID, 'unsubscribe')]
  expect(verp.decode(unsubscribe)).toEqual({ kind: 'unsubscribe', deliveryId: ID })
  expect(verp.decode(bounce.replace('b-', 'u-'))).toBeNull()
  expect(verp.decode(unsubscribe.replace('u-', 'b-'))).toBeNull()
})

test('the tag is fixed for a secret and an id', () => {
  expect(verp.encode(ID, 'bounce')).toBe(createVerp(Buffer.from('a secret of the house')).encode(ID, 'bounce'))
  expect(verp.encode(ID, 'bounce')).toBe('b-01jd5xk3m9q8r7t6v5w4z3y2x1-ev5ygwxzv7fn')
})

test('rejects a changed character, another secret and another form', () => {
  const localPart = verp.encode(ID, 'bounce')
  for (let at = 0; at < localPart.length; at++) {
    const other = localPart[at] === '2' ? '3' : '2'
    expect(verp.decode(localPart.slice(0, at) + other + localPart.slice(at + 1))).toBeNull()
  }
  expect(createVerp(Buffer.from('another')).decode(localPart)).toBeNull()
  for (const text of [
    '',
    'b-',
    'bounce',
    `${localPart}x`,
    ` ${localPart}`,
    `${localPart}\n`,
    localPart.slice(0, -1),
    'b-ſ',
  ]) {
    expect(verp.decode(text)).toBeNull()
  }
})

test('refuses an invalid delivery id', () => {
  for (const id of [
    '',
    'dlv_',
    ID.slice(0, -1),
    `${ID}0`,
    ID.toUpperCase(),
    ID.replace('dlv', 'msg'),
    `${ID.slice(0, -1)}u`,
  ]) {
    expect(() => verp.encode(id, 'bounce')).toThrow('invalid delivery ID')
  }
})
