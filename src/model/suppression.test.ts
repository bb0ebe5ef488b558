import { expect, test } from 'bun:test'
import { pastedKey, suppressionKey } from './suppression.ts'

test.each([
  ['Ann@D.Example', 'ann@d.example'],
  ['"Ann"@d.example', 'ann@d.example'],
  ['a..b@d.example', '"a..b"@d.example'],
  ['"a..b"@d.example', '"a..b"@d.example'],
  ['Abc.@d.example', '"abc."@d.example'],
  ['ann@Bücher.Example', 'ann@xn--bcher-kva.example'],
  ['ann@büch', 'ann@büch'],
  ['d.example', 'd.example'],
  ['', ''],
])('each spelling of an address has one form in which suppressions are compared: %j', (email, key) => {
  expect(suppressionKey(email)).toBe(key)
})

test.each([
  [' Ann Lee <Ann@Bücher.example> ', 'ann@xn--bcher-kva.example'],
  ['"ann"@d.example', 'ann@d.example'],
  ['Bücher.example', 'xn--bcher-kva.example'],
  ['@BÜCHER.example', '@xn--bcher-kva.example'],
  ['ann@bücher.ex', 'ann@xn--bcher-kva.ex'],
  ['Jürgen', 'jürgen'],
  ['a', 'a'],
  ['', ''],
])('what is pasted or typed is read in the form of stored addresses: %j', (text, key) => {
  expect(pastedKey(text)).toBe(key)
})
